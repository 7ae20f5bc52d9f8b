/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/path.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/compat.h"
#include "runtime/linux/mount.h"
#include "runtime/linux/mount_cgroup.h"
#include "runtime/linux/mount_copyup.h"
#include "runtime/linux/mount_env.h"
#include "runtime/linux/mount_option.h"
#include "runtime/linux/mountfd.h"

void mount_note(const struct mount_env *env, const char *fmt, ...)
{
	char text[480];
	va_list ap;

	if (!env->note)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	env->note(env->note_arg, text);
}

/* ----------------------------------------------------------------- targets */

/*
 * Files of /proc over which a container may have a mount of its own: lxcfs and
 * the like replace them. Nothing else: who covers /proc/self/attr makes the
 * runtime write its labels into the void (CVE-2019-16884). /proc/net/dev is
 * the init's alone; runc took it off the list as of no use (runc#4817), here
 * what a client asks for is done, as it does no harm.
 */
static const char *const proc_allowed[] = {
	"/proc/cpuinfo",
	"/proc/diskstats",
	"/proc/loadavg",
	"/proc/meminfo",
	"/proc/net/dev",
	"/proc/slabinfo",
	"/proc/stat",
	"/proc/swaps",
	"/proc/sys/crypto/fips_enabled",
	"/proc/sys/kernel/ns_last_pid",
	"/proc/uptime",
};

static bool is_proc_allowed(const char *clean)
{
	for (size_t i = 0; i < N_ELEMENTS(proc_allowed); i++)
		if (str_eq(clean, proc_allowed[i]))
			return true;
	return false;
}

