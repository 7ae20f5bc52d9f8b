/* SPDX-License-Identifier: Apache-2.0 */
/* Which UDP sockets of the namespace have a port (sock_diag(7)). */
#ifndef OSH_SHIM_NFT_SOCKDIAG_H
#define OSH_SHIM_NFT_SOCKDIAG_H

#include <stddef.h>
#include <stdint.h>

struct netlink;

/*
 * The SO_COOKIEs of up to @max UDP sockets of @family (AF_INET, AF_INET6)
 * whose local port is @port. Returns their number; 0 also when the kernel does
 * not tell: for the log only.
 */
size_t sockdiag_udp(struct netlink *nl, int family, uint16_t port,
		    uint64_t *ret_cookie, size_t max);

#endif
