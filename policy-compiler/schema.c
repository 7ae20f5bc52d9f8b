/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grammar of a policy, but for endpoints (schema_endpoint.c). What a row
 * does not name is an error, as in OpenShell.
 */
#include "policy-compiler/schema.h"
#include "policy-compiler/spec.h"
#include "runtime/policy/limits.h"

/* names are shown in logs and messages */
enum { NAME_BYTES_MAX = 256 };

static const struct decode_name compatibility_names[] = {
	{"best_effort", 0},
	{"hard_requirement", 1},
	{NULL, 0},
};

static const struct decode_name on_error_names[] = {
	{"fail_closed", 0},
	{"fail_open", 1},
	{NULL, 0},
};

static const struct decode_name default_names[] = {
	{"deny", 1},
	{NULL, 0},
};

static void fn_config(struct decode *d, const struct decode_row *row,
		      const struct doc_node *node, void *at)
{
	(void)row;
	if (node->kind != DOC_MAP)
		doc_error_at(d->errors, node, "expected a map, found %s",
			     doc_kind_text(node->kind));
	*(const struct doc_node **)at = node;
}

static const struct decode_row filesystem_rows[] = {
	DECODE_ROW(struct spec_filesystem, include_workdir, "include_workdir",
		   DECODE_BOOL),
	DECODE_ROW(struct spec_filesystem, read_only, "read_only", DECODE_LIST,
		   .elem = DECODE_STR),
	DECODE_ROW(struct spec_filesystem, read_write, "read_write",
		   DECODE_LIST, .elem = DECODE_STR),
};
static const struct decode_table filesystem_table =
	DECODE_TABLE(struct spec_filesystem, filesystem_rows,
		     .node_at = DECODE_AT(struct spec_filesystem, node));

static const struct decode_row landlock_rows[] = {
	DECODE_ROW(struct spec_landlock, hard_requirement, "compatibility",
		   DECODE_ENUM, .names = compatibility_names),
};
static const struct decode_table landlock_table =
	DECODE_TABLE(struct spec_landlock, landlock_rows,
		     .node_at = DECODE_AT(struct spec_landlock, node));

static const struct decode_row process_rows[] = {
	DECODE_ROW(struct spec_process, run_as_user, "run_as_user", DECODE_STR,
		   .flags = DECODE_NONEMPTY | DECODE_SCALAR),
	DECODE_ROW(struct spec_process, run_as_group, "run_as_group",
		   DECODE_STR, .flags = DECODE_NONEMPTY | DECODE_SCALAR),
};
static const struct decode_table process_table =
	DECODE_TABLE(struct spec_process, process_rows,
		     .node_at = DECODE_AT(struct spec_process, node));

static const struct decode_row binary_rows[] = {
	DECODE_ROW(struct spec_binary, path, "path", DECODE_STR,
		   .flags = DECODE_REQUIRED | DECODE_NONEMPTY,
		   .max = POLICY_PATH_BYTES_MAX),
	DECODE_ROW(struct spec_binary, harness, "harness", DECODE_BOOL,
		   .flags = DECODE_OPT),
};
static const struct decode_table binary_table =
	DECODE_TABLE(struct spec_binary, binary_rows,
		     .node_at = DECODE_AT(struct spec_binary, node));

static const struct decode_row entry_rows[] = {
	DECODE_ROW(struct spec_entry, name, "name", DECODE_STR,
		   .flags = DECODE_NONEMPTY, .max = NAME_BYTES_MAX),
	DECODE_ROW(struct spec_entry, endpoints, "endpoints", DECODE_LIST,
		   .elem = DECODE_STRUCT, .max = POLICY_ENDPOINTS_MAX,
		   .table = &spec_endpoint_table),
	DECODE_ROW(struct spec_entry, binaries, "binaries", DECODE_LIST,
		   .elem = DECODE_STRUCT, .max = POLICY_BINARIES_MAX,
		   .table = &binary_table),
};
static const struct decode_table entry_table =
	DECODE_TABLE(struct spec_entry, entry_rows,
		     .node_at = DECODE_AT(struct spec_entry, node));

static const struct decode_row selector_rows[] = {
	DECODE_ROW(struct spec_selector, include, "include", DECODE_LIST,
		   .elem = DECODE_STR,
		   .flags = DECODE_REQUIRED | DECODE_NONEMPTY,
		   .max = POLICY_SELECTORS_MAX),
	DECODE_ROW(struct spec_selector, exclude, "exclude", DECODE_LIST,
		   .elem = DECODE_STR, .max = POLICY_SELECTORS_MAX),
};
static const struct decode_table selector_table =
	DECODE_TABLE(struct spec_selector, selector_rows,
		     .node_at = DECODE_AT(struct spec_selector, node));

