/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filesystem_policy as mounts: the root read-only, every path of read_write
 * writable, volumes that no such path covers read-only. So either this or
 * Landlock alone still protects.
 *
 * What the config has made read-only stays so: both sides only narrow.
 */
#include <assert.h>

#include "runtime/base/arena.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/plan/work.h"
#include "runtime/policy/policy.h"

struct path_set {
	struct plan_path *v;
	size_t n;
};

static bool set_covers(const struct path_set *s, const char *path)
{
	for (size_t i = 0; i < s->n; i++)
		if (work_is_beneath(path, s->v[i].path))
			return true;
	return false;
}

static void set_add(struct plan_work *w, struct path_set *s,
		    const struct plan_path *p)
{
	s->v = arena_grow(w->a, s->v, s->n, sizeof(*s->v));
	s->v[s->n++] = *p;
}

static struct path_set layer_set(struct plan_work *w, size_t layer)
{
	const struct plan_layer *l = &w->plan->layer[layer];
	struct path_set s = {NULL, 0};

	for (size_t i = 0; i < l->paths.n; i++)
		if (l->paths.v[i].write)
			set_add(w, &s, &l->paths.v[i]);
	return s;
}

/* What both sets cover. */
static struct path_set set_both(struct plan_work *w, const struct path_set *a,
				const struct path_set *b)
{
	struct path_set s = {NULL, 0};

	for (size_t i = 0; i < a->n; i++)
		if (set_covers(b, a->v[i].path))
			set_add(w, &s, &a->v[i]);
	for (size_t i = 0; i < b->n; i++)
		if (set_covers(a, b->v[i].path) &&
		    !set_covers(&s, b->v[i].path))
			set_add(w, &s, &b->v[i]);
	return s;
}

/* Returns the first layer that has files to say about, or n_layers. */
static size_t writable_set(struct plan_work *w, struct path_set *ret)
{
	size_t first = w->plan->n_layers;

	for (size_t i = 0; i < w->plan->n_layers; i++) {
		struct path_set s;

		if (w->plan->layer[i].landlock != PLAN_LANDLOCK_PATHS)
			continue;
		s = layer_set(w, i);
		*ret = first < i ? set_both(w, ret, &s) : s;
		if (first > i)
			first = i;
	}
	return first;
}

/* -------------------------------------------------------------- mounts */

static bool has_option(const struct oci_mount *m, const char *a, const char *b)
{
	for (size_t i = 0; i < m->options.n; i++)
		if (str_eq(m->options.v[i], a) || str_eq(m->options.v[i], b))
			return true;
	return false;
}

/* The kernel's own filesystems, and /dev, are as safe as they are: Landlock
 * and the masked paths see to them, and programs don't work without. */
static bool is_special(const struct plan_work *w, const struct oci_mount *m)
{
	static const char *const types[] = {"proc",   "sysfs",	"devpts",
					    "mqueue", "cgroup", "cgroup2"};

	for (size_t i = 0; m->type && i < N_ELEMENTS(types); i++)
		if (str_eq(m->type, types[i]) && !work_is_bind(m))
			return true;
	return str_eq(work_clean(w, m->destination), "/dev");
}

static void make_readonly(struct plan_work *w, struct oci_mount *m,
			  const char *cause)
{
	const char **v = arena_array(w->a, const char *, m->options.n + 2);
	const char *ro = has_option(m, "rbind", "rbind") ? "rro" : "ro";
	size_t n = 0;

	for (size_t i = 0; i < m->options.n; i++)
		if (!str_eq(m->options.v[i], "rw") &&
		    !str_eq(m->options.v[i], "rrw"))
			v[n++] = m->options.v[i];
	v[n++] = ro;
	m->options = (struct str_list){v, n};
	work_change(w, cause, "mounts: %s is read-only", m->destination);
}

/* The mount that @path lies on, as it was in the config; NULL: the root's. */
static const struct oci_mount *mount_of(const struct plan_work *w,
					const char *path)
{
	const struct oci_mount *found = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < w->in->spec->mounts.n; i++) {
		const struct oci_mount *m = &w->in->spec->mounts.v[i];
		const char *at = work_clean(w, m->destination);

		if (work_is_beneath(path, at) && strlen(at) >= longest) {
			found = m;
			longest = strlen(at);
		}
	}
	return found;
}

static void add_writable(struct plan_work *w, const struct plan_path *p)
{
	size_t n = w->plan->writable.n;

	w->plan->writable.v = arena_grow(w->a, w->plan->writable.v, n,
					 sizeof(*w->plan->writable.v));
	w->plan->writable.v[n] = *p;
	w->plan->writable.n = n + 1;
}

/* Does the path need a mount of its own, so that it can be written? */
static void open_path(struct plan_work *w, size_t layer,
		      const struct path_set *set, const struct plan_path *p)
{
	const struct oci_mount *m = mount_of(w, p->path);
	bool readonly = m ? has_option(m, "ro", "rro")
			  : w->in->spec->root->readonly;

	if (m && is_special(w, m))
		return;
	if (readonly) {
		if (p->line)
			work_warn(w, work_cause(w, layer, p->line),
				  "%s stays read-only: the config's %s is",
				  p->path, m ? m->destination : "root");
		return;
	}
	if (m && set_covers(set, work_clean(w, m->destination)))
		return; /* the mount itself stays writable */
	add_writable(w, p);
}

static int by_length(const void *a, const void *b)
{
	const struct plan_path *x = a, *y = b;
	size_t n = strlen(x->path), m = strlen(y->path);

	if (n != m)
		return n < m ? -1 : 1;
	return strcmp(x->path, y->path);
}

int step_writable(struct plan_work *w, struct err *err)
{
	struct path_set set = {NULL, 0};
	size_t layer = writable_set(w, &set);
	struct path_set done = {NULL, 0};
	const char *cause;

	(void)err;
	if (layer == w->plan->n_layers)
		return 0;
	cause = work_cause(
		w, layer,
		w->plan->layer[layer].policy->header->filesystem_line);
	for (size_t i = 0; i < w->spec->mounts.n; i++) {
		struct oci_mount *m = &w->spec->mounts.v[i];

		if (!is_special(w, m) && !has_option(m, "ro", "rro") &&
		    !set_covers(&set, work_clean(w, m->destination)))
			make_readonly(w, m, cause);
	}
	if (set.n)
		qsort(set.v, set.n, sizeof(*set.v), by_length);
	for (size_t i = 0; i < set.n; i++) {
		if (set_covers(&done, set.v[i].path))
			continue; /* beneath a path that is writable */
		set_add(w, &done, &set.v[i]);
		open_path(w, layer, &set, &set.v[i]);
	}
	if (!w->spec->root->readonly) {
		w->spec->root->readonly = true;
		work_change(w, cause, "root.readonly: set");
	}
	for (size_t i = 0; i < w->plan->writable.n; i++)
		work_need(w, work_cause(w, layer, w->plan->writable.v[i].line),
			  "bind %s over itself, writable",
			  w->plan->writable.v[i].path);
	return 0;
}
