/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdarg.h>

#include "runtime/base/arena.h"
#include "runtime/base/path.h"
#include "runtime/base/strbuf.h"
#include "runtime/oci/host_config.h"
#include "runtime/plan/source.h"
#include "runtime/plan/work.h"
#include "runtime/policy/policy.h"

const char *work_cause(const struct plan_work *w, size_t layer, uint32_t line)
{
	const char *label = layer ? w->in->host->ceiling : w->in->source->label;

	if (!label)
		label = "ceiling";
	if (!line)
		return arena_printf(w->a, "any policy (%s)", label);
	return arena_printf(w->a, "%s:%u", label, line);
}

const char *work_any(const struct plan_work *w)
{
	return w->filter_only ? w->in->source->label : work_cause(w, 0, 0);
}

static void add(struct plan_work *w, struct plan_note_list *list,
		const char *cause, const char *fmt, va_list ap)
	__attribute__((format(printf, 4, 0)));

static void add(struct plan_work *w, struct plan_note_list *list,
		const char *cause, const char *fmt, va_list ap)
{
	own_strbuf struct strbuf sb = STRBUF_HEAP;

	strbuf_vaddf(&sb, fmt, ap);
	str_make_printable(sb.s);
	list->v = arena_grow(w->a, list->v, list->n, sizeof(*list->v));
	list->v[list->n++] = (struct plan_note){
		.text = arena_strdup(w->a, sb.s),
		.cause = cause,
	};
}

void work_change(struct plan_work *w, const char *cause, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(w, &w->plan->changes, cause, fmt, ap);
	va_end(ap);
}

void work_warn(struct plan_work *w, const char *cause, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(w, &w->plan->warnings, cause, fmt, ap);
	va_end(ap);
}

void work_need(struct plan_work *w, const char *cause, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(w, &w->plan->steps, cause, fmt, ap);
	va_end(ap);
}

size_t work_layer_with(const struct plan_work *w, uint32_t flag)
{
	size_t i = 0;

	while (i < w->plan->n_layers &&
	       !policy_has(w->plan->layer[i].policy, flag))
		i++;
	return i;
}

const char *work_clean(const struct plan_work *w, const char *path)
{
	size_t size = strlen(path) + 2;
	char *clean = arena_alloc(w->a, size);
	int r = path_clean(path, clean, size);

	assert(r == 0); /* absolute, and it only gets shorter */
	return clean;
}

bool work_is_beneath(const char *path, const char *dir)
{
	const char *rest = str_after(path, dir);

	return rest && (!*rest || *rest == '/' || str_eq(dir, "/"));
}

bool work_is_bind(const struct oci_mount *m)
{
	for (size_t i = 0; i < m->options.n; i++)
		if (str_eq(m->options.v[i], "bind") ||
		    str_eq(m->options.v[i], "rbind"))
			return true;
	return m->type && str_eq(m->type, "bind");
}
