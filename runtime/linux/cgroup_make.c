/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making and removing the directories of a cgroup.
 *
 * Others make and remove directories of the same hierarchy at the same time
 * (two containers below one new parent): so each step takes what it finds. A
 * component that somebody else made meanwhile is not ours; one that vanished
 * under our feet is made again, a bounded number of times.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/cgroup.h"
#include "runtime/linux/cgroup_dir.h"
#include "runtime/linux/cgroup_find.h"
#include "runtime/linux/cgroup_resources.h"

enum {
	MAKE_TRIES = 16,
	REMOVE_DEPTH_MAX = 64, /* of groups that the container made */
	REMOVE_WAIT_MS = 2000, /* for processes that are still dying */
	LIST_MAX = 512,
};

/* --------------------------------------------------------------- cpuset */

/*
 * v1: a new cpuset has no CPUs and no memory nodes, and takes no process
 * before it has both: it gets its parent's.
 */
static int inherit_cpuset(int parent_fd, int dir_fd)
{
	static const char *const files[] = {"cpuset.cpus", "cpuset.mems"};

	for (size_t i = 0; i < N_ELEMENTS(files); i++) {
		char text[4096];
		ssize_t n = io_read_str(dir_fd, files[i], text, sizeof(text));
		int r;

		if (n < 0)
			return (int)n;
		if (n > 0)
			continue;
		n = io_read_str(parent_fd, files[i], text, sizeof(text));
		if (n < 0)
			return (int)n;
		r = io_write_str(dir_fd, files[i], text);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---------------------------------------------------- v2's controllers */

static int read_controllers(int dir_fd, const char *file, uint32_t *ret)
{
	char text[LIST_MAX];
	ssize_t n = io_read_str(dir_fd, file, text, sizeof(text));

	if (n < 0)
		return (int)n;
	*ret = cgroup_find_controllers(text);
	return 0;
}

static int write_controllers(int dir_fd, uint32_t bits)
{
	char room[LIST_MAX];
	struct strbuf sb = STRBUF_FIXED(room);

	for (unsigned int i = 0; i < CGROUP_CONTROLLER_N; i++)
		if (bits >> i & 1)
			strbuf_addf(&sb, "%s+%s", sb.len ? " " : "",
				    cgroup_controller_name(i, true));
	return io_write_str(dir_fd, "cgroup.subtree_control", sb.s);
}

/*
 * Let @dir_fd's children have @want. All at once as a rule; where the kernel
 * refuses, one by one, and only @need must succeed.
 */
static int enable(int dir_fd, uint32_t want, uint32_t need, struct err *err)
{
	uint32_t can = 0, has = 0;
	int r = read_controllers(dir_fd, "cgroup.controllers", &can);

	if (r == 0)
		r = read_controllers(dir_fd, "cgroup.subtree_control", &has);
	if (r < 0)
		return err_errno(err, -r, "read cgroup.controllers");
	want = (want | need) & can & ~has;
	if (want == 0 || write_controllers(dir_fd, want) == 0)
		return 0;
	for (unsigned int i = 0; i < CGROUP_CONTROLLER_N; i++) {
		uint32_t bit = UINT32_C(1) << i;

		if (!(want & bit))
			continue;
		r = write_controllers(dir_fd, bit);
		if (r < 0 && (need & bit))
			return err_errno(err, -r,
					 "enable controller %s in "
					 "cgroup.subtree_control",
					 cgroup_controller_name(i, true));
	}
	return 0;
}

/* --------------------------------------------------------------- making */

struct making {
	struct cgroup_dir *d;
	uint32_t want, need; /* v2 controllers */
	uint32_t first_made; /* index of the first component that we made */
	bool leaf_made;
};

/* Copies the component at *@p ("/a/b") and moves on; false at the end. */
static bool next_component(const char **p, char name[CGROUP_PATH_MAX])
{
	size_t n;

	if (**p != '/')
		return false;
	n = strcspn(++*p, "/");
	memcpy(name, *p, n);
	name[n] = '\0';
	*p += n;
	return true;
}

/* Directory @name of @parent_fd, made if it is missing. -ENOENT: vanished. */
static int step_into(struct making *m, int parent_fd, const char *name,
		     uint32_t index, int *ret_fd, struct err *err)
{
	own_close int fd = -EBADF;
	int r = 0;

	if (m->d->v2)
		r = enable(parent_fd, m->want, m->need, err);
	if (r < 0)
		return r;
	m->leaf_made = mkdirat(parent_fd, name, 0755) == 0;
	if (m->leaf_made && index < m->first_made)
		m->first_made = index;
	if (!m->leaf_made && errno != EEXIST)
		return err_errno(err, errno, "mkdir %s", name);
	fd = cgroup_dir_try(parent_fd, name);
	if (fd < 0)
		return err_errno(err, -fd, "open %s", name);
	if (m->d->controllers >> CGROUP_CPUSET & 1 && !m->d->v2)
		r = inherit_cpuset(parent_fd, fd);
	if (r < 0) /* not ENOENT, which would be tried again */
		return err_errno(err, r == -ENOENT ? ENXIO : -r,
				 "copy the parent's cpuset to %s", name);
	*ret_fd = take_fd(&fd);
	return 0;
}

static int walk(struct making *m, int *ret_fd, struct err *err)
{
	own_close int at_fd = -EBADF;
	const char *p = m->d->path;
	char name[CGROUP_PATH_MAX];
	uint32_t index = 0;
	int r = cgroup_dir_open_root(m->d, &at_fd, err);

	while (r == 0 && next_component(&p, name)) {
		int next_fd = -EBADF;

		r = step_into(m, at_fd, name, index++, &next_fd, err);
		close_fd(at_fd);
		at_fd = next_fd;
	}
	if (r == 0)
		*ret_fd = take_fd(&at_fd);
	return r;
}

static uint32_t n_components(const char *path)
{
	uint32_t n = 0;

	for (; *path; path++)
		n += *path == '/';
	return n;
}

/* What did the walk make? A directory that another made is not ours. */
static int settle(struct making *m, int dir_fd, struct err *err)
{
	struct cgroup_dir *d = m->d;
	bool planned = d->n_created > 0;
	struct stat st;

	d->n_created = m->leaf_made ? n_components(d->path) - m->first_made : 0;
	if (planned && !m->leaf_made)
		return err_errno(err, EEXIST, "mkdir");
	if (fstat(dir_fd, &st) < 0)
		return err_errno(err, errno, "stat");
	d->ino = st.st_ino;
	return 0;
}

static int check_available(int dir_fd, uint32_t need, struct err *err)
{
	uint32_t has = 0;
	int r = read_controllers(dir_fd, "cgroup.controllers", &has);

	if (r < 0)
		return err_errno(err, -r, "read cgroup.controllers");
	for (unsigned int i = 0; i < CGROUP_CONTROLLER_N; i++)
		if (need & ~has & UINT32_C(1) << i)
			return err_set(err, ENOENT,
				       "controller %s is not available",
				       cgroup_controller_name(i, true));
	return 0;
}

static int make_dir(struct cgroup_dir *d, uint32_t want, uint32_t need,
		    struct err *err)
{
	struct making m = {
		.d = d,
		.want = want,
		.need = need,
		.first_made = UINT32_MAX,
	};
	own_close int fd = -EBADF;
	int r = -ENOENT;

	for (int i = 0; r == -ENOENT && i < MAKE_TRIES; i++)
		r = walk(&m, &fd, err);
	if (r == 0)
		r = settle(&m, fd, err);
	else
		d->n_created = m.first_made == UINT32_MAX
				       ? 0
				       : n_components(d->path) - m.first_made;
	if (r == 0 && d->v2)
		r = check_available(fd, need, err);
	if (r < 0)
		return err_wrap(err, "make cgroup " CGROUP_DIR_FMT,
				CGROUP_DIR_ARG(d));
	return 0;
}

/* v2's bits that are controllers with a line in subtree_control. */
static uint32_t real_v2(uint32_t bits)
{
	return bits &
	       (UINT32_C(1) << CGROUP_CPU | UINT32_C(1) << CGROUP_CPUSET |
		UINT32_C(1) << CGROUP_MEMORY | UINT32_C(1) << CGROUP_PIDS |
		UINT32_C(1) << CGROUP_IO | UINT32_C(1) << CGROUP_HUGETLB |
		UINT32_C(1) << CGROUP_RDMA | UINT32_C(1) << CGROUP_MISC);
}

static bool has_v1(const struct cgroup *cg)
{
	for (uint32_t i = 0; i < cg->n_dirs; i++)
		if (!cg->dir[i].v2)
			return true;
	return false;
}

static bool is_denied(int r)
{
	return r == -EACCES || r == -EPERM || r == -EROFS;
}

int cgroup_make(struct cgroup *cg, const struct cgroup_resources *r,
		struct err *err)
{
	uint32_t need = cgroup_resources_need(r);
	/* beside v1, v2's controllers are others' affair: only what is asked */
	uint32_t want = has_v1(cg) ? 0 : UINT32_MAX;
	struct err ignored;
	int ret = 0;

	for (uint32_t i = 0; i < cg->n_dirs; i++) {
		struct cgroup_dir *d = &cg->dir[i];

		if (ret < 0) {
			d->n_created = 0; /* not reached: nothing to undo */
			continue;
		}
		ret = make_dir(d, real_v2(want), real_v2(need & d->controllers),
			       err);
		if (is_denied(ret) && d->optional && !(need & d->controllers)) {
			d->absent = true;
			d->n_created = 0;
			ret = 0;
		}
	}
	if (ret < 0)
		cgroup_remove(cg, &ignored);
	return ret;
}

int cgroup_delegate(const struct cgroup *cg, uid_t uid, struct err *err)
{
	const struct cgroup_dir *d = cgroup_dir_v2(cg);
	own_close int fd = -EBADF;
	char list[2048];
	char *p = list;
	int r;

	if (!d || d->n_created == 0)
		return 0;
	if (io_read_str(AT_FDCWD, "/sys/kernel/cgroup/delegate", list,
			sizeof(list)) < 0) /* Linux before 4.15 */
		str_copy(
			list, sizeof(list),
			"cgroup.procs\ncgroup.threads\ncgroup.subtree_control");
	r = cgroup_dir_open(d, &fd, err);
	if (r < 0)
		return r;
	if (fchownat(fd, "", uid, (gid_t)-1, AT_EMPTY_PATH) < 0)
		return err_errno(err, errno, "chown cgroup " CGROUP_DIR_FMT,
				 CGROUP_DIR_ARG(d));
	for (char *name; (name = strsep(&p, "\n"));)
		/* ENOENT: of a controller that this group does not have */
		if (*name &&
		    fchownat(fd, name, uid, (gid_t)-1, AT_SYMLINK_NOFOLLOW) <
			    0 &&
		    errno != ENOENT)
			return err_errno(err, errno,
					 "chown cgroup " CGROUP_DIR_FMT "/%s",
					 CGROUP_DIR_ARG(d), name);
	return 0;
}

/* ------------------------------------------------------------- removing */

/* rmdir; while processes are dying in it, wait till @until_ms. */
static int remove_one(int parent_fd, const char *name, uint64_t until_ms)
{
	for (uint64_t wait_ms = 1;; wait_ms = wait_ms < 64 ? wait_ms * 2 : 64) {
		if (unlinkat(parent_fd, name, AT_REMOVEDIR) == 0 ||
		    errno == ENOENT)
			return 0;
		if (errno != EBUSY || clock_now_ms() >= until_ms)
			return -errno;
		clock_sleep_ms(wait_ms);
	}
}

static int remove_children(int dir_fd, int depth, uint64_t until_ms);

/* @name and all beneath. */
static int remove_tree(int parent_fd, const char *name, int depth,
		       uint64_t until_ms)
{
	own_close int fd = -EBADF;
	int r;

	if (unlinkat(parent_fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	if (depth > REMOVE_DEPTH_MAX)
		return -ELOOP;
	fd = cgroup_dir_try(parent_fd, name);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	r = remove_children(fd, depth, until_ms);
	return r < 0 ? r : remove_one(parent_fd, name, until_ms);
}

static int remove_children(int dir_fd, int depth, uint64_t until_ms)
{
	own_close int fd =
		openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	own_dir DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	int r = 0;

	if (!dir)
		return -errno;
	take_fd(&fd);
	while (r == 0 && (e = readdir(dir)))
		if (e->d_type == DT_DIR && !str_eq(e->d_name, ".") &&
		    !str_eq(e->d_name, ".."))
			r = remove_tree(dir_fd, e->d_name, depth + 1, until_ms);
	return r;
}

/* Opens the parent of @path (cut there) and gives the last component. */
static int open_parent(int root_fd, char *path, const char **ret_name)
{
	char *slash = strrchr(path, '/');

	*slash = '\0';
	*ret_name = slash + 1;
	return cgroup_dir_try(root_fd, path);
}

/*
 * The directory itself. Without an inode number (we were killed before it was
 * saved) it may be another's: then only if it is empty.
 */
static int remove_leaf(const struct cgroup_dir *d, int parent_fd,
		       const char *name, uint64_t until_ms)
{
	struct stat st;

	if (d->ino == 0)
		return unlinkat(parent_fd, name, AT_REMOVEDIR) < 0 &&
				       errno != ENOENT
			       ? -errno
			       : 0;
	if (fstatat(parent_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (st.st_ino != d->ino)
		return -ESTALE;
	return remove_tree(parent_fd, name, 0, until_ms);
}

static int remove_dir(const struct cgroup_dir *d, uint64_t until_ms,
		      struct err *err)
{
	own_close int root_fd = -EBADF;
	char path[CGROUP_PATH_MAX];
	int r = cgroup_dir_open_root(d, &root_fd, err);

	if (r == -ENOENT)
		return 0; /* the hierarchy is gone */
	if (r < 0)
		return r;
	str_copy(path, sizeof(path), d->path);
	for (uint32_t i = 0; r == 0 && i < d->n_created; i++) {
		const char *name;
		own_close int fd = open_parent(root_fd, path, &name);

		if (fd == -ENOENT)
			continue; /* gone, but a parent further up may be there */
		if (fd < 0)
			r = fd;
		else if (i == 0)
			r = remove_leaf(d, fd, name, until_ms);
		else if (unlinkat(fd, name, AT_REMOVEDIR) < 0 &&
			 errno != ENOENT)
			return 0; /* somebody else uses our parent: it stays */
	}
	if (r == -ESTALE)
		return 0; /* another's, of the same name */
	if (r < 0)
		return err_errno(err, -r, "remove cgroup " CGROUP_DIR_FMT,
				 CGROUP_DIR_ARG(d));
	return 0;
}

int cgroup_remove(const struct cgroup *cg, struct err *err)
{
	uint64_t until_ms = clock_now_ms() + REMOVE_WAIT_MS;
	struct err one;
	int ret = 0;

	/* one that can't be removed does not keep the others */
	for (uint32_t i = 0; i < cg->n_dirs; i++) {
		int r;

		if (cg->dir[i].absent || cg->dir[i].n_created == 0)
			continue;
		r = remove_dir(&cg->dir[i], until_ms, &one);
		if (r < 0 && ret == 0) {
			ret = r;
			*err = one;
		}
	}
	return ret;
}
