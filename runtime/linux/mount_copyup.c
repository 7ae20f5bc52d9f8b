/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/path.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/mount_copyup.h"

enum { DEPTH_MAX = 64 };

static int copy_dir(int from_fd, int to_fd, unsigned int depth,
		    struct err *err);

/* Owner first: chown takes the set-user-id bits away. */
static int copy_attrs(int fd, const struct stat *st, const char *name,
		      struct err *err)
{
	const struct timespec times[2] = {st->st_atim, st->st_mtim};

	if (fchown(fd, st->st_uid, st->st_gid) < 0 ||
	    fchmod(fd, st->st_mode & 07777) < 0 || futimens(fd, times) < 0)
		return err_errno(err, errno, "copy the owner and mode of %s",
				 name);
	return 0;
}

static int copy_file(int from_dir, int to_dir, const char *name,
		     const struct stat *st, struct err *err)
{
	own_close int from = path_try_in(from_dir, name, O_RDONLY | O_NOFOLLOW);
	own_close int to = -EBADF;

	if (from < 0)
		return err_errno(err, -from, "open %s", name);
	to = openat(to_dir, name,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (to < 0)
		return err_errno(err, errno, "create %s", name);
	for (;;) {
		ssize_t n = sendfile(to, from, NULL, 1 << 20);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(err, errno, "copy %s", name);
		if (n == 0)
			return copy_attrs(to, st, name, err);
	}
}

static int copy_link(int from_dir, int to_dir, const char *name,
		     const struct stat *st, struct err *err)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(from_dir, name, target, sizeof(target) - 1);

	if (n < 0)
		return err_errno(err, errno, "read the link %s", name);
	target[n] = '\0';
	if (symlinkat(target, to_dir, name) < 0 ||
	    fchownat(to_dir, name, st->st_uid, st->st_gid,
		     AT_SYMLINK_NOFOLLOW) < 0)
		return err_errno(err, errno, "create the link %s", name);
	return 0;
}

static int copy_subdir(int from_dir, int to_dir, const char *name,
		       unsigned int depth, struct err *err)
{
	own_close int from =
		path_try_in(from_dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW);
	own_close int to = -EBADF;

	if (from < 0)
		return err_errno(err, -from, "open %s", name);
	if (mkdirat(to_dir, name, 0700) < 0)
		return err_errno(err, errno, "create %s", name);
	to = path_try_in(to_dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW);
	if (to < 0)
		return err_errno(err, -to, "open %s", name);
	return copy_dir(from, to, depth + 1, err);
}

static int copy_entry(int from_dir, int to_dir, const char *name,
		      unsigned int depth, struct err *err)
{
	struct stat st;

	if (fstatat(from_dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_errno(err, errno, "stat %s", name);
	if (S_ISDIR(st.st_mode))
		return copy_subdir(from_dir, to_dir, name, depth, err);
	if (S_ISREG(st.st_mode))
		return copy_file(from_dir, to_dir, name, &st, err);
	if (S_ISLNK(st.st_mode))
		return copy_link(from_dir, to_dir, name, &st, err);
	return err_set(err, EINVAL, "copy %s: not a file, directory or link",
		       name);
}

static int copy_dir(int from_fd, int to_fd, unsigned int depth, struct err *err)
{
	own_close int from = path_try_in(from_fd, ".", O_RDONLY | O_DIRECTORY);
	own_close int to = path_try_in(to_fd, ".", O_RDONLY | O_DIRECTORY);
	own_dir DIR *d = NULL;
	struct dirent *e;
	struct stat st;

	if (depth > DEPTH_MAX)
		return err_set(err, ELOOP, "more than %d directories deep",
			       DEPTH_MAX);
	if (from < 0 || to < 0)
		return err_errno(err, from < 0 ? -from : -to,
				 "open the directory");
	if (fstat(from, &st) < 0)
		return err_errno(err, errno, "stat the directory");
	d = fdopendir(dup(from));
	if (!d)
		return err_errno(err, errno, "read the directory");
	for (;;) {
		int r;

		errno = 0;
		e = readdir(d);
		if (!e)
			break;
		if (str_eq(e->d_name, ".") || str_eq(e->d_name, ".."))
			continue;
		r = copy_entry(from, to, e->d_name, depth, err);
		if (r < 0)
			return r;
	}
	if (errno)
		return err_errno(err, errno, "read the directory");
	return copy_attrs(to, &st, "the directory", err);
}

int mount_copyup(int from_fd, int to_fd, struct err *err)
{
	int r = copy_dir(from_fd, to_fd, 0, err);

	return r < 0 ? err_wrap(err, "copy up") : 0;
}
