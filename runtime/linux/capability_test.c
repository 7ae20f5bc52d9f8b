/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/linux/capability.h"

static void test_names(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < CAPABILITY_N; i++) {
		assert_non_null(capability_name(i));
		assert_int_equal(capability_by_name(capability_name(i)), i);
	}
	assert_null(capability_name(CAPABILITY_N));
	assert_int_equal(capability_by_name("CAP_CHOWN"), CAP_CHOWN);
	assert_int_equal(capability_by_name("CAP_SYS_ADMIN"), CAP_SYS_ADMIN);
	assert_int_equal(capability_by_name("CAP_AUDIT_READ"), CAP_AUDIT_READ);
	assert_int_equal(capability_by_name("cap_bpf"), CAP_BPF);
	assert_int_equal(capability_by_name("CHOWN"), -1);
	assert_int_equal(capability_by_name("CAP_CHOWN "), -1);
	assert_int_equal(capability_by_name(""), -1);
}

static void test_kernel(void **state)
{
	int last = capability_last();

	(void)state;
	assert_true(last >= CAP_AUDIT_READ && last < 64);
	assert_true(capability_all() >> last == 1);
	assert_true(capability_all() & 1);
}

/* In a child, because the sets do not come back. */
static int in_child(int (*body)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(body());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int apply_one(void)
{
	const uint64_t kill = UINT64_C(1) << CAP_KILL;
	const uint64_t chown = UINT64_C(1) << CAP_CHOWN;
	struct capability_sets s = {
		.permitted = kill | chown,
		.effective = kill,
		.inheritable = kill,
		.ambient = kill,
	};
	struct err err = ERR_INIT;
	struct capability_sets is;

	if (capability_drop_bounding(kill | chown, &err) < 0 ||
	    capability_apply(&s, &err) < 0 || capability_get(&is, &err) < 0)
		return 1;
	if (is.bounding != (kill | chown) || is.permitted != s.permitted ||
	    is.effective != s.effective || is.inheritable != s.inheritable ||
	    is.ambient != s.ambient)
		return 2;
	/* without SETPCAP: nothing to drop is fine, something is not */
	if (capability_drop_bounding(kill | chown, &err) < 0)
		return 3;
	if (capability_drop_bounding(kill, &err) >= 0 ||
	    strcmp(err.text, "drop CAP_CHOWN from the bounding set: "
			     "operation not permitted") != 0)
		return 4;
	/* what the kernel refuses is an error */
	s.permitted |= UINT64_C(1) << CAP_SYS_ADMIN;
	return capability_apply(&s, &err) < 0 ? 0 : 5;
}

static int apply_none(void)
{
	const struct capability_sets none = {0};
	struct err err = ERR_INIT;
	struct capability_sets is;

	return capability_apply(&none, &err) < 0 ||
	       capability_get(&is, &err) < 0 || is.permitted || is.effective ||
	       is.inheritable || is.ambient;
}

static void test_apply(void **state)
{
	(void)state;
	assert_int_equal(in_child(apply_none), 0);
	if (geteuid() != 0)
		skip();
	assert_int_equal(in_child(apply_one), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_apply),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
