/* SPDX-License-Identifier: Apache-2.0 */
/* config.json's "process" (config.md, "Process"): also the file that
 * `exec --process` is given. See spec.h. */
#ifndef OSH_OCI_SPEC_PROCESS_H
#define OSH_OCI_SPEC_PROCESS_H

#include "runtime/doc/types.h"

struct arena;
struct doc_errors;
struct doc_node;
struct json;

struct oci_user {
	uint32_t uid, gid;
	struct opt_u32 umask;
	LIST_OF(uint32_t) additional_gids;
};

/* Masks of 1 << CAP_X. Names that this build doesn't know are kept apart:
 * the specification wants a warning for them, not an error. */
struct oci_capabilities {
	uint64_t bounding, effective, inheritable, permitted, ambient;
	struct str_list unknown;
};

struct oci_rlimit {
	uint32_t type; /* RLIMIT_X */
	uint64_t soft, hard;
};

struct oci_scheduler {
	uint32_t policy; /* SCHED_X */
	int32_t nice, priority;
	uint64_t flags; /* SCHED_FLAG_X */
	uint64_t runtime_ns, deadline_ns, period_ns;
};

struct oci_io_priority {
	uint32_t class; /* IOPRIO_CLASS_X of linux/ioprio.h: 1 to 3 */
	int32_t priority;
};

struct oci_cpu_affinity {
	const char *initial, *final; /* "0-3,7" */
};

struct oci_console_size {
	uint64_t height, width;
};

struct oci_process {
	const struct doc_node *node; /* NULL when not from a document */
	bool terminal, no_new_privileges;
	struct oci_console_size *console_size;
	struct oci_user user;
	struct str_list args, env;
	const char *cwd;
	struct oci_capabilities *capabilities; /* NULL: not one capability */
	LIST_OF(struct oci_rlimit) rlimits;
	struct opt_i32 oom_score_adj;
	const char *apparmor_profile, *selinux_label;
	struct oci_scheduler *scheduler;
	struct oci_io_priority *io_priority;
	struct oci_cpu_affinity *exec_cpu_affinity;
};

/* As oci_spec_parse and oci_spec_write. */
int oci_process_parse(struct arena *a, const char *data, size_t len,
		      struct oci_process **ret_process,
		      struct doc_errors *errors);
void oci_process_write(struct json *j, const char *key,
		       const struct oci_process *process);

#endif
