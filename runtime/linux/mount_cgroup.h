/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a container sees below /sys/fs/cgroup.
 *
 * On a v1 machine: a tmpfs with a directory for each hierarchy, and a link for
 * each controller that shares one. With a cgroup namespace each is mounted
 * anew; without, the container's own cgroup is bound there. On a v2 machine:
 * the one hierarchy. See cgroup_namespaces(7), cgroups(7).
 */
#ifndef OSH_LINUX_MOUNT_CGROUP_H
#define OSH_LINUX_MOUNT_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct err;
struct mount_env;
struct mount_request;
struct mountinfo;

/* One cgroup hierarchy that the container may see; see cgroup_view_read. */
struct cgroup_view_entry {
	const char *name; /* directory: "cpu,cpuacct", "systemd" */
	const char *data; /* mount data; NULL: the v2 hierarchy */
	const char *mountpoint; /* where this mount namespace has it */
	const char *path; /* our cgroup, below .mountpoint: "/a/b" */
};

struct cgroup_view {
	struct cgroup_view_entry *v;
	size_t n;
	bool v1; /* there is a v1 hierarchy: v2, if any, is beside it */
};

/*
 * Read /proc/self/cgroup and /proc/self/mountinfo. To be called in the process
 * that is in the container's cgroups already, and before it unshares its
 * cgroup namespace. Hierarchies in which we are at "/" are left out on a v1
 * machine: nobody gave the container a cgroup of its own there, so showing
 * them would show the host's.
 */
int cgroup_view_read(struct arena *a, struct cgroup_view *ret, struct err *err);

/*
 * The same from given texts, which are modified; mounts for which @is_visible
 * says no do not count.
 */
int cgroup_view_parse(struct arena *a, char *cgroup, char *mountinfo,
		      bool (*is_visible)(const struct mountinfo *m),
		      struct cgroup_view *ret, struct err *err);

/* mount_do for type "cgroup". */
int mount_cgroup_do(const struct mount_env *env,
		    const struct mount_request *req, struct err *err);

#endif
