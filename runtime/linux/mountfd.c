/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/linux/compat.h"
#include "runtime/linux/mountfd.h"

int mountfd_clone(int dir_fd, const char *path, bool recursive,
		  const char *what, int *ret_fd, struct err *err)
{
	unsigned int flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC;
	int fd;

	if (recursive)
		flags |= AT_RECURSIVE;
	if (!*path)
		flags |= AT_EMPTY_PATH;
	fd = open_tree(dir_fd, path, flags);
	if (fd < 0)
		return err_errno(err, errno, "bind %s", what);
	*ret_fd = fd;
	return 0;
}

static int setattr(int fd, bool recursive, struct mount_attr *attr)
{
	unsigned int flags = AT_EMPTY_PATH;

	if (recursive)
		flags |= AT_RECURSIVE;
	return mount_setattr(fd, "", flags, attr, sizeof(*attr));
}

int mountfd_setattr(int fd, uint64_t set, uint64_t clear, bool recursive,
		    const char *what, struct err *err)
{
	struct mount_attr attr = {.attr_set = set, .attr_clr = clear};

	if (!set && !clear)
		return 0;
	if (setattr(fd, recursive, &attr) < 0)
		return err_errno(err, errno,
				 "change the attributes of %s (+%#llx -%#llx)",
				 what, (unsigned long long)set,
				 (unsigned long long)clear);
	return 0;
}

int mountfd_propagation(int fd, unsigned long flags, const char *what,
			struct err *err)
{
	struct mount_attr attr = {.propagation = flags & ~(unsigned long)MS_REC};

	if (setattr(fd, flags & MS_REC, &attr) < 0)
		return err_errno(err, errno, "change the propagation of %s",
				 what);
	return 0;
}

int mountfd_idmap(int fd, int userns_fd, bool recursive, const char *what,
		  struct err *err)
{
	struct mount_attr attr = {
		.attr_set = MOUNT_ATTR_IDMAP,
		.userns_fd = (unsigned int)userns_fd,
	};

	if (setattr(fd, recursive, &attr) < 0)
		return err_errno(err, errno, "map the ids of %s", what);
	return 0;
}

int mountfd_attach(int fd, int target_fd, const char *what, struct err *err)
{
	if (move_mount(fd, "", target_fd, "",
		       MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return err_errno(err, errno, "mount %s", what);
	return 0;
}

int mountfd_bind(int source_fd, int target_fd, const char *what,
		 struct err *err)
{
	own_close int fd = -EBADF;
	int r = mountfd_clone(source_fd, "", false, what, &fd, err);

	if (r < 0)
		return r;
	return mountfd_attach(fd, target_fd, what, err);
}
