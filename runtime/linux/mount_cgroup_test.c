/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <sys/statvfs.h>

#include "runtime/base/arena.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/mount.h"
#include "runtime/linux/mount_cgroup.h"
#include "runtime/linux/mountinfo.h"
#include "runtime/linux/test_root.h"

static bool is_visible(const struct mountinfo *m)
{
	return !strstr(m->mountpoint, "hidden");
}

static struct cgroup_view view(struct arena *a, const char *cgroup,
			       const char *mountinfo)
{
	struct err err = ERR_INIT;
	struct cgroup_view v;

	if (cgroup_view_parse(a, arena_strdup(a, cgroup),
			      arena_strdup(a, mountinfo), is_visible, &v,
			      &err) < 0)
		fail_msg("%s", err.text);
	return v;
}

static const struct cgroup_view_entry *find(const struct cgroup_view *v,
					    const char *name)
{
	for (size_t i = 0; i < v->n; i++)
		if (str_eq(v->v[i].name, name))
			return &v->v[i];
	return NULL;
}

static const char hybrid_mounts[] =
	"22 27 0:21 / /proc rw,relatime - proc proc rw\n"
	"31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
	"32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup "
	"rw,cpu,cpuacct\n"
	"35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
	"39 31 0:36 /pod /sys/fs/cgroup/pids\\040x rw - cgroup cgroup rw,pids\n"
	"40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup "
	"rw,xattr,name=systemd\n"
	"41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

static void hybrid_machine(void **state)
{
	own_arena struct arena a = ARENA_INIT;
	struct cgroup_view v = view(&a,
				    "12:hugetlb:/c\n"
				    "5:pids:/pod/c\n"
				    "4:memory:/\n"
				    "3:cpu,cpuacct:/c\n"
				    "1:name=systemd:/a/c\n"
				    "0::/c\n",
				    hybrid_mounts);
	const struct cgroup_view_entry *e;

	(void)state;
	assert_true(v.v1);
	/* hugetlb is not mounted; in memory there is none of our own */
	assert_int_equal(v.n, 4);
	e = find(&v, "cpu,cpuacct");
	assert_string_equal(e->data, "cpu,cpuacct");
	assert_string_equal(e->path, "/c");
	e = find(&v, "systemd");
	assert_string_equal(e->data, "name=systemd");
	assert_string_equal(e->mountpoint, "/sys/fs/cgroup/systemd");
	/* mounted from a part, at a name with a blank */
	e = find(&v, "pids x");
	assert_string_equal(e->path, "/c");
	e = find(&v, "unified");
	assert_null(e->data);
	assert_string_equal(e->path, "/c");
}

static void pure_v2_machine(void **state)
{
	own_arena struct arena a = ARENA_INIT;
	struct cgroup_view v =
		view(&a, "0::/\n",
		     "29 22 0:25 / /hidden/cpu rw - cgroup cgroup rw,cpu\n"
		     "30 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 "
		     "rw,nsdelegate\n");

	(void)state;
	assert_false(v.v1);
	assert_int_equal(v.n, 1);
	assert_string_equal(v.v[0].mountpoint, "/sys/fs/cgroup");
	assert_null(v.v[0].data);
}

static void odd_texts(void **state)
{
	own_arena struct arena a = ARENA_INIT;
	struct err err = ERR_INIT;
	struct cgroup_view v;

	(void)state;
	v = view(&a, "", "");
	assert_int_equal(v.n, 0);
	v = view(&a, "0::/x\n", "garbage\n1 2 3 - cgroup2\n - - \n");
	assert_int_equal(v.n, 0);
	/* a part of the hierarchy that is not ours */
	v = view(&a, "5:pids:/podium/c\n", hybrid_mounts);
	assert_int_equal(v.n, 0);
	assert_int_equal(cgroup_view_parse(&a, arena_strdup(&a, "garbage\n"),
					   arena_strdup(&a, ""), is_visible, &v,
					   &err),
			 -EINVAL);
}

/* --------------------------------------------------------------- mounting */

/* Directories stand in for the hierarchies: what counts is the layout. */
static void v1_layout_without_a_namespace(void **state)
{
	static struct cgroup_view_entry entries[] = {
		{"cpu,cpuacct", "cpu,cpuacct", TEST_DIR "/host/cpu", "/c"},
		{"systemd", "name=systemd", TEST_DIR "/host/systemd", "/c"},
	};
	static const struct cgroup_view v = {entries, 2, true};
	const struct test_root *t = *state;
	struct mount_env env = {.cgroups = &v};
	struct mount_request req = MOUNT_REQUEST_INIT;
	struct err err = ERR_INIT;
	char target[32];

	NEEDS_ROOT(state);
	env.root_fd = t->root_fd;
	for (size_t i = 0; i < 2; i++) {
		char path[64];

		assert_int_equal(mkdir(entries[i].mountpoint, 0755), 0);
		snprintf(path, sizeof(path), "%s/c", entries[i].mountpoint);
		assert_int_equal(mkdir(path, 0755), 0);
		snprintf(path, sizeof(path), "%s/c/tasks",
			 entries[i].mountpoint);
		test_write(AT_FDCWD, path, "");
	}
	req.destination = "/sys/fs/cgroup";
	req.type = "cgroup";
	req.opt.flags = MS_RDONLY | MS_NOSUID;
	assert_ok(mount_do(&env, &req, &err), &err);
	assert_int_equal(
		faccessat(t->root_fd, "sys/fs/cgroup/cpu/tasks", F_OK, 0), 0);
	assert_int_equal(readlinkat(t->root_fd, "sys/fs/cgroup/cpuacct", target,
				    sizeof(target)),
			 11);
	assert_int_equal(mkdirat(t->root_fd, "sys/fs/cgroup/x", 0755), -1);
	assert_int_equal(errno, EROFS);
	assert_int_equal(mkdirat(t->root_fd, "sys/fs/cgroup/systemd/x", 0755),
			 -1);
	assert_int_equal(errno, EROFS);
}

static void nothing_to_show(void **state)
{
	static const struct cgroup_view none = {NULL, 0, false};
	static const struct cgroup_view some = {NULL, 0, true};
	const struct test_root *t = *state;
	struct mount_env env = {.cgroups = &none};
	struct mount_request req = MOUNT_REQUEST_INIT;
	struct err err = ERR_INIT;

	NEEDS_ROOT(state);
	env.root_fd = t->root_fd;
	req.destination = "/sys/fs/cgroup";
	req.type = "cgroup";
	assert_int_equal(mount_do(&env, &req, &err), -ENOENT);
	assert_string_equal(err.text, "mount /sys/fs/cgroup: no cgroup "
				      "hierarchy is mounted");
	/* /proc is as closed as it is to other filesystems */
	req.destination = "/proc/fs";
	assert_int_equal(mount_do(&env, &req, &err), -EINVAL);
	env.cgroups = &some;
	mkdirat(t->root_fd, "p", 0755);
	assert_int_equal(mount("proc", TEST_DIR "/root/p", "proc", 0, NULL), 0);
	req.destination = "/p/fs";
	assert_int_equal(mount_do(&env, &req, &err), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hybrid_machine),
		cmocka_unit_test(pure_v2_machine),
		cmocka_unit_test(odd_texts),
		IN_TEST_ROOT(v1_layout_without_a_namespace),
		IN_TEST_ROOT(nothing_to_show),
	};

	return cmocka_run_group_tests_name("mount_cgroup", tests,
					   test_root_enter, test_root_leave);
}
