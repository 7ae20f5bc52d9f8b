/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A container's control group in every hierarchy of the machine, by cgroupfs:
 * cgroup v1, v2, and hybrid (v1 hierarchies beside a v2 one, which may own
 * controllers).
 *
 * The promise, whatever a saved state says: a cgroup that cgroup_make() did
 * not create is never signalled, frozen or removed, and the root is refused.
 * A directory is ours when we made it and it still has the inode number that
 * it had then (kernfs ids carry a generation and do not come back).
 *
 * No process is ever moved by another: the child, while it has one thread,
 * writes "0" into v1's tasks files, and is cloned into its v2 cgroup. Writing
 * a pid to cgroup.procs would wait for RCU (about 10 ms).
 *
 * Life: cgroup_plan (looks, touches nothing; save the struct), cgroup_make
 * (save again), cgroup_apply, cgroup_join_open, clone, cgroup_join_self, ...,
 * cgroup_remove. The struct holds no descriptors and no pointers: the
 * container layer writes its fields to state.json and reads them back, then
 * calls cgroup_check.
 *
 * Source: kernel Documentation/admin-guide/cgroup-v1/, cgroup-v2.rst; OCI
 * runtime-spec config-linux.md "Control groups".
 */
#ifndef OSH_LINUX_CGROUP_H
#define OSH_LINUX_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct arena;
struct cgroup_resources;
struct err;

enum {
	CGROUP_DIRS_MAX = 24,	/* hierarchies: 14 controllers, named, v2 */
	CGROUP_MOUNT_MAX = 256, /* a mount point's path, with NUL */
	CGROUP_PATH_MAX = 1024, /* a path below it, with NUL */
};

/* Bits of cgroup_dir.controllers; names in cgroup.c. */
enum cgroup_controller {
	CGROUP_CPU,
	CGROUP_CPUACCT,
	CGROUP_CPUSET,
	CGROUP_MEMORY,
	CGROUP_PIDS,
	CGROUP_IO, /* v1: blkio */
	CGROUP_HUGETLB,
	CGROUP_RDMA,
	CGROUP_MISC,
	CGROUP_DEVICES,
	CGROUP_FREEZER,
	CGROUP_NET_CLS,
	CGROUP_NET_PRIO,
	CGROUP_PERF_EVENT,
	CGROUP_CONTROLLER_N
};

/* The container's directory in one hierarchy. */
struct cgroup_dir {
	char mount[CGROUP_MOUNT_MAX]; /* checked to be a cgroup file system */
	char path[CGROUP_PATH_MAX];   /* below it: "/a/b", never "/" */
	bool v2;
	bool absent;	      /* could not be made; see CGROUP_OPTIONAL */
	uint32_t controllers; /* bit per enum cgroup_controller */
	uint32_t n_created;   /* last components of path that are ours */
	uint64_t ino;	      /* of the directory; 0: not made yet */
};

struct cgroup {
	uint32_t n_dirs;
	struct cgroup_dir dir[CGROUP_DIRS_MAX];
};

enum cgroup_flag {
	/* a hierarchy that this user may not write is left out */
	CGROUP_OPTIONAL = 1 << 0,
};

/*
 * Find the hierarchies (/proc/self/mountinfo, verified by statfs) and the
 * container's path in each. An absolute @cgroups_path is below each root; a
 * relative one is below our own cgroup (v1) or its parent (v2), and NULL or ""
 * is @id, as runc has it. "..", the root and an existing cgroup that has
 * processes are refused. Touches nothing.
 */
int cgroup_plan(struct cgroup *ret, const char *cgroups_path, const char *id,
		unsigned int flags, struct err *err);

/*
 * Make the directories that @cg plans, with v1 cpusets filled from their
 * parents and v2 controllers enabled (all that the machine has; those that
 * @r needs or an error). On failure what was made is removed.
 */
int cgroup_make(struct cgroup *cg, const struct cgroup_resources *r,
		struct err *err);

/*
 * Validate a struct that came from a file: mounts are cgroup file systems,
 * paths are clean and not the root, counts are in range.
 */
int cgroup_check(const struct cgroup *cg, struct err *err);

/*
 * Write @r (cgroup_resources.h). What can't be had is an error that names the
 * controller and the file. Also for `update`: fields that are not set are
 * left alone; device rules are applied when @r has any.
 */
int cgroup_apply(const struct cgroup *cg, const struct cgroup_resources *r,
		 struct err *err);

/* Descriptors with which a child joins; all close-on-exec. */
struct cgroup_join {
	int task_fd[CGROUP_DIRS_MAX]; /* v1 tasks files; owned */
	uint32_t n_task_fds;
	int v2_dir_fd;	 /* for clone3's CLONE_INTO_CGROUP, or -EBADF; owned */
	int v2_procs_fd; /* fall-back when clone3 can't; owned */
};

#define own_cgroup_join __attribute__((cleanup(cgroup_join_close)))
#define CGROUP_JOIN_INIT                                                       \
	{                                                                      \
		.v2_dir_fd = -EBADF, .v2_procs_fd = -EBADF                     \
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

/*
 * Remove what is ours, children made by the container first, then the parents
 * that cgroup_make created if they are empty. EBUSY is retried for up to two
 * seconds (processes that are still dying). Gone already is success.
 */
int cgroup_remove(const struct cgroup *cg, struct err *err);

/* The directory that has @c (v2's for what it owns), or NULL. */
const struct cgroup_dir *cgroup_dir_of(const struct cgroup *cg,
				       enum cgroup_controller c);
/* The v2 directory, or NULL. */
const struct cgroup_dir *cgroup_dir_v2(const struct cgroup *cg);
/* Made by us and still the same directory. */
bool cgroup_dir_is_ours(const struct cgroup_dir *d);

/* "cpu", "memory", ...: the kernel's name in v1 or v2; static storage. */
const char *cgroup_controller_name(enum cgroup_controller c, bool v2);

#endif
