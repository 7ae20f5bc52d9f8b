/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan: one complete, immutable description of a sandbox, made from the
 * config, the policy, the operator's ceiling and the host configuration by
 * code that touches nothing (architecture.md, "What the plan does to a
 * config"). The life cycle carries it out; `osh-runtime plan` prints it.
 *
 * The config only ever narrows. What can't be narrowed (two users, a host
 * network that the policy wants to filter) is an error that names both sides.
 *
 * The plan borrows from everything it was made of: keep the arenas.
 */
#ifndef OSH_PLAN_PLAN_H
#define OSH_PLAN_PLAN_H

#include "runtime/doc/types.h"
#include "runtime/oci/state.h"

struct arena;
struct err;
struct host_config;
struct oci_process;
struct oci_spec;
struct plan_source;
struct policy;
struct policy_program;
struct strbuf;

struct plan_input {
	const struct oci_spec *spec;
	const struct host_config *host;
	const struct plan_source *source;
	const struct policy *policy; /* NULL only for PLAN_SOURCE_PLAIN */
	const struct policy *ceiling; /* or NULL */
	/* Folders of our own that no mount may show: state, logs, ... */
	struct str_list private_dirs;
	/* Where the root and the sources of spec->mounts lead on the host, all
	 * links followed; NULL, and a NULL among them: as it is written. */
	const char *rootfs;
	const char *const *sources;
};

enum plan_landlock {
	PLAN_LANDLOCK_NONE,
	PLAN_LANDLOCK_PATHS, /* every file right; @paths are granted */
	/* Only writing and truncating are handled, and granted beneath every
	 * member of the root but /proc: /proc/PID/mem stays closed where the
	 * policy tells binaries apart but not files. */
	PLAN_LANDLOCK_PROC,
};

struct plan_path {
	const char *path; /* absolute, inside the container */
	bool write;
	bool optional; /* skip when it doesn't exist (the baseline) */
	bool gpu; /* ... or when there is neither /dev/nvidiactl nor
		   * /dev/dxg */
	uint32_t line; /* of the policy; 0: the baseline */
};

/* The policy, then the ceiling: each is enforced on its own. */
struct plan_layer {
	const struct policy *policy;
	enum plan_landlock landlock;
	/* hard_requirement: a path that is missing (unless @optional), or a
	 * kernel without Landlock, is an error instead of a finding. */
	bool hard;
	LIST_OF(struct plan_path) paths;
	const struct policy_program *program; /* or NULL */
};

struct plan_note {
	const char *text;
	const char *cause; /* "LABEL:LINE", "any policy", "when_missing: x" */
};

struct plan_note_list {
	struct plan_note *v;
	size_t n;
};

struct plan {
	const struct oci_spec *spec; /* the effective config */
	enum oci_egress egress;
	bool inbound_none;

	struct plan_layer layer[2];
	size_t n_layers; /* 0 for a plain container */

	/* run_as_user, run_as_group: names or numbers to look up in the
	 * container, or NULL (a number is in the effective config, too). */
	const char *user, *group;

	/* File whose nameservers are asked: the source of the client's mount
	 * over /etc/resolv.conf, as in the config; NULL: the host's. */
	const char *resolv_conf;

	/*
	 * Paths to bind over themselves, with what is mounted beneath them,
	 * after all mounts and before the root becomes read-only
	 * (spec->root->readonly). The new mount, but none beneath it, is made
	 * writable: it may be a part of a volume that became read-only.
	 * Shorter ones first. What is missing is skipped (Landlock decides).
	 */
	LIST_OF(struct plan_path) writable;

	/* Namespaces that are joined and must not be the host's own. */
	struct pair_list ns_checks; /* "network" -> path */

	struct plan_note_list changes; /* to the config */
	struct plan_note_list warnings;
	struct plan_note_list steps; /* that need the root filesystem */
};

int plan_make(struct arena *a, const struct plan_input *in,
	      struct plan **ret_plan, struct err *err);

/*
 * The same for a process of `exec`: what plan_make does to config.process.
 * @ret_process is a changed copy.
 */
int plan_exec(struct arena *a, const struct plan_input *in,
	      const struct oci_process *process,
	      struct oci_process **ret_process, struct err *err);

/* For people: the effective config, then changes, warnings, steps. */
void plan_render_text(struct strbuf *sb, const struct plan *plan,
		      const struct plan_source *source);
/* One JSON object: config, policy, egress, layers, changes, ... */
void plan_render_json(struct strbuf *sb, const struct plan *plan,
		      const struct plan_source *source);

#endif
