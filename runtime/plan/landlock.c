/* SPDX-License-Identifier: Apache-2.0 */
/* filesystem_policy as a Landlock ruleset for each layer (1.7). */
#include "runtime/base/arena.h"
#include "runtime/base/strbuf.h"
#include "runtime/plan/work.h"
#include "runtime/policy/policy.h"

static void add_path(struct plan_work *w, struct plan_layer *l,
		     const struct plan_path *path)
{
	l->paths.v =
		arena_grow(w->a, l->paths.v, l->paths.n, sizeof(*l->paths.v));
	l->paths.v[l->paths.n++] = *path;
}

/*
 * A process may write into another's memory through /proc/PID/mem: where
 * binaries are told apart, nobody writes beneath /proc.
 */
static bool is_closed(const struct plan_layer *l, const char *path)
{
	return policy_has(l->policy, POLICY_HAS_BINARIES) &&
	       work_is_beneath(path, "/proc");
}

static void add_policy_path(struct plan_work *w, size_t layer,
			    const struct policy_path *from)
{
	struct plan_layer *l = &w->plan->layer[layer];
	struct plan_path to = {
		.path = work_clean(w, policy_text(l->policy, from->path)),
		.write = from->flags & POLICY_PATH_WRITE,
		.optional = from->flags & POLICY_PATH_BASELINE,
		.gpu = from->flags & POLICY_PATH_GPU,
		.line = from->line,
	};

	if (to.write && is_closed(l, to.path)) {
		to.write = false;
		work_change(w, work_cause(w, layer, from->line),
			    "filesystem_policy: %s is read-only, because the "
			    "policy names binaries",
			    to.path);
	}
	add_path(w, l, &to);
}

static void add_workdir(struct plan_work *w, size_t layer)
{
	struct plan_layer *l = &w->plan->layer[layer];
	uint32_t line = l->policy->header->workdir_line;
	struct plan_path to = {
		.path = work_clean(w, w->process->cwd),
		.write = true,
		.line = line,
	};

	if (str_eq(to.path, "/") || is_closed(l, to.path)) {
		work_warn(w, work_cause(w, layer, line),
			  "include_workdir: the working directory is %s, "
			  "which is not made writable",
			  to.path);
		return;
	}
	add_path(w, l, &to);
}

static void add_layer(struct plan_work *w, size_t layer)
{
	struct plan_layer *l = &w->plan->layer[layer];
	uint32_t line = l->policy->header->filesystem_line;

	if (!policy_has(l->policy, POLICY_FS_ENFORCE)) {
		if (!policy_has(l->policy, POLICY_HAS_BINARIES))
			return;
		l->landlock = PLAN_LANDLOCK_PROC;
		work_need(w, work_cause(w, layer, 0),
			  "a Landlock ruleset that keeps /proc from being "
			  "written, because the policy names binaries");
		return;
	}
	l->landlock = PLAN_LANDLOCK_PATHS;
	for (uint32_t i = 0; i < l->policy->n_paths; i++)
		add_policy_path(w, layer, &l->policy->path[i]);
	if (policy_has(l->policy, POLICY_FS_WORKDIR))
		add_workdir(w, layer);
	work_need(w, work_cause(w, layer, line),
		  "a Landlock ruleset of %zu paths (%s)", l->paths.n,
		  l->hard ? "hard_requirement" : "best_effort");
}

int step_landlock(struct plan_work *w, struct err *err)
{
	(void)err;
	for (size_t i = 0; i < w->plan->n_layers; i++) {
		const struct policy *p = w->plan->layer[i].policy;

		add_layer(w, i);
		if (p->n_binaries)
			work_need(w, work_cause(w, i, 0),
				  "find and pin the binaries that it names "
				  "(%u)",
				  p->n_binaries);
	}
	return 0;
}
