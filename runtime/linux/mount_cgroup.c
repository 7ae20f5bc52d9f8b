/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/base/path.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/compat.h"
#include "runtime/linux/mount.h"
#include "runtime/linux/mount_cgroup.h"
#include "runtime/linux/mount_env.h"
#include "runtime/linux/mount_option.h"
#include "runtime/linux/mountfd.h"
#include "runtime/linux/mountinfo.h"

enum { PROC_FILE_MAX = 1 << 20 };

/* ---------------------------------------------------------------- reading */

/* Whether the comma-separated @list has the word @word of @n bytes. */
static bool has_word(const char *list, const char *word, size_t n)
{
	while (*list) {
		size_t len = strcspn(list, ",");

		if (len == n && !strncmp(list, word, n))
			return true;
		list += len + (list[len] == ',');
	}
	return false;
}

/* @path of the hierarchy, as seen below a mount whose root is @root. */
static const char *below_root(const char *root, const char *path)
{
	const char *rest = str_after(path, root);

	if (str_eq(root, "/"))
		return path;
	if (!rest || (*rest && *rest != '/'))
		return NULL;
	return *rest ? rest : "/";
}

static bool is_v2(const struct mountinfo *m)
{
	return str_eq(m->type, "cgroup2");
}

static const struct mountinfo *find_mount(const struct mountinfo *v, size_t n,
					  const char *controllers)
{
	size_t len = strcspn(controllers, ",");
	const struct mountinfo *best = NULL;

	for (size_t i = 0; i < n; i++) {
		if (is_v2(&v[i]) != !*controllers ||
		    (!is_v2(&v[i]) && !has_word(v[i].super, controllers, len)))
			continue;
		/* a mount of the whole rather than one of a part */
		if (!best || str_eq(v[i].root, "/"))
			best = &v[i];
	}
	return best;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static size_t read_infos(struct arena *a, char *text,
			 bool (*is_visible)(const struct mountinfo *m),
			 struct mountinfo **ret)
{
	struct mountinfo *v = NULL;
	struct mountinfo m;
	size_t n = 0;

	while (mountinfo_next(&text, &m)) {
		if ((!is_v2(&m) && !str_eq(m.type, "cgroup")) ||
		    !is_visible(&m))
			continue;
		v = arena_grow(a, v, n, sizeof(*v));
		v[n++] = m;
	}
	*ret = v;
	return n;
}

int cgroup_view_parse(struct arena *a, char *cgroup, char *mountinfo,
		      bool (*is_visible)(const struct mountinfo *m),
		      struct cgroup_view *ret, struct err *err)
{
	struct cgroup_view view = {.v1 = false};
	struct mountinfo *infos;
	size_t n_infos = read_infos(a, mountinfo, is_visible, &infos);
	char *line;

	for (size_t i = 0; i < n_infos; i++)
		view.v1 |= !is_v2(&infos[i]);
	while ((line = strsep(&cgroup, "\n"))) {
		const struct mountinfo *info;
		char *controllers;
		const char *path;

		if (!*line)
			continue;
		if (!strsep(&line, ":") ||
		    !(controllers = strsep(&line, ":")) || !line)
			return err_set(err, EINVAL,
				       "/proc/self/cgroup: not three fields");
		info = find_mount(infos, n_infos, controllers);
		path = info ? below_root(info->root, line) : NULL;
		/* not mounted; or no cgroup of the container's own */
		if (!path || (view.v1 && str_eq(path, "/")))
			continue;
		view.v = arena_grow(a, view.v, view.n, sizeof(*view.v));
		view.v[view.n++] = (struct cgroup_view_entry){
			.name = base_name(info->mountpoint),
			.data = *controllers ? controllers : NULL,
			.mountpoint = info->mountpoint,
			.path = path,
		};
	}
	*ret = view;
	return 0;
}

int cgroup_view_read(struct arena *a, struct cgroup_view *ret, struct err *err)
{
	char *cgroup;
	char *mountinfo;
	int r = io_read_file(a, AT_FDCWD, "/proc/self/cgroup", PROC_FILE_MAX,
			     &cgroup, NULL, err);

	if (r < 0)
		return r;
	r = mountinfo_read(a, &mountinfo, err);
	if (r < 0)
		return r;
	return cgroup_view_parse(a, cgroup, mountinfo, mountinfo_is_visible,
				 ret, err);
}

/* --------------------------------------------------------------- mounting */

/* Bind @path of hierarchy @e onto @target_fd, with the request's flags. */
static int bind_cgroup(const struct mount_request *req,
		       const struct cgroup_view_entry *e, const char *path,
		       bool ro, int target_fd, struct err *err)
{
	own_strbuf struct strbuf source = STRBUF_HEAP;
	own_close int fd = -EBADF;
	uint64_t set;
	uint64_t clear;
	int r;

	strbuf_addf(&source, "%s%s", e->mountpoint, path);
	r = mountfd_clone(AT_FDCWD, source.s, true, source.s, &fd, err);
	if (r < 0)
		return r;
	mount_option_attrs(&req->opt, &set, &clear);
	if (ro)
		set |= MOUNT_ATTR_RDONLY;
	r = mountfd_setattr(fd, set, clear, true, source.s, err);
	if (r < 0)
		return r;
	return mountfd_attach(fd, target_fd, source.s, err);
}

/*
 * The single hierarchy of a v2 machine. Without a cgroup namespace the host's
 * mount is bound and not made anew: a new one would reset the options of all
 * (nsdelegate, memory_recursiveprot).
 */
static int mount_v2(const struct mount_env *env,
		    const struct mount_request *req,
		    const struct cgroup_view_entry *e, int target_fd,
		    struct err *err)
{
	bool ro = req->opt.flags & MS_RDONLY;
	int r;

	if (!env->own_cgroupns) {
		/* CVE-2023-25809: these cgroups are the user's own */
		if (env->in_userns && !ro) {
			mount_note(
				env,
				"mount %s: read-only, for there is no cgroup namespace",
				req->destination);
			ro = true;
		}
		return bind_cgroup(req, e, "", ro, target_fd, err);
	}
	r = mount_fs(target_fd, "cgroup2", "cgroup", req->opt.flags,
		     req->opt.data);
	if (r == -EPERM || r == -EBUSY) {
		mount_note(env, "mount %s: no new cgroup2 here, %s is bound",
			   req->destination, e->mountpoint);
		return bind_cgroup(req, e, e->path, ro, target_fd, err);
	}
	return r < 0 ? err_errno(err, -r, "mount a cgroup2") : 0;
}

static int mount_v1_entry(const struct mount_env *env,
			  const struct mount_request *req,
			  const struct cgroup_view_entry *e, int dir_fd,
			  struct err *err)
{
	own_close int fd = -EBADF;
	int r;

	if (mkdirat(dir_fd, e->name, 0755) < 0)
		return err_errno(err, errno, "create %s", e->name);
	r = path_open_plain_in(dir_fd, e->name, O_PATH | O_DIRECTORY, &fd, err);
	if (r < 0)
		return r;
	if (!env->own_cgroupns)
		return bind_cgroup(req, e, e->path, req->opt.flags & MS_RDONLY,
				   fd, err);
	r = mount_fs(fd, e->data ? "cgroup" : "cgroup2", "cgroup",
		     req->opt.flags, e->data);
	return r < 0 ? err_errno(err, -r, "mount the cgroup %s", e->name) : 0;
}

/* "cpu" and "cpuacct" as links to "cpu,cpuacct". */
static int link_controllers(const struct cgroup_view_entry *e, int dir_fd,
			    struct err *err)
{
	const char *p = e->data;

	if (!p || !strchr(p, ','))
		return 0;
	while (*p) {
		size_t len = strcspn(p, ",");
		char name[64];

		if (len < sizeof(name)) {
			memcpy(name, p, len);
			name[len] = '\0';
			if (!str_eq(name, e->name) && !strchr(name, '=') &&
			    symlinkat(e->name, dir_fd, name) < 0 &&
			    errno != EEXIST)
				return err_errno(err, errno,
						 "create the link %s", name);
		}
		p += len + (p[len] == ',');
	}
	return 0;
}

static int mount_v1(const struct mount_env *env,
		    const struct mount_request *req, int target_fd,
		    struct err *err)
{
	const struct cgroup_view *view = env->cgroups;
	own_close int dir_fd = -EBADF;
	unsigned long flags = req->opt.flags & ~(unsigned long)MS_RDONLY;
	int r = mount_fs(target_fd, "tmpfs", "cgroup", flags,
			 "mode=755,size=1m");

	if (r < 0)
		return err_errno(err, -r, "mount a tmpfs");
	r = path_open_in(env->root_fd, req->destination, O_PATH | O_DIRECTORY,
			 &dir_fd, err);
	for (size_t i = 0; r == 0 && i < view->n; i++) {
		r = mount_v1_entry(env, req, &view->v[i], dir_fd, err);
		if (r == 0)
			r = link_controllers(&view->v[i], dir_fd, err);
	}
	if (r < 0 || !(req->opt.flags & MS_RDONLY))
		return r;
	return mountfd_setattr(dir_fd, MOUNT_ATTR_RDONLY, 0, false,
			       req->destination, err);
}

int mount_cgroup_do(const struct mount_env *env,
		    const struct mount_request *req, struct err *err)
{
	const struct cgroup_view *view = env->cgroups;
	own_close int target_fd = -EBADF;
	own_close int fd = -EBADF;
	int r;

	if (!view || (!view->v1 && !view->n))
		return err_set(err, ENOENT, "no cgroup hierarchy is mounted");
	r = path_target_in(env->root_fd, req->destination, true, &target_fd,
			   NULL, err);
	if (r < 0)
		return r;
	if (mount_is_on_proc(target_fd))
		return err_set(err, EINVAL,
			       "mounts inside /proc are not allowed");
	if (view->v1)
		r = mount_v1(env, req, target_fd, err);
	else
		r = mount_v2(env, req, &view->v[0], target_fd, err);
	if (r < 0 || !req->opt.n_propagation)
		return r;
	r = path_open_in(env->root_fd, req->destination, O_PATH, &fd, err);
	for (unsigned int i = 0; r == 0 && i < req->opt.n_propagation; i++)
		r = mountfd_propagation(fd, req->opt.propagation[i],
					req->destination, err);
	return r;
}
