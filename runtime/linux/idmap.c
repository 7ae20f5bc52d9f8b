/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/base/path.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/idmap.h"
#include "runtime/linux/namespaces.h"

enum {
	/* kernel/user_namespace.c: one write, less than a page */
	TEXT_MAX = 4095,
};

/* The two maps differ in names only. */
struct kind {
	const char *what;
	const char *file;
	const char *program;
};

static const struct kind uid_kind = {"uid", "uid_map", "newuidmap"};
static const struct kind gid_kind = {"gid", "gid_map", "newgidmap"};

/* ---------------------------------------------------------------- checking */

static bool wraps(uint32_t first, uint32_t size)
{
	/* the last id, 2^32 - 1, means "none" */
	return (uint64_t)first + size > UINT32_MAX;
}

static bool overlaps(uint32_t a, uint32_t n_a, uint32_t b, uint32_t n_b)
{
	return a < b + n_b && b < a + n_a;
}

static int check_line(const struct idmap_line *v, size_t i,
		      const struct kind *kind, struct err *err)
{
	if (!v[i].size || wraps(v[i].inside, v[i].size) ||
	    wraps(v[i].outside, v[i].size))
		return err_set(err, EINVAL,
			       "%s mapping %zu: %u ids do not fit there",
			       kind->what, i, v[i].size);
	for (size_t k = 0; k < i; k++)
		if (overlaps(v[i].inside, v[i].size, v[k].inside, v[k].size) ||
		    overlaps(v[i].outside, v[i].size, v[k].outside, v[k].size))
			return err_set(err, EINVAL,
				       "%s mapping %zu overlaps mapping %zu",
				       kind->what, i, k);
	return 0;
}

static void map_text(const struct idmap_line *v, size_t n, struct strbuf *ret)
{
	for (size_t i = 0; i < n; i++)
		strbuf_addf(ret, "%u %u %u\n", v[i].inside, v[i].outside,
			    v[i].size);
}

static int check_lines(const struct idmap_line *v, size_t n,
		       const struct kind *kind, struct err *err)
{
	own_strbuf struct strbuf text = STRBUF_HEAP;

	if (n > IDMAP_LINES_MAX)
		return err_set(err, EINVAL,
			       "%zu %s mappings: the kernel takes %d", n,
			       kind->what, IDMAP_LINES_MAX);
	for (size_t i = 0; i < n; i++) {
		int r = check_line(v, i, kind, err);

		if (r < 0)
			return r;
	}
	map_text(v, n, &text);
	if (text.len > TEXT_MAX)
		return err_set(err, EINVAL,
			       "%s mappings: %zu bytes, the kernel takes %d",
			       kind->what, text.len, TEXT_MAX);
	return 0;
}

int idmap_check(const struct idmap *m, struct err *err)
{
	int r = check_lines(m->uid, m->n_uid, &uid_kind, err);

	return r < 0 ? r : check_lines(m->gid, m->n_gid, &gid_kind, err);
}

bool idmap_to_outside(const struct idmap_line *lines, size_t n, uint32_t inside,
		      uint32_t *ret)
{
	for (size_t i = 0; i < n; i++) {
		if (inside < lines[i].inside ||
		    inside - lines[i].inside >= lines[i].size)
			continue;
		*ret = lines[i].outside + (inside - lines[i].inside);
		return true;
	}
	return false;
}

/* ----------------------------------------------------------------- writing */

static int write_map(int proc_fd, const struct idmap_line *v, size_t n,
		     const struct kind *kind, struct err *err)
{
	own_strbuf struct strbuf text = STRBUF_HEAP;
	int r;

	map_text(v, n, &text);
	r = io_write_file(proc_fd, kind->file, 0, text.s, text.len);
	return r < 0 ? err_errno(err, -r, "write %s", kind->file) : 0;
}

static int run(char *const *argv, struct err *err)
{
	int status;
	pid_t pid;
	int r = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);

	if (r)
		return err_errno(err, r, "run %s", argv[0]);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_errno(err, errno, "wait for %s", argv[0]);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return err_set(
			err, EPERM,
			"%s refused the mapping (see /etc/subuid, /etc/subgid)",
			argv[0]);
	return 0;
}

