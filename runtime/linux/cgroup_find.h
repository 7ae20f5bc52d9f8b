/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where this machine's cgroup hierarchies are mounted, from
 * /proc/self/mountinfo, and where this process is in each. For cgroup.c.
 *
 * A folder of a controller's name that is no cgroup mount (some machines have
 * such in the tmpfs at /sys/fs/cgroup) is never taken for one: what mountinfo
 * says is checked with statfs and the device number, because a later mount
 * may cover it.
 */
#ifndef OSH_LINUX_CGROUP_FIND_H
#define OSH_LINUX_CGROUP_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/linux/cgroup.h"

struct arena;
struct err;

struct cgroup_hierarchy {
	const char *mount;
	const char *root; /* of the mount within the hierarchy */
	const char *own; /* our cgroup, below the mount; NULL: not beneath */
	bool v2;
	bool systemd; /* v1's name=systemd */
	uint32_t controllers;
};

struct cgroup_hierarchies {
	struct cgroup_hierarchy v[CGROUP_DIRS_MAX];
	size_t n;
};

/* Pointers live in @a. A machine without any is success with n == 0. */
int cgroup_find(struct arena *a, struct cgroup_hierarchies *ret,
		struct err *err);
/*
 * The same from given texts, which are modified and pointed into. @cgroup is
 * /proc/PID/cgroup, NULL leaves .own NULL. @verify looks at the mounts.
 */
int cgroup_find_parse(char *mountinfo, char *cgroup, bool verify,
		      struct cgroup_hierarchies *ret, struct err *err);

/* Controllers in a v2 list "cpu io memory", as bits. */
uint32_t cgroup_find_controllers(const char *list);

#endif
