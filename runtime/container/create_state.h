/* SPDX-License-Identifier: Apache-2.0 */
/* What create knows while it works: shared by the create_*.c files. */
#ifndef OSH_CONTAINER_CREATE_STATE_H
#define OSH_CONTAINER_CREATE_STATE_H

#include <errno.h>

#include "runtime/base/arena.h"
#include "runtime/container/blueprint.h"
#include "runtime/container/create.h"
#include "runtime/container/egress.h"
#include "runtime/container/launch.h"
#include "runtime/container/store.h"
#include "runtime/container/sync.h"
#include "runtime/linux/cgroup.h"
#include "runtime/oci/state.h"

/* who failed, in errors of sync_wait() */
#define INIT_WHO "the container's init"

struct create {
	struct arena *arena;
	const struct create_args *args;
	struct blueprint b;
	struct store store;
	struct store_entry entry;
	bool taken; /* the id is ours */
	struct oci_state *state;
	struct cgroup *cgroup; /* in the arena */
	bool cgroup_made;
	struct launch launch;
	int sync_fd; /* the parent's end */
	int console_fd;
	pid_t pid;
	int pidfd;
	uint64_t netns_cookie;
	bool hooks_begun;
	struct egress egress;
	int ruleset_fd[SYNC_FDS_MAX]; /* Landlock's, from the init */
	uint32_t n_rulesets;
};

#define CREATE_INIT(a, create_args)                                            \
	{                                                                      \
		.arena = (a), .cgroup = arena_new((a), struct cgroup),         \
		.args = (create_args), .b = BLUEPRINT_INIT(a),                 \
		.store = STORE_INIT, .entry = STORE_ENTRY_INIT,                \
		.launch = { .join = CGROUP_JOIN_INIT,                          \
			    .enter = { .proc_fd = -EBADF },                    \
			    .start_fd = -EBADF,                                \
			    .console_fd = -EBADF,                              \
			    .sync_fd = -EBADF },                               \
		.sync_fd = -EBADF, .console_fd = -EBADF, .pidfd = -EBADF,      \
		.egress = EGRESS_INIT                                          \
	}

/* state.json as it is from step 1 on, and what the plan adds in step 3. */
int create_state_init(struct create *c, struct err *err);
int create_state_plan(struct create *c, struct err *err);

#endif
