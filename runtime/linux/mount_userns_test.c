/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mounts of a container whose user namespace is its own, while the host's
 * network and ipc namespaces are shared: what Podman and Docker ask for, with
 * the ways out that the kernel leaves.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/magic.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "runtime/base/arena.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/device.h"
#include "runtime/linux/idmap.h"
#include "runtime/linux/mount.h"
#include "runtime/linux/namespaces.h"
#include "runtime/linux/test_root.h"

/* In the child nothing of cmocka's may be used: a failure is said, and ends. */
#define CHECK(cond)                                                        \
	do {                                                               \
		if (!(cond)) {                                             \
			dprintf(2, "%s:%d: %s (%s)\n", __FILE__, __LINE__, \
				#cond, err.text);                          \
			_exit(1);                                          \
		}                                                          \
	} while (0)

static unsigned int n_notes;

static void note(void *arg, const char *text)
{
	(void)arg;
	(void)text;
	n_notes++;
}

static int do_mount(int root_fd, struct err *err, const char *destination,
		    const char *type, const char *source,
		    const char *const *options, size_t n)
{
	own_arena struct arena a = ARENA_INIT;
	struct mount_request req = MOUNT_REQUEST_INIT;
	const struct mount_env env = {
		.root_fd = root_fd, .in_userns = true, .note = note};

	req.destination = destination;
	req.type = type;
	req.source = source;
	if (mount_options_parse(&a, options, n, &req.opt, err) < 0)
		return -1;
	return mount_do(&env, &req, err);
}

#define MOUNT(root_fd, err, dst, type, src, ...)     \
	do_mount(root_fd, err, dst, type, src,       \
		 (const char *const[]){__VA_ARGS__}, \
		 N_ELEMENTS(((const char *const[]){__VA_ARGS__})))

static unsigned long magic_at(int root_fd, const char *path)
{
	own_close int fd = path_try_in(root_fd, path, O_PATH);
	struct statfs fs;

	return fd >= 0 && fstatfs(fd, &fs) == 0 ? (unsigned long)fs.f_type : 0;
}

static bool is_read_only(int root_fd, const char *path)
{
	own_close int fd = path_try_in(root_fd, path, O_PATH);
	struct statvfs fs;

	return fd >= 0 && fstatvfs(fd, &fs) == 0 && fs.f_flag & ST_RDONLY;
}

static void usual_mounts(int root_fd)
{
	struct err err = ERR_INIT;

	CHECK(MOUNT(root_fd, &err, "/proc", "proc", "proc", "nosuid", "noexec",
		    "nodev") == 0);
	CHECK(MOUNT(root_fd, &err, "/dev", "tmpfs", "tmpfs", "nosuid",
		    "strictatime", "mode=755", "size=65536k") == 0);
	CHECK(n_notes == 0);
	/* only one id is mapped, 5 is not */
	CHECK(MOUNT(root_fd, &err, "/dev/pts", "devpts", "devpts", "nosuid",
		    "noexec", "newinstance", "ptmxmode=0666", "mode=0620",
		    "gid=5") == 0);
	CHECK(n_notes == 1);
	CHECK(magic_at(root_fd, "dev/pts") == DEVPTS_SUPER_MAGIC);
	/* the network namespace is the host's: no new sysfs */
	CHECK(MOUNT(root_fd, &err, "/sys", "sysfs", "sysfs", "nosuid", "noexec",
		    "nodev", "ro") == 0);
	CHECK(n_notes == 2);
	CHECK(magic_at(root_fd, "sys/kernel") == SYSFS_MAGIC);
	CHECK(is_read_only(root_fd, "sys"));
	CHECK(is_read_only(root_fd, "sys/fs/cgroup"));
}

static void locked_flags(int root_fd)
{
	struct err err = ERR_INIT;

	/* youki#3536: the source is read-only and not ours to change */
	CHECK(MOUNT(root_fd, &err, "/a", NULL, TEST_DIR "/host/src", "bind",
		    "nosuid", "rprivate") == 0);
	CHECK(is_read_only(root_fd, "a"));
	CHECK(MOUNT(root_fd, &err, "/a", NULL, TEST_DIR "/host/src", "bind",
		    "remount", "noexec") == 0);
	CHECK(is_read_only(root_fd, "a"));
	CHECK(MOUNT(root_fd, &err, "/b", NULL, TEST_DIR "/host/src", "bind",
		    "rw") == -EPERM);
}

/* A source that only the parent can reach; it was cloned there. */
static void source_of_the_parents(int root_fd, int source_fd)
{
	const struct mount_env env = {.root_fd = root_fd, .in_userns = true};
	struct mount_request req = MOUNT_REQUEST_INIT;
	struct err err = ERR_INIT;

	CHECK(MOUNT(root_fd, &err, "/s", NULL, TEST_DIR "/host/secret/src",
		    "bind") == -EACCES);
	req.destination = "/s";
	req.source = TEST_DIR "/host/secret/src";
	req.source_fd = source_fd;
	CHECK(mount_do(&env, &req, &err) == 0);
	CHECK(is_read_only(root_fd, "s"));
	CHECK(faccessat(root_fd, "s/file", F_OK, 0) == 0);
}

static void masks_and_devices(int root_fd)
{
	static const char *const masked[] = {"/proc/version", "/sys/firmware",
					     "/proc/acpi", "/proc/scsi"};
	static const char *const ro[] = {"/proc/sys", "/proc/bus",
					 "/proc/sysrq-trigger"};
	struct err err = ERR_INIT;
	struct stat st;

	CHECK(device_create(root_fd, device_defaults, device_n_defaults, true,
			    &err) == 0);
	CHECK(device_links(root_fd, &err) == 0);
	CHECK(fstatat(root_fd, "dev/null", &st, 0) == 0);
	CHECK(st.st_rdev == makedev(1, 3));
	CHECK(rootfs_readonly_paths(root_fd, ro, N_ELEMENTS(ro), &err) == 0);
	CHECK(is_read_only(root_fd, "proc/sys/kernel"));
	CHECK(rootfs_mask(root_fd, masked, N_ELEMENTS(masked), &err) == 0);
	CHECK(fstatat(root_fd, "proc/version", &st, 0) == 0);
	CHECK(st.st_rdev == makedev(1, 3));
}

static void container(int source_fd, int ready_fd)
{
	struct err err = ERR_INIT;
	int root_fd;
	char c;

	CHECK(read(ready_fd, &c, 1) == 0);
	/* a process in the pid namespace is needed to mount its /proc */
	CHECK(setresgid(0, 0, 0) == 0 && setresuid(0, 0, 0) == 0);
	CHECK(rootfs_prepare(TEST_DIR "/root", 0, &root_fd, &err) == 0);
	usual_mounts(root_fd);
	locked_flags(root_fd);
	source_of_the_parents(root_fd, source_fd);
	masks_and_devices(root_fd);
	CHECK(rootfs_readonly(root_fd, &err) == 0);
	CHECK(rootfs_pivot(root_fd, ROOTFS_PIVOT, false, &err) == 0);
	CHECK(faccessat(AT_FDCWD, "/proc/self", F_OK, 0) == 0);
	_exit(0);
}

static void containers_mounts(void **state)
{
	static const struct idmap_line line = {0, 100000, 1};
	static const struct idmap map = {&line, 1, &line, 1};
	const struct test_root *t = *state;
	struct err err = ERR_INIT;
	struct mount_request req = MOUNT_REQUEST_INIT;
	own_close int source_fd = -EBADF;
	int status = -1;
	int ready[2];
	pid_t pid;

	NEEDS_ROOT(state);
	assert_int_equal(
		fchownat(t->root_fd, "", 100000, 100000, AT_EMPTY_PATH), 0);
	mkdirat(t->dir_fd, "host/src", 0755);
	assert_int_equal(mount("tmpfs", TEST_DIR "/host/src", "tmpfs",
			       MS_RDONLY, "mode=755"),
			 0);
	mkdirat(t->dir_fd, "host/secret", 0700);
	mkdirat(t->dir_fd, "host/secret/src", 0755);
	test_write(t->dir_fd, "host/secret/src/file", "");
	req.destination = "/s";
	req.source = TEST_DIR "/host/secret/src";
	req.opt.bind = true;
	req.opt.flags = MS_RDONLY;
	assert_ok(mount_source_open(&req, &source_fd, &err), &err);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = ns_clone(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID, -EBADF, NULL,
		       &err);
	if (pid == 0) {
		close(ready[1]);
		container(source_fd, ready[0]);
	}
	assert_true(pid > 0);
	close(ready[0]);
	assert_ok(idmap_write(pid, &map, &err), &err);
	close(ready[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TEST_ROOT(containers_mounts),
	};

	return cmocka_run_group_tests_name("mount_userns", tests,
					   test_root_enter, test_root_leave);
}
