/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who lately turned a UDP socket to port 53: so that the record of a query,
 * which the resolver sees only as an address and a port, can name the
 * container and the binary. For the log, and for which log: never for a
 * decision.
 *
 * The port is not known yet when the call is notified (the kernel picks it
 * within the call), and the client may be gone when its query is told of. So
 * the duplicate of its socket is kept until then, ASKER_HOLD_MS at most. A
 * socket that was bound before has its port already, and is not kept: somebody
 * may be about to bind the same port again.
 */
#ifndef OSH_SHIM_NOTIFY_ASKERS_H
#define OSH_SHIM_NOTIFY_ASKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/notify/identity.h"
#include "shim/notify/sandbox.h"

enum {
	ASKERS_MAX = 32,
	ASKER_PATH_BYTES = 256, /* a longer path is left out */
	ASKER_ANCESTORS = 4,	/* the nearest; more are left out */
	ASKER_HOLD_MS = 3000,	/* resolvers in C libraries wait for 5 s */
	/* A port that was asked from goes on to be that asker's so long. */
	ASKER_PORT_MS = 10000,
};

struct asker {
	struct sandbox_ref sandbox; /* generation 0: free */
	uint64_t cookie;	    /* SO_COOKIE of its socket */
	int fd;			    /* owned; negative: not kept (any more) */
	uint16_t port;		    /* 0: not known yet */
	uint64_t since_ms;
	int pid;
	char path[ASKER_PATH_BYTES];
	char sha256[DIGEST_HEX]; /* "" when it is not known */
	size_t n_ancestors;
	char ancestor[ASKER_ANCESTORS][ASKER_PATH_BYTES];
};

/* Zeroed storage is valid. */
struct askers {
	struct asker asker[ASKERS_MAX];
	unsigned int next, n_held;
};

/*
 * Remember the caller @id, whose socket's duplicate *sock_fd is: taken when it
 * is kept, then *sock_fd is negative.
 */
void askers_add(struct askers *a, int *sock_fd, struct sandbox_ref ref,
		struct identity *id);

/* Who asked from UDP port @port; NULL when nobody that is remembered. */
const struct asker *askers_find(struct askers *a, uint16_t port);

/* Let go of sockets whose time is over; of all that are container @ref's. */
void askers_tick(struct askers *a);
void askers_forget(struct askers *a, struct sandbox_ref ref);
/* Is no socket held, so that there is nothing to be ticked for? */
static inline bool askers_idle(const struct askers *a)
{
	return a->n_held == 0;
}

#endif
