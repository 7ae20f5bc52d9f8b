/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>

#include "runtime/base/arena.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/idmap.h"
#include "runtime/linux/mount.h"
#include "runtime/linux/test_root.h"

static char noted[480];

static void note(void *arg, const char *text)
{
	(void)arg;
	str_copy(noted, sizeof(noted), text);
}

/* mount_do with words, as a configuration has them. */
static int do_mount(const struct test_root *t, struct err *err,
		    const char *destination, const char *type,
		    const char *source, const char *const *options, size_t n)
{
	own_arena struct arena a = ARENA_INIT;
	struct mount_request req = MOUNT_REQUEST_INIT;
	const struct mount_env env = {.root_fd = t->root_fd, .note = note};

	noted[0] = '\0';
	req.destination = destination;
	req.type = type;
	req.source = source;
	assert_int_equal(mount_options_parse(&a, options, n, &req.opt, err), 0);
	return mount_do(&env, &req, err);
}

#define MOUNT(t, err, dst, type, src, ...)                                   \
	do_mount(t, err, dst, type, src, (const char *const[]){__VA_ARGS__}, \
		 N_ELEMENTS(((const char *const[]){__VA_ARGS__})))

static unsigned long flags_at(const struct test_root *t, const char *path)
{
	own_close int fd = path_try_in(t->root_fd, path, O_PATH);
	struct statvfs s;

	assert_true(fd >= 0);
	assert_int_equal(fstatvfs(fd, &s), 0);
	return s.f_flag & (ST_RDONLY | ST_NOSUID | ST_NODEV | ST_NOEXEC);
}

static mode_t mode_at(const struct test_root *t, const char *path)
{
	own_close int fd = path_try_in(t->root_fd, path, O_PATH);
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	return st.st_mode & 07777;
}

/* A tmpfs at host/src with another at host/src/sub. */
static void make_source(const struct test_root *t, unsigned long flags)
{
	mkdirat(t->dir_fd, "host/src", 0755);
	assert_int_equal(mount("tmpfs", TEST_DIR "/host/src", "tmpfs", flags,
			       "mode=755"),
			 0);
	mkdirat(t->dir_fd, "host/src/sub", 0755);
	assert_int_equal(mount("tmpfs", TEST_DIR "/host/src/sub", "tmpfs", 0,
			       "mode=755"),
			 0);
	test_write(t->dir_fd, "host/src/file", "text");
}

/* ------------------------------------------------------------------- binds */

static void read_only_bind(void **state)
{
	const struct test_root *t = *state;
	struct err err = ERR_INIT;

	NEEDS_ROOT(state);
	make_source(t, MS_NOSUID);
	assert_ok(MOUNT(t, &err, "/a/b", NULL, TEST_DIR "/host/src", "rbind",
			"ro"),
		  &err);
	/* the source's own flags stay, what lies below is not touched */
	assert_int_equal(flags_at(t, "a/b"), ST_RDONLY | ST_NOSUID);
	assert_int_equal(flags_at(t, "a/b/sub"), 0);
	assert_int_equal(path_try_in(t->root_fd, "a/b/file", O_RDWR), -EROFS);

	assert_ok(MOUNT(t, &err, "/c", NULL, TEST_DIR "/host/src", "rbind",
			"rro", "rnodev"),
		  &err);
	assert_int_equal(flags_at(t, "c"), ST_RDONLY | ST_NOSUID | ST_NODEV);
	assert_int_equal(flags_at(t, "c/sub"), ST_RDONLY | ST_NODEV);
}

static void bind_is_an_option_not_a_type(void **state)
{
	const struct test_root *t = *state;
	struct err err = ERR_INIT;

	NEEDS_ROOT(state);
	make_source(t, 0);
	/* youki#3611 */
	assert_ok(MOUNT(t, &err, "/a", "none", TEST_DIR "/host/src", "bind"),
		  &err);
	assert_true(path_try_in(t->root_fd, "a/file", O_PATH) >= 0);
	assert_int_equal(MOUNT(t, &err, "/b", NULL, "x", "ro"), -EINVAL);
}

