/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Freezing and signalling a whole cgroup. Both only where it is ours, see
 * cgroup.h: this file is what could harm the host.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/clock.h"
#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/cgroup_dir.h"
#include "runtime/linux/cgroup_procs.h"
#include "runtime/linux/process.h"

enum {
	FREEZE_WAIT_MS = 5000,
	FREEZE_RETRY = 25, /* v1: looks before it thaws and tries again */
	SIGNAL_CHUNK = 256, /* pidfds open at a time */
	KILL_ROUNDS = 100, /* of 10 ms, for those that fork meanwhile */
};

/* --------------------------------------------------------------- freeze */

/* v2 says in cgroup.events when it is done, and poll wakes us. */
static int wait_frozen_v2(int dir_fd, bool freeze, uint64_t until_ms)
{
	own_close int fd =
		openat(dir_fd, "cgroup.events", O_RDONLY | O_CLOEXEC);
	const char *want = freeze ? "frozen 1" : "frozen 0";

	if (fd < 0)
		return -errno;
	for (;;) {
		struct pollfd p = {.fd = fd, .events = POLLPRI};
		char text[256];
		ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
		uint64_t now_ms = clock_now_ms();

		if (n < 0)
			return -errno;
		text[n] = '\0';
		if (strstr(text, want))
			return 0;
		if (now_ms >= until_ms)
			return -ETIMEDOUT;
		if (poll(&p, 1, (int)(until_ms - now_ms)) < 0 && errno != EINTR)
			return -errno;
	}
}

static int freeze_v2(int dir_fd, bool freeze, uint64_t until_ms)
{
	int r = io_write_str(dir_fd, "cgroup.freeze", freeze ? "1" : "0");

	return r < 0 ? r : wait_frozen_v2(dir_fd, freeze, until_ms);
}

static bool v1_state_is(int dir_fd, const char *want)
{
	char text[32];

	return io_read_str(dir_fd, "freezer.state", text, sizeof(text)) > 0 &&
	       str_eq(text, want);
}

/*
 * v1 may stay at FREEZING as long as tasks come and go: reading the state
 * makes it look again, and sometimes only a fresh start helps.
 */
static int freeze_v1(int dir_fd, bool freeze, uint64_t until_ms)
{
	const char *want = freeze ? "FROZEN" : "THAWED";

	for (int i = 1;; i++) {
		int r = io_write_str(dir_fd, "freezer.state", want);

		if (r < 0 || v1_state_is(dir_fd, want))
			return r;
		if (clock_now_ms() >= until_ms)
			return -ETIMEDOUT;
		if (freeze && i % FREEZE_RETRY == 0) {
			r = io_write_str(dir_fd, "freezer.state", "THAWED");
			if (r < 0)
				return r;
		}
		clock_sleep_ms(i < 20 ? 1 : 10);
	}
}

/*
 * A directory that is ours: v2's if it can be, since what that froze can still
 * be killed, then the freezer's; any other lists processes only.
 */
static const struct cgroup_dir *find_ours(const struct cgroup *cg, bool any)
{
	const struct cgroup_dir *d = cgroup_dir_v2(cg);

	if (d && cgroup_dir_is_ours(d))
		return d;
	d = cgroup_dir_of(cg, CGROUP_FREEZER);
	if (d && cgroup_dir_is_ours(d))
		return d;
	for (uint32_t i = 0; any && i < cg->n_dirs; i++)
		if (cgroup_dir_is_ours(&cg->dir[i]))
			return &cg->dir[i];
	return NULL;
}

/* Why find_ours found none: -ENOENT when all is gone, else -EPERM. */
static int not_ours(const struct cgroup *cg, const char *verb, struct err *err)
{
	for (uint32_t i = 0; i < cg->n_dirs; i++) {
		own_close int fd = -EBADF;

		if (cg->dir[i].absent ||
		    cgroup_dir_open(&cg->dir[i], &fd, err) < 0)
			continue;
		return err_set(err, EPERM,
			       "%s cgroup " CGROUP_DIR_FMT
			       ": it was not made for the container",
			       verb, CGROUP_DIR_ARG(&cg->dir[i]));
	}
	return err_set(err, ENOENT, "%s: the container has no cgroup", verb);
}

static int freeze_fd(const struct cgroup_dir *d, int fd, bool freeze)
{
	uint64_t until_ms = clock_now_ms() + FREEZE_WAIT_MS;

	return d->v2 ? freeze_v2(fd, freeze, until_ms)
		     : freeze_v1(fd, freeze, until_ms);
}

