/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mounting what a container asks for into its root filesystem.
 *
 * The caller fills a struct mount_request for each entry of the configuration
 * and calls mount_do for one after the other, in the container's mount
 * namespace, before pivot_root. Targets are resolved beneath the root's
 * descriptor (path.h) and created when missing; the mount then goes onto that
 * descriptor.
 *
 * Bind mounts are cloned (open_tree), get all their attributes while nobody
 * can reach them (mount_setattr), and are then attached (move_mount): there is
 * no moment at which a read-only volume is writable, and flags that a user
 * namespace locked stay (youki#3536). Needs Linux 5.12. Other filesystems use
 * mount(2) on /proc/self/fd/N: half the system calls of fsopen and its
 * sequel.
 *
 * Sources: OCI runtime specification 1.3, config.md "Mounts" and
 * config-linux.md; mount(2), mount_setattr(2), open_tree(2).
 */
#ifndef OSH_LINUX_MOUNT_H
#define OSH_LINUX_MOUNT_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct cgroup_view;
struct err;

enum { MOUNT_PROPAGATIONS_MAX = 8 };

enum mount_idmap {
	MOUNT_IDMAP_NONE,
	MOUNT_IDMAP_TOP, /* "idmap": the mount alone */
	MOUNT_IDMAP_RECURSIVE, /* "ridmap": and those below it */
};

/* What the strings in "options" mean. */
struct mount_options {
	unsigned long flags; /* MS_*, without MS_BIND and MS_REC */
	unsigned long cleared; /* MS_* that were turned off by name */
	uint64_t rec_set; /* MOUNT_ATTR_* for the whole tree */
	uint64_t rec_clear;
	unsigned int n_propagation;
	unsigned long propagation[MOUNT_PROPAGATIONS_MAX]; /* in order */
	bool bind; /* "bind" or "rbind": whatever the type says */
	bool recursive; /* "rbind" */
	bool tmpcopyup;
	enum mount_idmap idmap;
	const char *data; /* what is left, "a=1,b"; NULL when nothing */
};

/*
 * Read "options". @a holds the data string. Unknown words go to the
 * filesystem as data, as the specification has it.
 */
int mount_options_parse(struct arena *a, const char *const *options,
			size_t n_options, struct mount_options *ret,
			struct err *err);

/* The @i-th option that we know (sorted), NULL after the last: `features`. */
const char *mount_option_name(size_t i);

/* "shared", "rslave", ... as MS_* flags with MS_REC; 0 when unknown. */
unsigned long mount_propagation_parse(const char *s);

struct mount_request {
	const char *destination; /* absolute, inside the container */
	const char *type; /* NULL for bind mounts */
	const char *source; /* host path, or any word; may be NULL */
	struct mount_options opt;
	/*
	 * A detached mount from mount_source_open, or -EBADF: for sources
	 * that the container's user namespace could not reach.
	 */
	int source_fd;
	int userns_fd; /* for idmap and ridmap; otherwise -EBADF */
};

#define MOUNT_REQUEST_INIT                               \
	{                                                \
		.source_fd = -EBADF, .userns_fd = -EBADF \
	}

/* What all mounts of a container have in common. */
struct mount_env {
	int root_fd; /* the container's root; rootfs_prepare makes it */
	bool in_userns;
	bool own_cgroupns;
	const char *label; /* "mountLabel" of SELinux, or NULL */
	const struct cgroup_view *cgroups; /* for type "cgroup" only */
	/* One line for the log when something is mounted in another way. */
	void (*note)(void *arg, const char *text);
	void *note_arg;
};

/*
 * Carry out one request. Refuses mounts inside /proc except those that the
 * peers allow (CVE-2019-16884, runc#4817), and a /proc or /sys that is a
 * symlink (CVE-2019-19921).
 */
int mount_do(const struct mount_env *env, const struct mount_request *req,
	     struct err *err);

/*
 * Clone the source of a bind mount, with its attributes and its id map, into
 * a detached mount: by the parent, where the container's user namespace could
 * not reach it or may not map it. It is a slave of the source.
 */
int mount_source_open(const struct mount_request *req, int *ret_fd,
		      struct err *err);

/*
 * Whether the runtime fills /dev with devices and links: not when the last
 * request for "/dev" binds one that is somebody else's.
 */
bool mount_dev_is_ours(const struct mount_request *reqs, size_t n);

#endif
