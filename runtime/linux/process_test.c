/* SPDX-License-Identifier: Apache-2.0 */
/* Signals, limits, scheduling, other processes: what needs no root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/linux/personality.h"
#include "runtime/linux/process.h"
#include "runtime/linux/rlimit.h"
#include "runtime/linux/scheduler.h"
#include "runtime/linux/signal.h"

static struct err err;

static void test_signals(void **state)
{
	(void)state;
	for (int i = 1; i <= SIGSYS; i++) {
		assert_non_null(signal_name(i));
		assert_int_equal(signal_by_name(signal_name(i)), i);
		assert_int_equal(signal_by_name(signal_name(i) + 3), i);
	}
	assert_null(signal_name(0));
	assert_null(signal_name(SIGRTMIN));
	assert_int_equal(signal_by_name("term"), SIGTERM);
	assert_int_equal(signal_by_name("sigTERM"), SIGTERM);
	assert_int_equal(signal_by_name("9"), SIGKILL);
	assert_int_equal(signal_by_name("SIGRTMIN"), SIGRTMIN);
	assert_int_equal(signal_by_name("SIGRTMIN+3"), SIGRTMIN + 3);
	assert_int_equal(signal_by_name("RTMAX-1"), SIGRTMAX - 1);
	assert_int_equal(signal_by_name("SIGPOLL"), SIGIO);
	assert_int_equal(signal_by_name("RTMIN-1"), -EINVAL);
	assert_int_equal(signal_by_name("RTMIN+"), -EINVAL);
	assert_int_equal(signal_by_name("RTMIN+99"), -EINVAL);
	assert_int_equal(signal_by_name("0"), -EINVAL);
	assert_int_equal(signal_by_name("-9"), -EINVAL);
	assert_int_equal(signal_by_name("99"), -EINVAL);
	assert_int_equal(signal_by_name(""), -EINVAL);
	assert_int_equal(signal_by_name("SIG"), -EINVAL);
	assert_int_equal(signal_by_name("TERMX"), -EINVAL);
}

static void test_rlimits(void **state)
{
	struct rlimit r;

	(void)state;
	for (size_t i = 0; rlimit_name(i); i++)
		assert_true(rlimit_by_name(rlimit_name(i)) >= 0);
	assert_int_equal(rlimit_by_name("RLIMIT_NOFILE"), RLIMIT_NOFILE);
	assert_int_equal(rlimit_by_name("RLIMIT_RTTIME"), RLIMIT_RTTIME);
	assert_int_equal(rlimit_by_name("NOFILE"), -1);
	assert_int_equal(getrlimit(RLIMIT_CORE, &r), 0);
	assert_int_equal(rlimit_set(RLIMIT_CORE, 0, r.rlim_max, &err), 0);
	assert_int_equal(getrlimit(RLIMIT_CORE, &r), 0);
	assert_int_equal(r.rlim_cur, 0);
	assert_int_equal(rlimit_set(RLIMIT_CORE, 5, 4, &err), -EINVAL);
	assert_string_equal(err.text, "set RLIMIT_CORE: invalid argument");
}

static void test_scheduler(void **state)
{
	const struct scheduler_spec batch = {.policy = "SCHED_BATCH",
					     .nice = 3};
	const struct scheduler_spec odd = {.policy = "SCHED_SOON"};
	const char *const flags[] = {"SCHED_FLAG_ODD"};
	const struct scheduler_spec bad = {
		.policy = "SCHED_BATCH", .flags = flags, .n_flags = 1};

	(void)state;
	assert_int_equal(scheduler_set(&batch, &err), 0);
	assert_int_equal(sched_getscheduler(0), SCHED_BATCH);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), 3);
	assert_int_equal(scheduler_set(&odd, &err), -EINVAL);
	assert_int_equal(scheduler_set(&bad, &err), -EINVAL);
	assert_string_equal(err.text, "unknown scheduler flag SCHED_FLAG_ODD");
	assert_int_equal(scheduler_set_ioprio("IOPRIO_CLASS_BE", 5, &err), 0);
	assert_int_equal(scheduler_set_ioprio("IOPRIO_CLASS_BE", 8, &err),
			 -EINVAL);
	assert_int_equal(scheduler_set_ioprio("IOPRIO_CLASS_X", 0, &err),
			 -EINVAL);
	assert_int_equal(personality_set("LINUX", &err), 0);
	assert_int_equal(personality_set("OS2", &err), -EINVAL);
}

static void test_affinity(void **state)
{
	static const char *const bad[] = {"",	  "a",	"1-",	 "3-1",
					  "1,,2", "0,", "99999", "-1"};
	cpu_set_t before, after;

	(void)state;
	assert_int_equal(scheduler_reset_affinity(&err), 0);
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	for (size_t i = 0; i < N_ELEMENTS(bad); i++)
		assert_int_equal(scheduler_set_affinity(bad[i], &err), -EINVAL);
	/* far more CPUs than a cpu_set_t has room for */
	if (CPU_ISSET(0, &before)) {
		assert_int_equal(scheduler_set_affinity("0,1024-8000", &err),
				 0);
		assert_int_equal(sched_getaffinity(0, sizeof(after), &after),
				 0);
		assert_int_equal(CPU_COUNT(&after), 1);
	}
	assert_int_equal(scheduler_reset_affinity(&err), 0);
	assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
}

