/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In a folder of its own below /tmp: "root" is what a container sees, "host"
 * is what it must never reach.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/path.h"
#include "runtime/base/strbuf.h"

struct place {
	char dir[32];
	int dir_fd;
	int root_fd;
};

static int set_up(void **state)
{
	static struct place p;

	snprintf(p.dir, sizeof(p.dir), "/tmp/path_test.XXXXXX");
	if (!mkdtemp(p.dir))
		return -1;
	p.dir_fd = open(p.dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	mkdirat(p.dir_fd, "root", 0755);
	mkdirat(p.dir_fd, "host", 0755);
	p.root_fd = openat(p.dir_fd, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	*state = &p;
	return p.root_fd < 0 ? -1 : 0;
}

static int drop(const char *path, const struct stat *st, int type,
		struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int tear_down(void **state)
{
	struct place *p = *state;

	close(p->root_fd);
	close(p->dir_fd);
	return nftw(p->dir, drop, 16, FTW_DEPTH | FTW_PHYS);
}

/* Nothing at all may have been made in "host". */
static void assert_host_empty(const struct place *p)
{
	assert_int_equal(unlinkat(p->dir_fd, "host", AT_REMOVEDIR), 0);
	assert_int_equal(mkdirat(p->dir_fd, "host", 0755), 0);
}

static bool is_same(int fd, int dir_fd, const char *path)
{
	struct stat a;
	struct stat b;

	return fstat(fd, &a) == 0 &&
	       fstatat(dir_fd, path, &b, AT_SYMLINK_NOFOLLOW) == 0 &&
	       a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

static void link_in(const struct place *p, const char *target, const char *name)
{
	assert_int_equal(symlinkat(target, p->root_fd, name), 0);
}

/* ----------------------------------------------------------------- resolving */

static void root_is_root_by_any_name(void **state)
{
	static const char *const names[] = {"/",      "",     ".",   "..",
					    "/../..", "a/..", "//./"};
	const struct place *p = *state;

	mkdirat(p->root_fd, "a", 0755);
	for (size_t i = 0; i < N_ELEMENTS(names); i++) {
		struct err err = ERR_INIT;
		own_close int fd = -EBADF;

		assert_int_equal(
			path_open_in(p->root_fd, names[i], O_PATH, &fd, &err),
			0);
		assert_true(is_same(fd, p->dir_fd, "root"));
	}
}

static void links_stay_inside(void **state)
{
	const struct place *p = *state;
	struct err err = ERR_INIT;
	own_close int fd = -EBADF;

	mkdirat(p->root_fd, "etc", 0755);
	link_in(p, "/etc", "absolute");
	link_in(p, "../../../../etc", "relative");
	assert_int_equal(
		path_open_in(p->root_fd, "absolute", O_PATH, &fd, &err), 0);
	assert_true(is_same(fd, p->root_fd, "etc"));
	fd = close_fd(fd);
	assert_int_equal(
		path_open_in(p->root_fd, "/relative", O_PATH, &fd, &err), 0);
	assert_true(is_same(fd, p->root_fd, "etc"));
}

static void plain_refuses_every_link(void **state)
{
	const struct place *p = *state;
	struct err err = ERR_INIT;
	own_close int fd = -EBADF;

	mkdirat(p->root_fd, "etc", 0755);
	mkdirat(p->root_fd, "etc/sub", 0755);
	link_in(p, "etc", "link");
	assert_int_equal(
		path_open_plain_in(p->root_fd, "link", O_PATH, &fd, &err),
		-ELOOP);
	assert_non_null(strstr(err.text, "must not be a symlink"));
	assert_int_equal(
		path_open_plain_in(p->root_fd, "link/sub", O_PATH, &fd, &err),
		-ELOOP);
	assert_int_equal(
		path_open_plain_in(p->root_fd, "etc/sub", O_PATH, &fd, &err),
		0);
}

static void magic_links_are_refused(void **state)
{
	struct err err = ERR_INIT;
	own_close int slash_fd = open("/", O_PATH | O_CLOEXEC);
	own_close int fd = -EBADF;

	(void)state;
	assert_int_equal(
		path_open_in(slash_fd, "/proc/self/root", O_PATH, &fd, &err),
		-ELOOP);
	assert_int_equal(path_chdir_in(slash_fd, "/proc/self/fd/0", &err),
			 -ELOOP);
}

/* -------------------------------------------------------------------- making */

static void directories_are_made(void **state)
{
	const struct place *p = *state;
	struct err err = ERR_INIT;
	own_close int fd = -EBADF;
	own_close int again_fd = -EBADF;

	assert_int_equal(
		path_mkdirs_in(p->root_fd, "/a//b/./c/", 0755, &fd, &err), 0);
	assert_true(is_same(fd, p->root_fd, "a/b/c"));
	assert_int_equal(
		path_mkdirs_in(p->root_fd, "a/b/c", 0755, &again_fd, &err), 0);
	assert_true(is_same(again_fd, p->root_fd, "a/b/c"));
}

static void dots_never_leave(void **state)
{
	const struct place *p = *state;
	struct err err = ERR_INIT;
	own_close int fd = -EBADF;

	assert_int_equal(path_mkdirs_in(p->root_fd, "../../../host/x/../y",
					0755, &fd, &err),
			 0);
	assert_true(is_same(fd, p->root_fd, "host/y"));
	assert_host_empty(p);
}

static void link_to_the_host_is_made_inside(void **state)
{
	const struct place *p = *state;
	char target[64];
	struct err err = ERR_INIT;
	own_close int fd = -EBADF;

	snprintf(target, sizeof(target), "%s/host", p->dir);
	link_in(p, target, "out");
	assert_int_equal(
		path_target_in(p->root_fd, "/out/file", false, &fd, NULL, &err),
		0);
	assert_host_empty(p);
	fd = close_fd(fd);
	assert_int_equal(path_try_in(p->root_fd, target, O_PATH) >= 0, 1);
}

/* What an image has at /etc/resolv.conf when systemd made it. */
static void dangling_link_gets_its_target(void **state)
{
	const struct place *p = *state;
	struct err err = ERR_INIT;
	own_close int fd = -EBADF;

	mkdirat(p->root_fd, "etc", 0755);
	link_in(p, "../run/systemd/resolve/stub", "etc/resolv.conf");
	assert_int_equal(path_target_in(p->root_fd, "/etc/resolv.conf", false,
					&fd, NULL, &err),
			 0);
	assert_true(is_same(fd, p->root_fd, "run/systemd/resolve/stub"));
	fd = close_fd(fd);

	link_in(p, "/run", "var");
	link_in(p, "/nowhere/at/all", "run/lock");
	assert_int_equal(
		path_mkdirs_in(p->root_fd, "/var/lock/deep", 0755, &fd, &err),
		0);
	assert_true(is_same(fd, p->root_fd, "nowhere/at/all/deep"));
}

static void loops_end(void **state)
{
	const struct place *p = *state;
	struct err err = ERR_INIT;
	int fd = -EBADF;

	link_in(p, "b", "a");
	link_in(p, "a", "b");
	assert_int_equal(
		path_target_in(p->root_fd, "a/x", true, &fd, NULL, &err),
		-ELOOP);
	/* each step makes the path longer and leads to nothing */
	link_in(p, "grow/x", "grow");
	assert_true(path_target_in(p->root_fd, "grow", true, &fd, NULL, &err) <
		    0);
	assert_int_equal(fd, -EBADF);
}

static void file_in_the_way(void **state)
{
	const struct place *p = *state;
	struct err err = ERR_INIT;
	own_close int fd = -EBADF;

	assert_int_equal(
		path_target_in(p->root_fd, "f", false, &fd, NULL, &err), 0);
	fd = close_fd(fd);
	assert_int_equal(
		path_target_in(p->root_fd, "f/g", true, &fd, NULL, &err),
		-ENOTDIR);
	assert_int_equal(path_mkdirs_in(p->root_fd, "f", 0755, &fd, &err),
			 -ENOTDIR);
	assert_string_equal(err.text, "open f: not a directory");
}

static void too_long(void **state)
{
	const struct place *p = *state;
	struct err err = ERR_INIT;
	char name[5000];
	int fd = -EBADF;

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(
		path_target_in(p->root_fd, name, true, &fd, NULL, &err),
		-ENAMETOOLONG);
}

static void parent_and_name(void **state)
{
	const struct place *p = *state;
	struct err err = ERR_INIT;
	own_close int fd = -EBADF;
	const char *name;

	assert_int_equal(
		path_parent_in(p->root_fd, "/dev/net/tun", &fd, &name, &err),
		0);
	assert_string_equal(name, "tun");
	assert_true(is_same(fd, p->root_fd, "dev/net"));
	assert_int_equal(
		path_parent_in(p->root_fd, "/dev/..", &fd, &name, &err),
		-EINVAL);
	assert_int_equal(path_parent_in(p->root_fd, "/dev/", &fd, &name, &err),
			 -EINVAL);
}

/* -------------------------------------------------------------------- racing */

struct race {
	const struct place *p;
	atomic_bool stop;
};

/* Swap a directory and a link to the host, as CVE-2021-30465 did. */
static void *swap(void *arg)
{
	struct race *r = arg;

	while (!atomic_load(&r->stop))
		syscall(SYS_renameat2, r->p->root_fd, "d", r->p->root_fd, "l",
			2 /* RENAME_EXCHANGE */);
	return NULL;
}

static void swapped_directory_never_leads_out(void **state)
{
	const struct place *p = *state;
	struct race race = {.p = p};
	char target[64];
	pthread_t t;

	snprintf(target, sizeof(target), "%s/host", p->dir);
	mkdirat(p->root_fd, "d", 0755);
	link_in(p, target, "l");
	assert_int_equal(pthread_create(&t, NULL, swap, &race), 0);
	for (int i = 0; i < 300; i++) {
		struct err err = ERR_INIT;
		own_close int fd = -EBADF;
		char name[32];

		snprintf(name, sizeof(name), "d/%d/x", i);
		/* it may fail; it may not reach the host */
		(void)path_target_in(p->root_fd, name, i % 2, &fd, NULL, &err);
	}
	atomic_store(&race.stop, true);
	pthread_join(t, NULL);
	assert_host_empty(p);
}

/* --------------------------------------------------------------------- proc */

static void proc_is_proc(void **state)
{
	struct err err = ERR_INIT;
	own_close int proc_fd = -EBADF;
	own_close int fd = -EBADF;

	(void)state;
	assert_int_equal(path_proc_fd(&proc_fd, &err), 0);
	assert_int_equal(path_check_fs(proc_fd, PROC_SUPER_MAGIC, "x", &err),
			 0);
	assert_int_equal(path_check_fs(proc_fd, TMPFS_MAGIC, "x", &err),
			 -EINVAL);
	assert_int_equal(
		path_open_proc(proc_fd, "self/comm", O_RDONLY, &fd, &err), 0);
	fd = close_fd(fd);
	assert_int_equal(path_open_proc(proc_fd, "../etc", O_PATH, &fd, &err),
			 -EXDEV);
	assert_int_equal(path_open_proc(proc_fd, "self/cwd", O_PATH, &fd, &err),
			 -ELOOP);
	assert_int_equal(
		path_open_proc(-EBADF, "self/nothing", O_RDONLY, &fd, &err),
		-ENOENT);
}

static void working_directory(void **state)
{
	const struct place *p = *state;
	struct err err = ERR_INIT;
	char old[4096];

	assert_non_null(getcwd(old, sizeof(old)));
	mkdirat(p->root_fd, "w", 0755);
	assert_int_equal(path_chdir_in(p->root_fd, "/w", &err), 0);
	assert_int_equal(path_check_cwd(&err), 0);
	assert_int_equal(path_chdir_in(p->root_fd, "/none", &err), -ENOENT);
	assert_int_equal(chdir(old), 0);
}

/* ------------------------------------------------------------------- lexical */

static void cleaning(void **state)
{
	static const char *const rows[][2] = {
		{"/", "/"},
		{"//a/./b/../c/", "/a/c"},
		{"/..", "/"},
		{"/../a", "/a"},
		{"/a/../..", "/"},
		{"/a/..b/.c", "/a/..b/.c"},
		{"/proc/../proc", "/proc"},
		{"/a/b/../../c", "/c"},
	};
	char out[64];

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(rows); i++) {
		assert_int_equal(path_clean(rows[i][0], out, sizeof(out)), 0);
		assert_string_equal(out, rows[i][1]);
	}
	assert_int_equal(path_clean("a", out, sizeof(out)), -EINVAL);
	assert_int_equal(path_clean("", out, sizeof(out)), -EINVAL);
	assert_int_equal(path_clean("/abc", out, 4), -ENAMETOOLONG);
	assert_int_equal(path_clean("/abc", out, 5), 0);
}

#define IN_PLACE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_PLACE(root_is_root_by_any_name),
		IN_PLACE(links_stay_inside),
		IN_PLACE(plain_refuses_every_link),
		cmocka_unit_test(magic_links_are_refused),
		IN_PLACE(directories_are_made),
		IN_PLACE(dots_never_leave),
		IN_PLACE(link_to_the_host_is_made_inside),
		IN_PLACE(dangling_link_gets_its_target),
		IN_PLACE(loops_end),
		IN_PLACE(file_in_the_way),
		IN_PLACE(too_long),
		IN_PLACE(parent_and_name),
		IN_PLACE(swapped_directory_never_leads_out),
		cmocka_unit_test(proc_is_proc),
		IN_PLACE(working_directory),
		cmocka_unit_test(cleaning),
	};

	return cmocka_run_group_tests_name("path", tests, NULL, NULL);
}
