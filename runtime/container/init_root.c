/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/base/path.h"
#include "runtime/base/strbuf.h"
#include "runtime/container/hook.h"
#include "runtime/container/init_root.h"
#include "runtime/container/launch.h"
#include "runtime/container/sync.h"
#include "runtime/container/record.h"
#include "runtime/linux/landlock.h"
#include "runtime/linux/mountfd.h"
#include "runtime/linux/mountinfo.h"
#include "runtime/linux/sysctl.h"
#include "runtime/linux/terminal.h"
#include "runtime/oci/spec_linux.h"

enum { MOUNTINFO_MAX = 16 << 20 };

static bool shares_host(const struct launch *l, enum ns kind)
{
	return !(l->ns.new_flags & (unsigned int)ns_table[kind].flag) &&
	       l->ns.fd[kind] < 0;
}

int init_root_cgroups(struct init_root *ir, const struct launch *l,
		      struct err *err)
{
	for (size_t k = 0; k < l->n_mounts; k++)
		if (l->mounts[k].type &&
		    !strncmp(l->mounts[k].type, "cgroup", 6))
			return cgroup_view_read(&ir->arena, &ir->cgroups, err);
	return 0;
}

/* ---------------------------------------------------------------- build */

/* 0 where the kernel (before 5.8) does not tell. */
static uint64_t mount_id(int fd)
{
	struct statx stx;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &stx) < 0 ||
	    !(stx.stx_mask & STATX_MNT_ID))
		return 0;
	return stx.stx_mnt_id;
}

static bool is_narrowed(const struct init_root *ir, int fd)
{
	uint64_t id = mount_id(fd);

	for (size_t k = 0; id && k < ir->n_narrowed; k++)
		if (ir->narrowed[k] == id)
			return true;
	return false;
}

/*
 * Below a read-only root, what the policy lists read_write stays writable: a
 * mount of its own. What does not exist is Landlock's affair. The image's
 * links are followed; whereto they lead, only what the plan closed is opened
 * again, never what the config has read-only.
 */
static int keep_path(const struct init_root *ir, const char *path,
		     struct err *err)
{
	own_close int fd = path_try_in(ir->root_fd, path, O_PATH);
	own_close int mount_fd = -EBADF;
	int r;

	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return err_errno(err, -fd, "open %s", path);
	/* with the mounts below it, whose own flags stay */
	r = mountfd_clone(fd, "", true, path, &mount_fd, err);
	if (r == 0 && is_narrowed(ir, fd))
		r = mountfd_setattr(mount_fd, 0, MOUNT_ATTR_RDONLY, false, path,
				    err);
	return r == 0 ? mountfd_attach(mount_fd, fd, path, err) : r;
}

static int keep_writable(const struct init_root *ir, const struct launch *l,
			 struct err *err)
{
	for (size_t k = 0; k < l->n_writable; k++) {
		int r = keep_path(ir, l->writable[k], err);

		if (r < 0)
			return err_wrap(err, "keep %s writable",
					l->writable[k]);
	}
	return 0;
}

static int remember_narrowed(struct init_root *ir, const char *destination,
			     struct err *err)
{
	own_close int fd = -EBADF;
	int r = path_open_in(ir->root_fd, destination, O_PATH, &fd, err);

	if (r < 0)
		return r;
	ir->narrowed = arena_grow(&ir->arena, ir->narrowed, ir->n_narrowed,
				  sizeof(*ir->narrowed));
	ir->narrowed[ir->n_narrowed++] = mount_id(fd);
	return 0;
}

static void note_mount(void *arg, const char *text)
{
	const struct launch *l = arg;

	sync_note(l->sync_fd, text);
}

static int do_mounts(struct init_root *ir, const struct launch *l,
		     struct err *err)
{
	struct mount_env env = {
		.root_fd = ir->root_fd,
		.in_userns = l->in_userns || l->rootless,
		.own_cgroupns = !shares_host(l, NS_CGROUP),
		.cgroups = &ir->cgroups,
		.note = note_mount,
		.note_arg = (void *)(uintptr_t)l,
	};

