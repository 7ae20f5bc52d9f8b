/* SPDX-License-Identifier: Apache-2.0 */
/* What of cgroups can be tested without any: texts, numbers, rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/cgroup.h"
#include "runtime/linux/cgroup_convert.h"
#include "runtime/linux/cgroup_devices.h"
#include "runtime/linux/cgroup_find.h"
#include "runtime/linux/cgroup_resources.h"

static struct err err;

static void test_shares(void **state)
{
	static const struct {
		uint64_t shares, weight;
	} rows[] = {
		/* the three fixed points, and values of the formula by libm */
		{0, 1},		 {1, 1},
		{2, 1},		 {3, 2},
		{4, 2},		 {100, 17},
		{512, 59},	 {1024, 100},
		{1025, 101},	 {2048, 174},
		{4096, 303},	 {262143, 10000},
		{262144, 10000}, {UINT64_MAX, 10000},
	};

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(rows); i++)
		assert_int_equal(cgroup_convert_shares(rows[i].shares),
				 rows[i].weight);
	for (uint64_t s = 3; s <= 262144; s++)
		assert_true(cgroup_convert_shares(s) >=
			    cgroup_convert_shares(s - 1));
}

static void test_io_weight(void **state)
{
	(void)state;
	assert_int_equal(cgroup_convert_io_weight(0), 1);
	assert_int_equal(cgroup_convert_io_weight(10), 1);
	assert_int_equal(cgroup_convert_io_weight(100), 910);
	assert_int_equal(cgroup_convert_io_weight(500), 4950);
	assert_int_equal(cgroup_convert_io_weight(1000), 10000);
}

static void test_swap(void **state)
{
	int64_t v = 7;

	(void)state;
	assert_int_equal(cgroup_convert_swap(300, 100, &v, &err), 0);
	assert_int_equal(v, 200);
	assert_int_equal(cgroup_convert_swap(100, 100, &v, &err), 0);
	assert_int_equal(v, 0);
	assert_int_equal(cgroup_convert_swap(-1, 100, &v, &err), 0);
	assert_int_equal(v, -1);
	assert_int_equal(cgroup_convert_swap(300, -1, &v, &err), 0);
	assert_int_equal(v, 300);
	assert_int_equal(cgroup_convert_swap(50, 100, &v, &err), -EINVAL);
	assert_int_equal(cgroup_convert_swap(50, 0, &v, &err), -EINVAL);
}

/* ------------------------------------------------------------------ find */

static const struct cgroup_hierarchy *with(const struct cgroup_hierarchies *all,
					   enum cgroup_controller c)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->v[i].controllers >> c & 1)
			return &all->v[i];
	return NULL;
}

static void test_find_hybrid(void **state)
{
	own_arena struct arena a = ARENA_INIT;
	struct cgroup_hierarchies all;
	char *mounts = arena_strdup(
		&a,
		"31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
		"40 31 0:99 / /mnt/cpu rw - cgroup x rw,cpu,cpuacct\n"
		"32 31 0:29 / /sys/fs/cgroup/cpu\\040x rw shared:3 - cgroup "
		"cgroup rw,cpu,cpuacct\n"
		"33 31 0:30 /docker/a /sys/fs/cgroup/pids rw - cgroup "
		"cgroup rw,pids\n"
		"34 31 0:31 / /sys/fs/cgroup/odd rw - cgroup cgroup "
		"rw,name=odd\n"
		"35 31 0:32 / /sys/fs/cgroup/systemd rw - cgroup cgroup "
		"rw,xattr,name=systemd\n"
		"36 31 0:33 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 "
		"rw,nsdelegate\n"
		"37 31 0:34 / /sys/fs/cgroup/net_cls rw - tmpfs net rw\n");
	char *own = arena_strdup(&a, "5:name=systemd:/s\n"
				     "4:pids:/docker/a/b/c\n"
				     "2:cpu,cpuacct:/x y\n"
				     "1:name=odd:/o\n"
				     "0::/user/1\n");
	const struct cgroup_hierarchy *h;

	(void)state;
	assert_int_equal(cgroup_find_parse(mounts, own, false, &all, &err), 0);
	assert_int_equal(all.n, 4);
	h = with(&all, CGROUP_CPU);
	assert_string_equal(h->mount, "/sys/fs/cgroup/cpu x");
	assert_string_equal(h->own, "/x y");
	assert_ptr_equal(h, with(&all, CGROUP_CPUACCT));
	h = with(&all, CGROUP_PIDS);
	assert_string_equal(h->own, "/b/c");
	assert_null(with(&all, CGROUP_NET_CLS));
	assert_true(all.v[2].systemd && !all.v[2].v2);
	assert_string_equal(all.v[2].own, "/s");
	assert_true(all.v[3].v2);
	assert_string_equal(all.v[3].own, "/user/1");
}