static void bind_of_a_file_makes_a_file(void **state)
{
	const struct test_root *t = *state;
	struct err err = ERR_INIT;
	char text[16];

	NEEDS_ROOT(state);
	make_source(t, 0);
	assert_ok(MOUNT(t, &err, "/etc/x/hosts", "bind",
			TEST_DIR "/host/src/file", "rbind", "rw", "rprivate"),
		  &err);
	assert_int_equal(
		io_read_str(t->root_fd, "etc/x/hosts", text, sizeof(text)), 4);
	assert_int_equal(
		MOUNT(t, &err, "/none", NULL, TEST_DIR "/host/none", "bind"),
		-ENOENT);
	assert_string_equal(err.text, "mount /none: bind " TEST_DIR
				      "/host/none: no such file or directory");
}

static void remount_changes_a_bind(void **state)
{
	const struct test_root *t = *state;
	struct err err = ERR_INIT;

	NEEDS_ROOT(state);
	make_source(t, 0);
	assert_ok(MOUNT(t, &err, "/a", NULL, TEST_DIR "/host/src", "bind"),
		  &err);
	assert_ok(MOUNT(t, &err, "/a", NULL, NULL, "bind", "remount", "ro",
			"noexec"),
		  &err);
	assert_int_equal(flags_at(t, "a"), ST_RDONLY | ST_NOEXEC);
	assert_ok(MOUNT(t, &err, "/a", NULL, NULL, "bind", "remount", "rw"),
		  &err);
	assert_int_equal(flags_at(t, "a"), ST_NOEXEC);
}

static void data_of_a_bind_is_told(void **state)
{
	const struct test_root *t = *state;
	struct err err = ERR_INIT;

	NEEDS_ROOT(state);
	make_source(t, 0);
	assert_ok(MOUNT(t, &err, "/a", NULL, TEST_DIR "/host/src", "bind",
			"size=1"),
		  &err);
	assert_string_equal(noted,
			    "mount /a: a bind mount has no use for \"size=1\"");
}

static void ids_are_mapped(void **state)
{
	static const struct idmap_line line = {0, 100000, 1000};
	static const struct idmap map = {&line, 1, &line, 1};
	const struct test_root *t = *state;
	const struct mount_env env = {.root_fd = t ? t->root_fd : -1};
	struct mount_request req = MOUNT_REQUEST_INIT;
	own_close int userns_fd = -EBADF;
	own_close int fd = -EBADF;
	struct err err = ERR_INIT;
	struct stat st;

	NEEDS_ROOT(state);
	make_source(t, 0);
	assert_ok(idmap_userns(&map, &userns_fd, &err), &err);
	req.destination = "/a";
	req.source = TEST_DIR "/host/src";
	req.opt.bind = true;
	req.opt.idmap = MOUNT_IDMAP_TOP;
	assert_int_equal(mount_do(&env, &req, &err), -EINVAL);
	req.userns_fd = userns_fd;
	assert_ok(mount_do(&env, &req, &err), &err);
	fd = path_try_in(t->root_fd, "a/file", O_PATH);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_uid, 100000);
}

/* -------------------------------------------------------------------- proc */

static void proc_is_protected(void **state)
{
	static const char *const refused[] = {
		"/proc/self/attr",	   "/proc/sys/kernel/core_pattern",
		"/proc/../proc/1",	   "/proc/self",
		"/proc/sysrq-trigger",	   "/x/../proc/acpi",
		"/proc/uptime/../cmdline",
	};
	const struct test_root *t = *state;
	struct err err = ERR_INIT;

	NEEDS_ROOT(state);
	make_source(t, 0);
	/* CVE-2019-16884 */
	assert_int_equal(
		MOUNT(t, &err, "/proc", NULL, TEST_DIR "/host/src", "rbind"),
		-EINVAL);
	assert_string_equal(err.text, "mount /proc: only a procfs may be "
				      "mounted on /proc");
	assert_int_equal(MOUNT(t, &err, "/proc", "tmpfs", "tmpfs", "ro"),
			 -EINVAL);
	assert_ok(MOUNT(t, &err, "/proc", "proc", "proc", "nosuid"), &err);
	for (size_t i = 0; i < N_ELEMENTS(refused); i++)
		assert_int_equal(MOUNT(t, &err, refused[i], NULL,
				       TEST_DIR "/host/src/file", "bind"),
				 -EINVAL);
	/* lxcfs, runc#4817 */
	assert_ok(MOUNT(t, &err, "/proc/uptime", NULL,
			TEST_DIR "/host/src/file", "bind"),
		  &err);
	assert_ok(MOUNT(t, &err, "/proc/net/dev", NULL,
			TEST_DIR "/host/src/file", "bind"),
		  &err);
	/* and the host's may be bound */
	assert_ok(MOUNT(t, &err, "/proc", NULL, "/proc", "rbind"), &err);
}

