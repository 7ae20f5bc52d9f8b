/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What would show the container what it must not see: our own state,
 * policies and logs, sockets and devices of the host. Symlinks of the host are
 * followed by the caller: plan_input's rootfs and sources.
 */
#include <errno.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/strbuf.h"
#include "runtime/plan/work.h"

static void mask(struct plan_work *w, const struct oci_mount *m,
		 const char *source, const char *dir)
{
	struct str_list *list = &w->linux_->masked_paths;
	const char **v = arena_array(w->a, const char *, list->n + 2);
	/* "/" is the only source that ends with a slash */
	const char *rest = dir + (str_eq(source, "/") ? 0 : strlen(source));
	const char *path = work_clean(
		w, arena_printf(w->a, "%s/%s", m->destination, rest));

	for (size_t i = 0; i < list->n; i++)
		v[i] = list->v[i];
	v[list->n] = path;
	*list = (struct str_list){v, list->n + 1};
	work_change(w, work_any(w),
		    "linux.maskedPaths: %s added, because the mount %s would "
		    "show osh-runtime's %s",
		    path, m->destination, dir);
}

static int check_mount(struct plan_work *w, const struct oci_mount *m,
		       const char *source, const char *dir, struct err *err)
{
	if (work_is_beneath(source, dir))
		return err_set(err, EPERM,
			       "check mount %s: its source %s is "
			       "osh-runtime's own (%s)",
			       m->destination, m->source, dir);
	if (work_is_beneath(dir, source))
		mask(w, m, source, dir);
	return 0;
}

static bool has_host_source(const struct oci_mount *m)
{
	return work_is_bind(m) && m->source && *m->source == '/';
}

/* NULL: nothing of the host, or nothing that is there. */
static const char *host_source(const struct plan_work *w, size_t i)
{
	const struct oci_mount *m = &w->spec->mounts.v[i];

	if (work_is_bind(m) && w->in->sources && w->in->sources[i])
		return w->in->sources[i];
	return has_host_source(m) ? work_clean(w, m->source) : NULL;
}

/* A root that is the host's own, or holds what is ours. */
static void check_root(struct plan_work *w, const char *dir)
{
	const struct oci_mount root = {.destination = "/"};
	const char *source = w->in->rootfs;

	if (source && !str_eq(dir, source) && work_is_beneath(dir, source))
		mask(w, &root, source, dir);
}

int step_private_dirs(struct plan_work *w, struct err *err)
{
	const struct str_list *dirs = &w->in->private_dirs;

	for (size_t i = 0; i < w->spec->mounts.n; i++) {
		const char *source = host_source(w, i);

		for (size_t k = 0; source && k < dirs->n; k++) {
			int r = check_mount(w, &w->spec->mounts.v[i], source,
					    work_clean(w, dirs->v[k]), err);

			if (r < 0)
				return r;
		}
	}
	for (size_t k = 0; k < dirs->n; k++)
		check_root(w, work_clean(w, dirs->v[k]));
	return 0;
}

int step_sockets(struct plan_work *w, struct err *err)
{
	(void)err;
	for (size_t i = 0; i < w->spec->mounts.n; i++) {
		const struct oci_mount *m = &w->spec->mounts.v[i];
		size_t n = m->source ? strlen(m->source) : 0;

		if (has_host_source(m) && n > 5 &&
		    str_eq(m->source + n - 5, ".sock"))
			work_warn(w, work_any(w),
				  "mount %s: %s is a socket of the host, and "
				  "what serves it acts outside of the sandbox",
				  m->destination, m->source);
	}
	return 0;
}

/* Reading or writing whatever has a number; "m" alone makes nodes only. */
static bool opens_all(const struct oci_device_rule *r)
{
	const char *access = r->access ? r->access : "rwm";

	return r->allow && (!r->major.set || r->major.v == -1) &&
	       strpbrk(access, "rw");
}

/*
 * --privileged opens every device: raw disks and memory, and with them the
 * host. Such rules go; what the config names by number stays, and what every
 * container has is added by the life cycle.
 */
int step_devices(struct plan_work *w, struct err *err)
{
	const struct oci_resources *r = w->linux_->resources;
	struct oci_resources *copy;
	size_t n = 0;

	(void)err;
	if (!r)
		return 0;
	copy = arena_new(w->a, struct oci_resources);
	*copy = *r;
	copy->devices.v =
		arena_array(w->a, struct oci_device_rule, r->devices.n);
	for (size_t i = 0; i < r->devices.n; i++)
		if (!opens_all(&r->devices.v[i]))
			copy->devices.v[n++] = r->devices.v[i];
	if (n == r->devices.n)
		return 0;
	copy->devices.n = n;
	w->linux_->resources = copy;
	work_change(w, work_any(w),
		    "linux.resources.devices: the rule that opens every "
		    "device of the host is removed");
	return 0;
}
