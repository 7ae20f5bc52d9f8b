/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/cgroup_dir.h"
#include "runtime/linux/cgroup_find.h"
#include "runtime/linux/cgroup_procs.h"

enum { PROC_FILE_MAX = 64 << 10 };

/* -------------------------------------------------------------- joining */

/* May @dir_fd hold no process, because its children have controllers? */
static bool refuses_processes(int dir_fd)
{
	char text[256];

	return io_read_str(dir_fd, "cgroup.subtree_control", text,
			   sizeof(text)) > 0;
}

/*
 * Where the init is in v2, below the mount; NULL when that is not beneath @d.
 */
static const char *path_of_init(struct arena *a, const struct cgroup_dir *d,
				pid_t init_pid)
{
	struct cgroup_hierarchies all;
	struct err ignored;
	char *mountinfo, *cgroup, *file;
	size_t n = strlen(d->path);

	file = arena_printf(a, "/proc/%d/cgroup", (int)init_pid);
	if (io_read_file(a, AT_FDCWD, "/proc/self/mountinfo", 16 << 20,
			 &mountinfo, NULL, &ignored) < 0 ||
	    io_read_file(a, AT_FDCWD, file, PROC_FILE_MAX, &cgroup, NULL,
			 &ignored) < 0 ||
	    cgroup_find_parse(mountinfo, cgroup, true, &all, &ignored) < 0)
		return NULL;
	for (size_t i = 0; i < all.n; i++)
		if (all.v[i].v2 && all.v[i].own &&
		    strncmp(all.v[i].own, d->path, n) == 0 &&
		    all.v[i].own[n] == '/')
			return all.v[i].own;
	return NULL;
}

static int open_v2(struct cgroup_join *j, const struct cgroup_dir *d,
		   pid_t init_pid, struct err *err)
{
	own_arena struct arena a = ARENA_INIT;
	own_close int fd = -EBADF;
	int r = cgroup_dir_open(d, &fd, err);

	if (r < 0)
		return r;
	if (init_pid > 0 && refuses_processes(fd)) {
		const char *path = path_of_init(&a, d, init_pid);
		own_close int root_fd = -EBADF;

		if (!path)
			return err_set(err, EBUSY,
				       "join cgroup " CGROUP_DIR_FMT
				       ": it has child cgroups with controllers"
				       " and the init is in none of them",
				       CGROUP_DIR_ARG(d));
		r = cgroup_dir_open_root(d, &root_fd, err);
		if (r < 0)
			return r;
		fd = close_fd(fd);
		fd = cgroup_dir_try(root_fd, path);
		if (fd < 0)
			return err_errno(err, -fd, "open cgroup %s%s", d->mount,
					 path);
	}
	j->v2_procs_fd = openat(fd, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	if (j->v2_procs_fd < 0)
		return err_errno(err, errno,
				 "open cgroup " CGROUP_DIR_FMT "/cgroup.procs",
				 CGROUP_DIR_ARG(d));
	j->v2_dir_fd = take_fd(&fd);
	return 0;
}

static int open_v1(struct cgroup_join *j, const struct cgroup_dir *d,
		   struct err *err)
{
	own_close int fd = -EBADF;
	int r = cgroup_dir_open(d, &fd, err);

	if (r < 0)
		return r;
	r = openat(fd, "tasks", O_WRONLY | O_CLOEXEC);
	if (r < 0)
		return err_errno(err, errno,
				 "open cgroup " CGROUP_DIR_FMT "/tasks",
				 CGROUP_DIR_ARG(d));
	j->task_fd[j->n_task_fds++] = r;
	return 0;
}

int cgroup_join_open(struct cgroup_join *ret, const struct cgroup *cg,
		     pid_t init_pid, struct err *err)
{
	own_cgroup_join struct cgroup_join j = CGROUP_JOIN_INIT;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < cg->n_dirs; i++) {
		const struct cgroup_dir *d = &cg->dir[i];

		if (d->absent)
			continue;
		r = d->v2 ? open_v2(&j, d, init_pid, err) : open_v1(&j, d, err);
	}
	if (r < 0)
		return r;
	*ret = j;
	j = (struct cgroup_join)CGROUP_JOIN_INIT;
	return 0;
}

void cgroup_join_close(struct cgroup_join *j)
{
	for (uint32_t i = 0; i < j->n_task_fds; i++)
		j->task_fd[i] = close_fd(j->task_fd[i]);
	j->n_task_fds = 0;
	j->v2_dir_fd = close_fd(j->v2_dir_fd);
	j->v2_procs_fd = close_fd(j->v2_procs_fd);
}

