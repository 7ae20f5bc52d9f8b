/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that the shim needs of the sandbox's network namespace, opened
 * while it is in there: once, at start. After that the shim is in an empty
 * network namespace, and these sockets are its only reach into the sandbox's.
 */
#ifndef OSH_SHIM_NETNS_H
#define OSH_SHIM_NETNS_H

#include <stdbool.h>
#include <stdint.h>

#include "shim/ipc/resolver_proto.h"
#include "shim/nft/netlink.h"

struct err;

struct netns {
	uint64_t cookie;
	struct netlink nft, packets, diag;
	int probe4_fd, probe6_fd; /* unmarked UDP; the second may be absent */
	/* by enum resolver_socket_kind; -EBADF where there is no IPv6 */
	int listen_fd[RESOLVER_SOCKET_N];
	uint16_t port; /* of all four */
	int upstream_fd[RESOLVER_SOCKET_N][RESOLVER_SOCKETS_MAX];
	uint32_t n_upstream[RESOLVER_SOCKET_N];
	bool fast_open_off;
};

/*
 * Enter namespace @netns_fd and open all of it. @proc_fd is /proc. Afterwards
 * the process is in that namespace.
 */
int netns_open(struct netns *n, int netns_fd, int proc_fd, struct err *err);

/* The resolver's listening sockets: who waits to be accepted is refused. */
void netns_close_listening(struct netns *n);

#endif
