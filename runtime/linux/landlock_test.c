/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/landlock.h"
#include "runtime/linux/process.h"

static void test_rights(void **state)
{
	const uint64_t ro = LANDLOCK_ACCESS_FS_EXECUTE |
			    LANDLOCK_ACCESS_FS_READ_FILE |
			    LANDLOCK_ACCESS_FS_READ_DIR;

	(void)state;
	/* the rights of each ABI: 13, + REFER, + TRUNCATE, + IOCTL_DEV */
	assert_int_equal(landlock_rights(0, LANDLOCK_READ_WRITE, 1), 0);
	assert_int_equal(landlock_rights(1, LANDLOCK_READ_WRITE, 1), 0x1fff);
	assert_int_equal(landlock_rights(2, LANDLOCK_READ_WRITE, 1), 0x3fff);
	assert_int_equal(landlock_rights(3, LANDLOCK_READ_WRITE, 1), 0x7fff);
	assert_int_equal(landlock_rights(4, LANDLOCK_READ_WRITE, 1), 0x7fff);
	assert_int_equal(landlock_rights(5, LANDLOCK_READ_WRITE, 1), 0xffff);
	assert_int_equal(landlock_rights(99, LANDLOCK_READ_WRITE, 1), 0xffff);
	assert_int_equal(landlock_rights(7, LANDLOCK_READ_ONLY, 1), ro);
	assert_int_equal(landlock_rights(7, LANDLOCK_READ_ONLY, 0),
			 ro & ~LANDLOCK_ACCESS_FS_READ_DIR);
	assert_int_equal(landlock_rights(7, LANDLOCK_READ_WRITE, 0),
			 LANDLOCK_ACCESS_FS_EXECUTE |
				 LANDLOCK_ACCESS_FS_READ_FILE |
				 LANDLOCK_ACCESS_FS_WRITE_FILE | 0xc000);
}

static int grant(int ruleset, int abi, enum landlock_mode mode,
		 const char *path)
{
	own_close int fd = openat(AT_FDCWD, path, O_PATH | O_CLOEXEC);
	struct err err;

	return landlock_grant(ruleset, abi, mode, fd, path, &err);
}

static int try_open(const char *dir, const char *name, int flags)
{
	char room[256];
	struct strbuf path = STRBUF_FIXED(room);
	own_close int fd = -EBADF;

	strbuf_addf(&path, "%s/%s", dir, name);
	fd = openat(AT_FDCWD, path.s, flags | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : 0;
}

static int confined(const char *dir)
{
	int abi = landlock_abi();
	own_close int ruleset = -EBADF;
	struct err err;
	char ro[256], rw[256], file[256];

	snprintf(ro, sizeof(ro), "%s/ro", dir);
	snprintf(rw, sizeof(rw), "%s/rw", dir);
	snprintf(file, sizeof(file), "%s/no/file", dir);
	if (landlock_ruleset(abi, LANDLOCK_READ_WRITE, &ruleset, &err) < 0)
		return 1;
	if (grant(ruleset, abi, LANDLOCK_READ_ONLY, ro) < 0 ||
	    grant(ruleset, abi, LANDLOCK_READ_WRITE, rw) < 0 ||
	    grant(ruleset, abi, LANDLOCK_READ_WRITE, file) < 0)
		return 2;
	if (process_no_new_privs(&err) < 0 ||
	    landlock_restrict(ruleset, &err) < 0)
		return 3;
	if (try_open(dir, "ro/file", O_RDONLY) != 0 ||
	    try_open(dir, "ro/file", O_WRONLY) != -EACCES ||
	    try_open(dir, "ro/new", O_WRONLY | O_CREAT) != -EACCES)
		return 4;
	if (try_open(dir, "rw/file", O_RDWR) != 0 ||
	    try_open(dir, "rw/new", O_WRONLY | O_CREAT) != 0)
		return 5;
	if (try_open(dir, "no/file", O_RDWR | O_TRUNC) != 0 ||
	    try_open(dir, "no/other", O_RDONLY) != -EACCES ||
	    try_open(dir, "no", O_RDONLY | O_DIRECTORY) != -EACCES)
		return 6;
	return 0;
}

static void make(const char *dir, const char *name, bool is_dir)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (is_dir) {
		assert_int_equal(mkdirat(AT_FDCWD, path, 0700), 0);
		return;
	}
	fd = openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close_fd(fd);
}

static void test_confined(void **state)
{
	static const char *const names[] = {"ro",	"rw",	   "no",
					    "ro/file",	"rw/file", "no/file",
					    "no/other", "rw/new"};
	char dir[] = "/tmp/osh-landlock-XXXXXX";
	char path[256];
	int status;
	pid_t pid;

	(void)state;
	if (landlock_abi() == 0)
		skip();
	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; i < 7; i++)
		make(dir, names[i], i < 3);
	pid = fork();
	if (pid == 0)
		_exit(confined(dir));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	for (size_t i = N_ELEMENTS(names); i-- > 0;) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		remove(path);
	}
	assert_int_equal(rmdir(dir), 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rights),
		cmocka_unit_test(test_confined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
