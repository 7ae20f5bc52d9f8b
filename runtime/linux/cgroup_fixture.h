/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests with real cgroups: a path of the test's own, below which
 * everything happens, and a PID namespace: should a kill ever reach further
 * than it may, it ends there. Needs root and a hierarchy, otherwise skips.
 */
#ifndef OSH_LINUX_CGROUP_FIXTURE_H
#define OSH_LINUX_CGROUP_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/cgroup.h"
#include "runtime/linux/cgroup_devices.h"
#include "runtime/linux/cgroup_dir.h"
#include "runtime/linux/cgroup_procs.h"
#include "runtime/linux/cgroup_resources.h"

static struct err err;
static char base[64]; /* "/osh-unit-N": everything is below it */

#define ok(call)                                  \
	do {                                      \
		if ((call) < 0)                   \
			fail_msg("%s", err.text); \
	} while (0)

/* A plan below our base, and nowhere else. */
static inline int plan(struct cgroup *cg, const char *sub)
{
	char path[128];

	assert_true(strlen(base) > strlen("/osh-unit-"));
	snprintf(path, sizeof(path), "%s%s", base, sub);
	return cgroup_plan(cg, path, "id", 0, &err);
}

static inline void read_file(const struct cgroup_dir *d, const char *file,
			     char *text, size_t size)
{
	own_close int fd = -EBADF;

	ok(cgroup_dir_open(d, &fd, &err));
	if (io_read_str(fd, file, text, size) < 0)
		fail_msg("read %s%s/%s", d->mount, d->path, file);
}

static inline bool exists(const struct cgroup_dir *d)
{
	own_close int fd = -EBADF;

	return cgroup_dir_open(d, &fd, &err) == 0;
}

/* A child in @cg that runs @body, or pauses. */
static inline pid_t start(const struct cgroup *cg, int (*body)(void))
{
	own_cgroup_join struct cgroup_join j = CGROUP_JOIN_INIT;
	struct clone_args args = {.exit_signal = SIGCHLD};
	int joined[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe2(joined, O_CLOEXEC), 0);

	ok(cgroup_join_open(&j, cg, 0, &err));
	if (j.v2_dir_fd >= 0) {
		args.flags = CLONE_INTO_CGROUP;
		args.cgroup = (__u64)(unsigned int)j.v2_dir_fd;
	}
	pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0) {
		if (cgroup_join_self(&j, j.v2_dir_fd >= 0, &err) < 0)
			_exit(99);
		if (write(joined[1], "", 1) != 1)
			_exit(98);
		if (body)
			_exit(body());
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	close(joined[1]);
	assert_int_equal(read(joined[0], &c, 1), 1);
	close(joined[0]);
	return pid;
}

static inline bool is_alive(pid_t pid)
{
	return waitpid(pid, NULL, WNOHANG) == 0;
}

static inline void expect_listed(const struct cgroup *cg, size_t want)
{
	own_arena struct arena a = ARENA_INIT;
	pid_t *pids;
	size_t n;

	ok(cgroup_pids(&a, cg, &pids, &n, &err));
	assert_int_equal(n, want);
}

static void test_nothing(void **state)
{
	(void)state;
	skip();
}

static inline int skip_all(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing, NULL, NULL),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The tests themselves are process 1 of a namespace with its own /proc. */
static inline int in_namespace(int (*body)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		    mount("proc", "/proc", "proc", 0, NULL) < 0)
			_exit(98);
		status = body();
		fflush(NULL);
		_exit(status);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static inline int cgroup_fixture_main(int (*run)(void))
{
	static struct cgroup cg;

	snprintf(base, sizeof(base), "/osh-unit-%d-%ld", (int)getpid(),
		 (long)time(NULL) % 100000);
	if (geteuid() != 0 || plan(&cg, "/x") < 0 ||
	    unshare(CLONE_NEWPID | CLONE_NEWNS) < 0)
		return skip_all();
	/* no leak check at exit: it can't clone once the namespace is dead */
	_exit(in_namespace(run));
}

#endif
