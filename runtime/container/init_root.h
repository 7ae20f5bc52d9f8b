/* SPDX-License-Identifier: Apache-2.0 */
/* The init's part that concerns the root filesystem: see init.c, steps 9, 10. */
#ifndef OSH_CONTAINER_INIT_ROOT_H
#define OSH_CONTAINER_INIT_ROOT_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/arena.h"
#include "runtime/linux/mount_cgroup.h"
#include "runtime/oci/state.h"

struct err;
struct launch;
struct oci_hook_list;

struct init_root {
	struct arena arena;
	int root_fd;
	int slave_fd; /* the terminal, attached by enter_confine */
	struct cgroup_view cgroups;
	uint64_t *narrowed; /* mount ids: read-only by the plan alone */
	size_t n_narrowed;
};

#define INIT_ROOT_INIT { .root_fd = -EBADF, .slave_fd = -EBADF }

/* Remember what cgroups there are, before the namespace hides it. */
int init_root_cgroups(struct init_root *ir, const struct launch *l,
		      struct err *err);
/* Mounts, devices, terminal, createContainer hooks. */
int init_root_build(struct init_root *ir, struct launch *l, struct err *err);
/* The hooks that run in the container's namespaces, with @status in their
 * state; none is no error. */
int init_root_hooks(const struct launch *l, const struct oci_hook_list *list,
		    const char *kind, enum oci_status status, struct err *err);
/* pivot_root, sysctls, masked and read-only paths, host name. */
int init_root_switch(struct init_root *ir, struct launch *l, struct err *err);
/* Resolve the policy's paths in the new root: l->enter.landlock_fd. */
int init_root_landlock(struct launch *l, struct err *err);

#endif
