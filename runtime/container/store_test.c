/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/strbuf.h"
#include "runtime/container/store.h"

static void test_ids(void **state)
{
	static const char *const good[] = { "a", "A-b_c+d.e", "0", "+x", "-x",
					    "_" };
	static const char *const bad[] = { "",	  ".",	 "..", ".hidden",
					   "a/b", "a b", "a\n", "\xc3\xa9" };
	struct strbuf sb = STRBUF_HEAP;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(store_check_id(good[i], &err), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(store_check_id(bad[i], &err), -EINVAL);
	for (int i = 0; i < STORE_ID_MAX; i++)
		strbuf_addc(&sb, 'a');
	assert_int_equal(store_check_id(sb.s, &err), 0);
	strbuf_addc(&sb, 'a');
	assert_int_equal(store_check_id(sb.s, &err), -EINVAL);
	strbuf_done(&sb);
}

static void test_life(void **state)
{
	struct store_entry e = STORE_ENTRY_INIT, again = STORE_ENTRY_INIT;
	char dir[] = "/tmp/osh-store-test.XXXXXX";
	struct store s = STORE_INIT;
	struct arena a = ARENA_INIT;
	unsigned int n;
	struct err err;
	char **ids;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(store_open(&a, dir, true, &s, &err), 0);
	assert_int_equal(store_get(&a, &s, "one", false, &e, &err), -ENOENT);
	assert_non_null(strstr(err.text, "container does not exist"));
	assert_int_equal(store_take(&a, &s, "one", &e, &err), 0);
	/* of two creates for one id, one wins */
	assert_int_equal(store_take(&a, &s, "one", &again, &err), -EEXIST);
	assert_non_null(strstr(err.text, "already exists"));
	assert_int_equal(store_list(&a, &s, &ids, &n, &err), 0);
	assert_int_equal(n, 1);
	assert_string_equal(ids[0], "one");
	assert_int_equal(store_remove(&s, &e, &err), 0);
	store_entry_done(&e);
	/* removed: an id is free again */
	assert_int_equal(store_take(&a, &s, "one", &e, &err), 0);
	assert_int_equal(store_remove(&s, &e, &err), 0);
	store_entry_done(&e);
	store_done(&s);
	arena_done(&a);
	assert_int_equal(rmdir(dir), 0);
}

static void test_missing_root(void **state)
{
	struct store s = STORE_INIT;
	struct arena a = ARENA_INIT;
	unsigned int n = 7;
	struct err err;
	char **ids;

	(void)state;
	/* runc: `list` of a root that is not there is empty, not an error */
	assert_int_equal(store_open(&a, "/nonexistent/osh", false, &s, &err),
			 0);
	assert_int_equal(store_list(&a, &s, &ids, &n, &err), 0);
	assert_int_equal(n, 0);
	store_done(&s);
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_life),
		cmocka_unit_test(test_missing_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
