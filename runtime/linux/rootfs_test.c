/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include "runtime/base/arena.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/mountinfo.h"
#include "runtime/linux/test_root.h"

static void make_null(const struct test_root *t)
{
	mkdirat(t->root_fd, "dev", 0755);
	assert_int_equal(
		mknodat(t->root_fd, "dev/null", S_IFCHR | 0666, makedev(1, 3)),
		0);
}

static struct stat stat_at(const struct test_root *t, const char *path)
{
	own_close int fd = path_try_in(t->root_fd, path, O_PATH);
	struct stat st = {.st_ino = 0};

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	return st;
}

static void files_and_directories_are_masked(void **state)
{
	static const char *const paths[] = {
		"/secret", "/missing", "/secret/x", "/a", "/b", "/b",
	};
	const struct test_root *t = *state;
	struct err err = ERR_INIT;
	struct stat a;
	struct stat b;

	NEEDS_ROOT(state);
	make_null(t);
	test_write(t->root_fd, "secret", "secret");
	mkdirat(t->root_fd, "a", 0755);
	mkdirat(t->root_fd, "a/x", 0755);
	mkdirat(t->root_fd, "b", 0755);
	assert_ok(rootfs_mask(t->root_fd, paths, N_ELEMENTS(paths), &err),
		  &err);
	assert_int_equal(stat_at(t, "secret").st_rdev, makedev(1, 3));
	assert_int_equal(path_try_in(t->root_fd, "a/x", O_PATH), -ENOENT);
	assert_int_equal(mkdirat(t->root_fd, "a/y", 0755), -1);
	assert_int_equal(errno, EROFS);
	/* runc#5275: one filesystem for all */
	a = stat_at(t, "a");
	b = stat_at(t, "b");
	assert_int_equal(a.st_dev, b.st_dev);
}

/* CVE-2025-31133 */
static void null_is_verified(void **state)
{
	static const char *const paths[] = {"/secret"};
	const struct test_root *t = *state;
	struct err err = ERR_INIT;

	NEEDS_ROOT(state);
	test_write(t->root_fd, "secret", "secret");
	assert_int_equal(rootfs_mask(t->root_fd, paths, 1, &err), -ENOENT);
	mkdirat(t->root_fd, "dev", 0755);
	assert_int_equal(symlinkat("/secret", t->root_fd, "dev/null"), 0);
	assert_int_equal(rootfs_mask(t->root_fd, paths, 1, &err), -EINVAL);
	assert_int_equal(unlinkat(t->root_fd, "dev/null", 0), 0);
	test_write(t->root_fd, "dev/null", "");
	assert_int_equal(rootfs_mask(t->root_fd, paths, 1, &err), -EINVAL);
	assert_string_equal(err.text,
			    "mask /secret: /dev/null is not the null device");
	assert_int_equal(unlinkat(t->root_fd, "dev/null", 0), 0);
	assert_int_equal(
		mknodat(t->root_fd, "dev/null", S_IFCHR | 0666, makedev(1, 5)),
		0);
	assert_int_equal(rootfs_mask(t->root_fd, paths, 1, &err), -EINVAL);
}

static void read_only_goes_all_the_way(void **state)
{
	static const char *const paths[] = {"/a", "/missing", "/f"};
	const struct test_root *t = *state;
	struct err err = ERR_INIT;

	NEEDS_ROOT(state);
	mkdirat(t->root_fd, "a", 0755);
	mkdirat(t->root_fd, "a/sub", 0755);
	test_write(t->root_fd, "f", "text");
	assert_int_equal(mount("tmpfs", TEST_DIR "/root/a/sub", "tmpfs", 0, ""),
			 0);
	assert_ok(rootfs_readonly_paths(t->root_fd, paths, N_ELEMENTS(paths),
					&err),
		  &err);
	assert_int_equal(mkdirat(t->root_fd, "a/x", 0755), -1);
	assert_int_equal(errno, EROFS);
	assert_int_equal(mkdirat(t->root_fd, "a/sub/x", 0755), -1);
	assert_int_equal(errno, EROFS);
	assert_int_equal(path_try_in(t->root_fd, "f", O_RDWR), -EROFS);
	assert_int_equal(mkdirat(t->root_fd, "b", 0755), 0);
}

/* ------------------------------------------------------------------ switch */

