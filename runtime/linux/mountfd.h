/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mounts as descriptors: open_tree(2), mount_setattr(2), move_mount(2), with
 * errors as text. @what names the object. A clone that is closed without
 * having been attached costs an RCU wait: don't.
 */
#ifndef OSH_LINUX_MOUNTFD_H
#define OSH_LINUX_MOUNTFD_H

#include <stdbool.h>
#include <stdint.h>

struct err;

/*
 * Clone the mount at @path (relative to @dir_fd; "" for @dir_fd itself) into
 * a detached one.
 */
int mountfd_clone(int dir_fd, const char *path, bool recursive,
		  const char *what, int *ret_fd, struct err *err);

/* Turn MOUNT_ATTR_* on and off. Nothing to change is no call. */
int mountfd_setattr(int fd, uint64_t set, uint64_t clear, bool recursive,
		    const char *what, struct err *err);

/* @flags: MS_SHARED, MS_SLAVE, MS_PRIVATE or MS_UNBINDABLE, and MS_REC. */
int mountfd_propagation(int fd, unsigned long flags, const char *what,
			struct err *err);

int mountfd_idmap(int fd, int userns_fd, bool recursive, const char *what,
		  struct err *err);

/* Attach @fd on top of what @target_fd names. */
int mountfd_attach(int fd, int target_fd, const char *what, struct err *err);

/* Bind what @source_fd names on top of what @target_fd names. */
int mountfd_bind(int source_fd, int target_fd, const char *what,
		 struct err *err);

#endif
