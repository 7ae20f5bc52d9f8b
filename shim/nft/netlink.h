/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Netlink sockets of the sandbox's network namespace. They are opened while
 * the shim is in that namespace and belong to it for good; whoever holds the
 * descriptor and CAP_NET_ADMIN over the namespace's owner can use them.
 */
#ifndef OSH_SHIM_NFT_NETLINK_H
#define OSH_SHIM_NFT_NETLINK_H

#include <libmnl/libmnl.h>
#include <stddef.h>
#include <stdint.h>

struct err;

struct netlink {
	struct mnl_socket *sock; /* owned */
	uint32_t portid, seq;
};

/* @bus is NETLINK_NETFILTER or NETLINK_SOCK_DIAG. */
int netlink_open(struct netlink *nl, int bus, struct err *err);
void netlink_close(struct netlink *nl);
static inline int netlink_fd(const struct netlink *nl)
{
	return mnl_socket_get_fd(nl->sock);
}

/*
 * Send @n bytes of messages and read what the kernel answered. Netlink works
 * within sendto(2): all answers are there when it returns, and the first
 * error among the acknowledgements is the result. At least one message must
 * ask for one (NLM_F_ACK). @what names the action in the error text.
 */
int netlink_talk(struct netlink *nl, const void *data, size_t n,
		 const char *what, struct err *err);

#endif
