/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.json as structs: OCI runtime specification 1.3 (and every earlier
 * 1.x), Linux platform. Read and written by the tables in spec_*.c.
 *
 * A spec is immutable once parsed and lives in one arena; strings are never
 * NULL in lists. Members that the document lacks are NULL, unset or empty.
 * Names that stand for kernel values (CLONE_NEWPID, RLIMIT_NOFILE, MS_SLAVE,
 * SECCOMP_RET_ERRNO, ...) are those values. Unknown keys are ignored, as the
 * specification wants ("Extensibility"); unknown names are errors.
 */
#ifndef OSH_OCI_SPEC_H
#define OSH_OCI_SPEC_H

#include "runtime/doc/types.h"
#include "runtime/oci/spec_process.h"

struct arena;
struct doc_errors;
struct doc_node;
struct json;
struct oci_linux;

#define OCI_VERSION "1.3.0" /* the newest that we know all of */

struct oci_root {
	const char *path; /* as written: relative to the bundle */
	bool readonly;
};

struct oci_id_map {
	uint32_t container_id, host_id, size;
};

struct oci_mount {
	const struct doc_node *node;
	const char *destination; /* absolute */
	const char *type, *source;
	struct str_list options;
	LIST_OF(struct oci_id_map) uid_mappings;
	LIST_OF(struct oci_id_map) gid_mappings;
};

struct oci_hook {
	const char *path;
	struct str_list args, env;
	struct opt_i64 timeout_s;
};

struct oci_hook_list {
	struct oci_hook *v;
	size_t n;
};

struct oci_hooks {
	struct oci_hook_list prestart, create_runtime, create_container,
		start_container, poststart, poststop;
};

struct oci_spec {
	const struct doc_node *node;
	const char *oci_version;
	struct oci_process *process; /* NULL: state and delete only */
	struct oci_root *root;
	const char *hostname, *domainname;
	LIST_OF(struct oci_mount) mounts;
	struct oci_hooks *hooks;
	struct pair_list annotations;
	struct oci_linux *linux_; /* never NULL after parsing */
};

/*
 * Parse and check; @data is copied into @a. Returns 0, or -EINVAL with all
 * errors in @errors.
 */
int oci_spec_parse(struct arena *a, const char *data, size_t len,
		   struct oci_spec **ret_spec, struct doc_errors *errors);

/* As JSON; @key as in json.h. What parsing the text gives is equal again. */
void oci_spec_write(struct json *j, const char *key,
		    const struct oci_spec *spec);

/* What `spec` prints: runc's default, for @rootless ids of the caller. */
const struct oci_spec *oci_spec_default(struct arena *a, bool rootless,
					uint32_t uid, uint32_t gid);

/* Its maskedPaths and readonlyPaths, which a policy adds to any config. */
struct str_list oci_default_masked_paths(struct arena *a);
struct str_list oci_default_readonly_paths(struct arena *a);

/* Value of an annotation or NULL. */
const char *oci_annotation(const struct oci_spec *spec, const char *key);

#endif
