/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "shim/nft/netlink.h"
#include "shim/nft/sockdiag.h"

static size_t take(const void *buf, int len, uint64_t *ret_cookie, size_t max,
		   bool *ret_done)
{
	const struct nlmsghdr *h = buf;
	size_t n = 0;

	for (; mnl_nlmsg_ok(h, len); h = mnl_nlmsg_next(h, &len)) {
		const struct inet_diag_msg *m;

		if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR)
			*ret_done = true;
		if (h->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
		    mnl_nlmsg_get_payload_len(h) < sizeof(*m) || n == max)
			continue;
		m = mnl_nlmsg_get_payload(h);
		ret_cookie[n++] = (uint64_t)m->id.idiag_cookie[1] << 32 |
				  m->id.idiag_cookie[0];
	}
	return n;
}

size_t sockdiag_udp(struct netlink *nl, int family, uint16_t port,
		    uint64_t *ret_cookie, size_t max)
{
	char buf[8192] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *h = mnl_nlmsg_put_header(buf);
	struct inet_diag_req_v2 *rq;
	bool done = false;
	size_t n = 0;

	h->nlmsg_type = SOCK_DIAG_BY_FAMILY;
	h->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	h->nlmsg_seq = nl->seq++;
	rq = mnl_nlmsg_put_extra_header(h, sizeof(*rq));
	rq->sdiag_family = (uint8_t)family;
	rq->sdiag_protocol = IPPROTO_UDP;
	rq->idiag_states = ~0U;
	rq->id.idiag_sport = htons(port);
	if (mnl_socket_sendto(nl->sock, h, h->nlmsg_len) < 0)
		return 0;
	while (!done) {
		ssize_t r = recv(netlink_fd(nl), buf, sizeof(buf),
				 MSG_DONTWAIT);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			break;
		n += take(buf, (int)r, ret_cookie + n, max - n, &done);
	}
	return n;
}
