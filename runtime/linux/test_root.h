/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For unit tests that mount: a mount namespace of their own, and in it a tmpfs
 * with "root" (a container's root) and "host" (what it must not reach). Needs
 * root; without it the tests are skipped, which `hack/unit` reports.
 */
#ifndef OSH_LINUX_TEST_ROOT_H
#define OSH_LINUX_TEST_ROOT_H

#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/base/path.h"
#include "runtime/linux/rootfs.h"

#define TEST_DIR "/tmp/osh_mount_test"

struct test_root {
	int dir_fd; /* TEST_DIR */
	int root_fd; /* TEST_DIR/root, bound onto itself */
};

/* Group: once for the program. Skips are each test's own business. */
static inline int test_root_enter(void **state)
{
	(void)state;
	if (geteuid() != 0)
		return 0;
	if (unshare(CLONE_NEWNS | CLONE_NEWIPC) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -1;
	(void)mkdir(TEST_DIR, 0755);
	return 0;
}

static inline int test_root_leave(void **state)
{
	(void)state;
	return geteuid() == 0 ? rmdir(TEST_DIR) : 0;
}

static inline int test_root_set_up(void **state)
{
	static struct test_root t;
	struct err err = ERR_INIT;

	*state = NULL;
	if (geteuid() != 0)
		return 0;
	if (mount("tmpfs", TEST_DIR, "tmpfs", 0, "mode=755") < 0)
		return -1;
	t.dir_fd = open(TEST_DIR, O_PATH | O_DIRECTORY | O_CLOEXEC);
	mkdirat(t.dir_fd, "root", 0755);
	mkdirat(t.dir_fd, "host", 0755);
	if (rootfs_prepare(TEST_DIR "/root", MS_PRIVATE | MS_REC, &t.root_fd,
			   &err) < 0) {
		print_error("%s\n", err.text);
		return -1;
	}
	*state = &t;
	return 0;
}

static inline int test_root_tear_down(void **state)
{
	struct test_root *t = *state;

	if (!t)
		return 0;
	close_fd(t->root_fd);
	close_fd(t->dir_fd);
	return umount2(TEST_DIR, MNT_DETACH);
}

/* At the head of each test. */
#define NEEDS_ROOT(state)                  \
	do {                               \
		if (geteuid() != 0)        \
			skip();            \
		assert_non_null(*(state)); \
	} while (0)

#define IN_TEST_ROOT(f)                                      \
	cmocka_unit_test_setup_teardown(f, test_root_set_up, \
					test_root_tear_down)

#define assert_ok(call, err)                         \
	do {                                         \
		if ((call) < 0)                      \
			fail_msg("%s", (err)->text); \
	} while (0)

/* A file with some text, beneath @dir_fd. */
static inline void test_write(int dir_fd, const char *path, const char *text)
{
	assert_int_equal(
		io_write_file(dir_fd, path, O_CREAT, text, strlen(text)), 0);
}

/*
 * Run @f in a child: 0 is success, anything else is a line number or the like.
 */
static inline int test_in_child(int (*f)(const struct test_root *),
				const struct test_root *t)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(f(t));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif
