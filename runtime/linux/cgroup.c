/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/cgroup.h"
#include "runtime/linux/cgroup_dir.h"
#include "runtime/linux/cgroup_find.h"

/* ------------------------------------------------------------- opening */

int cgroup_dir_open_root(const struct cgroup_dir *d, int *ret_fd,
			 struct err *err)
{
	own_close int fd =
		openat(AT_FDCWD, d->mount, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;

	if (fd < 0)
		return err_errno(err, errno, "open cgroup mount %s", d->mount);
	if (fstatfs(fd, &fs) < 0)
		return err_errno(err, errno, "statfs %s", d->mount);
	if (fs.f_type != (d->v2 ? CGROUP2_SUPER_MAGIC : CGROUP_SUPER_MAGIC))
		return err_set(err, ENOENT,
			       "%s: no cgroup v%d is mounted there", d->mount,
			       d->v2 ? 2 : 1);
	*ret_fd = take_fd(&fd);
	return 0;
}

int cgroup_dir_try(int root_fd, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
			   RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
	};
	long fd;

	path += strspn(path, "/");
	fd = syscall(SYS_openat2, root_fd, *path ? path : ".", &how,
		     sizeof(how));
	return fd < 0 ? -errno : (int)fd;
}

int cgroup_dir_open(const struct cgroup_dir *d, int *ret_fd, struct err *err)
{
	own_close int root_fd = -EBADF;
	int r = cgroup_dir_open_root(d, &root_fd, err);

	if (r < 0)
		return r;
	r = cgroup_dir_try(root_fd, d->path);
	if (r < 0)
		return err_errno(err, -r, "open cgroup " CGROUP_DIR_FMT,
				 CGROUP_DIR_ARG(d));
	*ret_fd = r;
	return 0;
}

/*
 * Does a process live in the directory itself? 1, 0, or a negative errno
 * (-EOPNOTSUPP in a threaded cgroup).
 */
static int has_process(int dir_fd)
{
	own_close int fd = openat(dir_fd, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	char c;
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, &c, 1);
	return n < 0 ? -errno : n > 0;
}

/* ------------------------------------------------------------- queries */

const struct cgroup_dir *cgroup_dir_v2(const struct cgroup *cg)
{
	for (uint32_t i = 0; i < cg->n_dirs; i++)
		if (cg->dir[i].v2 && !cg->dir[i].absent)
			return &cg->dir[i];
	return NULL;
}

const struct cgroup_dir *cgroup_dir_of(const struct cgroup *cg,
				       enum cgroup_controller c)
{
	for (uint32_t i = 0; i < cg->n_dirs; i++)
		if ((cg->dir[i].controllers >> c & 1) && !cg->dir[i].absent)
			return &cg->dir[i];
	return NULL;
}

bool cgroup_dir_is_ours(const struct cgroup_dir *d)
{
	own_close int fd = -EBADF;
	struct err ignored;
	struct stat st;

	return d->n_created > 0 && d->ino != 0 && !d->absent &&
	       cgroup_dir_open(d, &fd, &ignored) == 0 && fstat(fd, &st) == 0 &&
	       st.st_ino == d->ino;
}

/* "/a/b" with no empty, "." or ".." component */
static bool is_clean(const char *path)
{
	if (*path != '/')
		return false;
	while (*path) {
		size_t n = strcspn(++path, "/");

		if (n == 0 || (n <= 2 && strspn(path, ".") >= n))
			return false;
		path += n;
	}
	return true;
}

static uint32_t n_components(const char *path)
{
	uint32_t n = 0;

	for (; *path; path++)
		n += *path == '/';
	return n;
}

int cgroup_check(const struct cgroup *cg, struct err *err)
{
	if (cg->n_dirs > CGROUP_DIRS_MAX)
		return err_set(err, EINVAL, "cgroup: %u directories",
			       cg->n_dirs);
	for (uint32_t i = 0; i < cg->n_dirs; i++) {
		const struct cgroup_dir *d = &cg->dir[i];

		if (!memchr(d->mount, '\0', sizeof(d->mount)) ||
		    !memchr(d->path, '\0', sizeof(d->path)) ||
		    !is_clean(d->mount) || !is_clean(d->path))
			return err_set(err, EINVAL,
				       "cgroup %u: path is not clean", i);
		if (d->n_created > n_components(d->path) ||
		    d->controllers >> CGROUP_CONTROLLER_N)
			return err_set(err, EINVAL,
				       "cgroup " CGROUP_DIR_FMT
				       ": value out of range",
				       CGROUP_DIR_ARG(d));
	}
	return 0;
}

/* ------------------------------------------------------------ planning */

/* Adds @path's components; "." and empty ones are left out, ".." refused. */
static int add_components(struct strbuf *sb, const char *path, struct err *err)
{
	for (const char *p = path; *p;) {
		size_t n = strcspn(p, "/");

		if (n == 2 && strncmp(p, "..", 2) == 0)
			return err_set(err, EINVAL,
				       "cgroups path %s: \"..\" is refused",
				       path);
		if (n > 0 && !(n == 1 && *p == '.')) {
			strbuf_addc(sb, '/');
			strbuf_add(sb, p, n);
		}
		p += n;
		p += *p == '/';
	}
	return 0;
}

