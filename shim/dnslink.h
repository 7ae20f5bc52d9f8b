/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shim's side of osh-resolver (shim/ipc/resolver_proto.h): start it, give
 * it sockets and policies, take its answers and records, start it again when
 * it dies (a bounded number of times: a sandbox whose resolver is gone has no
 * names, which is how it fails closed).
 */
#ifndef OSH_SHIM_DNSLINK_H
#define OSH_SHIM_DNSLINK_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/loop.h"
#include "shim/dnsrecord.h"
#include "shim/limits.h"
#include "shim/notify/resolved.h"
#include "shim/notify/sandbox.h"

struct err;
struct netns;

enum dnslink_state {
	DNSLINK_DOWN,	  /* none; perhaps one will be started */
	DNSLINK_STARTING, /* it has its sockets, READY is awaited */
	DNSLINK_READY,
	DNSLINK_GIVEN_UP,
};

struct dnslink {
	/* borrowed, all of them */
	struct loop *loop;
	const struct netns *netns;
	int maker_fd, program_fd;
	struct sandboxes *sandboxes;
	struct resolved *resolved;
	struct dnsrecord record;
	/* The resolver has container @ref's policy in force, or @why not. */
	void (*on_policy)(void *ctx, struct sandbox_ref ref,
			  const struct err *why);
	void *ctx;

	enum dnslink_state state;
	bool busy; /* with the channel's messages */
	int fd; /* owned: the channel */
	struct loop_ref source, timer;
	unsigned int n_starts; /* since window_ms */
	uint64_t window_ms;
};

/* The borrowed fields are set. Starts the resolver. */
int dnslink_init(struct dnslink *d, struct err *err);

/*
 * Tell the resolver of a container; on_policy() follows, at once or later.
 * ESRCH when there is no resolver any more.
 */
int dnslink_add(struct dnslink *d, struct sandbox_ref ref, struct err *err);
void dnslink_remove(struct dnslink *d, struct sandbox_ref ref);
/*
 * Take what the resolver has said already: before a container goes, so that
 * its last records are its own. Within a callback of the link: nothing.
 */
void dnslink_drain(struct dnslink *d);
/*
 * End the resolver for good. True when its connections are closed: until then
 * their other ends may be orphans of the sandbox's, which the kernel would go
 * on sending to where the agent meant them, once nothing redirects them. Waits
 * a moment; may be called again.
 */
bool dnslink_end(struct dnslink *d);

#endif