/* "0" is the writer itself. */
static int write_zero(int fd)
{
	ssize_t n;

	do {
		n = write(fd, "0", 1);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

int cgroup_join_self(const struct cgroup_join *j, bool v2_done, struct err *err)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < j->n_task_fds; i++)
		r = write_zero(j->task_fd[i]);
	if (r == 0 && !v2_done && j->v2_procs_fd >= 0)
		r = write_zero(j->v2_procs_fd);
	if (r < 0)
		return err_errno(err, -r, "join the container's cgroup");
	return 0;
}

/* -------------------------------------------------------------- listing */

struct pids {
	struct arena *a;
	pid_t *v;
	size_t n;
};

enum { LIST_DEPTH_MAX = 64 };

/* Adds the numbers in @text, one a line; 0 is outside our pid namespace. */
static void add_pids(struct pids *p, const char *text)
{
	long pid = 0;

	for (; *text; text++) {
		if (*text >= '0' && *text <= '9') {
			pid = pid * 10 + (*text - '0');
			continue;
		}
		if (pid > 0) {
			p->v = arena_grow(p->a, p->v, p->n, sizeof(*p->v));
			p->v[p->n++] = (pid_t)pid;
		}
		pid = 0;
	}
}

static int list_tree(struct pids *p, int dir_fd, int depth)
{
	own_arena struct arena a = ARENA_INIT;
	own_close int fd =
		openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	own_dir DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct err ignored;
	struct dirent *e;
	char *text;
	int r;

	if (!dir)
		return errno == ENOENT || errno == ENODEV ? 0 : -errno;
	take_fd(&fd);
	/* ENODEV: removed meanwhile; EOPNOTSUPP: threads of a parent's */
	r = io_read_file(&a, dir_fd, "cgroup.procs", 64 << 20, &text, NULL,
			 &ignored);
	if (r == 0)
		add_pids(p, text);
	else if (r != -ENODEV && r != -ENOENT && r != -EOPNOTSUPP)
		return r;
	if (depth > LIST_DEPTH_MAX)
		return -ELOOP;
	for (r = 0; r == 0 && (e = readdir(dir));) {
		own_close int child_fd = -EBADF;

		if (e->d_type != DT_DIR || str_eq(e->d_name, ".") ||
		    str_eq(e->d_name, ".."))
			continue;
		child_fd = cgroup_dir_try(dir_fd, e->d_name);
		if (child_fd >= 0)
			r = list_tree(p, child_fd, depth + 1);
	}
	return r;
}

/* Any hierarchy has all processes; one that can freeze is preferred. */
static const struct cgroup_dir *listing_dir(const struct cgroup *cg)
{
	const struct cgroup_dir *d = cgroup_dir_v2(cg);

	if (!d)
		d = cgroup_dir_of(cg, CGROUP_FREEZER);
	for (uint32_t i = 0; !d && i < cg->n_dirs; i++)
		if (!cg->dir[i].absent)
			d = &cg->dir[i];
	return d;
}

int cgroup_pids(struct arena *a, const struct cgroup *cg, pid_t **ret_pids,
		size_t *ret_n, struct err *err)
{
	const struct cgroup_dir *d = listing_dir(cg);
	struct pids p = {.a = a};
	own_close int fd = -EBADF;
	int r = d ? cgroup_dir_open(d, &fd, err) : -ENOENT;

	if (r == 0)
		r = list_tree(&p, fd, 0);
	else if (r != -ENOENT)
		return r;
	if (r < 0 && r != -ENOENT)
		return err_errno(err, -r, "list cgroup " CGROUP_DIR_FMT,
				 CGROUP_DIR_ARG(d));
	*ret_pids = p.v;
	*ret_n = p.n;
	return 0;
}

/* ------------------------------------------------------------------ oom */

/* The number after @key and a blank at the start of a line. */
static uint64_t find_value(const char *text, const char *key)
{
	size_t n = strlen(key);

	for (const char *p = text; p && *p; p = strchr(p, '\n')) {
		uint64_t v = 0;

		p += *p == '\n';
		if (strncmp(p, key, n) != 0 || p[n] != ' ')
			continue;
		for (p += n + 1; *p >= '0' && *p <= '9'; p++)
			v = v * 10 + (uint64_t)(*p - '0');
		return v;
	}
	return 0;
}

uint64_t cgroup_oom_kills(const struct cgroup *cg)
{
	const struct cgroup_dir *d = cgroup_dir_of(cg, CGROUP_MEMORY);
	own_close int fd = -EBADF;
	struct err ignored;
	char text[1024];

	if (!d || cgroup_dir_open(d, &fd, &ignored) < 0 ||
	    io_read_str(fd, d->v2 ? "memory.events" : "memory.oom_control",
			text, sizeof(text)) < 0)
		return 0;
	return find_value(text, "oom_kill");
}