static size_t parent_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) : 0;
}

static int plan_path(struct cgroup_dir *d, const struct cgroup_hierarchy *h,
		     const char *path, struct err *err)
{
	char room[CGROUP_PATH_MAX];
	struct strbuf full = STRBUF_FIXED(room);
	int r;

	if (*path != '/') {
		if (!h->own)
			return err_set(err, EINVAL,
				       "cgroups path %s: our own cgroup is not "
				       "beneath %s",
				       path, h->mount);
		r = add_components(&full, h->own, err);
		if (r < 0)
			return r;
		/*
		 * v2 allows no processes beside child groups with controllers:
		 * our own holds us, so the container's goes beside it
		 */
		if (h->v2) {
			full.len = parent_len(full.s);
			full.s[full.len] = '\0';
		}
	}
	r = add_components(&full, path, err);
	if (r < 0)
		return r;
	if (full.len == 0)
		return err_set(err, EINVAL,
			       "cgroups path %s: the root is refused", path);
	if (full.cut || !str_copy(d->path, sizeof(d->path), full.s))
		return err_errno(err, ENAMETOOLONG, "cgroups path %s", path);
	return 0;
}

/*
 * Does a cgroup that we find have processes or child groups? Our limits would
 * then be theirs. A directory of kernfs has a link for each child.
 */
static int is_in_use(int dir_fd)
{
	struct stat st;

	if (fstat(dir_fd, &st) < 0)
		return -errno;
	return st.st_nlink > 2 ? 1 : has_process(dir_fd);
}

/* How many of the last components are missing? */
static int plan_missing(struct cgroup_dir *d, struct err *err)
{
	own_close int root_fd = -EBADF;
	char path[CGROUP_PATH_MAX];
	int r = cgroup_dir_open_root(d, &root_fd, err);

	if (r < 0)
		return r;
	str_copy(path, sizeof(path), d->path);
	for (d->n_created = 0; *path; d->n_created++) {
		own_close int fd = cgroup_dir_try(root_fd, path);

		if (fd >= 0) {
			r = d->n_created ? 0 : is_in_use(fd);
			break;
		}
		if (fd != -ENOENT)
			return err_errno(err, -fd,
					 "open cgroup " CGROUP_DIR_FMT,
					 CGROUP_DIR_ARG(d));
		path[parent_len(path)] = '\0';
	}
	if (r < 0)
		return err_errno(err, -r, "read cgroup " CGROUP_DIR_FMT,
				 CGROUP_DIR_ARG(d));
	if (r > 0)
		return err_set(err, EBUSY,
			       "cgroup " CGROUP_DIR_FMT " exists and is in use",
			       CGROUP_DIR_ARG(d));
	return 0;
}

/* What v2 has built in, unless v1 does it on this machine. */
static void add_implicit(struct cgroup_dir *d, uint32_t v1_has)
{
	const uint32_t implicit = UINT32_C(1) << CGROUP_DEVICES |
				  UINT32_C(1) << CGROUP_FREEZER |
				  UINT32_C(1) << CGROUP_PERF_EVENT;

	if (d->v2)
		d->controllers |= implicit & ~v1_has;
}

static int plan_dir(struct cgroup_dir *d, const struct cgroup_hierarchy *h,
		    const char *path, struct err *err)
{
	int r;

	if (!str_copy(d->mount, sizeof(d->mount), h->mount))
		return err_errno(err, ENAMETOOLONG, "cgroup mount %s",
				 h->mount);
	d->v2 = h->v2;
	d->controllers = h->controllers;
	r = plan_path(d, h, path, err);
	return r < 0 ? r : plan_missing(d, err);
}

int cgroup_plan(struct cgroup *ret, const char *cgroups_path, const char *id,
		unsigned int flags, struct err *err)
{
	own_arena struct arena a = ARENA_INIT;
	struct cgroup_hierarchies all;
	uint32_t v1_has = 0;
	int r;

	if (!cgroups_path || !*cgroups_path)
		cgroups_path = id;
	*ret = (struct cgroup){0};
	r = cgroup_find(&a, &all, err);
	if (r < 0)
		return r;
	if (all.n == 0 && !(flags & CGROUP_OPTIONAL))
		return err_set(err, ENOENT, "no cgroup hierarchy is mounted");
	for (size_t i = 0; i < all.n; i++) {
		r = plan_dir(&ret->dir[i], &all.v[i], cgroups_path, err);
		if (r < 0)
			return r;
		ret->dir[i].optional = flags & CGROUP_OPTIONAL;
		if (!all.v[i].v2)
			v1_has |= all.v[i].controllers;
	}
	ret->n_dirs = (uint32_t)all.n;
	for (uint32_t i = 0; i < ret->n_dirs; i++)
		add_implicit(&ret->dir[i], v1_has);
	return 0;
}
