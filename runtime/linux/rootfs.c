/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/path.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/compat.h"
#include "runtime/linux/mountfd.h"
#include "runtime/linux/mountinfo.h"
#include "runtime/linux/rootfs.h"

/* A path of the host's, which is trusted, as an O_PATH descriptor. */
static int open_host(const char *path, int *ret_fd, struct err *err)
{
	int fd = open_tree(AT_FDCWD, path, OPEN_TREE_CLOEXEC);

	if (fd < 0)
		return err_errno(err, errno, "open %s", path);
	*ret_fd = fd;
	return 0;
}

/* ---------------------------------------------------------------- prepare */

/*
 * Make the mount that holds @dir_fd private. mount_setattr takes the root of
 * a mount only, so walk up to it.
 */
static int holder_private(int dir_fd, const char *what, struct err *err)
{
	struct mount_attr attr = {.propagation = MS_PRIVATE};
	own_close int fd = -EBADF;

	for (unsigned int depth = 0; depth < PATH_MAX / 2; depth++) {
		int up;

		if (mount_setattr(fd < 0 ? dir_fd : fd, "", AT_EMPTY_PATH,
				  &attr, sizeof(attr)) == 0)
			return 0;
		if (errno != EINVAL)
			break;
		up = openat(fd < 0 ? dir_fd : fd, "..",
			    O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (up < 0)
			break;
		close_fd(fd);
		fd = up;
	}
	return err_errno(err, errno, "make the mount of %s private", what);
}

/*
 * Whether a mount made on the root could still show on the host, after "/"
 * got @propagation.
 */
static bool may_leak(unsigned long propagation)
{
	return (propagation & MS_SHARED) || !(propagation & MS_REC);
}

int rootfs_prepare(const char *path, unsigned long propagation,
		   int *ret_root_fd, struct err *err)
{
	own_close int below_fd = -EBADF;
	own_close int root_fd = -EBADF;
	struct stat st;
	int r;

	/* an unbindable root could not be bound: that comes after the pivot */
	if (!propagation || propagation & MS_UNBINDABLE)
		propagation = MS_SLAVE | MS_REC;
	if (mount(NULL, "/", NULL, propagation, NULL) < 0)
		return err_errno(err, errno, "change the propagation of /");
	r = open_host(path, &below_fd, err);
	if (r < 0)
		return r;
	if (fstat(below_fd, &st) < 0)
		return err_errno(err, errno, "stat %s", path);
	if (!S_ISDIR(st.st_mode))
		return err_errno(err, ENOTDIR, "root filesystem %s", path);
	if (may_leak(propagation)) {
		r = holder_private(below_fd, path, err);
		if (r < 0)
			return r;
	}
	r = mountfd_clone(below_fd, "", true, path, &root_fd, err);
	if (r < 0)
		return r;
	r = mountfd_attach(root_fd, below_fd, path, err);
	if (r < 0)
		return r;
	*ret_root_fd = take_fd(&root_fd);
	return 0;
}

/* ------------------------------------------------------------------ switch */

static int pivot(int root_fd, bool shared, struct err *err)
{
	own_close int old_fd = -EBADF;
	int r;

	if (shared) {
		r = open_host("/", &old_fd, err);
		if (r < 0)
			return r;
	}
	if (fchdir(root_fd) < 0)
		return err_errno(err, errno, "chdir to the new root");
	/* the old root lands on top of the new one: pivot_root(2) */
	if (syscall(SYS_pivot_root, ".", ".") < 0)
		return err_errno(err, errno, "pivot_root");
	if (shared) {
		if (fchdir(old_fd) < 0)
			return err_errno(err, errno, "chdir to the old root");
		if (mount(NULL, ".", NULL, MS_SLAVE | MS_REC, NULL) < 0)
			return err_errno(err, errno, "cut off the old root");
	}
	if (umount2(".", MNT_DETACH) < 0)
		return err_errno(err, errno, "unmount the old root");
	return 0;
}

/*
 * Without pivot_root the host's mounts stay in the namespace, out of sight. A
 * procfs or sysfs among them would let a nested user namespace mount one
 * without our masks (mount_too_revealing in the kernel): they go.
 */
static int drop_revealing(int root_fd, struct err *err)
{
	own_arena struct arena a = ARENA_INIT;
	char name[PATH_FD_NAME];
	char root[PATH_MAX];
	struct mountinfo m;
	char *text;
	ssize_t n;
	int r = mountinfo_read(&a, &text, err);

	if (r < 0)
		return r;
	n = readlink(path_fd_name(root_fd, name), root, sizeof(root) - 1);
	if (n < 0)
		return err_errno(err, errno, "name the new root");
	root[n] = '\0';
	while (mountinfo_next(&text, &m)) {
		const char *rest = str_after(m.mountpoint, root);

		if ((!str_eq(m.type, "proc") && !str_eq(m.type, "sysfs")) ||
		    (rest && (*rest == '/' || !*rest)))
			continue;
		/* gone with its parent already: EINVAL, ENOENT */
		if (umount2(m.mountpoint, MNT_DETACH | UMOUNT_NOFOLLOW) < 0 &&
		    errno != EINVAL && errno != ENOENT)
			return err_errno(err, errno, "unmount %s",
					 m.mountpoint);
	}
	return 0;
}

static int move(int root_fd, struct err *err)
{
	int r = drop_revealing(root_fd, err);

	if (r < 0)
		return r;
	if (fchdir(root_fd) < 0)
		return err_errno(err, errno, "chdir to the new root");
	if (move_mount(root_fd, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return err_errno(err, errno, "move the new root to /");
	if (chroot(".") < 0)
		return err_errno(err, errno, "chroot");
	return 0;
}

static int change_root(int root_fd, struct err *err)
{
	if (fchdir(root_fd) < 0)
		return err_errno(err, errno, "chdir to the new root");
	if (chroot(".") < 0)
		return err_errno(err, errno, "chroot");
	return 0;
}

int rootfs_pivot(int root_fd, enum rootfs_switch how, bool shared,
		 struct err *err)
{
	int r = 0;

	switch (how) {
	case ROOTFS_PIVOT:
		r = pivot(root_fd, shared, err);
		break;
	case ROOTFS_MOVE:
		r = move(root_fd, err);
		break;
	case ROOTFS_CHROOT:
		r = change_root(root_fd, err);
		break;
	}
	if (r < 0)
		return r;
	if (chdir("/") < 0)
		return err_errno(err, errno, "chdir to the new /");
	return path_check_cwd(err);
}

int rootfs_propagate(unsigned long propagation, struct err *err)
{
	if (propagation && mount(NULL, "/", NULL, propagation, NULL) < 0)
		return err_errno(err, errno, "change the propagation of /");
	return 0;
}

int rootfs_readonly(int root_fd, struct err *err)
{
	return mountfd_setattr(root_fd, MOUNT_ATTR_RDONLY, 0, false, "the root",
			       err);
}