bool mount_is_on_proc(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

static bool is_proc_root(int fd)
{
	struct stat st;

	return mount_is_on_proc(fd) && fstat(fd, &st) == 0 && st.st_ino == 1;
}

/* By name, before anything is made. @source_fd: what is bound, or -EBADF. */
static int check_name(const struct mount_request *req, const char *clean,
		      int source_fd, struct err *err)
{
	const char *below = str_after(clean, "/proc");

	if (!below || (*below && *below != '/') || is_proc_allowed(clean))
		return 0;
	if (*below)
		return err_set(err, EINVAL,
			       "mounts inside /proc are not allowed");
	if (source_fd < 0 ? str_eq(req->type, "proc") : is_proc_root(source_fd))
		return 0;
	return err_set(err, EINVAL, "only a procfs may be mounted on /proc");
}

/* By what the name led to: a link may lead anywhere. */
static int check_target(const char *clean, int target_fd, struct err *err)
{
	if (!mount_is_on_proc(target_fd) || is_proc_allowed(clean) ||
	    str_eq(clean, "/proc"))
		return 0;
	return err_set(err, EINVAL,
		       "leads into /proc: mounts inside it are not allowed");
}

/* What the target is, before anything is mounted on it. */
struct target {
	int fd; /* owned */
	bool made;
	mode_t mode;
};

static int open_target(const struct mount_env *env,
		       const struct mount_request *req, bool dir,
		       struct target *ret, struct err *err)
{
	own_close int fd = -EBADF;
	struct stat st;
	int r = path_target_in(env->root_fd, req->destination, dir, &fd,
			       &ret->made, err);

	if (r < 0)
		return r;
	if (fstat(fd, &st) < 0)
		return err_errno(err, errno, "stat the target");
	ret->mode = st.st_mode;
	ret->fd = take_fd(&fd);
	return 0;
}

/*
 * /proc and /sys, on whose place others rely: a directory without a link on
 * the way to it (CVE-2019-19921, CVE-2023-27561).
 */
static int open_plain_target(const struct mount_env *env,
			     const struct mount_request *req,
			     struct target *ret, struct err *err)
{
	own_close int made_fd = -EBADF;
	int r = path_open_plain_in(env->root_fd, req->destination,
				   O_PATH | O_DIRECTORY, &ret->fd, err);

	if (r != -ENOENT)
		return r;
	r = path_mkdirs_in(env->root_fd, req->destination, 0755, &made_fd, err);
	if (r < 0)
		return r;
	return path_open_plain_in(env->root_fd, req->destination,
				  O_PATH | O_DIRECTORY, &ret->fd, err);
}

static int apply_propagation(int fd, const struct mount_options *o,
			     const char *what, struct err *err)
{
	for (unsigned int i = 0; i < o->n_propagation; i++) {
		int r = mountfd_propagation(fd, o->propagation[i], what, err);

		if (r < 0)
			return r;
	}
	return 0;
}

static int apply_recursive(int fd, const struct mount_options *o,
			   const char *what, struct err *err)
{
	return mountfd_setattr(fd, o->rec_set, o->rec_clear, true, what, err);
}

/* ------------------------------------------------------------- bind mounts */

static int tree_attrs(int fd, const struct mount_request *req, struct err *err)
{
	const struct mount_options *o = &req->opt;
	uint64_t set;
	uint64_t clear;
	int r;

	mount_option_attrs(o, &set, &clear);
	r = mountfd_setattr(fd, set, clear, false, req->source, err);
	if (r < 0)
		return r;
	r = apply_recursive(fd, o, req->source, err);
	if (r < 0 || o->idmap == MOUNT_IDMAP_NONE)
		return r;
	if (req->userns_fd < 0)
		return err_set(err, EINVAL, "idmap: there are no id maps");
	return mountfd_idmap(fd, req->userns_fd,
			     o->idmap == MOUNT_IDMAP_RECURSIVE, req->source,
			     err);
}

static int clone_source(const struct mount_request *req, int *ret_fd,
			struct err *err)
{
	own_close int fd = -EBADF;
	int r;

	if (!req->source)
		return err_set(err, EINVAL, "bind: there is no source");
	r = mountfd_clone(AT_FDCWD, req->source, req->opt.recursive,
			  req->source, &fd, err);
	if (r < 0)
		return r;
	r = tree_attrs(fd, req, err);
	if (r < 0)
		return r;
	*ret_fd = take_fd(&fd);
	return 0;
}

int mount_source_open(const struct mount_request *req, int *ret_fd,
		      struct err *err)
{
	own_close int fd = -EBADF;
	int r = clone_source(req, &fd, err);

	/* a clone of a shared mount made here would be its peer for ever */
	if (r == 0)
		r = mountfd_propagation(fd, MS_SLAVE | MS_REC, req->source,
					err);
	if (r < 0)
		return err_wrap(err, "mount %s", req->destination);
	*ret_fd = take_fd(&fd);
	return 0;
}

/* "bind,remount": new attributes for what is mounted there already. */
static int bind_remount(const struct mount_env *env,
			const struct mount_request *req, struct err *err)
{
	own_close int fd = -EBADF;
	uint64_t set;
	uint64_t clear;
	int r = path_open_in(env->root_fd, req->destination, O_PATH, &fd, err);

	if (r < 0)
		return r;
	mount_option_attrs(&req->opt, &set, &clear);
	r = mountfd_setattr(fd, set, clear, false, req->destination, err);
	if (r < 0)
		return r;
	r = apply_recursive(fd, &req->opt, req->destination, err);
	if (r < 0)
		return r;
	return apply_propagation(fd, &req->opt, req->destination, err);
}

/*
 * A read-only /sys must not leave /sys/fs/cgroup writable below it, when a
 * user namespace owns those files (CVE-2023-25809).
 */
static int close_sys(const struct mount_env *env,
		     const struct mount_request *req, int fd, struct err *err)
{
	char clean[PATH_MAX];

	if (!env->in_userns || !(req->opt.flags & MS_RDONLY) || !req->source ||
	    path_clean(req->source, clean, sizeof(clean)) < 0 ||
	    !str_eq(clean, "/sys"))
		return 0;
	return mountfd_setattr(fd, MOUNT_ATTR_RDONLY, 0, true, "/sys", err);
}

static int mount_bind(const struct mount_env *env,
		      const struct mount_request *req, const char *clean,
		      struct err *err)
{
	own_close int own_fd = -EBADF;
	own_close int target_fd = -EBADF;
	struct target t = {.fd = -EBADF};
	int fd = req->source_fd;
	struct stat st;
	int r;

	if (req->opt.flags & MS_REMOUNT)
		return bind_remount(env, req, err);
	if (req->opt.data)
		mount_note(env, "mount %s: a bind mount has no use for \"%s\"",
			   req->destination, req->opt.data);
	if (fd < 0) {
		r = clone_source(req, &own_fd, err);
		if (r < 0)
			return r;
		fd = own_fd;
	}
	r = check_name(req, clean, fd, err);
	if (r < 0)
		return r;
	r = close_sys(env, req, fd, err);
	if (r < 0)
		return r;
	if (fstat(fd, &st) < 0)
		return err_errno(err, errno, "stat %s", req->source);
	r = open_target(env, req, S_ISDIR(st.st_mode), &t, err);
	if (r < 0)
		return r;
	target_fd = t.fd;
	r = check_target(clean, target_fd, err);
	if (r < 0)
		return r;
	r = mountfd_attach(fd, target_fd, req->destination, err);
	if (r < 0)
		return r;
	return apply_propagation(fd, &req->opt, req->destination, err);
}

/* --------------------------------------------------------- new filesystems */

int mount_fs(int target_fd, const char *type, const char *source,
	     unsigned long flags, const char *data)
{
	char name[PATH_FD_NAME];

	if (mount(source ? source : type, path_fd_name(target_fd, name), type,
		  flags, data && *data ? data : NULL) < 0)
		return -errno;
	return 0;
}

/* What differs from filesystem to filesystem. */
struct fs_row {
	const char *type;
	bool plain; /* the target must be a directory without links */
	bool label; /* takes an SELinux context */
	/* where a user namespace may not have a new one: the host's, bound */
	const char *host;
};

static const struct fs_row fs_rows[] = {
	{"proc", true, false, "/proc"},		{"sysfs", true, false, "/sys"},
	{"mqueue", false, true, "/dev/mqueue"}, {"devpts", false, true, NULL},
	{"tmpfs", false, true, NULL},		{"ramfs", false, true, NULL},
};

static const struct fs_row *fs_row(const char *type)
{
	static const struct fs_row other = {NULL, false, false, NULL};

	for (size_t i = 0; i < N_ELEMENTS(fs_rows); i++)
		if (str_eq(type, fs_rows[i].type))
			return &fs_rows[i];
	return &other;
}

static bool has_option(const char *data, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = data; p && *p; p += *p == ',') {
		if (!strncmp(p, name, n))
			return true;
		p += strcspn(p, ",");
	}
	return false;
}

