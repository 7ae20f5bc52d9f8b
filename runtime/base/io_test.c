/* SPDX-License-Identifier: Apache-2.0 */
/* Replacing files. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"

static char folder[] = "/tmp/io_test.XXXXXX";

static int enter_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? chdir(folder) : -1;
}

static int leave_folder(void **state)
{
	(void)state;
	return chdir("/") < 0 || rmdir(folder) < 0 ? -1 : 0;
}

static int replace(const char *path, const char *data, struct err *err)
{
	return io_replace_file(AT_FDCWD, path, data, strlen(data), err);
}

static void test_replace(void **state)
{
	struct err err;
	char buf[16];

	(void)state;
	assert_int_equal(replace("a", "one", &err), 0);
	assert_int_equal(replace("a", "two", &err), 0);
	assert_int_equal(io_read_str(AT_FDCWD, "a", buf, sizeof(buf)), 3);
	assert_string_equal(buf, "two");
	assert_int_equal(unlink("a"), 0);
}

/* What is no file stays what it is. */
static void test_replace_no_file(void **state)
{
	struct stat st;
	struct err err;

	(void)state;
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(symlink("/dev/null", "link"), 0);
	assert_int_equal(replace("fifo", "x", &err), -EINVAL);
	assert_string_equal(err.text, "write fifo: not a regular file");
	assert_int_equal(replace("link", "x", &err), -EINVAL);
	assert_int_equal(replace(".", "x", &err), -EINVAL);
	assert_int_equal(lstat("fifo", &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	assert_int_equal(lstat("link", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(unlink("fifo"), 0);
	assert_int_equal(unlink("link"), 0);
}

/* An error names what the caller asked for. */
static void test_replace_nowhere(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(replace("none/a", "x", &err), -ENOENT);
	assert_string_equal(err.text,
			    "write none/a: no such file or directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replace),
		cmocka_unit_test(test_replace_no_file),
		cmocka_unit_test(test_replace_nowhere),
	};

	return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