/* In the new root: a marker, no host, no way up, no other mount. */
static int check_switched(const struct test_root *t, unsigned int n_mounts)
{
	own_arena struct arena a = ARENA_INIT;
	struct err err = ERR_INIT;
	struct mountinfo m;
	unsigned int n = 0;
	char *text;
	char cwd[64];

	if (faccessat(AT_FDCWD, "/marker", F_OK, 0) < 0)
		return __LINE__;
	if (faccessat(AT_FDCWD, "../../host", F_OK, 0) == 0)
		return __LINE__;
	if (!getcwd(cwd, sizeof(cwd)) || !str_eq(cwd, "/"))
		return __LINE__;
	if (path_check_cwd(&err) < 0)
		return __LINE__;
	mkdirat(t->root_fd, "proc", 0755);
	if (mount("proc", "/proc", "proc", 0, NULL) < 0)
		return __LINE__;
	if (mountinfo_read(&a, &text, &err) < 0)
		return __LINE__;
	while (mountinfo_next(&text, &m))
		n++;
	return n == n_mounts ? 0 : __LINE__;
}

static int pivot_child(const struct test_root *t)
{
	struct err err = ERR_INIT;

	if (rootfs_readonly(t->root_fd, &err) < 0)
		return __LINE__;
	if (mkdirat(t->root_fd, "x", 0755) == 0 || errno != EROFS)
		return __LINE__;
	if (rootfs_pivot(t->root_fd, ROOTFS_PIVOT, false, &err) < 0)
		return __LINE__;
	/* the root, /proc */
	return check_switched(t, 2);
}

static int move_child(const struct test_root *t)
{
	struct err err = ERR_INIT;

	if (rootfs_pivot(t->root_fd, ROOTFS_MOVE, false, &err) < 0) {
		print_error("%s\n", err.text);
		return __LINE__;
	}
	/* what the host has stays in the namespace, out of sight */
	return check_switched(t, 2);
}

static int chroot_child(const struct test_root *t)
{
	struct err err = ERR_INIT;

	if (rootfs_pivot(t->root_fd, ROOTFS_CHROOT, false, &err) < 0)
		return __LINE__;
	return faccessat(AT_FDCWD, "/marker", F_OK, 0) < 0 ? __LINE__ : 0;
}

static int in_namespace(int (*f)(const struct test_root *),
			const struct test_root *t, unsigned long propagation)
{
	struct test_root mine = *t;
	struct err err = ERR_INIT;

	if (unshare(CLONE_NEWNS | CLONE_NEWPID) < 0)
		return __LINE__;
	if (rootfs_prepare(TEST_DIR "/root", propagation, &mine.root_fd, &err) <
	    0) {
		print_error("%s\n", err.text);
		return __LINE__;
	}
	/* a pid namespace of its own, to mount a /proc */
	return test_in_child(f, &mine);
}

static int pivot_in_namespace(const struct test_root *t)
{
	return in_namespace(pivot_child, t, 0);
}

static int move_in_namespace(const struct test_root *t)
{
	return in_namespace(move_child, t, 0);
}

static int chroot_in_namespace(const struct test_root *t)
{
	return in_namespace(chroot_child, t, 0);
}

static void pivots(void **state)
{
	const struct test_root *t = *state;

	NEEDS_ROOT(state);
	mkdirat(t->root_fd, "proc", 0755);
	test_write(t->root_fd, "marker", "");
	assert_int_equal(test_in_child(pivot_in_namespace, t), 0);
}

static void moves(void **state)
{
	const struct test_root *t = *state;

	NEEDS_ROOT(state);
	test_write(t->root_fd, "marker", "");
	assert_int_equal(test_in_child(move_in_namespace, t), 0);
}

static void changes_root(void **state)
{
	const struct test_root *t = *state;

	NEEDS_ROOT(state);
	test_write(t->root_fd, "marker", "");
	assert_int_equal(test_in_child(chroot_in_namespace, t), 0);
}

/* ------------------------------------------------------------- propagation */

static int shared_child(const struct test_root *t)
{
	struct err err = ERR_INIT;

	if (mount("tmpfs", TEST_DIR "/root/inner", "tmpfs", 0, NULL) < 0)
		return __LINE__;
	if (rootfs_pivot(t->root_fd, ROOTFS_PIVOT, true, &err) < 0)
		return __LINE__;
	if (rootfs_propagate(MS_SHARED | MS_REC, &err) < 0)
		return __LINE__;
	return mount("tmpfs", "/inner2", "tmpfs", 0, NULL) < 0 ? __LINE__ : 0;
}