static const struct decode_row middleware_rows[] = {
	DECODE_ROW(struct spec_middleware, name, "name", DECODE_STR,
		   .flags = DECODE_NONEMPTY, .max = NAME_BYTES_MAX),
	DECODE_ROW(struct spec_middleware, middleware, "middleware", DECODE_STR,
		   .flags = DECODE_REQUIRED | DECODE_NONEMPTY),
	DECODE_ROW(struct spec_middleware, order, "order", DECODE_I32),
	DECODE_ROW(struct spec_middleware, config, "config", DECODE_FN,
		   .flags = DECODE_NULLABLE, .fn = fn_config,
		   .write = spec_never_written),
	DECODE_ROW(struct spec_middleware, fail_open, "on_error", DECODE_ENUM,
		   .names = on_error_names),
	DECODE_ROW(struct spec_middleware, endpoints, "endpoints",
		   DECODE_STRUCT, .flags = DECODE_REQUIRED,
		   .table = &selector_table),
};
static const struct decode_table middleware_table =
	DECODE_TABLE(struct spec_middleware, middleware_rows,
		     .node_at = DECODE_AT(struct spec_middleware, node));

static const struct decode_row short_rows[] = {
	DECODE_ROW(struct spec_short, endpoint.host, "host", DECODE_STR,
		   .flags = DECODE_REQUIRED | DECODE_NONEMPTY),
	DECODE_ROW(struct spec_short, endpoint.port, "port", DECODE_U32,
		   .flags = DECODE_OPT, .min = 1, .max = 65535),
	DECODE_ROW(struct spec_short, endpoint.ports, "ports", DECODE_LIST,
		   .elem = DECODE_U32, .flags = DECODE_NONEMPTY,
		   .max = POLICY_PORTS_PER_ENDPOINT_MAX),
	DECODE_ROW(struct spec_short, binaries, "binaries", DECODE_LIST,
		   .elem = DECODE_STR, .flags = DECODE_NONEMPTY,
		   .max = POLICY_BINARIES_MAX),
};
static const struct decode_table short_table =
	DECODE_TABLE(struct spec_short, short_rows,
		     .node_at = DECODE_AT(struct spec_short, endpoint.node));

static const struct decode_row network_rows[] = {
	DECODE_ROW(struct spec_network, deny, "default", DECODE_ENUM,
		   .flags = DECODE_REQUIRED, .names = default_names),
	DECODE_ROW(struct spec_network, allow, "allow", DECODE_LIST,
		   .elem = DECODE_STRUCT, .max = POLICY_ENTRIES_MAX,
		   .table = &short_table),
};
static const struct decode_table network_table =
	DECODE_TABLE(struct spec_network, network_rows,
		     .node_at = DECODE_AT(struct spec_network, node));

static const struct decode_row spec_rows[] = {
	DECODE_ROW(struct spec, version, "version", DECODE_U32,
		   .flags = DECODE_OPT, .min = 1, .max = 1),
	DECODE_ROW(struct spec, filesystem_policy, "filesystem_policy",
		   DECODE_STRUCT, .flags = DECODE_NULLABLE,
		   .table = &filesystem_table),
	DECODE_ROW(struct spec, landlock, "landlock", DECODE_STRUCT,
		   .flags = DECODE_NULLABLE, .table = &landlock_table),
	DECODE_ROW(struct spec, process, "process", DECODE_STRUCT,
		   .flags = DECODE_NULLABLE, .table = &process_table),
	DECODE_ROW(struct spec, network_policies, "network_policies",
		   DECODE_DICT, .elem = DECODE_STRUCT,
		   .max = POLICY_ENTRIES_MAX, .table = &entry_table),
	DECODE_ROW(struct spec, network_middlewares, "network_middlewares",
		   DECODE_DICT, .elem = DECODE_STRUCT,
		   .max = POLICY_MIDDLEWARES_MAX, .table = &middleware_table),
	DECODE_ROW(struct spec, network, "network", DECODE_STRUCT,
		   .table = &network_table),
};
const struct decode_table spec_table = DECODE_TABLE(
	struct spec, spec_rows, .node_at = DECODE_AT(struct spec, node));

int spec_decode(struct arena *a, const struct doc_node *root, struct spec *ret,
		struct doc_errors *errors)
{
	*ret = (struct spec){.node = NULL};
	return decode(a, &spec_table, root, ret, errors);
}
