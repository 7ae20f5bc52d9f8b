/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/linux/compat.h"
#include "runtime/linux/namespaces.h"

#define NEEDS_ROOT()                \
	do {                        \
		if (geteuid() != 0) \
			skip();     \
	} while (0)

static int wait_for(pid_t pid)
{
	int status = -1;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void table_round_trips(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < NS_N; i++) {
		char path[64];

		assert_int_equal(ns_by_name(ns_table[i].name), i);
		snprintf(path, sizeof(path), "/proc/self/ns/%s",
			 ns_table[i].proc);
		assert_int_equal(access(path, F_OK), 0);
		for (unsigned int k = 0; k < i; k++)
			assert_int_not_equal(ns_table[i].flag,
					     ns_table[k].flag);
	}
	assert_int_equal(ns_by_name("net"), NS_N);
	assert_int_equal(ns_by_name(""), NS_N);
	/* it gives the right to join the others */
	assert_int_equal(NS_USER, 0);
	/* paths mean something else afterwards */
	assert_int_equal(NS_MOUNT, NS_N - 1);
}

static void kinds_are_checked(void **state)
{
	own_ns_set struct ns_set s;
	struct err err = ERR_INIT;

	(void)state;
	ns_set_init(&s);
	assert_int_equal(ns_set_open(&s, NS_NET, "/proc/self/ns/net", &err), 0);
	assert_int_equal(ns_set_open(&s, NS_NET, "/proc/self/ns/ipc", &err),
			 -EINVAL);
	assert_string_equal(err.text,
			    "open network namespace /proc/self/ns/ipc: it is none");
	assert_int_equal(ns_set_open(&s, NS_NET, "/dev/null", &err), -EINVAL);
	assert_int_equal(ns_set_open(&s, NS_NET, "/none", &err), -ENOENT);
	assert_string_equal(err.text, "open network namespace /none: no such "
				      "file or directory");
}

static void cloned_and_joined(void **state)
{
	unsigned int flags = CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC;
	own_close int pidfd = -EBADF;
	own_ns_set struct ns_set s;
	struct err err = ERR_INIT;
	unsigned int differ = 0;
	char path[64];
	int hold[2];
	uint64_t mine;
	uint64_t theirs;
	pid_t child;
	pid_t pid;

	(void)state;
	NEEDS_ROOT();
	assert_int_equal(pipe2(hold, O_CLOEXEC), 0);
	pid = ns_clone(flags, -EBADF, &pidfd, &err);
	if (pid == 0) {
		char c;

		close(hold[1]);
		_exit(read(hold[0], &c, 1) == 0 ? 0 : 1);
	}
	assert_true(pid > 0 && pidfd >= 0);
	assert_int_equal(ns_differ(pid, flags | CLONE_NEWNS | CLONE_NEWUSER,
				   &differ, &err),
			 0);
	assert_int_equal(differ, flags);

	ns_set_init(&s);
	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	assert_int_equal(ns_set_open(&s, NS_NET, path, &err), 0);
	/* our own user namespace is not joined again */
	assert_int_equal(ns_set_open(&s, NS_USER, "/proc/self/ns/user", &err),
			 0);
	assert_int_equal(ns_net_cookie(&mine, &err), 0);
	child = fork();
	if (child == 0)
		_exit(ns_set_join(&s, &err) < 0 ||
		      ns_net_cookie(&theirs, &err) < 0 || theirs == mine);
	assert_int_equal(wait_for(child), 0);
	close(hold[0]);
	close(hold[1]);
	assert_int_equal(wait_for(pid), 0);
}

static int joined(int pidfd, unsigned int flags, uint64_t want)
{
	struct err err = ERR_INIT;
	uint64_t cookie = 0;

	if (ns_join_process(pidfd, flags, &err) < 0)
		return 1;
	if (ns_net_cookie(&cookie, &err) < 0 || cookie != want)
		return 2;
	return 0;
}

static void process_is_joined_at_once(void **state)
{
	unsigned int flags = CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWUSER;
	own_close int pidfd = -EBADF;
	struct err err = ERR_INIT;
	uint64_t cookie = 0;
	int hold[2];
	int said[2];
	pid_t child;
	pid_t pid;

	(void)state;
	NEEDS_ROOT();
	assert_int_equal(pipe2(hold, O_CLOEXEC), 0);
	assert_int_equal(pipe2(said, O_CLOEXEC), 0);
	pid = ns_clone(flags, -EBADF, &pidfd, &err);
	if (pid == 0) {
		char c;

		close(hold[1]);
		if (ns_net_cookie(&cookie, &err) < 0 ||
		    write(said[1], &cookie, sizeof(cookie)) != sizeof(cookie))
			_exit(1);
		_exit(read(hold[0], &c, 1) == 0 ? 0 : 1);
	}
	assert_true(pid > 0);
	assert_int_equal(read(said[0], &cookie, sizeof(cookie)),
			 sizeof(cookie));
	child = fork();
	if (child == 0)
		_exit(joined(pidfd, flags, cookie));
	assert_int_equal(wait_for(child), 0);
	for (int i = 0; i < 2; i++) {
		close(hold[i]);
		close(said[i]);
	}
	assert_int_equal(wait_for(pid), 0);
}

/* The boot clock of a child that starts in the new namespace. */
static int boot_seconds(void)
{
	struct timespec t;

	return clock_gettime(CLOCK_BOOTTIME, &t) == 0 && t.tv_sec > 1000000000
		       ? 0
		       : 1;
}

static void time_is_offset_for_children_only(void **state)
{
	static const struct ns_time_offset offsets[] = {
		{"boottime", 1000000000, 5},
		{"monotonic", 1000000000, 0},
	};
	static const struct ns_time_offset bad = {"nonsense", 1, 0};
	struct err err = ERR_INIT;
	own_close int old_fd = -EBADF;
	pid_t pid;

	(void)state;
	NEEDS_ROOT();
	assert_int_equal(ns_time_begin(&bad, 1, &old_fd, &err), -EINVAL);
	if (ns_time_begin(offsets, 2, &old_fd, &err) < 0)
		fail_msg("%s", err.text);
	pid = ns_clone(0, -EBADF, NULL, &err);
	if (pid == 0)
		_exit(boot_seconds());
	assert_int_equal(wait_for(pid), 0);
	if (ns_time_end(old_fd, &err) < 0)
		fail_msg("%s", err.text);
	pid = fork();
	if (pid == 0)
		_exit(boot_seconds());
	assert_int_equal(wait_for(pid), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_round_trips),
		cmocka_unit_test(kinds_are_checked),
		cmocka_unit_test(cloned_and_joined),
		cmocka_unit_test(process_is_joined_at_once),
		cmocka_unit_test(time_is_offset_for_children_only),
	};

	return cmocka_run_group_tests_name("namespaces", tests, NULL, NULL);
}
