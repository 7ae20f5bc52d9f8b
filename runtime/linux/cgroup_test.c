/* SPDX-License-Identifier: Apache-2.0 */
/* Cgroups made, joined, frozen, killed, removed; and those of others not. */
#include "runtime/linux/cgroup_fixture.h"

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

static int move_to_inner(const struct cgroup_dir *d)
{
	own_close int fd = -EBADF;
	char text[256];

	if (cgroup_dir_open(d, &fd, &err) < 0 ||
	    mkdirat(fd, "inner", 0755) < 0 ||
	    io_write_str(fd, "inner/cgroup.procs", "0") < 0 ||
	    io_read_str(fd, "cgroup.controllers", text, sizeof(text)) <= 0)
		return 1;
	memmove(text + 1, text, strcspn(text, " ") + 1);
	text[0] = '+';
	text[strcspn(text, " ")] = '\0';
	return io_write_str(fd, "cgroup.subtree_control", text) < 0 ? 2 : 0;
}

/* A container that divides its cgroup (a Docker inside): exec follows it. */
static void test_inner(void **state)
{
	own_cgroup_join struct cgroup_join j = CGROUP_JOIN_INIT;
	static struct cgroup cg;
	const struct cgroup_resources none = {0};
	const struct cgroup_dir *d;
	char text[256] = "";
	pid_t pid;
	int fd = -EBADF;

	(void)state;
	ok(plan(&cg, "/divided"));
	ok(cgroup_make(&cg, &none, &err));
	d = cgroup_dir_v2(&cg);
	if (d)
		read_file(d, "cgroup.controllers", text, sizeof(text));
	if (!*text) {
		ok(cgroup_remove(&cg, &err));
		skip();
	}
	pid = start(&cg, NULL);
	ok(cgroup_join_open(&j, &cg, pid, &err));
	cgroup_join_close(&j);
	/* nobody is in the inner one yet: nowhere to go */
	ok(cgroup_signal(&cg, SIGKILL, &err));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	pid = fork();
	if (pid == 0) {
		if (move_to_inner(d) != 0)
			_exit(1);
		for (;;)
			pause();
	}
	for (int i = 0; i < 500 && fd < 0; i++) {
		const struct timespec t = {.tv_nsec = 10000000};

		nanosleep(&t, NULL);
		read_file(d, "cgroup.subtree_control", text, sizeof(text));
		if (*text)
			fd = 0;
	}
	ok(cgroup_join_open(&j, &cg, pid, &err));
	assert_int_equal(faccessat(j.v2_dir_fd, "../inner", F_OK, 0), 0);
	cgroup_join_close(&j);
	/* our own process is not beneath it */
	assert_int_equal(cgroup_join_open(&j, &cg, getpid(), &err), -EBUSY);
	ok(cgroup_signal(&cg, SIGKILL, &err));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
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
		cmocka_unit_test(test_inner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return cgroup_fixture_main(run_all);
}
