/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime's side of the egress filter: find or start the osh-shim that
 * serves a network namespace, and speak runtime/policy/shim_proto.h with it.
 */
#ifndef OSH_CONTAINER_EGRESS_H
#define OSH_CONTAINER_EGRESS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "runtime/policy/shim_proto.h"

struct arena;
struct err;

struct egress {
	int conn_fd;   /* owned: ends the container before COMMIT */
	int folder_fd; /* owned: SHIMS/COOKIE, locked until ATTACH is done */
	uint64_t cookie;
	char id[SHIM_ID_BYTES];
};

#define EGRESS_INIT { .conn_fd = -EBADF, .folder_fd = -EBADF }

struct egress_start {
	int netns_fd;	/* borrowed, all of them */
	int policy_fd;	/* compiled policy, read only */
	int ceiling_fd; /* or -EBADF */
	int log_dir_fd;
	const struct shim_attach *attach; /* op, version and id are filled in */
	struct arena *arena;
	bool own_cgroup;	/* give a new shim one (egress_cgroup.h) */
	const char *cgroups_path; /* the container's, or NULL */
};

/*
 * Attach container @id to the shim of namespace @cookie, starting one when
 * none answers. When it returns 0 the table is in force and names resolve;
 * otherwise egress_leave() removes what there may be.
 */
int egress_attach(struct egress *e, const char *id, uint64_t cookie,
		  const struct egress_start *start, struct err *err);

/* Connect to a shim that runs already. ESRCH when there is none: it died, or
 * the container never had one. */
int egress_connect(struct egress *e, const char *id, uint64_t cookie,
		   struct err *err);

/* Tell what the policy's binaries are in this root filesystem. */
int egress_binaries(struct egress *e, pid_t init_pid,
		    const struct shim_binary *rows, uint32_t n,
		    struct err *err);

/* RULESETS, LISTENER: hand descriptors over. COMMIT, DETACH: none. */
int egress_request(struct egress *e, enum shim_op op, pid_t pid,
		   const int *fds, uint32_t n_fds, struct err *err);

int egress_get_rulesets(struct egress *e, int ret_fds[SHIM_FDS_MAX],
			uint32_t *ret_n, struct err *err);

/* Forget the container now; *ret_left is how many the shim still serves. */
int egress_detach(struct egress *e, uint32_t *ret_left, struct err *err);

int egress_status(struct egress *e, struct shim_reply *ret, struct err *err);

/*
 * A pidfd of the shim that we are connected to, or a negative errno. It must
 * have answered somebody before we connected: until it listens itself, the
 * socket is that of the create that started it (unix(7), SO_PEERCRED).
 */
int egress_pidfd(const struct egress *e);

/* Remove what a shim that died left: its folder, its cgroup. One that lives is
 * left alone. */
int egress_forget(struct arena *a, uint64_t cookie, struct err *err);

void egress_done(struct egress *e);

#endif
