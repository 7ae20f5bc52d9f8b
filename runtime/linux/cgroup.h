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
 * Life: cgroup_plan (looks, touches nothing; save the struct), cgroup_make
 * (save again), cgroup_apply, the processes (cgroup_procs.h), cgroup_remove.
 * The struct holds no descriptors and no pointers: the container layer writes
 * its fields to state.json and reads them back, then calls cgroup_check.
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

struct cgroup_resources;
struct err;

enum {
	CGROUP_DIRS_MAX = 16, /* 14 controllers, name=systemd, v2 */
	CGROUP_MOUNT_MAX = 128, /* a mount point's path, with NUL */
	CGROUP_PATH_MAX = 512, /* a path below it, with NUL */
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
	char path[CGROUP_PATH_MAX]; /* below it: "/a/b", never "/" */
	bool v2;
	bool optional; /* CGROUP_OPTIONAL; read by cgroup_make only */
	bool absent; /* so it could not be made, and was left out */
	uint32_t controllers; /* bit per enum cgroup_controller */
	uint32_t n_created; /* last components of path that are ours */
	uint64_t ino; /* of the directory; 0: not made yet */
};

/* About 11 KB. */
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
 * processes or children are refused. Touches nothing.
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
 * Validate a struct that came from a file: paths are clean and not the root,
 * counts are in range. (That a mount is a cgroup file system is checked at
 * every use.) Looks at nothing.
 */
int cgroup_check(const struct cgroup *cg, struct err *err);

/*
 * Write @r (cgroup_resources.h). What can't be had is an error that names the
 * controller and the file. Also for `update`: fields that are not set are
 * left alone; device rules are applied when @r has any.
 */
int cgroup_apply(const struct cgroup *cg, const struct cgroup_resources *r,
		 struct err *err);

/*
 * Give the v2 directory and the files that the kernel lists for delegation to
 * @uid, so that the container's own root may divide its cgroup: for one with
 * a cgroup namespace and a writable mount of it.
 */
int cgroup_delegate(const struct cgroup *cg, uid_t uid, struct err *err);

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
