/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "maskedPaths" and "readonlyPaths".
 *
 * Covers are taken from one /dev/null and one empty tmpfs, opened and checked
 * once: what the container's root has at /dev/null may be a link to whatever
 * the image's author would like to see bound over /proc (CVE-2025-31133).
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/path.h"
#include "runtime/linux/compat.h"
#include "runtime/linux/mountfd.h"
#include "runtime/linux/rootfs.h"

struct covers {
	int null_fd; /* owned, once there was a file to mask */
	int tmpfs_fd; /* owned, once there was a directory to mask */
};

static bool is_absent(int r)
{
	return r == -ENOENT || r == -ENOTDIR;
}

static int open_null(int root_fd, int *ret_fd, struct err *err)
{
	own_close int fd = -EBADF;
	struct stat st;
	int r = path_open_in(root_fd, "/dev/null", O_PATH | O_NOFOLLOW, &fd,
			     err);

	if (r < 0)
		return r;
	if (fstat(fd, &st) < 0)
		return err_errno(err, errno, "stat /dev/null");
	if (!S_ISCHR(st.st_mode) || st.st_rdev != makedev(1, 3))
		return err_set(err, EINVAL, "/dev/null is not the null device");
	*ret_fd = take_fd(&fd);
	return 0;
}

static int mask_file(struct covers *c, int root_fd, int target_fd,
		     const char *path, struct err *err)
{
	int r = 0;

	if (c->null_fd < 0)
		r = open_null(root_fd, &c->null_fd, err);
	if (r < 0)
		return r;
	return mountfd_bind(c->null_fd, target_fd, path, err);
}

/* One inode, its root: a detached, read-only tmpfs. */
static int make_empty(int *ret_fd, struct err *err)
{
	own_close int fs_fd = fsopen("tmpfs", FSOPEN_CLOEXEC);
	int fd;

	if (fs_fd < 0)
		return err_errno(err, errno, "fsopen tmpfs");
	if (fsconfig(fs_fd, FSCONFIG_SET_STRING, "nr_blocks", "1", 0) < 0 ||
	    fsconfig(fs_fd, FSCONFIG_SET_STRING, "nr_inodes", "1", 0) < 0 ||
	    fsconfig(fs_fd, FSCONFIG_SET_FLAG, "ro", NULL, 0) < 0 ||
	    fsconfig(fs_fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return err_errno(err, errno, "make an empty tmpfs");
	fd = fsmount(fs_fd, FSMOUNT_CLOEXEC,
		     MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
			     MOUNT_ATTR_NOEXEC);
	if (fd < 0)
		return err_errno(err, errno, "fsmount tmpfs");
	*ret_fd = fd;
	return 0;
}

static int mask_dir(struct covers *c, int target_fd, const char *path,
		    struct err *err)
{
	int r;

	if (c->tmpfs_fd >= 0)
		return mountfd_bind(c->tmpfs_fd, target_fd, path, err);
	r = make_empty(&c->tmpfs_fd, err);
	if (r < 0)
		return r;
	return mountfd_attach(c->tmpfs_fd, target_fd, path, err);
}

static int mask(struct covers *c, int root_fd, const char *path,
		struct err *err)
{
	own_close int fd = path_try_in(root_fd, path, O_PATH);
	struct stat st;

	if (is_absent(fd))
		return 0;
	if (fd < 0)
		return err_errno(err, -fd, "open");
	if (fstat(fd, &st) < 0)
		return err_errno(err, errno, "stat");
	if (S_ISDIR(st.st_mode))
		return mask_dir(c, fd, path, err);
	return mask_file(c, root_fd, fd, path, err);
}

int rootfs_mask(int root_fd, const char *const *paths, size_t n,
		struct err *err)
{
	struct covers c = {.null_fd = -EBADF, .tmpfs_fd = -EBADF};
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		r = mask(&c, root_fd, paths[i], err);
		if (r < 0)
			r = err_wrap(err, "mask %s", paths[i]);
	}
	close_fd(c.null_fd);
	close_fd(c.tmpfs_fd);
	return r;
}

static int readonly_path(int root_fd, const char *path, struct err *err)
{
	own_close int target_fd = path_try_in(root_fd, path, O_PATH);
	own_close int fd = -EBADF;
	int r;

	if (is_absent(target_fd))
		return 0;
	if (target_fd < 0)
		return err_errno(err, -target_fd, "open %s", path);
	r = mountfd_clone(target_fd, "", true, path, &fd, err);
	if (r < 0)
		return r;
	r = mountfd_setattr(fd, MOUNT_ATTR_RDONLY, 0, true, path, err);
	if (r < 0)
		return r;
	return mountfd_attach(fd, target_fd, path, err);
}

int rootfs_readonly_paths(int root_fd, const char *const *paths, size_t n,
			  struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		int r = readonly_path(root_fd, paths[i], err);

		if (r < 0)
			return err_wrap(err, "make %s read-only", paths[i]);
	}
	return 0;
}