static void test_find_outside(void **state)
{
	own_arena struct arena a = ARENA_INIT;
	struct cgroup_hierarchies all;
	char *mounts = arena_strdup(
		&a, "33 31 0:30 /a /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");

	(void)state;
	assert_int_equal(cgroup_find_parse(mounts, arena_strdup(&a, "0::/ab\n"),
					   false, &all, &err),
			 0);
	assert_null(all.v[0].own);
	mounts = arena_strdup(
		&a, "33 31 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	assert_int_equal(cgroup_find_parse(mounts,
					   arena_strdup(&a, "0::/../x\n"),
					   false, &all, &err),
			 0);
	assert_null(all.v[0].own);
}

static void test_controllers(void **state)
{
	(void)state;
	assert_int_equal(cgroup_find_controllers("cpuset cpu io\n"),
			 1U << CGROUP_CPUSET | 1U << CGROUP_CPU |
				 1U << CGROUP_IO);
	assert_int_equal(cgroup_find_controllers(""), 0);
	assert_int_equal(cgroup_find_controllers("blkio xcpu cpux"), 0);
	for (unsigned int i = 0; i < CGROUP_CONTROLLER_N; i++)
		assert_non_null(cgroup_controller_name(i, i & 1));
}

static void test_check(void **state)
{
	static const char *const bad[] = {
		"", "/", "a", "/a/", "//a", "/a/..", "/../a", "/./a", "/a/./b"};
	static struct cgroup cg = {.n_dirs = 1};

	(void)state;
	str_copy(cg.dir[0].mount, CGROUP_MOUNT_MAX, "/sys/fs/cgroup");
	str_copy(cg.dir[0].path, CGROUP_PATH_MAX, "/a/b...c/..d");
	cg.dir[0].n_created = 3;
	assert_int_equal(cgroup_check(&cg, &err), 0);
	cg.dir[0].n_created = 4;
	assert_int_equal(cgroup_check(&cg, &err), -EINVAL);
	cg.dir[0].n_created = 0;
	for (size_t i = 0; i < N_ELEMENTS(bad); i++) {
		str_copy(cg.dir[0].path, CGROUP_PATH_MAX, bad[i]);
		assert_int_equal(cgroup_check(&cg, &err), -EINVAL);
	}
	memset(cg.dir[0].path, 'a', CGROUP_PATH_MAX);
	assert_int_equal(cgroup_check(&cg, &err), -EINVAL);
	cg.n_dirs = CGROUP_DIRS_MAX + 1;
	assert_int_equal(cgroup_check(&cg, &err), -EINVAL);
}

/* --------------------------------------------------------------- devices */

enum { R = CGROUP_DEV_READ, W = CGROUP_DEV_WRITE, M = CGROUP_DEV_MKNOD };

struct request {
	char type;
	uint32_t major, minor;
	unsigned int access;
};

/* What the kernel's machine makes of a program; only our instructions. */
static int run_program(const struct bpf_insn *p, size_t n,
		       const struct request *q)
{
	const uint32_t ctx[] = {
		(uint32_t)(q->type == 'b' ? BPF_DEVCG_DEV_BLOCK
					  : BPF_DEVCG_DEV_CHAR) |
			(uint32_t)((q->access & M ? BPF_DEVCG_ACC_MKNOD : 0) |
				   (q->access & R ? BPF_DEVCG_ACC_READ : 0) |
				   (q->access & W ? BPF_DEVCG_ACC_WRITE : 0))
				<< 16,
		q->major,
		q->minor,
	};
	uint64_t reg[11] = {0};

	for (size_t pc = 0; pc < n; pc++) {
		const struct bpf_insn *i = &p[pc];
		uint64_t *d = &reg[i->dst_reg];

		switch (i->code) {
		case BPF_LDX | BPF_MEM | BPF_W:
			assert_int_equal(i->src_reg, 1);
			*d = ctx[i->off / 4];
			break;
		case BPF_ALU | BPF_MOV | BPF_X:
			*d = (uint32_t)reg[i->src_reg];
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			*d = (uint32_t)*d & (uint32_t)i->imm;
			break;
		case BPF_ALU | BPF_RSH | BPF_K:
			*d = (uint32_t)*d >> i->imm;
			break;
		case BPF_ALU64 | BPF_MOV | BPF_K:
			*d = (uint64_t)(int64_t)i->imm;
			break;
		case BPF_JMP | BPF_JNE | BPF_K:
			pc += *d != (uint64_t)(int64_t)i->imm ? (size_t)i->off
							      : 0;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			pc += *d == (uint64_t)(int64_t)i->imm ? (size_t)i->off
							      : 0;
			break;
		case BPF_JMP | BPF_EXIT:
			return (int)reg[0];
		default:
			fail_msg("instruction %x", i->code);
		}
	}
	fail_msg("fell off the end");
	return -1;
}