static int shared_in_namespace(const struct test_root *t)
{
	return in_namespace(shared_child, t, MS_SHARED | MS_REC);
}

static unsigned int count_mounts(const char *mountpoint)
{
	own_arena struct arena a = ARENA_INIT;
	struct err err = ERR_INIT;
	struct mountinfo m;
	unsigned int n = 0;
	char *text;

	assert_ok(mountinfo_read(&a, &text, &err), &err);
	while (mountinfo_next(&text, &m))
		n += str_eq(m.mountpoint, mountpoint);
	return n;
}

/* Nothing that a container with a shared root does shows on the host. */
static void shared_root_does_not_leak(void **state)
{
	const struct test_root *t = *state;

	NEEDS_ROOT(state);
	mkdirat(t->root_fd, "inner", 0755);
	mkdirat(t->root_fd, "inner2", 0755);
	assert_int_equal(mount(NULL, "/", NULL, MS_SHARED | MS_REC, NULL), 0);
	assert_int_equal(test_in_child(shared_in_namespace, t), 0);
	assert_int_equal(mount(NULL, "/", NULL, MS_PRIVATE | MS_REC, NULL), 0);
	assert_int_equal(count_mounts(TEST_DIR "/root"), 1);
	assert_int_equal(count_mounts(TEST_DIR "/root/inner"), 0);
	assert_int_equal(count_mounts(TEST_DIR "/root/inner2"), 0);
	assert_int_equal(count_mounts("/"), 1);
}

static void covered_mounts_are_told_apart(void **state)
{
	own_arena struct arena a = ARENA_INIT;
	struct err err = ERR_INIT;
	unsigned int n_visible = 0;
	unsigned int n = 0;
	struct mountinfo m;
	char *text;

	NEEDS_ROOT(state);
	assert_int_equal(mkdir(TEST_DIR "/host/a", 0755), 0);
	assert_int_equal(mount("x", TEST_DIR "/host/a", "tmpfs", 0, NULL), 0);
	assert_int_equal(mount("y", TEST_DIR "/host", "tmpfs", 0, NULL), 0);
	assert_ok(mountinfo_read(&a, &text, &err), &err);
	while (mountinfo_next(&text, &m)) {
		if (!str_after(m.mountpoint, TEST_DIR "/host"))
			continue;
		n++;
		n_visible += mountinfo_is_visible(&m);
	}
	assert_int_equal(n, 2);
	assert_int_equal(n_visible, 1);
}

/* ------------------------------------------------------------------- cwd */

static int outside_child(const struct test_root *t)
{
	struct err err = ERR_INIT;

	/* CVE-2024-21626: a directory of the host's, held through a switch */
	if (rootfs_pivot(t->root_fd, ROOTFS_CHROOT, false, &err) < 0 ||
	    fchdir(t->dir_fd) < 0)
		return __LINE__;
	return path_check_cwd(&err) == -ENOENT ? 0 : __LINE__;
}

static void working_directory_outside_is_seen(void **state)
{
	NEEDS_ROOT(state);
	assert_int_equal(test_in_child(outside_child, *state), 0);
}

static void prepare_needs_a_directory(void **state)
{
	struct err err = ERR_INIT;
	int fd = -EBADF;

	NEEDS_ROOT(state);
	assert_int_equal(rootfs_prepare(TEST_DIR "/none", MS_PRIVATE | MS_REC,
					&fd, &err),
			 -ENOENT);
	assert_int_equal(
		rootfs_prepare("/etc/passwd", MS_PRIVATE | MS_REC, &fd, &err),
		-ENOTDIR);
	assert_int_equal(fd, -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TEST_ROOT(files_and_directories_are_masked),
		IN_TEST_ROOT(null_is_verified),
		IN_TEST_ROOT(read_only_goes_all_the_way),
		IN_TEST_ROOT(pivots),
		IN_TEST_ROOT(moves),
		IN_TEST_ROOT(changes_root),
		IN_TEST_ROOT(shared_root_does_not_leak),
		IN_TEST_ROOT(covered_mounts_are_told_apart),
		IN_TEST_ROOT(working_directory_outside_is_seen),
		IN_TEST_ROOT(prepare_needs_a_directory),
	};

	return cmocka_run_group_tests_name("rootfs", tests, test_root_enter,
					   test_root_leave);
}