static void add_comma(struct strbuf *sb)
{
	if (sb->len)
		strbuf_addc(sb, ',');
}

static void fs_data(const struct mount_env *env,
		    const struct mount_request *req, const struct fs_row *row,
		    const struct target *t, struct strbuf *ret)
{
	strbuf_adds(ret, req->opt.data ? req->opt.data : "");
	if (str_eq(req->type, "tmpfs") && !t->made &&
	    !has_option(ret->s, "mode=")) {
		/* runc#4971 */
		add_comma(ret);
		strbuf_addf(ret, "mode=%o", t->mode & 07777);
	}
	if (env->label && *env->label && row->label) {
		add_comma(ret);
		strbuf_addf(ret, "context=\"%s\"", env->label);
	}
}

/* The same data without the option @name. */
static void without_option(const char *data, const char *name,
			   struct strbuf *ret)
{
	size_t n = strlen(name);

	while (*data) {
		size_t len = strcspn(data, ",");

		if (strncmp(data, name, n) != 0) {
			add_comma(ret);
			strbuf_add(ret, data, len);
		}
		data += len + (data[len] == ',');
	}
}

/*
 * devpts in a user namespace that doesn't map the group tty: the slaves then
 * belong to the group of who opens them.
 */
static int devpts_without_gid(const struct mount_env *env,
			      const struct mount_request *req, int target_fd,
			      const char *data)
{
	own_strbuf struct strbuf sb = STRBUF_HEAP;
	int r;

	without_option(data, "gid=", &sb);
	r = mount_fs(target_fd, req->type, req->source, req->opt.flags, sb.s);
	if (r == 0)
		mount_note(env, "mount %s: its gid is not mapped, left out",
			   req->destination);
	return r;
}

/* Bind the host's own, read-only as asked, all the way down. */
static int bind_host(const struct mount_env *env,
		     const struct mount_request *req, const char *host,
		     int target_fd, struct err *err)
{
	own_close int fd = -EBADF;
	uint64_t set;
	uint64_t clear;
	int r = mountfd_clone(AT_FDCWD, host, true, host, &fd, err);

	if (r < 0)
		return r;
	mount_option_attrs(&req->opt, &set, &clear);
	r = mountfd_setattr(fd, set, 0, true, host, err);
	if (r < 0)
		return r;
	r = mountfd_attach(fd, target_fd, req->destination, err);
	if (r < 0)
		return r;
	mount_note(env,
		   "mount %s: no new %s in this user namespace, %s is bound",
		   req->destination, req->type, host);
	return 0;
}