/* Bit by bit, the last rule that names it decides. */
static int reference(const struct cgroup_device_rule *v, size_t n,
		     const struct request *q)
{
	for (unsigned int bit = 1; bit <= M; bit <<= 1) {
		bool allow = false;

		for (size_t i = 0; (q->access & bit) && i < n; i++)
			if ((v[i].type == 'a' || v[i].type == q->type) &&
			    (v[i].major < 0 || v[i].major == q->major) &&
			    (v[i].minor < 0 || v[i].minor == q->minor) &&
			    (v[i].access & bit))
				allow = v[i].allow;
		if ((q->access & bit) && !allow)
			return 0;
	}
	return 1;
}

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return *seed >> 33;
}

static void check_program(const struct cgroup_device_rule *v, size_t n)
{
	own_arena struct arena a = ARENA_INIT;
	struct bpf_insn *p;
	size_t n_insns;

	assert_int_equal(cgroup_devices_program(&a, v, n, &p, &n_insns, &err),
			 0);
	for (uint32_t k = 0; k < 2 * 3 * 3 * 7; k++) {
		const struct request q = {
			.type = k & 1 ? 'b' : 'c',
			.major = k / 2 % 3,
			.minor = k / 6 % 3,
			.access = k / 18 + 1,
		};

		assert_int_equal(run_program(p, n_insns, &q),
				 reference(v, n, &q));
	}
}

static void test_device_program(void **state)
{
	uint64_t seed = 1;

	(void)state;
	check_program(cgroup_default_devices, cgroup_n_default_devices);
	check_program(NULL, 0);
	for (int k = 0; k < 500; k++) {
		struct cgroup_device_rule v[12];
		size_t n = next_random(&seed) % N_ELEMENTS(v);

		for (size_t i = 0; i < n; i++)
			v[i] = (struct cgroup_device_rule){
				.allow = next_random(&seed) & 1,
				.type = "abc"[next_random(&seed) % 3],
				.major = (int64_t)(next_random(&seed) % 4) - 1,
				.minor = (int64_t)(next_random(&seed) % 4) - 1,
				.access =
					(unsigned int)(1 +
						       next_random(&seed) % 7),
			};
		check_program(v, n);
	}
}

static void test_device_bounds(void **state)
{
	own_arena struct arena a = ARENA_INIT;
	struct cgroup_device_rule *v =
		arena_array(&a, struct cgroup_device_rule, 512);
	struct bpf_insn *p;
	size_t n;

	(void)state;
	for (size_t i = 0; i < 512; i++)
		v[i] = (struct cgroup_device_rule){
			.type = 'c', .major = 1, .minor = 2, .access = R};
	assert_int_equal(cgroup_devices_program(&a, v, 500, &p, &n, &err), 0);
	assert_true(n <= 4096);
	assert_int_equal(cgroup_devices_program(&a, v, 512, &p, &n, &err),
			 -E2BIG);
	v[0].type = 'p';
	assert_int_equal(cgroup_devices_program(&a, v, 1, &p, &n, &err),
			 -EINVAL);
	v[0].type = 'b';
	v[0].access = 8;
	assert_int_equal(cgroup_devices_program(&a, v, 1, &p, &n, &err),
			 -EINVAL);
	v[0].access = R;
	v[0].major = -2;
	assert_int_equal(cgroup_devices_program(&a, v, 1, &p, &n, &err),
			 -EINVAL);
}

static void test_need(void **state)
{
	const struct cgroup_unified unified = {"hugetlb.2MB.max", "0"};
	const struct cgroup_device_rule all = {.allow = true,
					       .type = 'a',
					       .major = -1,
					       .minor = -1,
					       .access = 7};
	const struct cgroup_device_rule none = {
		.type = 'a', .major = -1, .minor = -1, .access = 7};
	struct cgroup_resources r = {0};

	(void)state;
	assert_int_equal(cgroup_resources_need(&r), 0);
	/* what Docker sends for a privileged container asks for nothing */
	r.cpu.shares.set = true;
	r.blkio.weight.set = true;
	r.devices = &all;
	r.n_devices = 1;
	assert_int_equal(cgroup_resources_need(&r), 0);
	r.devices = &none;
	assert_int_equal(cgroup_resources_need(&r), 1U << CGROUP_DEVICES);
	r.no_devices = true;
	r.pids = (struct cgroup_i64){true, -1};
	assert_int_equal(cgroup_resources_need(&r), 0);
	r.pids.v = 0;
	r.memory.limit = (struct cgroup_i64){true, 1};
	r.cpu.cpus = "0";
	r.unified = &unified;
	r.n_unified = 1;
	assert_int_equal(cgroup_resources_need(&r),
			 1U << CGROUP_PIDS | 1U << CGROUP_MEMORY |
				 1U << CGROUP_CPUSET | 1U << CGROUP_HUGETLB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_io_weight),
		cmocka_unit_test(test_swap),
		cmocka_unit_test(test_find_hybrid),
		cmocka_unit_test(test_find_outside),
		cmocka_unit_test(test_controllers),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_device_program),
		cmocka_unit_test(test_device_bounds),
		cmocka_unit_test(test_need),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
