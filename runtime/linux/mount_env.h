/* SPDX-License-Identifier: Apache-2.0 */
/* What the files behind mount.h share. */
#ifndef OSH_LINUX_MOUNT_ENV_H
#define OSH_LINUX_MOUNT_ENV_H

#include <stdbool.h>

struct mount_env;

/* One line for the log. */
void mount_note(const struct mount_env *env, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Whether @fd is in a procfs: no target but for a few names. */
bool mount_is_on_proc(int fd);

/*
 * mount(2) onto what @target_fd names. @source NULL: the type's name. Returns
 * 0 or a negative errno.
 */
int mount_fs(int target_fd, const char *type, const char *source,
	     unsigned long flags, const char *data);

#endif