static int fs_attach(const struct mount_env *env,
		     const struct mount_request *req, const struct fs_row *row,
		     const struct target *t, struct err *err)
{
	own_strbuf struct strbuf data = STRBUF_HEAP;
	unsigned long flags = req->opt.flags;
	int r;

	/* read-only comes last, after the copy */
	if (req->opt.tmpcopyup)
		flags &= ~(unsigned long)MS_RDONLY;
	fs_data(env, req, row, t, &data);
	r = mount_fs(t->fd, req->type, req->source, flags, data.s);
	if (env->in_userns && r == -EPERM && row->host && !(flags & MS_REMOUNT))
		return bind_host(env, req, row->host, t->fd, err);
	if (env->in_userns && r == -EINVAL && str_eq(req->type, "devpts") &&
	    has_option(data.s, "gid="))
		r = devpts_without_gid(env, req, t->fd, data.s);
	if (r < 0)
		return err_errno(err, -r, "mount a %s", req->type);
	return 0;
}

/* What can be done to the new mount only once it is there. */
static int fs_finish(const struct mount_env *env,
		     const struct mount_request *req, int below_fd,
		     struct err *err)
{
	const struct mount_options *o = &req->opt;
	own_close int fd = -EBADF;
	int r;

	if (!o->n_propagation && !o->rec_set && !o->rec_clear && !o->tmpcopyup)
		return 0;
	r = path_open_in(env->root_fd, req->destination, O_PATH, &fd, err);
	if (r < 0)
		return r;
	if (o->tmpcopyup) {
		r = mount_copyup(below_fd, fd, err);
		if (r < 0)
			return r;
		if (o->flags & MS_RDONLY)
			r = mountfd_setattr(fd, MOUNT_ATTR_RDONLY, 0, false,
					    req->destination, err);
		if (r < 0)
			return r;
	}
	r = apply_recursive(fd, o, req->destination, err);
	if (r < 0)
		return r;
	return apply_propagation(fd, o, req->destination, err);
}

static int mount_new(const struct mount_env *env,
		     const struct mount_request *req, const char *clean,
		     struct err *err)
{
	const struct fs_row *row = fs_row(req->type);
	own_close int target_fd = -EBADF;
	struct target t = {.fd = -EBADF};
	int r;

	if (req->opt.idmap != MOUNT_IDMAP_NONE)
		return err_set(err, EINVAL,
			       "idmap is for bind mounts, not for %s",
			       req->type);
	if (req->opt.tmpcopyup && !str_eq(req->type, "tmpfs"))
		return err_set(err, EINVAL,
			       "tmpcopyup is for tmpfs, not for %s", req->type);
	r = check_name(req, clean, -EBADF, err);
	if (r < 0)
		return r;
	r = row->plain ? open_plain_target(env, req, &t, err)
		       : open_target(env, req, true, &t, err);
	if (r < 0)
		return r;
	target_fd = t.fd;
	r = check_target(clean, target_fd, err);
	if (r < 0)
		return r;
	r = fs_attach(env, req, row, &t, err);
	if (r < 0)
		return r;
	return fs_finish(env, req, target_fd, err);
}

/* ------------------------------------------------------------------- entry */

static int dispatch(const struct mount_env *env,
		    const struct mount_request *req, struct err *err)
{
	char clean[PATH_MAX];
	int r = path_clean(req->destination, clean, sizeof(clean));

	if (r < 0)
		return err_errno(err, -r, "the destination");
	if (str_eq(clean, "/"))
		return err_set(err, EINVAL, "/ is the container's root");
	if (req->opt.bind || req->source_fd >= 0)
		return mount_bind(env, req, clean, err);
	if (!req->type)
		return err_set(err, EINVAL,
			       "there is neither a type nor \"bind\"");
	if (str_eq(req->type, "cgroup")) {
		r = check_name(req, clean, -EBADF, err);
		return r < 0 ? r : mount_cgroup_do(env, req, err);
	}
	return mount_new(env, req, clean, err);
}

int mount_do(const struct mount_env *env, const struct mount_request *req,
	     struct err *err)
{
	int r = dispatch(env, req, err);

	return r < 0 ? err_wrap(err, "mount %s", req->destination) : 0;
}

bool mount_dev_is_ours(const struct mount_request *reqs, size_t n)
{
	bool ours = true;

	for (size_t i = 0; i < n; i++) {
		char clean[PATH_MAX];

		if (path_clean(reqs[i].destination, clean, sizeof(clean)) ==
			    0 &&
		    str_eq(clean, "/dev"))
			ours = !reqs[i].opt.bind;
	}
	return ours;
}
