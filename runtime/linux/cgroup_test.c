/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real cgroups, below a path of this test's own. Needs root and a cgroup
 * hierarchy, otherwise skipped. All of it runs in a PID namespace of its own:
 * should a kill ever reach further than it may, it ends there.
 */
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
static int plan(struct cgroup *cg, const char *sub)
{
	char path[128];

	assert_true(strlen(base) > strlen("/osh-unit-"));
	snprintf(path, sizeof(path), "%s%s", base, sub);
	return cgroup_plan(cg, path, "id", 0, &err);
}

static void read_file(const struct cgroup_dir *d, const char *file, char *text,
		      size_t size)
{
	own_close int fd = -EBADF;

	ok(cgroup_dir_open(d, &fd, &err));
	if (io_read_str(fd, file, text, size) < 0)
		fail_msg("read %s%s/%s", d->mount, d->path, file);
}

static bool exists(const struct cgroup_dir *d)
{
	own_close int fd = -EBADF;

	return cgroup_dir_open(d, &fd, &err) == 0;
}

/* A child in @cg that runs @body, or pauses. */
static pid_t start(const struct cgroup *cg, int (*body)(void))
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

static bool is_alive(pid_t pid)
{
	return waitpid(pid, NULL, WNOHANG) == 0;
}

static void expect_listed(const struct cgroup *cg, size_t want)
{
	own_arena struct arena a = ARENA_INIT;
	pid_t *pids;
	size_t n;

	ok(cgroup_pids(&a, cg, &pids, &n, &err));
	assert_int_equal(n, want);
}

/* ----------------------------------------------------------------- paths */

static void test_paths(void **state)
{
	static const char *const bad[] = {"/",	   "//",      "/.",
					  "/a/..", "..",      "../../x",
					  "/../a", "a/../..", "/a/../../b"};
	static struct cgroup cg;

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(bad); i++)
		assert_int_equal(cgroup_plan(&cg, bad[i], "id", 0, &err),
				 -EINVAL);
	ok(plan(&cg, "//a/./b/"));
	for (uint32_t i = 0; i < cg.n_dirs; i++) {
		assert_true(str_after(cg.dir[i].path, base) != NULL);
		assert_string_equal(str_after(cg.dir[i].path, base), "/a/b");
		assert_int_equal(cg.dir[i].n_created, 3);
		assert_int_equal(cg.dir[i].ino, 0);
		assert_false(exists(&cg.dir[i]));
	}
	/* none given: the id, below or beside our own */
	ok(cgroup_plan(&cg, NULL, "osh-unit-id", 0, &err));
	for (uint32_t i = 0; i < cg.n_dirs; i++)
		assert_string_equal(strrchr(cg.dir[i].path, '/'),
				    "/osh-unit-id");
}

/* ------------------------------------------------------------------ life */

static void test_life(void **state)
{
	static struct cgroup cg, other;
	const struct cgroup_resources none = {0};
	pid_t pid;

	(void)state;
	ok(plan(&cg, "/life/c"));
	ok(cgroup_make(&cg, &none, &err));
	ok(cgroup_check(&cg, &err));
	for (uint32_t i = 0; i < cg.n_dirs; i++) {
		assert_true(cgroup_dir_is_ours(&cg.dir[i]));
		assert_int_equal(cg.dir[i].n_created, 3);
	}
	ok(cgroup_apply(&cg, &none, &err));
	pid = start(&cg, NULL);
	expect_listed(&cg, 1);
	assert_false(cgroup_is_frozen(&cg));
	ok(cgroup_freeze(&cg, true, &err));
	assert_true(cgroup_is_frozen(&cg));
	ok(cgroup_freeze(&cg, false, &err));
	assert_false(cgroup_is_frozen(&cg));
	assert_true(is_alive(pid));
	/* in use: nobody else may have it */
	assert_int_equal(plan(&other, "/life/c"), -EBUSY);
	assert_int_equal(plan(&other, "/life"), -EBUSY);
	ok(cgroup_freeze(&cg, true, &err));
	ok(cgroup_signal(&cg, SIGKILL, &err));
	/* v1 dies when it thaws */
	ok(cgroup_freeze(&cg, false, &err));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(cgroup_oom_kills(&cg), 0);
	ok(cgroup_remove(&cg, &err));
	for (uint32_t i = 0; i < cg.n_dirs; i++)
		assert_false(exists(&cg.dir[i]));
	/* again, and after: all is well */
	ok(cgroup_remove(&cg, &err));
	ok(cgroup_signal(&cg, SIGKILL, &err));
	assert_false(cgroup_is_frozen(&cg));
}