/* newuidmap PID INSIDE OUTSIDE SIZE ... */
static int run_helper(pid_t pid, const struct idmap_line *v, size_t n,
		      const struct kind *kind, struct err *err)
{
	own_arena struct arena a = ARENA_INIT;
	char **argv = arena_array(&a, char *, 3 + 3 * n);
	char **arg = argv;

	*arg++ = arena_strdup(&a, kind->program);
	*arg++ = arena_printf(&a, "%d", (int)pid);
	for (size_t i = 0; i < n; i++) {
		*arg++ = arena_printf(&a, "%u", v[i].inside);
		*arg++ = arena_printf(&a, "%u", v[i].outside);
		*arg++ = arena_printf(&a, "%u", v[i].size);
	}
	*arg = NULL;
	return run(argv, err);
}

static bool is_own(const struct idmap_line *v, size_t n, uint32_t id)
{
	return n == 1 && v->size == 1 && v->outside == id;
}

/* user_namespaces(7): one line for the own id needs no capability. */
static int write_unprivileged(pid_t pid, int proc_fd, const struct idmap *m,
			      struct err *err)
{
	bool own_uid = is_own(m->uid, m->n_uid, geteuid());
	bool own_gid = is_own(m->gid, m->n_gid, getegid());
	int r;

	if (own_uid)
		r = write_map(proc_fd, m->uid, m->n_uid, &uid_kind, err);
	else
		r = run_helper(pid, m->uid, m->n_uid, &uid_kind, err);
	if (r < 0)
		return r;
	if (!own_gid)
		return run_helper(pid, m->gid, m->n_gid, &gid_kind, err);
	r = io_write_str(proc_fd, "setgroups", "deny");
	if (r < 0)
		return err_errno(err, -r, "write setgroups");
	return write_map(proc_fd, m->gid, m->n_gid, &gid_kind, err);
}

int idmap_write(pid_t pid, const struct idmap *m, struct err *err)
{
	own_close int proc_fd = -EBADF;
	char name[16];
	int r = idmap_check(m, err);

	if (r < 0)
		return r;
	if (!m->n_uid || !m->n_gid)
		return err_set(err, EINVAL,
			       "a user namespace needs uid and gid mappings");
	snprintf(name, sizeof(name), "%d", (int)pid);
	r = path_open_proc(-EBADF, name, O_PATH | O_DIRECTORY, &proc_fd, err);
	if (r < 0)
		return r;
	if (geteuid() != 0)
		return write_unprivileged(pid, proc_fd, m, err);
	r = write_map(proc_fd, m->uid, m->n_uid, &uid_kind, err);
	if (r < 0)
		return r;
	return write_map(proc_fd, m->gid, m->n_gid, &gid_kind, err);
}

/* ----------------------------------------------- a namespace for mounts only */

static int map_and_open(pid_t pid, const struct idmap *m, int *ret_fd,
			struct err *err)
{
	char path[64];
	int r = idmap_write(pid, m, err);
	int fd;

	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	fd = openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, errno, "open %s", path);
	*ret_fd = fd;
	return 0;
}

int idmap_userns(const struct idmap *m, int *ret_fd, struct err *err)
{
	own_close int read_fd = -EBADF;
	own_close int write_fd = -EBADF;
	int pipe_fd[2];
	pid_t pid;
	int r;

	if (pipe2(pipe_fd, O_CLOEXEC) < 0)
		return err_errno(err, errno, "pipe");
	read_fd = pipe_fd[0];
	write_fd = pipe_fd[1];
	pid = ns_clone(CLONE_NEWUSER, -EBADF, NULL, err);
	if (pid < 0)
		return pid;
	if (pid == 0) {
		char c;

		/* lives until the parent closes its end, or dies */
		close(write_fd);
		while (read(read_fd, &c, 1) < 0 && errno == EINTR)
			;
		_exit(0);
	}
	r = map_and_open(pid, m, ret_fd, err);
	write_fd = close_fd(write_fd);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return r;
}