	for (size_t k = 0; k < l->n_mounts; k++) {
		int r = mount_do(&env, &l->mounts[k], err);

		if (r == 0 && l->narrowed[k])
			r = remember_narrowed(ir, l->mounts[k].destination,
					      err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int fill_dev(const struct init_root *ir, const struct launch *l,
		    struct err *err)
{
	bool bind = l->in_userns || l->rootless;
	int r;

	if (!mount_dev_is_ours(l->mounts, l->n_mounts))
		return 0;
	r = device_create(ir->root_fd, device_defaults, device_n_defaults, bind,
			  err);
	if (r == 0)
		r = device_create(ir->root_fd, l->devices, l->n_devices, bind,
				  err);
	if (r == 0)
		r = device_links(ir->root_fd, err);
	return r;
}

static int make_terminal(struct init_root *ir, const struct launch *l,
			 struct err *err)
{
	const struct oci_process *p = l->spec->process;
	own_terminal struct terminal t = TERMINAL_INIT;
	uint16_t rows = 0, columns = 0;
	int r;

	if (!p->terminal)
		return 0;
	if (p->console_size) {
		rows = (uint16_t)p->console_size->height;
		columns = (uint16_t)p->console_size->width;
	} else {
		/* in the foreground: right before the program looks */
		terminal_size(STDIN_FILENO, &rows, &columns);
	}
	r = terminal_open(ir->root_fd, rows, columns, &t, err);
	if (r == 0)
		r = terminal_chown(&t, p->user.uid, err);
	if (r == 0)
		r = device_console(ir->root_fd, t.slave_fd, err);
	if (r == 0)
		r = terminal_send(&t, l->console_fd, err);
	if (r == 0)
		ir->slave_fd = take_fd(&t.slave_fd);
	return r;
}

/* As the peers do: an image need not have its working directory. Whether the
 * user may enter it is chdir's affair. */
static int make_cwd(const struct init_root *ir, const char *cwd,
		    struct err *err)
{
	own_close int fd = -EBADF;
	int r = path_mkdirs_in(ir->root_fd, cwd, 0755, &fd, err);

	if (r == -EACCES || r == -EPERM || r == -EROFS)
		return 0;
	return r < 0 ? err_wrap(err, "make process.cwd %s", cwd) : 0;
}

/* runtime-spec config.md, "POSIX-platform Hooks": in the container's
 * namespaces, pid is what the container sees. */
int init_root_hooks(const struct launch *l, const struct oci_hook_list *list,
		    const char *kind, enum oci_status status, struct err *err)
{
	struct oci_state state = *l->state;
	struct arena a = ARENA_INIT;
	const char *json;
	int r;

	if (!list->n)
		return 0;
	state.pid = getpid();
	json = record_hook_state(&a, &state, status);
	r = hook_run(list, kind, json, strlen(json), err);
	arena_done(&a);
	return r;
}

int init_root_build(struct init_root *ir, struct launch *l, struct err *err)
{
	const struct oci_spec *s = l->spec;
	int r = rootfs_prepare(l->rootfs, s->linux_->rootfs_propagation,
			       &ir->root_fd, err);

	if (r == 0)
		r = do_mounts(ir, l, err);
	if (r == 0)
		r = fill_dev(ir, l, err);
	if (r == 0)
		r = make_terminal(ir, l, err);
	if (r == 0 && s->hooks)
		r = init_root_hooks(l, &s->hooks->create_container,
				    "createContainer", OCI_CREATING, err);
	if (r == 0)
		r = make_cwd(ir, s->process->cwd, err);
	if (r == 0)
		r = keep_writable(ir, l, err);
	if (r == 0)
		r = rootfs_readonly_paths(ir->root_fd,
					  s->linux_->readonly_paths.v,
					  s->linux_->readonly_paths.n, err);
	if (r == 0)
		r = rootfs_mask(ir->root_fd, s->linux_->masked_paths.v,
				s->linux_->masked_paths.n, err);
	return r;
}

/* --------------------------------------------------------------- switch */

static unsigned int own_namespaces(const struct launch *l)
{
	return (shares_host(l, NS_IPC) ? 0 : SYSCTL_NS_IPC) |
	       (shares_host(l, NS_NET) ? 0 : SYSCTL_NS_NET) |
	       (shares_host(l, NS_UTS) ? 0 : SYSCTL_NS_UTS) |
	       (shares_host(l, NS_USER) ? 0 : SYSCTL_NS_USER);
}

/* Through the host's /proc, opened before: the container's may be read-only,
 * masked, or something else. */
static int set_sysctls(const struct launch *l, struct err *err)
{
	const struct pair_list *list = &l->spec->linux_->sysctl;

	for (size_t k = 0; k < list->n; k++) {
		int r = sysctl_check(list->v[k].key, own_namespaces(l), err);

		if (r == 0)
			r = sysctl_write(l->enter.proc_fd, list->v[k].key,
					 list->v[k].value, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int set_names(const struct launch *l, struct err *err)
{
	const struct oci_spec *s = l->spec;

	if (s->hostname && sethostname(s->hostname, strlen(s->hostname)) < 0)
		return err_errno(err, errno, "set host name %s", s->hostname);
	if (s->domainname &&
	    setdomainname(s->domainname, strlen(s->domainname)) < 0)
		return err_errno(err, errno, "set domain name %s",
				 s->domainname);
	return 0;
}

int init_root_switch(struct init_root *ir, struct launch *l, struct err *err)
{
	const struct oci_spec *s = l->spec;
	unsigned long propagation = s->linux_->rootfs_propagation;
	int r = set_sysctls(l, err);

	if (r == 0)
		r = set_names(l, err);
	if (r == 0 && s->root->readonly)
		r = rootfs_readonly(ir->root_fd, err);
	if (r == 0)
		r = rootfs_pivot(ir->root_fd, l->root_switch,
				 (propagation & MS_SHARED) != 0, err);
	if (r == 0)
		r = rootfs_propagate(propagation, err);
	ir->root_fd = close_fd(ir->root_fd);
	arena_done(&ir->arena);
	return r;
}

/* ------------------------------------------------------------- Landlock */

static bool has_gpu(void)
{
	return access("/dev/nvidiactl", F_OK) == 0 ||
	       access("/dev/dxg", F_OK) == 0;
}

/*
 * Where binaries are told apart nobody may write into /proc/PID/mem: a path
 * that the image links to / or into /proc can't be granted.
 */
static int check_closed(const struct launch_path *p, int fd, struct err *err)
{
	struct stat root, st;
	struct err ignored;

	if (stat("/", &root) < 0 || fstat(fd, &st) < 0)
		return err_errno(err, errno, "stat %s", p->path);
	if (path_check_fs(fd, PROC_SUPER_MAGIC, p->path, &ignored) == 0 ||
	    (st.st_dev == root.st_dev && st.st_ino == root.st_ino))
		return err_set(err, EPERM,
			       "resolve %s (%s): in this image it leads to / "
			       "or /proc, which can't be writable where the "
			       "policy names binaries",
			       p->path, p->why);
	return 0;
}

static int grant(int ruleset_fd, int abi, const struct launch_ruleset *rs,
		 const struct launch_path *p, struct err *err)
{
	own_close int fd = -EBADF;

	if (p->gpu && !has_gpu())
		return 0;
	fd = open(p->path, O_PATH | O_CLOEXEC);
	if (fd < 0) {
		if (errno == ENOENT && (p->optional || rs->best_effort))
			return 0;
		return err_errno(err, errno, "resolve %s (%s)", p->path,
				 p->why);
	}
	if (p->write && rs->proc_closed) {
		int r = check_closed(p, fd, err);

		if (r < 0)
			return r;
	}
	return landlock_grant(ruleset_fd, abi,
			      p->write ? LANDLOCK_READ_WRITE :
					 LANDLOCK_READ_ONLY,
			      fd, p->path, err);
}

static int grant_paths(int ruleset_fd, int abi, const struct launch_ruleset *rs,
		       struct err *err)
{
	int r = 0;

	for (size_t k = 0; r == 0 && k < rs->n; k++)
		r = grant(ruleset_fd, abi, rs, &rs->path[k], err);
	return r;
}

/* Everything in the root but /proc may be written: /proc/PID/mem may not. */
static int grant_all_but_proc(int ruleset_fd, int abi, struct err *err)
{
	own_dir DIR *d = opendir("/");
	struct dirent *de;
	int r = 0;

	if (!d)
		return err_errno(err, errno, "read /");
	while (r == 0 && (de = readdir(d))) {
		own_close int fd = -EBADF;

		if (str_eq(de->d_name, ".") || str_eq(de->d_name, "..") ||
		    str_eq(de->d_name, "proc"))
			continue;
		/* a link's target is beneath another member, or in /proc */
		fd = openat(dirfd(d), de->d_name,
			    O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return err_errno(err, errno, "open /%s", de->d_name);
		if (de->d_type != DT_LNK)
			r = landlock_grant(ruleset_fd, abi,
					   LANDLOCK_WRITE_ONLY, fd, de->d_name,
					   err);
	}
	return r;
}

static int build_ruleset(const struct launch_ruleset *rs, int *ret_fd,
			 struct err *err)
{
	own_close int fd = -EBADF;
	bool paths = rs->kind == PLAN_LANDLOCK_PATHS;
	int abi = landlock_abi();
	int r;

	if (abi <= 0)
		return err_set(err, ENOSYS,
			       "enforce the policy: this kernel has no "
			       "Landlock (CONFIG_SECURITY_LANDLOCK, "
			       "lsm=landlock)");
	r = landlock_ruleset(abi,
			     paths ? LANDLOCK_READ_WRITE : LANDLOCK_WRITE_ONLY,
			     &fd, err);
	if (r == 0)
		r = paths ? grant_paths(fd, abi, rs, err) :
			    grant_all_but_proc(fd, abi, err);
	if (r == 0)
		*ret_fd = take_fd(&fd);
	return r;
}

/* A second procfs would be as good as /proc. Read-only it may be. */
static int check_procs(const struct launch *l, struct err *err)
{
	own_arena struct arena a = ARENA_INIT;
	own_close int fd = -EBADF;
	struct mountinfo m;
	char *text;
	int r = path_open_proc(l->enter.proc_fd, "self/mountinfo", O_RDONLY,
			       &fd, err);

	if (r == 0)
		r = io_read_all(&a, fd, MOUNTINFO_MAX, "mountinfo", &text, NULL,
				err);
	while (r == 0 && mountinfo_next(&text, &m)) {
		const char *rest = str_after(m.mountpoint, "/proc");
		struct statvfs st;

		if (!str_eq(m.type, "proc") ||
		    (rest && (!*rest || *rest == '/')))
			continue;
		if (statvfs(m.mountpoint, &st) == 0 && st.f_flag & ST_RDONLY)
			continue;
		r = err_set(err, EPERM,
			    "check mount %s: a second procfs that can be "
			    "written, where the policy names binaries: make it "
			    "read-only",
			    m.mountpoint);
	}
	return r;
}

static bool closes_proc(const struct launch *l)
{
	for (int k = 0; k < ENTER_LAYERS_MAX; k++)
		if (l->ruleset[k].kind != PLAN_LANDLOCK_NONE &&
		    l->ruleset[k].proc_closed)
			return true;
	return false;
}

int init_root_landlock(struct launch *l, struct err *err)
{
	if (closes_proc(l) && check_procs(l, err) < 0)
		return -err->code;
	for (int k = 0; k < ENTER_LAYERS_MAX; k++) {
		int r;

		if (l->ruleset[k].kind == PLAN_LANDLOCK_NONE)
			continue;
		r = build_ruleset(&l->ruleset[k], &l->enter.landlock_fd[k],
				  err);
		if (r < 0)
			return r;
	}
	return 0;
}
