/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grammar of network_policies.<key>.endpoints[], all of OpenShell's keys.
 */
#include <stdlib.h>

#include "policy-compiler/schema.h"
#include "policy-compiler/spec.h"
#include "runtime/base/strbuf.h"
#include "runtime/policy/limits.h"

/* params may be nested: as deep as the compiled tree can carry */
enum { PARAMS_DEPTH_MAX = 8, RULES_MAX = 1024 };

/* --------------------------------------------------------------- matchers */

/* A glob, or {any: [glob, ...]}. */
static bool take_any(struct decode *d, const struct doc_node *node)
{
	const struct doc_node *any = doc_get(node, "any");

	if (!any || node->n != 1)
		return false;
	if (any->kind != DOC_LIST || any->n == 0)
		doc_error_at(d->errors, any, "expected a list of globs");
	else
		doc_for_each (it, any)
			if (it->kind != DOC_STRING || !it->len)
				doc_error_at(d->errors, it,
					     "expected a glob, found %s",
					     doc_kind_text(it->kind));
	return true;
}

static void take_matcher(struct decode *d, const struct doc_node *node)
{
	if (node->kind == DOC_STRING && node->len)
		return;
	if (node->kind != DOC_MAP || !take_any(d, node))
		doc_error_at(d->errors, node,
			     "expected a glob or {any: [glob, ...]}");
}

static void take_param(struct decode *d, const struct doc_node *node,
		       unsigned int depth)
{
	if (node->kind != DOC_MAP) {
		take_matcher(d, node);
		return;
	}
	if (take_any(d, node))
		return;
	if (depth == PARAMS_DEPTH_MAX) {
		doc_error_at(d->errors, node, "nested too deep");
		return;
	}
	doc_for_each (it, node)
		take_param(d, it, depth + 1);
}

static void keep(const struct doc_node *node, void *at)
{
	*(const struct doc_node **)at = node;
}

static void fn_matcher(struct decode *d, const struct decode_row *row,
		       const struct doc_node *node, void *at)
{
	(void)row;
	take_matcher(d, node);
	keep(node, at);
}

static void fn_query(struct decode *d, const struct decode_row *row,
		     const struct doc_node *node, void *at)
{
	(void)row;
	if (node->kind == DOC_MAP)
		doc_for_each (it, node)
			take_matcher(d, it);
	else
		doc_error_at(d->errors, node, "expected a map, found %s",
			     doc_kind_text(node->kind));
	keep(node, at);
}

static void fn_params(struct decode *d, const struct decode_row *row,
		      const struct doc_node *node, void *at)
{
	(void)row;
	if (node->kind == DOC_MAP)
		doc_for_each (it, node)
			take_param(d, it, 0);
	else
		doc_error_at(d->errors, node, "expected a map, found %s",
			     doc_kind_text(node->kind));
	keep(node, at);
}

void spec_never_written(struct json *j, const struct decode_row *row,
			const void *at)
{
	(void)j;
	(void)row;
	(void)at;
	abort(); /* a policy is only read */
}

/* ------------------------------------------------------------------ words */

static const struct decode_name protocol_names[] = {
	{"tcp", POLICY_PROTO_TCP},
	{"rest", POLICY_PROTO_REST},
	{"websocket", POLICY_PROTO_WEBSOCKET},
	{"graphql", POLICY_PROTO_GRAPHQL},
	{"sql", POLICY_PROTO_SQL},
	{"json-rpc", POLICY_PROTO_JSON_RPC},
	{"mcp", POLICY_PROTO_MCP},
	{NULL, 0},
};

static const struct decode_name tls_names[] = {
	{"skip", POLICY_TLS_SKIP},
	{"terminate", POLICY_TLS_TERMINATE},
	{"passthrough", POLICY_TLS_PASSTHROUGH},
	{NULL, 0},
};

static const struct decode_name enforcement_names[] = {
	{"audit", POLICY_AUDIT},
	{"enforce", POLICY_ENFORCE},
	{NULL, 0},
};