static void test_own_stat(void **state)
{
	struct process_stat st;

	(void)state;
	/* a name that would lead a naive reader astray */
	assert_int_equal(prctl(PR_SET_NAME, "a) Z 1 (b"), 0);
	assert_int_equal(process_stat(getpid(), &st), 0);
	assert_int_equal(st.state, 'R');
	assert_int_equal(st.ppid, getppid());
	assert_true(st.start_time > 0);
	assert_true(process_is_alive(getpid(), st.start_time));
	assert_false(process_is_alive(getpid(), st.start_time + 1));
	assert_false(process_is_alive(0, 0));
	assert_false(process_is_alive(-1, 0));
}

static void test_child(void **state)
{
	own_close int pidfd = -EBADF;
	int copy = -EBADF, other = -EBADF;
	struct process_stat st;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		pause();
		_exit(0);
	}
	assert_int_equal(process_stat(pid, &st), 0);
	assert_int_equal(process_open(pid, st.start_time + 1, &other, &err),
			 -ESRCH);
	assert_int_equal(other, -EBADF);
	assert_int_equal(process_open(pid, st.start_time, &pidfd, &err), 0);
	assert_int_equal(fcntl(pidfd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(process_wait_end(pidfd, 0), -ETIMEDOUT);
	if (process_take_fd(pidfd, 0, &copy, &err) == 0)
		assert_int_equal(fcntl(copy, F_GETFD), FD_CLOEXEC);
	close_fd(copy);
	assert_int_equal(process_signal(pidfd, SIGKILL), 0);
	assert_int_equal(process_wait_end(pidfd, -1), 0);
	assert_false(process_is_alive(pid, st.start_time)); /* a zombie */
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(process_signal(pidfd, SIGKILL), -ESRCH);
	assert_int_equal(process_stat(pid, &st), -ESRCH);
	assert_int_equal(process_open(0, 0, &other, &err), -EINVAL);
}

static void test_oom_score(void **state)
{
	(void)state;
	assert_int_equal(process_set_oom_score(-EBADF, 500, &err), 0);
	assert_int_equal(process_set_oom_score(-EBADF, 5000, &err), -EINVAL);
	assert_string_equal(err.text,
			    "set oom_score_adj to 5000: invalid argument");
}

static int userns_of_child(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(unshare(CLONE_NEWUSER) < 0 ? 77 : process_in_userns());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_userns(void **state)
{
	int in = userns_of_child();

	(void)state;
	if (in == 77)
		skip();
	assert_int_equal(in, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_rlimits),
		cmocka_unit_test(test_scheduler),
		cmocka_unit_test(test_affinity),
		cmocka_unit_test(test_own_stat),
		cmocka_unit_test(test_child),
		cmocka_unit_test(test_oom_score),
		cmocka_unit_test(test_userns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
