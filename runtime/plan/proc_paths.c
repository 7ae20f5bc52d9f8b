/* SPDX-License-Identifier: Apache-2.0 */
/* Masked and read-only paths that every policy adds. */
#include "runtime/base/arena.h"
#include "runtime/base/strbuf.h"
#include "runtime/plan/work.h"

static bool covers(const struct plan_work *w, const struct str_list *list,
		   const char *path)
{
	for (size_t i = 0; i < list->n; i++)
		if (work_is_beneath(path, work_clean(w, list->v[i])))
			return true;
	return false;
}

/* Add what of @more isn't there; the plan's own copy of the list grows. */
static void add_missing(struct plan_work *w, struct str_list *list,
			const struct str_list *more, const char *key)
{
	own_strbuf struct strbuf added = STRBUF_HEAP;
	const char **v = arena_array(w->a, const char *, list->n + more->n + 1);
	size_t n = 0;

	for (; n < list->n; n++)
		v[n] = list->v[n];
	for (size_t i = 0; i < more->n; i++) {
		if (covers(w, list, more->v[i]))
			continue;
		v[n++] = more->v[i];
		strbuf_addf(&added, "%s%s", added.len ? ", " : "", more->v[i]);
	}
	list->v = v;
	list->n = n;
	if (added.len)
		work_change(w, work_any(w), "linux.%s: %s added", key, added.s);
}

int step_proc_paths(struct plan_work *w, struct err *err)
{
	struct str_list masked = oci_default_masked_paths(w->a);
	struct str_list readonly = oci_default_readonly_paths(w->a);

	(void)err;
	add_missing(w, &w->linux_->masked_paths, &masked, "maskedPaths");
	add_missing(w, &w->linux_->readonly_paths, &readonly, "readonlyPaths");
	return 0;
}
