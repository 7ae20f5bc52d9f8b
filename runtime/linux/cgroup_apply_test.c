/* SPDX-License-Identifier: Apache-2.0 */
/* Limits and devices, as the kernel has them afterwards. */
#include "runtime/linux/cgroup_fixture.h"

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

static void test_cpu(void **state)
{
	static struct cgroup cg;
	struct cgroup_resources r = {0};
	bool v2;

	(void)state;
	ok(plan(&cg, "/cpu"));
	if (!cgroup_dir_of(&cg, CGROUP_CPU) ||
	    !cgroup_dir_of(&cg, CGROUP_CPUSET))
		skip();
	v2 = cgroup_dir_of(&cg, CGROUP_CPU)->v2;
	r.cpu.shares = (struct cgroup_u64){true, 512};
	r.cpu.quota = (struct cgroup_i64){true, 20000};
	r.cpu.period = (struct cgroup_u64){true, 50000};
	r.cpu.burst = (struct cgroup_u64){true, 10000};
	r.cpu.cpus = "0";
	r.cpu.mems = "0";
	ok(cgroup_make(&cg, &r, &err));
	ok(cgroup_apply(&cg, &r, &err));
	expect(&cg, CGROUP_CPU, "cpu.shares", "cpu.weight", v2 ? "59" : "512");
	expect(&cg, CGROUP_CPU, "cpu.cfs_burst_us", "cpu.max.burst", "10000");
	expect(&cg, CGROUP_CPUSET, "cpuset.cpus", "cpuset.cpus", "0");
	/* what is not asked for stays: the quota, then the period */
	r = (struct cgroup_resources){0};
	r.cpu.period = (struct cgroup_u64){true, 100000};
	ok(cgroup_apply(&cg, &r, &err));
	expect(&cg, CGROUP_CPU, "cpu.cfs_quota_us", "cpu.max",
	       v2 ? "20000 100000" : "20000");
	r = (struct cgroup_resources){0};
	r.cpu.quota = (struct cgroup_i64){true, 30000};
	ok(cgroup_apply(&cg, &r, &err));
	expect(&cg, CGROUP_CPU, "cpu.cfs_quota_us", "cpu.max",
	       v2 ? "30000 100000" : "30000");
	r.cpu.shares = (struct cgroup_u64){true, 1};
	assert_int_equal(cgroup_apply(&cg, &r, &err), v2 ? 0 : -ERANGE);
	r.cpu.shares.set = false;
	r.cpu.cpus = "99999";
	assert_true(cgroup_apply(&cg, &r, &err) < 0);
	ok(cgroup_remove(&cg, &err));
}

/* Files of v2 by name, where v2 has the memory controller. */
static void test_unified(void **state)
{
	static struct cgroup cg;
	const struct cgroup_unified files[] = {
		{"memory.high", "33554432"},
		{"cgroup.max.depth", "3"},
		{"pids.max", "77"},
	};
	struct cgroup_resources r = {.unified = files,
				     .n_unified = N_ELEMENTS(files)};

	(void)state;
	ok(plan(&cg, "/unified"));
	if (!cgroup_dir_of(&cg, CGROUP_MEMORY) ||
	    !cgroup_dir_of(&cg, CGROUP_MEMORY)->v2)
		skip();
	ok(cgroup_make(&cg, &r, &err));
	ok(cgroup_apply(&cg, &r, &err));
	expect(&cg, CGROUP_MEMORY, "", "memory.high", "33554432");
	expect(&cg, CGROUP_PIDS, "", "pids.max", "77");
	/* v1's words for what v2 does not have */
	r.n_unified = 0;
	r.memory.swappiness = (struct cgroup_u64){true, 10};
	assert_int_equal(cgroup_apply(&cg, &r, &err), -EOPNOTSUPP);
	assert_string_equal(err.text,
			    "memory.swappiness: cgroup v2 has nothing "
			    "like it");
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
		cmocka_unit_test(test_limits),	cmocka_unit_test(test_cpu),
		cmocka_unit_test(test_unified), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_devices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return cgroup_fixture_main(run_all);
}
