/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan in the making: what its steps share. Private to plan/.
 *
 * The config is copied as far as it changes: the structs that hang on
 * @spec, @process, @linux_ and the list of mounts are the plan's own; the
 * strings and all that no step touches stay the config's.
 */
#ifndef OSH_PLAN_WORK_H
#define OSH_PLAN_WORK_H

#include "runtime/oci/spec_linux.h"
#include "runtime/plan/plan.h"

struct plan_work {
	struct arena *a;
	const struct plan_input *in;
	struct plan *plan;
	struct oci_spec *spec;
	struct oci_process *process;
	struct oci_linux *linux_;
	/* Only the egress filter, because of when_missing: deny-network. */
	bool filter_only;
};

/* A step; the order is that of the table in plan.c. */
typedef int work_step(struct plan_work *w, struct err *err);

work_step step_layers, step_namespaces, step_network, step_capabilities,
	step_privileges, step_core, step_user, step_proc_paths, step_landlock,
	step_writable, step_private_dirs, step_sockets, step_devices;

/* "LABEL:LINE" of the layer's document; "any policy (LABEL)" for line 0. */
const char *work_cause(const struct plan_work *w, size_t layer, uint32_t line);
/* What every policy causes: "any policy (LABEL)" or "when_missing: ...". */
const char *work_any(const struct plan_work *w);

void work_change(struct plan_work *w, const char *cause, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void work_warn(struct plan_work *w, const char *cause, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void work_need(struct plan_work *w, const char *cause, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The first layer whose policy has @flag (layout.h), or n_layers. */
size_t work_layer_with(const struct plan_work *w, uint32_t flag);

/* @path as path_clean() has it, in the arena. @path is absolute. */
const char *work_clean(const struct plan_work *w, const char *path);
/* Is clean @path the same as clean @dir, or beneath it? */
bool work_is_beneath(const char *path, const char *dir);

/* A bind mount: by its options, or by its type. */
bool work_is_bind(const struct oci_mount *m);

#endif
