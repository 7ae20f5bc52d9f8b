/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/sysctl.h"

static struct err err;

static void test_check(void **state)
{
	static const struct {
		const char *key;
		unsigned int ns; /* the one that it needs; 0: never */
	} rows[] = {
		{"kernel.shmmax", SYSCTL_NS_IPC},
		{"kernel.msgmax", SYSCTL_NS_IPC},
		{"kernel.sem", SYSCTL_NS_IPC},
		{"kernel.shm_rmid_forced", SYSCTL_NS_IPC},
		{"fs.mqueue.msg_max", SYSCTL_NS_IPC},
		{"net.ipv4.ip_forward", SYSCTL_NS_NET},
		{"net/ipv4/conf/eth0.100/forwarding", SYSCTL_NS_NET},
		{"net.ipv4.conf.eth0/100.forwarding", SYSCTL_NS_NET},
		{"kernel.domainname", SYSCTL_NS_UTS},
		{"user.max_user_namespaces", SYSCTL_NS_USER},
		{"kernel.hostname", 0},
		{"kernel.core_pattern", 0},
		{"kernel.semx", 0},
		{"kernel.sem.x", 0},
		{"fs.mqueue", 0},
		{"fs.mqueuex.a", 0},
		{"net", 0},
		{"vm.swappiness", 0},
		{"", 0},
		{".", 0},
		{"net..ipv4", 0},
		{"net/../kernel/core_pattern", 0},
		{"net/ipv4/../../kernel/core_pattern", 0},
		{"net.ipv4.//.kernel.core_pattern", 0},
		{"net/./ipv4", 0},
		{"/net/ipv4/ip_forward", 0},
		{"net.ipv4.", 0},
	};

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(rows); i++)
		for (unsigned int ns = 0; ns < 16; ns++)
			assert_int_equal(sysctl_check(rows[i].key, ns, &err),
					 rows[i].ns & ns ? 0 : -EINVAL);
	assert_int_equal(sysctl_check("net.x", SYSCTL_NS_IPC, &err), -EINVAL);
	assert_string_equal(err.text, "sysctl net.x: the container has no "
				      "network namespace of its own");
}

static int write_in_namespaces(void)
{
	char text[32];

	if (unshare(CLONE_NEWIPC | CLONE_NEWNET) < 0)
		return 77;
	if (sysctl_write(-EBADF, "kernel.msgmax", "4242", &err) < 0 ||
	    sysctl_write(-EBADF, "net/ipv4/ip_forward", "1", &err) < 0)
		return 1;
	if (io_read_str(AT_FDCWD, "/proc/sys/kernel/msgmax", text,
			sizeof(text)) < 0 ||
	    !str_eq(text, "4242"))
		return 2;
	if (sysctl_write(-EBADF, "net.ipv4.nonsense", "1", &err) != -ENOENT)
		return 3;
	return sysctl_write(-EBADF, "net.ipv4.ip_forward", "x", &err) < 0 ? 0
									  : 4;
}

static void test_write(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	if (pid == 0)
		_exit(write_in_namespaces());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Another file system in the place of procfs. */
static void test_no_procfs(void **state)
{
	own_close int fd =
		openat(AT_FDCWD, "/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	assert_true(sysctl_write(fd, "net.ipv4.ip_forward", "1", &err) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_no_procfs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
