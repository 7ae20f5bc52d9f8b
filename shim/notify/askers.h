/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who lately turned a UDP socket to port 53: so that the record of a query,
 * which the resolver sees only as an address and a port, can name the
 * container and the binary. For the log, and for which log: never for a
 * decision.
 */
#ifndef OSH_SHIM_NOTIFY_ASKERS_H
#define OSH_SHIM_NOTIFY_ASKERS_H

#include <stddef.h>
#include <stdint.h>

#include "shim/notify/identity.h"
#include "shim/notify/sandbox.h"

struct netlink;

enum {
	ASKERS_MAX = 32,
	ASKER_PATH_BYTES = 256, /* a longer path is left out */
	ASKER_ANCESTORS = 4,	/* the nearest; more are left out */
	/* A client may be gone before its second query is told of. */
	ASKER_PORT_MS = 2000,
};

struct asker {
	uint64_t cookie; /* SO_COOKIE of its socket; 0: free */
	struct sandbox_ref sandbox;
	int pid;
	uint16_t port; /* once a query came from it; 0: none yet */
	uint64_t seen_ms;
	char path[ASKER_PATH_BYTES];
	char sha256[DIGEST_HEX]; /* "" when it is not known */
	size_t n_ancestors;
	char ancestor[ASKER_ANCESTORS][ASKER_PATH_BYTES];
};

struct askers {
	struct asker asker[ASKERS_MAX];
	unsigned int next;
};

/* Remember the caller @id, whose socket is @sock_fd. */
void askers_add(struct askers *a, int sock_fd, struct sandbox_ref ref,
		struct identity *id);

/*
 * Who has a socket of port @port, or had it a moment ago; @nl is of
 * NETLINK_SOCK_DIAG. NULL when nobody that is remembered.
 */
const struct asker *askers_find(struct askers *a, struct netlink *nl,
				uint16_t port);

#endif
