/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of a plan, in order. Each looks at the config and the policies
 * and changes the plan's own copy of the config, noting why.
 */
#include <assert.h>
#include <errno.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/oci/host_config.h"
#include "runtime/plan/source.h"
#include "runtime/plan/work.h"
#include "runtime/policy/decision_log.h"
#include "runtime/policy/policy.h"

enum plan_when {
	ALWAYS, /* whenever there is a filter */
	WITH_POLICY /* not for when_missing: deny-network alone */
};

static const struct {
	work_step *step;
	enum plan_when when;
} steps[] = {
	{step_layers, ALWAYS},		{step_network, ALWAYS},
	{step_namespaces, WITH_POLICY}, {step_capabilities, ALWAYS},
	{step_privileges, WITH_POLICY}, {step_core, WITH_POLICY},
	{step_user, WITH_POLICY},	{step_proc_paths, WITH_POLICY},
	{step_landlock, WITH_POLICY},	{step_writable, WITH_POLICY},
	{step_private_dirs, ALWAYS},	{step_sockets, ALWAYS},
	{step_devices, ALWAYS},
};

/* Those that look at the process alone. */
static work_step *const exec_steps[] = {step_layers, step_capabilities,
					step_privileges, step_core, step_user};

static struct oci_process *copy_process(struct arena *a,
					const struct oci_process *from)
{
	struct oci_process *p = arena_new(a, struct oci_process);

	*p = *from;
	if (from->capabilities) {
		p->capabilities = arena_new(a, struct oci_capabilities);
		*p->capabilities = *from->capabilities;
	}
	return p;
}

static void copy_spec(struct plan_work *w)
{
	const struct oci_spec *from = w->in->spec;
	struct oci_spec *spec = arena_new(w->a, struct oci_spec);

	*spec = *from;
	spec->mounts.v = arena_array(w->a, struct oci_mount, from->mounts.n);
	for (size_t i = 0; i < from->mounts.n; i++)
		spec->mounts.v[i] = from->mounts.v[i];
	spec->root = arena_new(w->a, struct oci_root);
	*spec->root = *from->root;
	w->linux_ = arena_new(w->a, struct oci_linux);
	*w->linux_ = *from->linux_;
	spec->linux_ = w->linux_;
	w->process = copy_process(w->a, from->process);
	spec->process = w->process;
	w->spec = spec;
	w->plan->spec = spec;
}

static void begin(struct plan_work *w, struct arena *a,
		  const struct plan_input *in)
{
	*w = (struct plan_work){
		.a = a,
		.in = in,
		.plan = arena_new(a, struct plan),
		.filter_only = in->source->kind == PLAN_SOURCE_DENY &&
			       !in->ceiling,
	};
	assert(in->spec->process);
	assert(in->policy || in->source->kind == PLAN_SOURCE_PLAIN);
	copy_spec(w);
}

/* What a config can ask for and nothing here does: never left out in silence. */
static int check_supported(const struct oci_linux *l, struct err *err)
{
	const struct {
		const char *key;
		bool is_there;
	} rows[] = {
		{"intelRdt", l->intel_rdt},
		{"memoryPolicy", l->memory_policy},
		{"mountLabel", l->mount_label && *l->mount_label},
	};

	for (size_t i = 0; i < N_ELEMENTS(rows); i++)
		if (rows[i].is_there)
			return err_set(err, ENOTSUP,
				       "check linux.%s: this version does not "
				       "have it",
				       rows[i].key);
	return 0;
}

int plan_make(struct arena *a, const struct plan_input *in,
	      struct plan **ret_plan, struct err *err)
{
	struct plan_work w;
	int r;

	begin(&w, a, in);
	*ret_plan = w.plan;
	r = check_supported(in->spec->linux_, err);
	if (r < 0)
		return r;
	if (in->source->kind == PLAN_SOURCE_PLAIN) {
		if (in->host->ceiling)
			work_warn(&w, in->source->label,
				  "the ceiling %s is not enforced: a "
				  "container without a policy has no filter",
				  in->host->ceiling);
		return 0;
	}
	for (size_t i = 0; i < N_ELEMENTS(steps); i++) {
		if (steps[i].when == WITH_POLICY && w.filter_only)
			continue;
		r = steps[i].step(&w, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int plan_exec(struct arena *a, const struct plan_input *in,
	      const struct oci_process *process,
	      struct oci_process **ret_process, struct err *err)
{
	struct plan_work w;

	begin(&w, a, in);
	w.process = copy_process(a, process);
	*ret_process = w.process;
	if (in->source->kind == PLAN_SOURCE_PLAIN)
		return 0;
	for (size_t i = 0; i < N_ELEMENTS(exec_steps); i++) {
		bool filter = exec_steps[i] == step_layers ||
			      exec_steps[i] == step_capabilities;
		int r = filter || !w.filter_only ? exec_steps[i](&w, err) : 0;

		if (r < 0)
			return r;
	}
	return 0;
}

static void add_layer(struct plan_work *w, const struct policy *p,
		      enum policy_program_kind program)
{
	w->plan->layer[w->plan->n_layers++] = (struct plan_layer){
		.policy = p,
		.hard = policy_has(p, POLICY_LANDLOCK_HARD),
		.program = policy_find_program(p, program),
	};
}

/* Asked for and not to be had: never carried on without. */
static int check_host(const struct host_config *h, struct err *err)
{
	const struct {
		const char *row;
		bool is_there;
		const char *instead;
	} rows[] = {
		{"on_shim_death: kill",
		 h->on_shim_death == HOST_SHIM_DEATH_KILL,
		 "with keep the container lives on without any egress"},
		{"dial_from_host: true", h->dial_from_host,
		 "egress is always that of the container's network"},
		{"log.max_files",
		 h->log.max_files && h->log.max_files != DECISION_LOG_KEPT,
		 "there are always 8"},
	};

	static_assert(DECISION_LOG_KEPT == 8, "log.max_files");
	for (size_t i = 0; i < N_ELEMENTS(rows); i++)
		if (rows[i].is_there)
			return err_set(err, ENOTSUP,
				       "check host configuration: %s is not "
				       "supported by this version; %s",
				       rows[i].row, rows[i].instead);
	return 0;
}

/* One filter has the listener; a second one would be EBUSY. */
int step_layers(struct plan_work *w, struct err *err)
{
	int r = check_host(w->in->host, err);

	if (r < 0)
		return r;
	add_layer(w, w->in->policy, POLICY_PROGRAM_LISTENER);
	if (w->in->ceiling)
		add_layer(w, w->in->ceiling, POLICY_PROGRAM_PLAIN);
	w->plan->egress = w->in->source->kind == PLAN_SOURCE_DENY
				  ? OCI_EGRESS_DENY_ALL
				  : OCI_EGRESS_POLICY;
	return 0;
}
