/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The namespace's TCP sockets (sock_diag(7)): what the kernel still sends for
 * processes that have ended, and how to make an end of it.
 */
#ifndef OSH_SHIM_NFT_SOCKDIAG_H
#define OSH_SHIM_NFT_SOCKDIAG_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct netlink;

/*
 * The sockets that are meant: those with a mark of container @number. @last:
 * of the last container in the namespace; then also those that served, those
 * whose SYN was never let out, and those to port 53, which the table leads to
 * the resolver wherever they were meant to go. (Others without a mark reach
 * nothing, or are of processes that were there before the table.)
 */
struct sockdiag_which {
	uint32_t number;
	bool last;
};

/*
 * How many of them have something to send still, or may have: all but those
 * that wait for the peer alone. Negative errno: the kernel does not tell.
 */
int sockdiag_busy(struct netlink *nl, struct sockdiag_which which,
		  struct err *err);

/*
 * Abort every one (SOCK_DESTROY): both ends learn of it. EOPNOTSUPP where the
 * kernel can't.
 */
int sockdiag_destroy(struct netlink *nl, struct sockdiag_which which,
		     struct err *err);

#endif