int cgroup_freeze(const struct cgroup *cg, bool freeze, struct err *err)
{
	const struct cgroup_dir *d = find_ours(cg, false);
	const char *verb = freeze ? "freeze" : "thaw";
	own_close int fd = -EBADF;
	int r;

	if (!d)
		return not_ours(cg, verb, err);
	r = cgroup_dir_open(d, &fd, err);
	if (r < 0)
		return r;
	r = freeze_fd(d, fd, freeze);
	if (r < 0 && freeze)
		freeze_fd(d, fd, false); /* not half of it */
	if (r < 0)
		return err_errno(err, -r, "%s cgroup " CGROUP_DIR_FMT, verb,
				 CGROUP_DIR_ARG(d));
	return 0;
}

static bool is_frozen(const struct cgroup_dir *d)
{
	own_close int fd = -EBADF;
	struct err ignored;
	char text[256];

	if (!d || cgroup_dir_open(d, &fd, &ignored) < 0)
		return false;
	if (!d->v2)
		return v1_state_is(fd, "FROZEN") || v1_state_is(fd, "FREEZING");
	return io_read_str(fd, "cgroup.freeze", text, sizeof(text)) > 0 &&
	       str_eq(text, "1");
}

bool cgroup_is_frozen(const struct cgroup *cg)
{
	const struct cgroup_dir *v2 = cgroup_dir_v2(cg);
	const struct cgroup_dir *freezer = cgroup_dir_of(cg, CGROUP_FREEZER);

	return is_frozen(v2) || (freezer != v2 && is_frozen(freezer));
}

/* --------------------------------------------------------------- signal */

static int by_pid(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * Signal @n of a list, those that are still in the cgroup once a pidfd holds
 * them: a pid that was reused elsewhere meanwhile isn't. Adds to *@n_done.
 */
static int signal_some(const struct cgroup *one, int sig, const pid_t *pids,
		       size_t n, size_t *n_done, struct err *err)
{
	own_arena struct arena a = ARENA_INIT;
	int fds[SIGNAL_CHUNK];
	pid_t *after;
	size_t n_after;
	int r;

	for (size_t i = 0; i < n; i++) {
		struct err gone;

		fds[i] = -EBADF;
		process_open(pids[i], 0, &fds[i], &gone);
	}
	r = cgroup_pids(&a, one, &after, &n_after, err);
	if (r == 0 && n_after > 0)
		qsort(after, n_after, sizeof(*after), by_pid);
	for (size_t i = 0; i < n; i++) {
		if (r == 0 && fds[i] >= 0 && n_after > 0 &&
		    pids[i] != getpid() &&
		    bsearch(&pids[i], after, n_after, sizeof(*after), by_pid) &&
		    process_signal(fds[i], sig) == 0)
			++*n_done;
		close_fd(fds[i]);
	}
	return r;
}

/* Signal all that are in it now; *@ret_n counts them. */
static int signal_round(const struct cgroup *one, int sig, size_t *ret_n,
			struct err *err)
{
	own_arena struct arena a = ARENA_INIT;
	pid_t *pids;
	size_t n;
	int r = cgroup_pids(&a, one, &pids, &n, err);

	*ret_n = 0;
	for (size_t i = 0; r == 0 && i < n; i += SIGNAL_CHUNK)
		r = signal_some(one, sig, pids + i,
				n - i < SIGNAL_CHUNK ? n - i : SIGNAL_CHUNK,
				ret_n, err);
	return r;
}

/* Without cgroup.kill: frozen, they can neither fork nor leave. */
static int kill_frozen(const struct cgroup *one, int dir_fd, struct err *err)
{
	const struct cgroup_dir *d = &one->dir[0];
	bool can_freeze = d->v2 || d->controllers >> CGROUP_FREEZER & 1;
	size_t n = 1;
	int r = 0;

	for (int i = 0; r == 0 && n > 0 && i < KILL_ROUNDS; i++) {
		if (i > 0)
			clock_sleep_ms(10);
		/* what does not freeze is killed all the same */
		if (can_freeze)
			freeze_fd(d, dir_fd, true);
		r = signal_round(one, SIGKILL, &n, err);
		if (can_freeze)
			freeze_fd(d, dir_fd, false);
	}
	return r;
}

/* The kernel kills all of it at once, since 5.14; false: it can't. */
static bool kill_by_kernel(const struct cgroup_dir *d, int dir_fd)
{
	return d->v2 && io_write_str(dir_fd, "cgroup.kill", "1") == 0;
}

int cgroup_signal(const struct cgroup *cg, int sig, struct err *err)
{
	const struct cgroup_dir *d = find_ours(cg, true);
	struct cgroup one = {.n_dirs = 1};
	own_close int fd = -EBADF;
	size_t n;
	int r;

	if (!d) {
		r = not_ours(cg, "signal", err);
		return r == -ENOENT ? 0 : r;
	}
	r = cgroup_dir_open(d, &fd, err);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	one.dir[0] = *d;
	if (sig != SIGKILL)
		return signal_round(&one, sig, &n, err);
	return kill_by_kernel(d, fd) ? 0 : kill_frozen(&one, fd, err);
}