static const struct decode_name access_names[] = {
	{"read-only", SPEC_ACCESS_READ_ONLY},
	{"read-write", SPEC_ACCESS_READ_WRITE},
	{"full", SPEC_ACCESS_FULL},
	{NULL, 0},
};

static const struct decode_name persisted_names[] = {
	{"deny", SPEC_PERSISTED_DENY},
	{"allow_registered", SPEC_PERSISTED_ALLOW_REGISTERED},
	{NULL, 0},
};

static const struct decode_name signing_names[] = {
	{"sigv4", SPEC_SIGNING_SIGV4},
	{"sigv4:body", SPEC_SIGNING_SIGV4_BODY},
	{"sigv4:no_body", SPEC_SIGNING_SIGV4_NO_BODY},
	{NULL, 0},
};

static const struct decode_name operation_names[] = {
	{"query", SPEC_OPERATION_QUERY},
	{"mutation", SPEC_OPERATION_MUTATION},
	{"subscription", SPEC_OPERATION_SUBSCRIPTION},
	{"*", SPEC_OPERATION_ANY},
	{NULL, 0},
};

const char *spec_protocol_name(uint32_t protocol)
{
	const char *name = decode_name_of(protocol_names, protocol);

	return name ? name : "none";
}

/* ----------------------------------------------------------------- tables */

