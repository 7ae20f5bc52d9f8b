/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/path.h"
#include "runtime/base/strbuf.h"

enum {
	/* a rename or a mount elsewhere makes the kernel say EAGAIN */
	TRIES_MAX = 128,
	/* as the kernel's MAXSYMLINKS */
	LINKS_MAX = 40,
};

static int open_how(int dir_fd, const char *path, int flags, mode_t mode,
		    uint64_t resolve)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned int)(flags | O_CLOEXEC),
		.mode = mode,
		.resolve = resolve | RESOLVE_NO_MAGICLINKS,
	};

	/* O_PATH allows three other flags only */
	if (!(flags & O_PATH))
		how.flags |= O_NOCTTY;
	for (int i = 0; i < TRIES_MAX; i++) {
		long fd = syscall(SYS_openat2, dir_fd, path, &how, sizeof(how));

		if (fd >= 0)
			return (int)fd;
		if (errno != EAGAIN && errno != EINTR)
			break;
	}
	return -errno;
}

/* The root itself is "/", "" and "." alike. */
static const char *in_root(const char *path)
{
	return *path ? path : ".";
}

int path_try_in(int root_fd, const char *path, int flags)
{
	return open_how(root_fd, in_root(path), flags, 0, RESOLVE_IN_ROOT);
}

int path_open_in(int root_fd, const char *path, int flags, int *ret_fd,
		 struct err *err)
{
	int fd = path_try_in(root_fd, path, flags);

	if (fd < 0)
		return err_errno(err, -fd, "open %s", path);
	*ret_fd = fd;
	return 0;
}

int path_open_plain_in(int root_fd, const char *path, int flags, int *ret_fd,
		       struct err *err)
{
	int fd = open_how(root_fd, in_root(path), flags, 0,
			  RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);

	if (fd == -ELOOP)
		return err_set(err, ELOOP, "open %s: must not be a symlink",
			       path);
	if (fd < 0)
		return err_errno(err, -fd, "open %s", path);
	*ret_fd = fd;
	return 0;
}

/* ---------------------------------------------------------------- making */

/* -EEXIST: whoever was faster is judged by the caller. */
static int create_at(int dir_fd, const char *name, bool dir, mode_t dir_mode)
{
	own_close int fd = -EBADF;

	if (dir)
		return mkdirat(dir_fd, name, dir_mode) < 0 ? -errno : 0;
	fd = openat(dir_fd, name,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC |
			    O_NOCTTY,
		    0644);
	return fd < 0 ? -errno : 0;
}

/*
 * A walk along a path whose components may be missing.
 *
 * .cur is the directory that .done names; .rest is what is still to go. A
 * component that is a symlink is resolved by the kernel, from the root along
 * .done, while it leads somewhere; otherwise its text takes its place in .rest
 * and the walk begins anew, so that what the link lacks is made too.
 */
struct walk {
	int root_fd; /* borrowed */
	int cur_fd; /* owned */
	char done[PATH_MAX]; /* "" is the root */
	char rest[PATH_MAX];
	char *next; /* into .rest */
	unsigned int n_links;
	mode_t dir_mode;
};

static void walk_done(struct walk *w)
{
	w->cur_fd = close_fd(w->cur_fd);
}

static int walk_restart(struct walk *w)
{
	close_fd(w->cur_fd);
	w->done[0] = '\0';
	w->next = w->rest;
	w->cur_fd = path_try_in(w->root_fd, ".", O_PATH | O_DIRECTORY);
	return w->cur_fd < 0 ? w->cur_fd : 0;
}

/* The next component, NUL-terminated in .rest; NULL at the end. */
static char *walk_component(struct walk *w, bool *ret_last)
{
	char *name = w->next + strspn(w->next, "/");
	char *end = name + strcspn(name, "/");

	if (!*name)
		return NULL;
	w->next = *end ? end + 1 : end;
	*end = '\0';
	*ret_last = w->next[strspn(w->next, "/")] == '\0';
	return name;
}

/* .done/name is where we are now; takes @fd. */
static int walk_enter(struct walk *w, const char *name, int fd)
{
	size_t n = strlen(w->done);
	int r = snprintf(w->done + n, sizeof(w->done) - n, "/%s", name);

	w->cur_fd = close_fd(w->cur_fd);
	w->cur_fd = fd;
	return r < 0 || (size_t)r >= sizeof(w->done) - n ? -ENAMETOOLONG : 0;
}

/* Put the text of the link @name in place of itself. */
static int walk_splice_link(struct walk *w, const char *name)
{
	char target[PATH_MAX];
	own_strbuf struct strbuf sb = STRBUF_HEAP;
	ssize_t n = readlinkat(w->cur_fd, name, target, sizeof(target) - 1);

	if (n < 0)
		return -errno;
	if (++w->n_links > LINKS_MAX)
		return -ELOOP;
	target[n] = '\0';
	if (target[0] != '/')
		strbuf_adds(&sb, w->done);
	strbuf_addf(&sb, "/%s/%s", target, w->next);
	if (!str_copy(w->rest, sizeof(w->rest), sb.s))
		return -ENAMETOOLONG;
	return walk_restart(w);
}