/* Only what v1 has: the freezer, and a kill without cgroup.kill. */
static void test_life_v1(void **state)
{
	static struct cgroup cg, v1;
	const struct cgroup_resources none = {0};
	pid_t a, b;

	(void)state;
	ok(plan(&cg, "/life1"));
	ok(cgroup_make(&cg, &none, &err));
	for (uint32_t i = 0; i < cg.n_dirs; i++)
		if (!cg.dir[i].v2)
			v1.dir[v1.n_dirs++] = cg.dir[i];
	if (!cgroup_dir_of(&v1, CGROUP_FREEZER)) {
		ok(cgroup_remove(&cg, &err));
		skip();
	}
	a = start(&v1, NULL);
	b = start(&v1, NULL);
	expect_listed(&v1, 2);
	ok(cgroup_freeze(&v1, true, &err));
	assert_true(cgroup_is_frozen(&v1));
	ok(cgroup_freeze(&v1, false, &err));
	assert_false(cgroup_is_frozen(&v1));
	ok(cgroup_signal(&v1, SIGKILL, &err));
	assert_int_equal(waitpid(a, NULL, 0), a);
	assert_int_equal(waitpid(b, NULL, 0), b);
	assert_false(cgroup_is_frozen(&v1));
	ok(cgroup_remove(&cg, &err));
}

/* A signal that is not SIGKILL, children of the container's own making. */
static void test_signal(void **state)
{
	static struct cgroup cg;
	const struct cgroup_resources none = {0};
	pid_t pid;
	int status;

	(void)state;
	ok(plan(&cg, "/signal"));
	ok(cgroup_make(&cg, &none, &err));
	for (uint32_t i = 0; i < cg.n_dirs; i++) {
		own_close int fd = -EBADF;

		ok(cgroup_dir_open(&cg.dir[i], &fd, &err));
		assert_int_equal(mkdirat(fd, "inner", 0755), 0);
		assert_int_equal(mkdirat(fd, "inner/most", 0755), 0);
	}
	pid = start(&cg, NULL);
	expect_listed(&cg, 1);
	ok(cgroup_signal(&cg, SIGUSR1, &err));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1);
	ok(cgroup_remove(&cg, &err));
	assert_false(exists(&cg.dir[0]));
}

/* ---------------------------------------------------- the host's safety */

/* Cgroups of somebody else's, and states that point at them. */
static void test_foreign(void **state)
{
	static struct cgroup theirs, cg;
	const struct cgroup_resources none = {0};
	struct cgroup_resources limit = {0};
	pid_t pid;

	(void)state;
	ok(plan(&theirs, "/foreign"));
	ok(cgroup_make(&theirs, &none, &err));
	pid = start(&theirs, NULL);
	expect_listed(&theirs, 1);
	limit.pids = (struct cgroup_i64){true, 1};
	for (int k = 0; k < 3; k++) {
		cg = theirs;
		for (uint32_t i = 0; i < cg.n_dirs; i++) {
			if (k == 0) /* joined, not made */
				cg.dir[i].n_created = 0;
			else /* another of this name; not known */
				cg.dir[i].ino = k == 1 ? cg.dir[i].ino + 1 : 0;
		}
		assert_int_equal(cgroup_signal(&cg, SIGKILL, &err), -EPERM);
		assert_int_equal(cgroup_freeze(&cg, true, &err), -EPERM);
		if (k > 0)
			assert_int_equal(cgroup_apply(&cg, &limit, &err),
					 cgroup_dir_of(&cg, CGROUP_PIDS)
						 ? -ESTALE
						 : -ENOENT);
		cgroup_remove(&cg, &err);
		assert_true(is_alive(pid));
		assert_true(exists(&cg.dir[0]));
	}
	/* a mount point that is none */
	cg = theirs;
	for (uint32_t i = 0; i < cg.n_dirs; i++)
		str_copy(cg.dir[i].mount, sizeof(cg.dir[i].mount), "/tmp");
	assert_int_equal(cgroup_freeze(&cg, true, &err), -ENOENT);
	ok(cgroup_remove(&cg, &err));
	ok(cgroup_signal(&theirs, SIGKILL, &err));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	ok(cgroup_remove(&theirs, &err));
}