static void links_into_proc_are_refused(void **state)
{
	const struct test_root *t = *state;
	struct err err = ERR_INIT;

	NEEDS_ROOT(state);
	make_source(t, 0);
	assert_ok(MOUNT(t, &err, "/proc", "proc", "proc", "nosuid"), &err);
	assert_int_equal(symlinkat("/proc/sys", t->root_fd, "link"), 0);
	assert_int_equal(
		MOUNT(t, &err, "/link", NULL, TEST_DIR "/host/src", "bind"),
		-EINVAL);
	assert_int_equal(MOUNT(t, &err, "/link/kernel", "tmpfs", "tmpfs", "ro"),
			 -EINVAL);
}

static void proc_and_sys_are_no_links(void **state)
{
	const struct test_root *t = *state;
	struct err err = ERR_INIT;

	NEEDS_ROOT(state);
	/* CVE-2019-19921, CVE-2023-27561 */
	mkdirat(t->root_fd, "x", 0755);
	assert_int_equal(symlinkat("x", t->root_fd, "proc"), 0);
	assert_int_equal(symlinkat("nothing", t->root_fd, "sys"), 0);
	assert_int_equal(MOUNT(t, &err, "/proc", "proc", "proc", "ro"), -ELOOP);
	assert_int_equal(MOUNT(t, &err, "/sys", "sysfs", "sysfs", "ro"),
			 -ELOOP);
}

static void root_is_no_target(void **state)
{
	const struct test_root *t = *state;
	struct err err = ERR_INIT;

	NEEDS_ROOT(state);
	assert_int_equal(MOUNT(t, &err, "/a/..", "tmpfs", "tmpfs", "ro"),
			 -EINVAL);
	assert_int_equal(MOUNT(t, &err, "a", "tmpfs", "tmpfs", "ro"), -EINVAL);
}

/* ------------------------------------------------------------------- tmpfs */

static void tmpfs_mode(void **state)
{
	const struct test_root *t = *state;
	struct err err = ERR_INIT;

	NEEDS_ROOT(state);
	/* runc#4971 */
	mkdirat(t->root_fd, "there", 0750);
	assert_ok(MOUNT(t, &err, "/there", "tmpfs", "tmpfs", "nosuid"), &err);
	assert_int_equal(mode_at(t, "there"), 0750);
	assert_ok(MOUNT(t, &err, "/new", "tmpfs", "tmpfs", "nosuid"), &err);
	assert_int_equal(mode_at(t, "new"), 01777);
	mkdirat(t->root_fd, "said", 0750);
	assert_ok(
		MOUNT(t, &err, "/said", "tmpfs", "tmpfs", "nosuid", "mode=700"),
		&err);
	assert_int_equal(mode_at(t, "said"), 0700);
	assert_int_equal(flags_at(t, "said"), ST_NOSUID);
}

static void tmpfs_copies_up(void **state)
{
	const struct test_root *t = *state;
	struct err err = ERR_INIT;
	char text[16];
	struct stat st;

	NEEDS_ROOT(state);
	mkdirat(t->root_fd, "d", 0750);
	mkdirat(t->root_fd, "d/sub", 0700);
	test_write(t->root_fd, "d/sub/file", "copied");
	assert_int_equal(fchownat(t->root_fd, "d/sub/file", 7, 8, 0), 0);
	assert_int_equal(fchmodat(t->root_fd, "d/sub/file", 04711, 0), 0);
	assert_int_equal(symlinkat("/etc", t->root_fd, "d/link"), 0);
	assert_ok(MOUNT(t, &err, "/d", "tmpfs", "tmpfs", "tmpcopyup", "ro"),
		  &err);
	assert_int_equal(flags_at(t, "d"), ST_RDONLY);
	assert_int_equal(mode_at(t, "d"), 0750);
	assert_int_equal(mode_at(t, "d/sub"), 0700);
	assert_int_equal(
		io_read_str(t->root_fd, "d/sub/file", text, sizeof(text)), 6);
	assert_int_equal(fstatat(t->root_fd, "d/sub/file", &st, 0), 0);
	assert_int_equal(st.st_uid, 7);
	assert_int_equal(st.st_gid, 8);
	assert_int_equal(st.st_mode & 07777, 04711);
	assert_int_equal(readlinkat(t->root_fd, "d/link", text, sizeof(text)),
			 4);
}

