/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/container/fault.h"

static void test_parse(void **state)
{
	static const struct {
		const char *text;
		struct fault fault;
	} good[] = {
		{ NULL, { 0, false } },
		{ "1", { 1, false } },
		{ "7:kill", { 7, true } },
		{ "12", { 12, false } },
		{ "9999:kill", { 9999, true } },
	};
	struct fault f;

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(good); i++) {
		assert_int_equal(fault_parse(good[i].text, &f), 0);
		assert_int_equal(f.step, good[i].fault.step);
		assert_int_equal(f.die, good[i].fault.die);
	}
}

static void test_refused(void **state)
{
	static const char *const bad[] = { "",	    "0",     "07",	":kill",
					   "7:",    "7:die", "7:kill ", "7kill",
					   "-1",    "+1",    " 7",	"x",
					   "10000", "7:kill:kill" };
	struct fault f;

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(bad); i++)
		assert_int_equal(fault_parse(bad[i], &f), -EINVAL);
}

static void test_inject(void **state)
{
	const struct fault none = { 0 }, seven = { .step = 7 };
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(fault_inject(&none, 7, &err), 0);
	assert_int_equal(fault_inject(&seven, 1, &err), 0);
	assert_int_equal(err.code, 0);
	assert_int_equal(fault_inject(&seven, 7, &err), -ECANCELED);
	assert_string_equal(err.text, "create: fault injected at step 7");
}

static void test_die(void **state)
{
	const struct fault f = { .step = 7, .die = true };
	struct err err;
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		if (fault_inject(&f, 6, &err) == 0)
			fault_inject(&f, 7, &err);
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_inject),
		cmocka_unit_test(test_die),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
