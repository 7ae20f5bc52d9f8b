/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What create, exec and plan start from: the config, the host configuration,
 * the policy and the plan that follows from them. Nothing of the container is
 * touched here; the policy's document is compiled by osh-policy.
 */
#ifndef OSH_CONTAINER_BLUEPRINT_H
#define OSH_CONTAINER_BLUEPRINT_H

#include <errno.h>
#include <stdbool.h>

#include "runtime/container/policy_file.h"
#include "runtime/oci/host_config.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/source.h"

struct err;
struct store;

struct blueprint {
	struct arena *arena; /* borrowed */
	const char *bundle;  /* absolute */
	const char *rootfs;  /* absolute, resolved */
	char *config_text;   /* config.json as it was read */
	size_t config_len;
	struct oci_spec *spec;
	struct host_config host;
	struct plan_source source;
	struct policy_file policy, ceiling; /* owned */
	bool has_policy, has_ceiling;
	struct plan *plan;
};

#define BLUEPRINT_INIT(a)                                                      \
	{                                                                      \
		.arena = (a), .policy = POLICY_FILE_INIT,                      \
		.ceiling = POLICY_FILE_INIT                                    \
	}

/* How warnings reach the operator: one call a line. */
typedef void (*blueprint_note)(const char *fmt, ...);

/* @path NULL: the built-in place, which may be missing; a given one may not. */
int blueprint_host(struct blueprint *b, const char *path, struct err *err);

/* BUNDLE/config.json, checked; with @need_root its root must exist. */
int blueprint_config(struct blueprint *b, const char *bundle, bool need_root,
		     blueprint_note note, struct err *err);

/*
 * Find and compile the policy (@option: a file that goes before all other
 * places, or NULL) and the ceiling.
 */
int blueprint_policy(struct blueprint *b, const char *option,
		     blueprint_note note, struct err *err);

/* @store: its folder must not be shown to the container; may be NULL. */
int blueprint_plan(struct blueprint *b, const struct store *store,
		   struct err *err);

/* The plan's input, for plan_exec as well. */
void blueprint_plan_input(struct blueprint *b, const struct store *store,
			  struct plan_input *ret);

/* The folder of the decision logs: configured, or the built-in one. */
const char *blueprint_log_dir(struct blueprint *b, struct err *err);

void blueprint_done(struct blueprint *b);

#endif
