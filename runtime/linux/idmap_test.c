/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/linux/idmap.h"

static int check(const struct idmap_line *v, size_t n, struct err *err)
{
	static const struct idmap_line fine = {0, 1000, 1};
	const struct idmap m = {.uid = &fine, .n_uid = 1, .gid = v, .n_gid = n};

	return idmap_check(&m, err);
}

static void good_maps(void **state)
{
	static const struct idmap_line v[] = {
		{0, 1, 1001},
		{1001, 0, 1},
		{1002, 1002, 64535},
		{65537, UINT32_MAX - 1, 1},
	};
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(check(v, N_ELEMENTS(v), &err), 0);
	assert_int_equal(check(v, 0, &err), 0);
}

static void bad_maps(void **state)
{
	static const struct idmap_line bad[][2] = {
		{{0, 0, 0}, {1, 1, 1}},
		{{0, UINT32_MAX, 1}, {1, 1, 1}},
		{{1, 0, UINT32_MAX}, {1, 1, 1}},
		{{0, 100, 10}, {9, 200, 1}},
		{{0, 100, 10}, {10, 109, 1}},
		{{5, 100, 10}, {0, 0, 6}},
	};
	struct err err = ERR_INIT;

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(bad); i++)
		assert_int_equal(check(bad[i], 2, &err), -EINVAL);
	assert_string_equal(err.text, "gid mapping 1 overlaps mapping 0");
}

/* CVE-2021-43784: more than fits is said before anything is made */
static void too_many_lines(void **state)
{
	static struct idmap_line v[5000];
	struct err err = ERR_INIT;

	(void)state;
	for (uint32_t i = 0; i < N_ELEMENTS(v); i++)
		v[i] = (struct idmap_line){i, 100000 + i, 1};
	assert_int_equal(check(v, N_ELEMENTS(v), &err), -EINVAL);
	assert_string_equal(err.text,
			    "5000 gid mappings: the kernel takes 340");
	/* 340 short lines fit into one write, 340 long ones don't */
	assert_int_equal(check(v, 200, &err), 0);
	assert_int_equal(check(v, IDMAP_LINES_MAX, &err), -EINVAL);
	for (uint32_t i = 0; i < N_ELEMENTS(v); i++)
		v[i] = (struct idmap_line){i, i, 1};
	assert_int_equal(check(v, IDMAP_LINES_MAX, &err), 0);
}

static void translation(void **state)
{
	static const struct idmap_line v[] = {{0, 1000, 1}, {1, 100000, 10}};
	uint32_t id = 0;

	(void)state;
	assert_true(idmap_to_outside(v, 2, 0, &id));
	assert_int_equal(id, 1000);
	assert_true(idmap_to_outside(v, 2, 10, &id));
	assert_int_equal(id, 100009);
	assert_false(idmap_to_outside(v, 2, 11, &id));
}

static void namespace_without_people(void **state)
{
	static const struct idmap_line line = {0, 100000, 65536};
	static const struct idmap map = {&line, 1, &line, 1};
	static const struct idmap none = {&line, 1, NULL, 0};
	own_close int fd = -EBADF;
	struct err err = ERR_INIT;

	(void)state;
	if (geteuid() != 0)
		skip();
	if (idmap_userns(&map, &fd, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(ioctl(fd, NS_GET_NSTYPE), CLONE_NEWUSER);
	assert_int_equal(idmap_userns(&none, &fd, &err), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_maps),
		cmocka_unit_test(bad_maps),
		cmocka_unit_test(too_many_lines),
		cmocka_unit_test(translation),
		cmocka_unit_test(namespace_without_people),
	};

	return cmocka_run_group_tests_name("idmap", tests, NULL, NULL);
}