/* Open .done/@name with everything the kernel follows. */
static int walk_open(struct walk *w, const char *name, int flags)
{
	char path[PATH_MAX];
	struct strbuf sb = STRBUF_FIXED(path);

	strbuf_addf(&sb, "%s/%s", w->done, name);
	if (sb.cut)
		return -ENAMETOOLONG;
	return path_try_in(w->root_fd, path, flags);
}

/*
 * One component: *ret_fd is what it is, perhaps just made. Returns 1 when the
 * walk begins anew.
 */
static int walk_step(struct walk *w, const char *name, bool dir, int *ret_fd)
{
	bool plain = !str_eq(name, "..");

	for (int i = 0; i < TRIES_MAX; i++) {
		struct stat st;
		own_close int fd = -EBADF;
		int r;

		if (!plain)
			fd = walk_open(w, name, O_PATH);
		else
			fd = open_how(w->cur_fd, name, O_PATH | O_NOFOLLOW, 0,
				      RESOLVE_BENEATH);
		if (fd < 0 && fd != -ENOENT)
			return fd;
		if (fd < 0) {
			r = create_at(w->cur_fd, name, dir, w->dir_mode);
			if (r < 0 && r != -EEXIST)
				return r;
			continue;
		}
		if (fstat(fd, &st) < 0)
			return -errno;
		if (!S_ISLNK(st.st_mode)) {
			*ret_fd = take_fd(&fd);
			return 0;
		}
		r = walk_open(w, name, O_PATH);
		if (r == -ENOENT) {
			r = walk_splice_link(w, name);
			return r < 0 ? r : 1;
		}
		if (r < 0)
			return r;
		*ret_fd = r;
		return 0;
	}
	return -EAGAIN;
}

static int walk_make(struct walk *w, bool dir, int *ret_fd)
{
	int r = walk_restart(w);

	while (r >= 0) {
		own_close int fd = -EBADF;
		bool last = true;
		char *name = walk_component(w, &last);

		if (!name) {
			*ret_fd = take_fd(&w->cur_fd);
			return 0;
		}
		if (str_eq(name, "."))
			continue;
		r = walk_step(w, name, dir || !last, &fd);
		if (r < 0)
			return r;
		if (r == 1)
			continue;
		if (last) {
			*ret_fd = take_fd(&fd);
			return 0;
		}
		r = walk_enter(w, name, take_fd(&fd));
	}
	return r;
}

/*
 * The usual case: only the last component of @path is missing. Returns the
 * descriptor, or a negative errno, after which the long way is taken.
 */
static int make_last(int root_fd, const char *path, bool dir, mode_t dir_mode)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t n = (size_t)(name - path);
	own_close int dir_fd = -EBADF;
	char parent[PATH_MAX];
	int r;

	if (!*name || str_eq(name, ".") || str_eq(name, "..") ||
	    n >= sizeof(parent))
		return -EINVAL;
	memcpy(parent, path, n);
	parent[n] = '\0';
	dir_fd = path_try_in(root_fd, parent, O_PATH | O_DIRECTORY);
	if (dir_fd < 0)
		return dir_fd;
	r = create_at(dir_fd, name, dir, dir_mode);
	if (r < 0)
		return r;
	return open_how(dir_fd, name, O_PATH, 0,
			RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

static int make_in(int root_fd, const char *path, bool dir, mode_t dir_mode,
		   int *ret_fd, struct err *err)
{
	struct walk w = {
		.root_fd = root_fd, .cur_fd = -EBADF, .dir_mode = dir_mode};
	int r = make_last(root_fd, path, dir, dir_mode);

	if (r >= 0) {
		*ret_fd = r;
		return 0;
	}
	if (!str_copy(w.rest, sizeof(w.rest), path))
		r = -ENAMETOOLONG;
	else
		r = walk_make(&w, dir, ret_fd);
	walk_done(&w);
	if (r < 0)
		return err_errno(err, -r, "create %s", path);
	return 0;
}

int path_mkdirs_in(int root_fd, const char *path, mode_t mode, int *ret_fd,
		   struct err *err)
{
	own_close int fd = path_try_in(root_fd, path, O_PATH | O_DIRECTORY);
	struct stat st;

	if (fd >= 0) {
		*ret_fd = take_fd(&fd);
		return 0;
	}
	if (fd == -ENOENT) {
		int r = make_in(root_fd, path, true, mode, &fd, err);

		if (r < 0)
			return r;
	}
	if (fd < 0)
		return err_errno(err, -fd, "open %s", path);
	/* somebody else may have been faster */
	if (fstat(fd, &st) < 0)
		return err_errno(err, errno, "stat %s", path);
	if (!S_ISDIR(st.st_mode))
		return err_errno(err, ENOTDIR, "create %s", path);
	*ret_fd = take_fd(&fd);
	return 0;
}

int path_target_in(int root_fd, const char *path, bool dir, int *ret_fd,
		   bool *ret_made, struct err *err)
{
	int fd = path_try_in(root_fd, path, O_PATH);

	if (ret_made)
		*ret_made = fd == -ENOENT;
	if (fd == -ENOENT)
		return make_in(root_fd, path, dir, 0755, ret_fd, err);
	if (fd < 0)
		return err_errno(err, -fd, "open %s", path);
	*ret_fd = fd;
	return 0;
}

int path_parent_in(int root_fd, const char *path, int *ret_dir_fd,
		   const char **ret_name, struct err *err)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	char dir[PATH_MAX];
	size_t n = slash ? (size_t)(slash - path) : 0;
	int r;

	if (!*name || str_eq(name, ".") || str_eq(name, ".."))
		return err_errno(err, EINVAL, "name %s", path);
	if (n >= sizeof(dir))
		return err_errno(err, ENAMETOOLONG, "name %s", path);
	memcpy(dir, path, n);
	dir[n] = '\0';
	r = path_mkdirs_in(root_fd, dir, 0755, ret_dir_fd, err);
	if (r < 0)
		return r;
	*ret_name = name;
	return 0;
}

