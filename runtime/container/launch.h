/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that a container's init needs, prepared by the parent before the
 * clone. The init reads no file of the client's and decides nothing: it
 * carries out the steps of init.c, in their order, and tells the parent over
 * the sync socket.
 */
#ifndef OSH_CONTAINER_LAUNCH_H
#define OSH_CONTAINER_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "runtime/container/enter.h"
#include "runtime/linux/cgroup_procs.h"
#include "runtime/linux/device.h"
#include "runtime/linux/idmap.h"
#include "runtime/linux/mount.h"
#include "runtime/linux/namespaces.h"
#include "runtime/linux/rootfs.h"
#include "runtime/plan/plan.h"

struct err;
struct oci_spec;
struct oci_state;

/* One rule of a Landlock ruleset, as the plan has it. */
struct launch_path {
	const char *path; /* inside the container */
	bool write;
	bool optional;	 /* where it does not exist there is no rule */
	bool gpu;	 /* only where the container has a GPU */
	const char *why; /* "policy line 12", for the error */
};

struct launch_ruleset {
	enum plan_landlock kind;
	bool best_effort; /* missing paths and old kernels are tolerated */
	bool proc_closed; /* binaries are told apart: see init_root.c */
	const struct launch_path *path;
	size_t n;
};

struct launch {
	const struct oci_spec *spec; /* effective: config and policy merged */
	const char *rootfs;	     /* absolute, on the host */
	struct ns_set ns;	     /* owned */
	struct idmap idmap;
	const struct ns_time_offset *time_offsets;
	size_t n_time_offsets;
	struct cgroup_join join; /* owned */
	bool in_userns;		 /* the container has one of its own */
	bool rootless;		 /* we are in one ourselves */

	struct mount_request *mounts; /* sources owned: launch_mounts.h */
	size_t n_mounts;
	const bool *narrowed; /* of each mount: read-only by the plan alone */
	const struct device *devices;
	size_t n_devices;
	enum rootfs_switch root_switch;

	struct launch_ruleset ruleset[ENTER_LAYERS_MAX];
	const char *const *writable; /* stay so below a read-only root */
	size_t n_writable;
	struct enter enter;

	const struct oci_state *state; /* for the hooks that the init runs */
	int start_fd;		/* the FIFO, open for reading and writing */
	int console_fd;		/* the console socket, or -EBADF */
	int sync_fd;		/* the init's end */
};

/* The init: everything from the clone to execve. Never returns. */
void init_main(struct launch *l) __attribute__((noreturn));

#endif