#define STR(type, member) \
	DECODE_ROW(type, member, #member, DECODE_STR, .flags = DECODE_NONEMPTY)
#define BOOLEAN(type, member) DECODE_ROW(type, member, #member, DECODE_BOOL)
#define OPT_BOOLEAN(type, member) \
	DECODE_ROW(type, member, #member, DECODE_BOOL, .flags = DECODE_OPT)
#define NAMES(type, member, names_) \
	DECODE_ROW(type, member, #member, DECODE_ENUM, .names = (names_))
#define BYTES(type, member)                                                \
	DECODE_ROW(type, member, #member, DECODE_U32, .flags = DECODE_OPT, \
		   .min = 1, .max = UINT32_MAX)
#define TEXTS(type, member)                                                \
	DECODE_ROW(type, member, #member, DECODE_LIST, .elem = DECODE_STR, \
		   .flags = DECODE_NONEMPTY)
#define MAP(type, member, table_)                        \
	DECODE_ROW(type, member, #member, DECODE_STRUCT, \
		   .flags = DECODE_NULLABLE, .table = &(table_))
#define TREE(type, member, fn_)                                                \
	DECODE_ROW(type, member, #member, DECODE_FN, .flags = DECODE_NULLABLE, \
		   .fn = (fn_), .write = spec_never_written)

static const struct decode_row rule_rows[] = {
	STR(struct spec_rule, method),
	STR(struct spec_rule, path),
	STR(struct spec_rule, command),
	TREE(struct spec_rule, query, fn_query),
	NAMES(struct spec_rule, operation_type, operation_names),
	STR(struct spec_rule, operation_name),
	TEXTS(struct spec_rule, fields),
	TREE(struct spec_rule, tool, fn_matcher),
	TREE(struct spec_rule, params, fn_params),
};
static const struct decode_table rule_table =
	DECODE_TABLE(struct spec_rule, rule_rows,
		     .node_at = DECODE_AT(struct spec_rule, node));

static const struct decode_row allow_rows[] = {
	DECODE_ROW(struct spec_allow, allow, "allow", DECODE_STRUCT,
		   .flags = DECODE_REQUIRED, .table = &rule_table),
};
static const struct decode_table allow_table =
	DECODE_TABLE(struct spec_allow, allow_rows,
		     .node_at = DECODE_AT(struct spec_allow, node));

static const struct decode_row operation_rows[] = {
	NAMES(struct spec_operation, operation_type, operation_names),
	STR(struct spec_operation, operation_name),
	TEXTS(struct spec_operation, fields),
};
static const struct decode_table operation_table =
	DECODE_TABLE(struct spec_operation, operation_rows,
		     .node_at = DECODE_AT(struct spec_operation, node));

static const struct decode_row mcp_rows[] = {
	BYTES(struct spec_mcp, max_body_bytes),
	OPT_BOOLEAN(struct spec_mcp, strict_tool_names),
	OPT_BOOLEAN(struct spec_mcp, allow_all_known_mcp_methods),
};
static const struct decode_table mcp_table = DECODE_TABLE(
	struct spec_mcp, mcp_rows, .node_at = DECODE_AT(struct spec_mcp, node));

static const struct decode_row json_rpc_rows[] = {
	BYTES(struct spec_json_rpc, max_body_bytes),
};
static const struct decode_table json_rpc_table =
	DECODE_TABLE(struct spec_json_rpc, json_rpc_rows,
		     .node_at = DECODE_AT(struct spec_json_rpc, node));

static const struct decode_row binding_rows[] = {
	DECODE_ROW(struct spec_binding, provider, "provider", DECODE_STR,
		   .flags = DECODE_REQUIRED | DECODE_NONEMPTY),
};
static const struct decode_table binding_table =
	DECODE_TABLE(struct spec_binding, binding_rows,
		     .node_at = DECODE_AT(struct spec_binding, node));

static const struct decode_row endpoint_rows[] = {
	STR(struct spec_endpoint, host),
	STR(struct spec_endpoint, path),
	DECODE_ROW(struct spec_endpoint, port, "port", DECODE_U32,
		   .flags = DECODE_OPT, .min = 1, .max = 65535),
	DECODE_ROW(struct spec_endpoint, ports, "ports", DECODE_LIST,
		   .elem = DECODE_U32, .flags = DECODE_NONEMPTY,
		   .max = POLICY_PORTS_PER_ENDPOINT_MAX),
	NAMES(struct spec_endpoint, protocol, protocol_names),
	NAMES(struct spec_endpoint, tls, tls_names),
	DECODE_ROW(struct spec_endpoint, enforcement, "enforcement",
		   DECODE_ENUM, .flags = DECODE_OPT,
		   .names = enforcement_names),
	NAMES(struct spec_endpoint, access, access_names),
	DECODE_ROW(struct spec_endpoint, rules, "rules", DECODE_LIST,
		   .elem = DECODE_STRUCT, .flags = DECODE_NONEMPTY,
		   .max = RULES_MAX, .table = &allow_table),
	DECODE_ROW(struct spec_endpoint, deny_rules, "deny_rules", DECODE_LIST,
		   .elem = DECODE_STRUCT, .flags = DECODE_NONEMPTY,
		   .max = RULES_MAX, .table = &rule_table),
	TEXTS(struct spec_endpoint, allowed_ips),
	BOOLEAN(struct spec_endpoint, allow_encoded_slash),
	BOOLEAN(struct spec_endpoint, websocket_credential_rewrite),
	BOOLEAN(struct spec_endpoint, request_body_credential_rewrite),
	BOOLEAN(struct spec_endpoint, allow_uninspected_credentials),
	NAMES(struct spec_endpoint, persisted_queries, persisted_names),
	DECODE_ROW(struct spec_endpoint, graphql_persisted_queries,
		   "graphql_persisted_queries", DECODE_DICT,
		   .elem = DECODE_STRUCT, .table = &operation_table),
	BYTES(struct spec_endpoint, graphql_max_body_bytes),
	NAMES(struct spec_endpoint, credential_signing, signing_names),
	STR(struct spec_endpoint, signing_service),
	STR(struct spec_endpoint, signing_region),
	MAP(struct spec_endpoint, credential_binding, binding_table),
	MAP(struct spec_endpoint, json_rpc, json_rpc_table),
	MAP(struct spec_endpoint, mcp, mcp_table),
};
const struct decode_table spec_endpoint_table =
	DECODE_TABLE(struct spec_endpoint, endpoint_rows,
		     .node_at = DECODE_AT(struct spec_endpoint, node));
