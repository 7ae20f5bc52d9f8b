/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/base/err.h"
#include "runtime/base/strbuf.h"
#include "runtime/container/user.h"

static bool find(const char *text, const char *name, uid_t uid,
		 struct user_entry *ret)
{
	char room[1024];

	assert_true(str_copy(room, sizeof(room), text));
	return user_find_in(room, name, uid, ret);
}

static const char passwd[] = "root:x:0:0:root:/root:/bin/sh\n"
			     "broken\n"
			     "odd:x:1x:1::/odd:\n"
			     "sandbox:x:1000:1001:,,,:/sandbox:/bin/sh\n"
			     "last:x:1002:1002::/last:";

static void test_by_name(void **state)
{
	struct user_entry u;

	(void)state;
	assert_true(find(passwd, "sandbox", 0, &u));
	assert_int_equal(u.uid, 1000);
	assert_int_equal(u.gid, 1001);
	assert_string_equal(u.home, "/sandbox");
	assert_true(find(passwd, "last", 0, &u));
	assert_false(find(passwd, "nobody", 0, &u));
	assert_false(find(passwd, "broken", 0, &u));
	assert_false(find(passwd, "sand", 0, &u));
}

static void test_by_uid(void **state)
{
	struct user_entry u;

	(void)state;
	assert_true(find(passwd, NULL, 1000, &u));
	assert_string_equal(u.home, "/sandbox");
	/* a number that only begins like one is no uid */
	assert_false(find(passwd, NULL, 1, &u));
	assert_false(find("", NULL, 0, &u));
}

static void test_long_home(void **state)
{
	struct strbuf sb = STRBUF_HEAP;
	struct user_entry u;

	(void)state;
	strbuf_adds(&sb, "a:x:5:5::/");
	for (int i = 0; i < 600; i++)
		strbuf_addc(&sb, 'x');
	strbuf_adds(&sb, ":/bin/sh\n");
	assert_true(find(sb.s, "a", 0, &u));
	/* never a cut path */
	assert_string_equal(u.home, "");
	strbuf_done(&sb);
}

static void test_program(void **state)
{
	struct err err;
	char path[256];

	(void)state;
	assert_int_equal(user_find_program("sh", "/nowhere:/bin", path,
					   sizeof(path), &err),
			 0);
	assert_string_equal(path, "/bin/sh");
	assert_int_equal(user_find_program("/bin/sh", NULL, path, sizeof(path),
					   &err),
			 0);
	/* clients match on these words */
	assert_int_equal(user_find_program("nosuch", "/bin", path,
					   sizeof(path), &err),
			 -ENOENT);
	assert_string_equal(err.text, "exec: \"nosuch\": executable file not "
				      "found in $PATH");
	assert_int_equal(user_find_program("sh", NULL, path, sizeof(path),
					   &err),
			 -ENOENT);
	assert_int_equal(user_find_program("/etc/passwd", NULL, path,
					   sizeof(path), &err),
			 -EACCES);
	assert_string_equal(err.text,
			    "exec: \"/etc/passwd\": permission denied");
	assert_true(user_find_program("/etc", NULL, path, sizeof(path), &err) <
		    0);
	assert_true(user_find_program("", "/bin", path, sizeof(path), &err) <
		    0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_name),
		cmocka_unit_test(test_by_uid),
		cmocka_unit_test(test_long_home),
		cmocka_unit_test(test_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