/* Killed between the plan and the end: what delete finds then. */
static void test_half_made(void **state)
{
	static struct cgroup planned, cg;
	const struct cgroup_resources none = {0};

	(void)state;
	ok(plan(&planned, "/half/made"));
	ok(cgroup_remove(&planned, &err));
	cg = planned;
	ok(cgroup_make(&cg, &none, &err));
	ok(cgroup_remove(&planned, &err));
	for (uint32_t i = 0; i < cg.n_dirs; i++)
		assert_false(exists(&cg.dir[i]));
}

/* Two with one path: the second make loses, and takes nothing away. */
static void test_race(void **state)
{
	static struct cgroup one, two;
	const struct cgroup_resources none = {0};

	(void)state;
	ok(plan(&one, "/race/c"));
	ok(plan(&two, "/race/c"));
	ok(cgroup_make(&one, &none, &err));
	assert_int_equal(cgroup_make(&two, &none, &err), -EEXIST);
	for (uint32_t i = 0; i < one.n_dirs; i++)
		assert_true(cgroup_dir_is_ours(&one.dir[i]));
	/* the parent that both needed goes with its maker */
	ok(plan(&two, "/race/d"));
	ok(cgroup_make(&two, &none, &err));
	ok(cgroup_remove(&one, &err));
	assert_true(cgroup_dir_is_ours(&two.dir[0]));
	ok(cgroup_remove(&two, &err));
	for (uint32_t i = 0; i < two.n_dirs; i++) {
		own_close int fd = -EBADF;
		char path[128];

		ok(cgroup_dir_open_root(&two.dir[i], &fd, &err));
		snprintf(path, sizeof(path), "%s/race", base + 1);
		assert_int_equal(unlinkat(fd, path, AT_REMOVEDIR), 0);
		assert_int_equal(unlinkat(fd, base + 1, AT_REMOVEDIR), 0);
	}
}

/* ---------------------------------------------------------------- limits */

static void expect(const struct cgroup *cg, enum cgroup_controller c,
		   const char *v1, const char *v2, const char *want)
{
	const struct cgroup_dir *d = cgroup_dir_of(cg, c);
	char text[256];

	assert_non_null(d);
	read_file(d, d->v2 ? v2 : v1, text, sizeof(text));
	assert_string_equal(text, want);
}

static void test_limits(void **state)
{
	static struct cgroup cg;
	struct cgroup_resources r = {0};

	(void)state;
	ok(plan(&cg, "/limits"));
	if (!cgroup_dir_of(&cg, CGROUP_MEMORY) ||
	    !cgroup_dir_of(&cg, CGROUP_CPU) || !cgroup_dir_of(&cg, CGROUP_PIDS))
		skip();
	r.memory.limit = (struct cgroup_i64){true, 64 << 20};
	r.memory.reservation = (struct cgroup_i64){true, 32 << 20};
	r.cpu.quota = (struct cgroup_i64){true, 50000};
	r.cpu.period = (struct cgroup_u64){true, 100000};
	r.pids = (struct cgroup_i64){true, 0};
	ok(cgroup_make(&cg, &r, &err));
	ok(cgroup_apply(&cg, &r, &err));
	expect(&cg, CGROUP_MEMORY, "memory.limit_in_bytes", "memory.max",
	       "67108864");
	expect(&cg, CGROUP_MEMORY, "memory.soft_limit_in_bytes", "memory.low",
	       "33554432");
	expect(&cg, CGROUP_PIDS, "pids.max", "pids.max", "0");
	expect(&cg, CGROUP_CPU, "cpu.cfs_quota_us", "cpu.max",
	       cgroup_dir_of(&cg, CGROUP_CPU)->v2 ? "50000 100000" : "50000");
	/* an update, downwards and upwards, of the pair that must keep order */
	r = (struct cgroup_resources){0};
	r.pids = (struct cgroup_i64){true, -1};
	r.cpu.quota = (struct cgroup_i64){true, -1};
	for (int i = 0; i < 3; i++) {
		static const int64_t mb[] = {16, 256, 32};

		r.memory.limit = (struct cgroup_i64){true, mb[i] << 20};
		r.memory.swap = (struct cgroup_i64){true, mb[i] << 21};
		ok(cgroup_apply(&cg, &r, &err));
	}
	expect(&cg, CGROUP_MEMORY, "memory.limit_in_bytes", "memory.max",
	       "33554432");
	expect(&cg, CGROUP_PIDS, "pids.max", "pids.max", "max");
	ok(cgroup_remove(&cg, &err));
}

