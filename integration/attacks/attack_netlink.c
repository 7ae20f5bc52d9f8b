/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's own configuration: routes, and the table itself. */
#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <unistd.h>

/* Send one request and return the kernel's verdict: 0, or its errno. */
static int ask(int protocol, void *request, size_t len)
{
	struct {
		struct nlmsghdr head;
		struct nlmsgerr err;
		char rest[512];
	} answer;
	int fd = new_socket(AF_NETLINK, SOCK_RAW, protocol);

	if (fd < 0)
		return errno;
	if (send(fd, request, len, 0) < 0)
		return errno;
	if (recv(fd, &answer, sizeof(answer), 0) < (ssize_t)NLMSG_LENGTH(4))
		return ETIMEDOUT;
	return answer.head.nlmsg_type == NLMSG_ERROR ? -answer.err.error : 0;
}

static enum verdict outcome(int error, const char *what)
{
	if (error == 0)
		return say(THROUGH, "%s: done", what);
	errno = error;
	return failed(what);
}

static enum verdict route(const struct scene *s)
{
	struct {
		struct nlmsghdr head;
		struct ifaddrmsg ifa;
		struct rtattr attr;
		struct in_addr addr;
	} request = {
		.head = {.nlmsg_len = sizeof(request),
			 .nlmsg_type = RTM_NEWADDR,
			 .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK |
					NLM_F_CREATE},
		.ifa = {.ifa_family = AF_INET,
			.ifa_prefixlen = 32,
			.ifa_index = interface_index()},
		.attr = {.rta_len = RTA_LENGTH(4), .rta_type = IFA_LOCAL},
		.addr = s->target4.sin_addr,
	};

	return outcome(ask(NETLINK_ROUTE, &request, sizeof(request)),
		       "add an address");
}

/* Delete every table of the inet family: begin, delete, commit. */
static enum verdict flush(const struct scene *s)
{
	struct {
		struct nlmsghdr head;
		struct nfgenmsg gen;
	} request[3] = {0};
	static const uint16_t types[] = {
		NFNL_MSG_BATCH_BEGIN,
		NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_DELTABLE,
		NFNL_MSG_BATCH_END,
	};

	(void)s;
	for (int i = 0; i < 3; i++) {
		request[i].head.nlmsg_len = sizeof(request[i]);
		request[i].head.nlmsg_type = types[i];
		request[i].head.nlmsg_flags = NLM_F_REQUEST;
		request[i].gen.nfgen_family = i == 1 ? NFPROTO_INET : AF_UNSPEC;
		request[i].gen.res_id =
			i == 1 ? 0 : __builtin_bswap16(NFNL_SUBSYS_NFTABLES);
	}
	request[1].head.nlmsg_flags |= NLM_F_ACK;
	return outcome(ask(NETLINK_NETFILTER, request, sizeof(request)),
		       "delete the tables");
}

/* Other netlink families are attack surface that nobody needs. */
static enum verdict xfrm(const struct scene *s)
{
	(void)s;
	if (new_socket(AF_NETLINK, SOCK_RAW, NETLINK_XFRM) < 0)
		return failed("socket(NETLINK_XFRM)");
	return say(THROUGH, "the socket is open");
}

static enum verdict diag(const struct scene *s)
{
	(void)s;
	if (new_socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG) < 0)
		return failed("socket(NETLINK_SOCK_DIAG)");
	return say(THROUGH, "the socket is open");
}

const struct attack attack_netlink = {
	"netlink",
	(const struct mode[]){{"address", route},
			      {"flush", flush},
			      {"xfrm", xfrm},
			      {"diag", diag},
			      {0}},
};
