/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "runtime/base/err.h"
#include "shim/nft/netlink.h"

int netlink_open(struct netlink *nl, int bus, struct err *err)
{
	*nl = (struct netlink){ .seq = 1 };
	nl->sock = mnl_socket_open2(bus, SOCK_CLOEXEC);
	if (!nl->sock)
		return err_errno(err, errno, "open netlink bus %d", bus);
	if (mnl_socket_bind(nl->sock, 0, MNL_SOCKET_AUTOPID) < 0) {
		err_errno(err, errno, "bind netlink bus %d", bus);
		netlink_close(nl);
		return -err->code;
	}
	nl->portid = mnl_socket_get_portid(nl->sock);
	return 0;
}

void netlink_close(struct netlink *nl)
{
	if (nl->sock)
		mnl_socket_close(nl->sock);
	nl->sock = NULL;
}

/* The first error among the messages in @buf; counts acknowledgements. */
static int scan(const void *buf, int len, unsigned int *n_acks)
{
	const struct nlmsghdr *h = buf;
	int first = 0;

	for (; mnl_nlmsg_ok(h, len); h = mnl_nlmsg_next(h, &len)) {
		const struct nlmsgerr *e;

		if (h->nlmsg_type != NLMSG_ERROR ||
		    mnl_nlmsg_get_payload_len(h) < sizeof(*e))
			continue;
		e = mnl_nlmsg_get_payload(h);
		(*n_acks)++;
		if (e->error && !first)
			first = e->error;
	}
	return first;
}

int netlink_talk(struct netlink *nl, const void *data, size_t n,
		 const char *what, struct err *err)
{
	char buf[8192] __attribute__((aligned(NLMSG_ALIGNTO)));
	unsigned int n_acks = 0;
	int first = 0;

	if (mnl_socket_sendto(nl->sock, data, n) < 0)
		return err_errno(err, errno, "%s", what);
	for (;;) {
		ssize_t r = recv(netlink_fd(nl), buf, sizeof(buf),
				 MSG_DONTWAIT);
		int e;

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			break;
		e = scan(buf, (int)r, &n_acks);
		if (!first)
			first = e;
	}
	if (first)
		return err_errno(err, -first, "%s", what);
	if (!n_acks)
		return err_set(err, EIO, "%s: the kernel did not answer",
			       what);
	return 0;
}