static void errors_of_new_filesystems(void **state)
{
	const struct test_root *t = *state;
	struct err err = ERR_INIT;

	NEEDS_ROOT(state);
	assert_int_equal(MOUNT(t, &err, "/a", "nosuchfs", "x", "ro"), -ENODEV);
	assert_string_equal(err.text,
			    "mount /a: mount a nosuchfs: no such device");
	assert_int_equal(MOUNT(t, &err, "/a", "tmpfs", "x", "size=wrong"),
			 -EINVAL);
	assert_int_equal(MOUNT(t, &err, "/a", "proc", "x", "tmpcopyup"),
			 -EINVAL);
	assert_int_equal(MOUNT(t, &err, "/a", "tmpfs", "x", "idmap"), -EINVAL);
}

/* ------------------------------------------------------------------- races */

struct race {
	const struct test_root *t;
	atomic_bool stop;
};

static void *swap(void *arg)
{
	struct race *r = arg;

	while (!atomic_load(&r->stop))
		syscall(SYS_renameat2, r->t->root_fd, "d", r->t->root_fd, "l",
			2 /* RENAME_EXCHANGE */);
	return NULL;
}

/* CVE-2021-30465: the target becomes a link to the host's folder. */
static void swapped_target_never_leads_out(void **state)
{
	const struct test_root *t = *state;
	struct race race = {.t = t};
	pthread_t thread;

	NEEDS_ROOT(state);
	make_source(t, 0);
	mkdirat(t->dir_fd, "host/victim", 0755);
	mkdirat(t->root_fd, "d", 0755);
	assert_int_equal(symlinkat(TEST_DIR "/host/victim", t->root_fd, "l"),
			 0);
	assert_int_equal(pthread_create(&thread, NULL, swap, &race), 0);
	for (int i = 0; i < 100; i++) {
		struct err err = ERR_INIT;

		(void)MOUNT(t, &err, "/d/x", NULL, TEST_DIR "/host/src",
			    "rbind");
	}
	atomic_store(&race.stop, true);
	pthread_join(thread, NULL);
	/* nothing was made in it, so it can be removed */
	assert_int_equal(unlinkat(t->dir_fd, "host/victim", AT_REMOVEDIR), 0);
}

static void dev_may_be_somebody_elses(void **state)
{
	struct mount_request v[3] = {MOUNT_REQUEST_INIT, MOUNT_REQUEST_INIT,
				     MOUNT_REQUEST_INIT};

	(void)state;
	v[0].destination = "/proc";
	v[1].destination = "/dev/";
	v[2].destination = "/dev/shm";
	v[2].opt.bind = true;
	assert_true(mount_dev_is_ours(v, 3));
	v[1].opt.bind = true;
	assert_false(mount_dev_is_ours(v, 3));
	assert_true(mount_dev_is_ours(v, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TEST_ROOT(read_only_bind),
		IN_TEST_ROOT(bind_is_an_option_not_a_type),
		IN_TEST_ROOT(bind_of_a_file_makes_a_file),
		IN_TEST_ROOT(remount_changes_a_bind),
		IN_TEST_ROOT(data_of_a_bind_is_told),
		IN_TEST_ROOT(ids_are_mapped),
		IN_TEST_ROOT(proc_is_protected),
		IN_TEST_ROOT(links_into_proc_are_refused),
		IN_TEST_ROOT(proc_and_sys_are_no_links),
		IN_TEST_ROOT(root_is_no_target),
		IN_TEST_ROOT(tmpfs_mode),
		IN_TEST_ROOT(tmpfs_copies_up),
		IN_TEST_ROOT(errors_of_new_filesystems),
		IN_TEST_ROOT(swapped_target_never_leads_out),
		cmocka_unit_test(dev_may_be_somebody_elses),
	};

	return cmocka_run_group_tests_name("mount", tests, test_root_enter,
					   test_root_leave);
}
