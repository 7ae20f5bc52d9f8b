/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/json.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/doc/decode.h"
#include "runtime/oci/spec.h"
#include "runtime/oci/state.h"

static const char *const status_names[] = {
	[OCI_CREATING] = "creating", [OCI_CREATED] = "created",
	[OCI_RUNNING] = "running",   [OCI_PAUSED] = "paused",
	[OCI_STOPPED] = "stopped",
};
_Static_assert(N_ELEMENTS(status_names) == OCI_STATUS_N, "all named");

const char *oci_status_name(enum oci_status status)
{
	return status_names[status];
}

static const struct decode_name manager_names[] = {
	{"none", OCI_CGROUP_NONE},
	{"cgroupfs", OCI_CGROUP_FS},
	{"systemd", OCI_CGROUP_SYSTEMD},
	{NULL, 0},
};

static const struct decode_name egress_names[] = {
	{"plain", OCI_EGRESS_PLAIN},
	{"deny-all", OCI_EGRESS_DENY_ALL},
	{"policy", OCI_EGRESS_POLICY},
	{NULL, 0},
};

const char *oci_egress_name(uint32_t egress)
{
	return decode_name_of(egress_names, egress);
}

static const struct decode_row cgroup_rows[] = {
	DECODE_ROW(struct oci_state_cgroup, controllers, "controllers",
		   DECODE_STR, .flags = DECODE_REQUIRED),
	DECODE_ROW(struct oci_state_cgroup, path, "path", DECODE_STR,
		   .flags = DECODE_REQUIRED | DECODE_NONEMPTY),
	DECODE_ROW(struct oci_state_cgroup, created, "created", DECODE_BOOL),
};

/* The design's "Safety of the host": the path "/" is refused outright. */
static void check_cgroup(struct decode *d, const struct doc_node *node,
			 void *obj)
{
	const struct oci_state_cgroup *c = obj;
	size_t slashes = strspn(c->path, "/");

	if (!slashes || !c->path[slashes] || strstr(c->path, "/../"))
		doc_error_at(d->errors, node, "not a path of a cgroup: \"%s\"",
			     c->path);
}

static const struct decode_table cgroup_table = DECODE_TABLE(
	struct oci_state_cgroup, cgroup_rows, .check = check_cgroup);

static const struct decode_row policy_rows[] = {
	DECODE_ROW(struct oci_state_policy, egress, "egress", DECODE_ENUM,
		   .names = egress_names, .flags = DECODE_REQUIRED),
	DECODE_ROW(struct oci_state_policy, source, "source", DECODE_STR,
		   .flags = DECODE_REQUIRED),
	DECODE_ROW(struct oci_state_policy, digest, "digest", DECODE_STR),
	DECODE_ROW(struct oci_state_policy, ceiling, "ceiling", DECODE_STR),
	DECODE_ROW(struct oci_state_policy, netns_cookie, "netnsCookie",
		   DECODE_U64),
	DECODE_ROW(struct oci_state_policy, has_landlock, "landlock",
		   DECODE_BOOL),
	DECODE_ROW(struct oci_state_policy, has_ceiling, "hasCeiling",
		   DECODE_BOOL),
};
static const struct decode_table policy_table =
	DECODE_TABLE(struct oci_state_policy, policy_rows);

#define TEXT(member, key)                                     \
	DECODE_ROW(struct oci_state, member, key, DECODE_STR, \
		   .flags = DECODE_REQUIRED)

static const struct decode_row state_rows[] = {
	DECODE_ROW(struct oci_state, version, "version", DECODE_U32,
		   .min = OCI_STATE_VERSION, .max = OCI_STATE_VERSION,
		   .flags = DECODE_REQUIRED),
	TEXT(id, "id"),
	TEXT(oci_version, "ociVersion"),
	TEXT(bundle, "bundle"),
	TEXT(rootfs, "rootfs"),
	TEXT(config, "config"),
	TEXT(created, "created"),
	DECODE_ROW(struct oci_state, owner_uid, "ownerUid", DECODE_U32,
		   .flags = DECODE_REQUIRED),
	TEXT(owner, "owner"),
	DECODE_ROW(struct oci_state, pid, "pid", DECODE_I32, .min = 0,
		   .max = INT32_MAX, .flags = DECODE_REQUIRED),
	DECODE_ROW(struct oci_state, pid_start, "pidStart", DECODE_U64,
		   .flags = DECODE_REQUIRED),
	DECODE_ROW(struct oci_state, rootless, "rootless", DECODE_BOOL),
	DECODE_ROW(struct oci_state, no_pivot, "noPivot", DECODE_BOOL),
	DECODE_ROW(struct oci_state, terminal, "terminal", DECODE_BOOL),
	DECODE_ROW(struct oci_state, cgroup_manager, "cgroupManager",
		   DECODE_ENUM, .names = manager_names,
		   .flags = DECODE_REQUIRED),
	DECODE_ROW(struct oci_state, cgroups, "cgroups", DECODE_LIST,
		   .elem = DECODE_STRUCT, .table = &cgroup_table),
	DECODE_ROW(struct oci_state, namespaces, "namespaces", DECODE_DICT,
		   .elem = DECODE_STR),
	DECODE_ROW(struct oci_state, annotations, "annotations", DECODE_DICT,
		   .elem = DECODE_STR),
	DECODE_ROW(struct oci_state, policy, "policy", DECODE_STRUCT,
		   .table = &policy_table),
	DECODE_ROW(struct oci_state, intel_rdt, "intelRdt", DECODE_STR),
};
static const struct decode_table state_table =
	DECODE_TABLE(struct oci_state, state_rows);

int oci_state_parse(struct arena *a, const char *file, const char *data,
		    size_t len, struct oci_state **ret_state, struct err *err)
{
	struct oci_state *state = arena_new(a, struct oci_state);
	struct doc_errors errors;
	const struct doc_node *root;

	doc_errors_init(&errors, a, file);
	if (doc_parse(a, data, len, DOC_JSON, &root, &errors) < 0 ||
	    decode(a, &state_table, root, state, &errors) < 0)
		return doc_errors_err(&errors, err);
	*ret_state = state;
	return 0;
}

void oci_state_write(struct strbuf *sb, const struct oci_state *state)
{
	struct json j = json_to(sb, false);

	decode_write(&j, NULL, &state_table, state);
	strbuf_addc(sb, '\n');
}

void oci_state_report(struct json *j, const struct oci_state *state,
		      enum oci_status status, bool for_hook)
{
	/* the specification's version, not that of the config: runtime.md */
	json_object(j, NULL);
	json_str(j, "ociVersion", OCI_VERSION);
	json_str(j, "id", state->id);
	if (status != OCI_STOPPED)
		json_i64(j, "pid", state->pid);
	else
		json_i64(j, "pid", 0);
	json_str(j, "status", oci_status_name(status));
	json_str(j, "bundle", state->bundle);
	if (!for_hook) {
		json_str(j, "rootfs", state->rootfs);
		json_str(j, "created", state->created);
	}
	if (state->annotations.n) {
		json_object(j, "annotations");
		for (size_t i = 0; i < state->annotations.n; i++)
			json_str(j, state->annotations.v[i].key,
				 state->annotations.v[i].value);
		json_end(j);
	}
	if (!for_hook)
		json_str(j, "owner", state->owner);
	json_end(j);
}
