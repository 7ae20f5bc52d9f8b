/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <sys/sysmacros.h>

#include "runtime/base/strbuf.h"
#include "runtime/linux/device.h"
#include "runtime/linux/test_root.h"

static struct stat look(const struct test_root *t, const char *path)
{
	struct stat st = {.st_mode = 0};

	assert_int_equal(fstatat(t->root_fd, path, &st, AT_SYMLINK_NOFOLLOW),
			 0);
	return st;
}

static void defaults_are_made(void **state)
{
	const struct test_root *t = *state;
	struct err err = ERR_INIT;
	mode_t old = umask(077);

	NEEDS_ROOT(state);
	assert_ok(device_create(t->root_fd, device_defaults, device_n_defaults,
				false, &err),
		  &err);
	umask(old);
	for (size_t i = 0; i < device_n_defaults; i++) {
		const struct device *d = &device_defaults[i];
		struct stat st = look(t, d->path + 1);

		assert_int_equal(st.st_mode, S_IFCHR | 0666);
		assert_int_equal(st.st_rdev, makedev(d->major, d->minor));
	}
	/* again: what is there is kept */
	assert_ok(device_create(t->root_fd, device_defaults, device_n_defaults,
				false, &err),
		  &err);
}

static void devices_of_a_configuration(void **state)
{
	static const struct device v[] = {
		{"/dev/net/tun", 'c', 10, 200, 0600, 5, 6},
		{"/dev/loop0", 'b', 7, 0, 0640, 0, 6},
		{"/dev/pipe", 'p', 0, 0, 0622, 1, 1},
	};
	const struct test_root *t = *state;
	struct err err = ERR_INIT;
	struct stat st;

	NEEDS_ROOT(state);
	assert_ok(device_create(t->root_fd, v, N_ELEMENTS(v), false, &err),
		  &err);
	st = look(t, "dev/net/tun");
	assert_int_equal(st.st_mode, S_IFCHR | 0600);
	assert_int_equal(st.st_uid, 5);
	assert_int_equal(st.st_gid, 6);
	assert_int_equal(look(t, "dev/loop0").st_mode, S_IFBLK | 0640);
	assert_int_equal(look(t, "dev/pipe").st_mode, S_IFIFO | 0622);
}

static void host_nodes_are_bound(void **state)
{
	static const struct device wrong = {"/dev/null", 'c', 1, 5, 0666, 0, 0};
	const struct test_root *t = *state;
	struct err err = ERR_INIT;

	NEEDS_ROOT(state);
	assert_ok(device_create(t->root_fd, device_defaults, device_n_defaults,
				true, &err),
		  &err);
	assert_int_equal(look(t, "dev/zero").st_rdev, makedev(1, 5));
	assert_int_equal(device_create(t->root_fd, &wrong, 1, true, &err),
			 -EEXIST);
	assert_string_equal(err.text, "create device: /dev/null is there and "
				      "not c 1:5");
}

/* CVE-2026-41579, CVE-2026-47766 */
static void dev_as_a_link_stays_inside(void **state)
{
	const struct test_root *t = *state;
	struct err err = ERR_INIT;

	NEEDS_ROOT(state);
	assert_int_equal(symlinkat(TEST_DIR "/host", t->root_fd, "dev"), 0);
	assert_ok(device_create(t->root_fd, device_defaults, device_n_defaults,
				false, &err),
		  &err);
	assert_ok(device_links(t->root_fd, &err), &err);
	/* nothing was made in it, so it can be removed */
	assert_int_equal(unlinkat(t->dir_fd, "host", AT_REMOVEDIR), 0);
}

static void something_else_in_the_way(void **state)
{
	const struct test_root *t = *state;
	struct err err = ERR_INIT;

	NEEDS_ROOT(state);
	mkdirat(t->root_fd, "dev", 0755);
	test_write(t->root_fd, "dev/null", "");
	assert_int_equal(
		device_create(t->root_fd, device_defaults, 1, false, &err),
		-EEXIST);
	assert_int_equal(unlinkat(t->root_fd, "dev/null", 0), 0);
	test_write(t->root_fd, "victim", "");
	assert_int_equal(symlinkat("../victim", t->root_fd, "dev/null"), 0);
	assert_int_equal(
		device_create(t->root_fd, device_defaults, 1, false, &err),
		-EEXIST);
	assert_int_equal(look(t, "victim").st_mode & 0777, 0600);
}

static void links_are_made(void **state)
{
	const struct test_root *t = *state;
	struct err err = ERR_INIT;
	char target[32] = "";

	NEEDS_ROOT(state);
	mkdirat(t->root_fd, "dev", 0755);
	assert_int_equal(
		mknodat(t->root_fd, "dev/ptmx", S_IFCHR | 0666, makedev(5, 2)),
		0);
	assert_ok(device_links(t->root_fd, &err), &err);
	assert_int_equal(
		readlinkat(t->root_fd, "dev/ptmx", target, sizeof(target)), 8);
	assert_memory_equal(target, "pts/ptmx", 8);
	assert_int_equal(
		readlinkat(t->root_fd, "dev/stderr", target, sizeof(target)),
		15);
	assert_memory_equal(target, "/proc/self/fd/2", 15);
	/* there is no /proc/kcore in this root */
	assert_int_equal(
		readlinkat(t->root_fd, "dev/core", target, sizeof(target)), -1);
	assert_ok(device_links(t->root_fd, &err), &err);
}

/* CVE-2025-52565 */
static void console_is_a_terminal(void **state)
{
	const struct test_root *t = *state;
	struct err err = ERR_INIT;
	own_close int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	NEEDS_ROOT(state);
	assert_int_equal(device_console(t->root_fd, null_fd, &err), -EINVAL);
	assert_int_equal(device_console(t->root_fd, t->dir_fd, &err), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TEST_ROOT(defaults_are_made),
		IN_TEST_ROOT(devices_of_a_configuration),
		IN_TEST_ROOT(host_nodes_are_bound),
		IN_TEST_ROOT(dev_as_a_link_stays_inside),
		IN_TEST_ROOT(something_else_in_the_way),
		IN_TEST_ROOT(links_are_made),
		IN_TEST_ROOT(console_is_a_terminal),
	};

	return cmocka_run_group_tests_name("device", tests, test_root_enter,
					   test_root_leave);
}
