/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_log.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "runtime/base/err.h"
#include "shim/nft/netlink.h"
#include "shim/nft/nflog.h"

/* Bytes of a packet that the kernel copies: IPv6 and its options, ports. */
enum { COPY_BYTES = 128 };

static int configure(struct netlink *nl, uint16_t group, struct err *err)
{
	const struct nfulnl_msg_config_cmd cmd = { .command =
							   NFULNL_CFG_CMD_BIND };
	const struct nfulnl_msg_config_mode mode = {
		.copy_mode = NFULNL_COPY_PACKET,
		.copy_range = htonl(COPY_BYTES),
	};
	char buf[512] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *h = mnl_nlmsg_put_header(buf);
	struct nfgenmsg *g;

	h->nlmsg_type = NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_CONFIG;
	h->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	h->nlmsg_seq = nl->seq++;
	g = mnl_nlmsg_put_extra_header(h, sizeof(*g));
	g->nfgen_family = AF_UNSPEC;
	g->version = NFNETLINK_V0;
	g->res_id = htons(group);
	mnl_attr_put(h, NFULA_CFG_CMD, sizeof(cmd), &cmd);
	mnl_attr_put(h, NFULA_CFG_MODE, sizeof(mode), &mode);
	/* at once: somebody may be following the log */
	mnl_attr_put_u32(h, NFULA_CFG_QTHRESH, htonl(1));
	return netlink_talk(nl, h, h->nlmsg_len, "bind to the packet log", err);
}

int nflog_open(struct netlink *nl, uint16_t group, struct err *err)
{
	int r = netlink_open(nl, NETLINK_NETFILTER, err);

	if (r < 0)
		return r;
	r = configure(nl, group, err);
	if (r < 0)
		netlink_close(nl);
	return r;
}

static void map4(uint8_t ret[16], const uint8_t *v4)
{
	memset(ret, 0, 10);
	ret[10] = ret[11] = 0xff;
	memcpy(ret + 12, v4, 4);
}

/*
 * Behind IPv6's header: skip what may stand before the transport's (RFC 8200
 * 4.1). Returns where that begins, beyond @n when it was not copied.
 */
static size_t skip_extensions(const uint8_t *data, size_t n, uint8_t *proto)
{
	size_t at = 40;

	while ((*proto == IPPROTO_HOPOPTS || *proto == IPPROTO_ROUTING ||
		*proto == IPPROTO_DSTOPTS) &&
	       at + 2 <= n) {
		*proto = data[at];
		at += ((size_t)data[at + 1] + 1) * 8;
	}
	return at;
}

bool nflog_parse(const uint8_t *data, size_t n, struct nflog_packet *ret)
{
	size_t header;

	memset(ret, 0, sizeof(*ret));
	if (n >= 20 && data[0] >> 4 == 4) {
		header = (size_t)(data[0] & 15) * 4;
		ret->proto = data[9];
		map4(ret->src, data + 12);
		map4(ret->dst, data + 16);
		/* ports are in the first fragment only */
		if (header < 20 || (data[6] & 0x1f) || data[7])
			return true;
	} else if (n >= 40 && data[0] >> 4 == 6) {
		ret->proto = data[6];
		header = skip_extensions(data, n, &ret->proto);
		memcpy(ret->src, data + 8, 16);
		memcpy(ret->dst, data + 24, 16);
	} else {
		return false;
	}
	if ((ret->proto == IPPROTO_TCP || ret->proto == IPPROTO_UDP) &&
	    n >= header + 4) {
		ret->sport = (uint16_t)(data[header] << 8 | data[header + 1]);
		ret->dport =
			(uint16_t)(data[header + 2] << 8 | data[header + 3]);
	}
	return true;
}

struct attributes {
	const struct nlattr *payload, *uid, *mark;
};

static int on_attribute(const struct nlattr *a, void *data)
{
	struct attributes *all = data;

	switch (mnl_attr_get_type(a)) {
	case NFULA_PAYLOAD:
		all->payload = a;
		break;
	case NFULA_UID:
		all->uid = a;
		break;
	case NFULA_MARK:
		all->mark = a;
		break;
	}
	return MNL_CB_OK;
}

static bool read_message(const struct nlmsghdr *h, struct nflog_packet *ret)
{
	struct attributes a = { .payload = NULL };

	if (h->nlmsg_type != (NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_PACKET) ||
	    mnl_attr_parse(h, sizeof(struct nfgenmsg), on_attribute, &a) < 0)
		return false;
	if (!a.payload ||
	    !nflog_parse(mnl_attr_get_payload(a.payload),
			 mnl_attr_get_payload_len(a.payload), ret))
		return false;
	if (a.uid && mnl_attr_get_payload_len(a.uid) == 4) {
		ret->have_uid = true;
		ret->uid = ntohl(mnl_attr_get_u32(a.uid));
	}
	if (a.mark && mnl_attr_get_payload_len(a.mark) == 4)
		ret->mark = ntohl(mnl_attr_get_u32(a.mark));
	return true;
}

void nflog_read(struct netlink *nl, unsigned int max, nflog_fn *fn, void *ctx,
		uint64_t *ret_lost)
{
	char buf[8192] __attribute__((aligned(NLMSG_ALIGNTO)));

	for (unsigned int i = 0; i < max; i++) {
		const struct nlmsghdr *h = (const struct nlmsghdr *)(void *)buf;
		struct nflog_packet p;
		ssize_t r = recv(netlink_fd(nl), buf, sizeof(buf),
				 MSG_DONTWAIT);
		int len = (int)r;

		if (r < 0) {
			if (errno == ENOBUFS)
				(*ret_lost)++;
			if (errno == ENOBUFS || errno == EINTR)
				continue;
			return;
		}
		for (; mnl_nlmsg_ok(h, len); h = mnl_nlmsg_next(h, &len)) {
			if (h->nlmsg_type == NLMSG_DONE)
				continue;
			if (read_message(h, &p))
				fn(ctx, &p);
			else
				(*ret_lost)++;
		}
	}
}
