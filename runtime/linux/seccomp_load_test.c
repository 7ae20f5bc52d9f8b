/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/bpf.h"
#include "runtime/linux/process.h"
#include "runtime/linux/seccomp_load.h"

static struct err err;

/* getppid(2) gives ENOTTY */
static const struct sock_filter filter[] = {
	{BPF_LD | BPF_W | BPF_ABS, 0, 0, 0},
	{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_getppid},
	{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | ENOTTY},
	{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
};

static int in_child(int (*body)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(body());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int plain(void)
{
	unsigned int log = 0;

	if (process_no_new_privs(&err) < 0 ||
	    seccomp_flag_by_name("SECCOMP_FILTER_FLAG_LOG", &log) < 0)
		return 1;
	if (seccomp_load_filter(filter, N_ELEMENTS(filter), log, NULL, &err) <
	    0)
		return 2;
	return syscall(SYS_getppid) == -1 && errno == ENOTTY ? 0 : 3;
}

static int listener(void)
{
	int fd = -EBADF, second = -EBADF;

	if (process_no_new_privs(&err) < 0)
		return 1;
	if (seccomp_load_filter(filter, N_ELEMENTS(filter),
				SECCOMP_FILTER_FLAG_TSYNC, &fd, &err) < 0)
		return 2;
	if (fd < 0 || !(fcntl(fd, F_GETFD) & FD_CLOEXEC))
		return 3;
	/* one listener a task */
	if (seccomp_load_filter(filter, N_ELEMENTS(filter), 0, &second, &err) !=
		    -EBUSY ||
	    second != -EBADF)
		return 4;
	return 0;
}

static int bad(void)
{
	static const struct sock_filter endless[] = {
		{BPF_LD | BPF_W | BPF_ABS, 0, 0, 0},
	};

	if (process_no_new_privs(&err) < 0)
		return 1;
	if (seccomp_load_filter(endless, 1, 0, NULL, &err) != -EINVAL ||
	    !str_eq(err.text, "load seccomp filter: invalid argument"))
		return 2;
	return seccomp_load_filter(filter, 0, 0, NULL, &err) == -EINVAL ? 0 : 3;
}

static void test_load(void **state)
{
	(void)state;
	assert_int_equal(in_child(plain), 0);
	assert_int_equal(in_child(listener), 0);
	assert_int_equal(in_child(bad), 0);
}

static void test_features(void **state)
{
	unsigned int all = 0;

	(void)state;
	for (size_t i = 0; seccomp_flag_name(i); i++) {
		unsigned int flag = 0;

		assert_int_equal(
			seccomp_flag_by_name(seccomp_flag_name(i), &flag), 0);
		assert_true(flag != 0 && !(all & flag));
		all |= flag;
	}
	assert_int_equal(seccomp_flag_by_name("TSYNC", &all), -EINVAL);
	assert_true(seccomp_has_flags(SECCOMP_FILTER_FLAG_LOG));
	assert_true(seccomp_has_flags(SECCOMP_FILTER_FLAG_TSYNC |
				      SECCOMP_FILTER_FLAG_NEW_LISTENER));
	assert_false(seccomp_has_flags(1U << 30));
	assert_true(seccomp_has_action(SECCOMP_RET_ALLOW));
	assert_true(seccomp_has_action(SECCOMP_RET_KILL_PROCESS));
	assert_false(seccomp_has_action(0x12340000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_load),
		cmocka_unit_test(test_features),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
