/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One directory of a cgroup hierarchy, opened safely. For the cgroup_*.c
 * files only.
 *
 * The mount point is checked to be a cgroup file system at every use, and the
 * path is resolved beneath it without symlinks and mounts: so a struct from a
 * state file can't lead anywhere else.
 */
#ifndef OSH_LINUX_CGROUP_DIR_H
#define OSH_LINUX_CGROUP_DIR_H

#include "runtime/linux/cgroup.h"

struct err;

/* The hierarchy's root, O_PATH. -ENOENT with text when it isn't mounted. */
int cgroup_dir_open_root(const struct cgroup_dir *d, int *ret_fd,
			 struct err *err);
/* The directory itself, O_PATH. -ENOENT when it is gone. */
int cgroup_dir_open(const struct cgroup_dir *d, int *ret_fd, struct err *err);
/* @path ("/a/b" or "/") beneath @root_fd, O_PATH, or a negative errno. */
int cgroup_dir_try(int root_fd, const char *path);

/* "cgroup MOUNT PATH" is what error texts call it: the file system's name. */
#define CGROUP_DIR_FMT	  "%s%s"
#define CGROUP_DIR_ARG(d) (d)->mount, (d)->path

#endif