/* What can't be had is an error that names it. */
static void test_refused(void **state)
{
	static const char *const keys[] = {"cgroup.procs",  "cgroup.kill",
					   "cgroup.freeze", "../x.y",
					   "memory",	    "cgroup.type"};
	static struct cgroup cg;
	struct cgroup_resources r = {0};

	(void)state;
	ok(plan(&cg, "/refused"));
	ok(cgroup_make(&cg, &r, &err));
	if (!cgroup_dir_of(&cg, CGROUP_NET_CLS)) {
		r.class_id = (struct cgroup_u64){true, 1};
		assert_int_equal(cgroup_apply(&cg, &r, &err), -ENOENT);
		assert_string_equal(err.text,
				    "cgroup controller net_cls: the container "
				    "has no cgroup with it");
		r.class_id.set = false;
	}
	if (cgroup_dir_v2(&cg))
		for (size_t i = 0; i < N_ELEMENTS(keys); i++) {
			const struct cgroup_unified u = {keys[i], "1"};

			r.unified = &u;
			r.n_unified = 1;
			assert_int_equal(cgroup_apply(&cg, &r, &err), -EINVAL);
		}
	ok(cgroup_remove(&cg, &err));
}

/* --------------------------------------------------------------- devices */

static int try_devices(void)
{
	own_close int null_fd =
		openat(AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC);
	own_close int zero_fd =
		openat(AT_FDCWD, "/dev/zero", O_RDONLY | O_CLOEXEC);
	own_close int write_fd = -EBADF;

	if (null_fd < 0 || zero_fd < 0)
		return 1;
	write_fd = openat(AT_FDCWD, "/dev/zero", O_WRONLY | O_CLOEXEC);
	if (write_fd >= 0 || errno != EPERM)
		return 2;
	write_fd = openat(AT_FDCWD, "/dev/full", O_RDONLY | O_CLOEXEC);
	return write_fd < 0 && errno == EPERM ? 0 : 3;
}

static void try_in(const struct cgroup *cg)
{
	pid_t pid = start(cg, try_devices);
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_devices(void **state)
{
	static const struct cgroup_device_rule rules[] = {
		{false, 'a', -1, -1, 7},
		{true, 'c', 1, 3, 7},
		{true, 'c', 1, 5, 7},
		{false, 'c', 1, 5, CGROUP_DEV_WRITE},
	};
	static const struct cgroup_device_rule narrow[] = {
		{true, 'c', 10, -1, 7},
		{false, 'c', 10, 229, 7},
	};
	static struct cgroup cg;
	struct cgroup_resources r = {.devices = rules,
				     .n_devices = N_ELEMENTS(rules)};
	const struct cgroup_resources none = {0};
	const struct cgroup_dir *d;

	(void)state;
	ok(plan(&cg, "/devices"));
	d = cgroup_dir_of(&cg, CGROUP_DEVICES);
	if (!d)
		skip();
	ok(cgroup_make(&cg, &r, &err));
	ok(cgroup_apply(&cg, &r, &err));
	try_in(&cg);
	r.devices = narrow;
	r.n_devices = N_ELEMENTS(narrow);
	if (!d->v2)
		assert_int_equal(cgroup_apply(&cg, &r, &err), -EINVAL);
	ok(cgroup_remove(&cg, &err));
	/* v2's program, whoever has the controller; twice: in place of itself */
	ok(plan(&cg, "/devices2"));
	ok(cgroup_make(&cg, &none, &err));
	d = cgroup_dir_v2(&cg);
	for (int i = 0; d && i < 2; i++) {
		own_close int fd = -EBADF;

		ok(cgroup_dir_open(d, &fd, &err));
		ok(cgroup_devices_attach(
			fd, i ? rules : narrow,
			i ? N_ELEMENTS(rules) : N_ELEMENTS(narrow), &err));
	}
	if (d)
		try_in(&cg);
	ok(cgroup_remove(&cg, &err));
}

static int run_all(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_life),
		cmocka_unit_test(test_life_v1),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_half_made),
		cmocka_unit_test(test_race),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_devices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

static void test_nothing(void **state)
{
	(void)state;
	skip();
}

static int skip_all(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing, NULL, NULL),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The tests themselves are process 1 of a namespace with its own /proc. */
static int in_namespace(int (*body)(void))
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

int main(void)
{
	static struct cgroup cg;

	snprintf(base, sizeof(base), "/osh-unit-%d-%ld", (int)getpid(),
		 (long)time(NULL) % 100000);
	if (geteuid() != 0 || plan(&cg, "/x") < 0 ||
	    unshare(CLONE_NEWPID | CLONE_NEWNS) < 0)
		return skip_all();
	/* no leak check at exit: it can't clone once the namespace is dead */
	_exit(in_namespace(run_all));
}
