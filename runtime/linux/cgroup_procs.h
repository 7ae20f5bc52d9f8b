/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes of a control group: joining, listing, freezing, signalling.
 *
 * No process is ever moved by another: the child, while it has one thread,
 * writes "0" into v1's tasks files, and is cloned into its v2 cgroup. Writing
 * a pid to cgroup.procs would wait for RCU (about 10 ms). Freezing and
 * signalling are refused for a cgroup that is not ours (cgroup.h).
 *
 * Source: kernel Documentation/admin-guide/cgroup-v2.rst (cgroup.freeze,
 * cgroup.kill), cgroup-v1/freezer-subsystem.rst; clone(2).
 */
#ifndef OSH_LINUX_CGROUP_PROCS_H
#define OSH_LINUX_CGROUP_PROCS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "runtime/linux/cgroup.h"

struct arena;
struct err;

/* Descriptors with which a child joins; all close-on-exec. */
struct cgroup_join {
	int task_fd[CGROUP_DIRS_MAX]; /* v1 tasks files; owned */
	uint32_t n_task_fds;
	int v2_dir_fd; /* for clone3's CLONE_INTO_CGROUP, or -EBADF; owned */
	int v2_procs_fd; /* fall-back when clone3 can't; owned */
};

#define own_cgroup_join __attribute__((cleanup(cgroup_join_close)))
#define CGROUP_JOIN_INIT                                   \
	{                                                  \
		.v2_dir_fd = -EBADF, .v2_procs_fd = -EBADF \
	}

/*
 * Open what a child needs to join, with the parent's privilege (the kernel
 * checks the opener's). With @init_pid > 0 (exec): where the container has
 * moved its processes to a child cgroup and ours may hold none any more (v2's
 * rule against inner processes), the init's own cgroup is taken, if it lies
 * beneath ours.
 */
int cgroup_join_open(struct cgroup_join *ret, const struct cgroup *cg,
		     pid_t init_pid, struct err *err);
void cgroup_join_close(struct cgroup_join *j);
/*
 * In the child, which must be single-threaded: write "0" everywhere. With
 * @v2_done clone3 has placed it in the v2 cgroup already. Allocates nothing.
 */
int cgroup_join_self(const struct cgroup_join *j, bool v2_done,
		     struct err *err);

/* Freeze or thaw, and wait for it (bounded, some seconds). Only if ours. */
int cgroup_freeze(const struct cgroup *cg, bool freeze, struct err *err);
/* Is it frozen? false when there is none, or it is gone. */
bool cgroup_is_frozen(const struct cgroup *cg);

/*
 * Signal every process in it and beneath, only if ours. SIGKILL leaves no
 * process behind that could fork meanwhile (cgroup.kill, or frozen first).
 * A cgroup that is gone is success.
 */
int cgroup_signal(const struct cgroup *cg, int sig, struct err *err);

/* Every process in it and beneath; in @a. A cgroup that is gone has none. */
int cgroup_pids(struct arena *a, const struct cgroup *cg, pid_t **ret_pids,
		size_t *ret_n, struct err *err);

/* How often the OOM killer struck; 0 when it can't be known. */
uint64_t cgroup_oom_kills(const struct cgroup *cg);

#endif