/* ------------------------------------------------------- working directory */

int path_check_cwd(struct err *err)
{
	char cwd[PATH_MAX];
	/* glibc's getcwd hides the answer that we are after */
	long n = syscall(SYS_getcwd, cwd, sizeof(cwd));

	if (n < 0)
		return err_errno(err, errno, "working directory");
	if (cwd[0] != '/')
		return err_set(err, ENOENT,
			       "working directory: outside the root");
	return 0;
}

int path_chdir_in(int root_fd, const char *path, struct err *err)
{
	own_close int fd = path_try_in(root_fd, path, O_PATH | O_DIRECTORY);

	if (fd < 0)
		return err_errno(err, -fd, "chdir to cwd (%s)", path);
	if (fchdir(fd) < 0)
		return err_errno(err, errno, "chdir to cwd (%s)", path);
	return path_check_cwd(err);
}

/* ------------------------------------------------------------------- proc */

const char *path_fd_name(int fd, char ret_name[PATH_FD_NAME])
{
	assert(fd >= 0);
	snprintf(ret_name, PATH_FD_NAME, "/proc/self/fd/%d", fd);
	return ret_name;
}

int path_check_fs(int fd, uint64_t magic, const char *what, struct err *err)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return err_errno(err, errno, "statfs %s", what);
	if ((uint64_t)fs.f_type != magic)
		return err_set(err, EINVAL,
			       "%s: filesystem of kind %#llx, not %#llx", what,
			       (unsigned long long)fs.f_type,
			       (unsigned long long)magic);
	return 0;
}

int path_proc_fd(int *ret_fd, struct err *err)
{
	enum { PROC_ROOT_INO = 1 };
	own_close int fd =
		open("/proc", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int r;

	if (fd < 0)
		return err_errno(err, errno, "open /proc");
	r = path_check_fs(fd, PROC_SUPER_MAGIC, "/proc", err);
	if (r < 0)
		return r;
	if (fstat(fd, &st) < 0)
		return err_errno(err, errno, "stat /proc");
	if (st.st_ino != PROC_ROOT_INO)
		return err_set(err, EINVAL, "/proc: not the root of a procfs");
	*ret_fd = take_fd(&fd);
	return 0;
}

int path_open_proc(int proc_fd, const char *sub, int flags, int *ret_fd,
		   struct err *err)
{
	own_close int own_fd = -EBADF;
	own_close int fd = -EBADF;
	int r;

	if (proc_fd < 0) {
		r = path_proc_fd(&own_fd, err);
		if (r < 0)
			return r;
		proc_fd = own_fd;
	}
	fd = open_how(proc_fd, sub, flags, 0,
		      RESOLVE_BENEATH | RESOLVE_NO_XDEV);
	if (fd < 0)
		return err_errno(err, -fd, "open /proc/%s", sub);
	r = path_check_fs(fd, PROC_SUPER_MAGIC, sub, err);
	if (r < 0)
		return r;
	*ret_fd = take_fd(&fd);
	return 0;
}

/* ---------------------------------------------------------------- lexical */

int path_clean(const char *path, char *ret, size_t size)
{
	size_t n = 0;

	if (*path != '/')
		return -EINVAL;
	while (*path) {
		size_t len;

		path += strspn(path, "/");
		len = strcspn(path, "/");
		if (len == 2 && !strncmp(path, "..", 2)) {
			while (n && ret[--n] != '/')
				;
		} else if (len && !(len == 1 && *path == '.')) {
			if (n + 1 + len >= size)
				return -ENAMETOOLONG;
			ret[n++] = '/';
			memcpy(ret + n, path, len);
			n += len;
		}
		path += len;
	}
	if (!n) {
		if (size < 2)
			return -ENAMETOOLONG;
		ret[n++] = '/';
	}
	ret[n] = '\0';
	return 0;
}
