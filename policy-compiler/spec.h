/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A policy document, decoded: one struct for each kind of map in the language
 * (osh-policy.yaml.5), filled by the tables of schema.c. What was not written
 * is NULL, 0, unset or an empty list.
 *
 * Every struct keeps its map (`node`), for positions in messages; it is NULL
 * in a list element that was not even a map, which is an error already.
 * Everything lives in the arena of the document.
 */
#ifndef OSH_COMPILER_SPEC_H
#define OSH_COMPILER_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/doc/types.h"
#include "runtime/policy/layout.h"

struct arena;
struct doc_errors;
struct doc_node;

enum spec_access {
	SPEC_ACCESS_NONE,
	SPEC_ACCESS_READ_ONLY,
	SPEC_ACCESS_READ_WRITE,
	SPEC_ACCESS_FULL,
};

enum spec_signing {
	SPEC_SIGNING_NONE,
	SPEC_SIGNING_SIGV4,
	SPEC_SIGNING_SIGV4_BODY,
	SPEC_SIGNING_SIGV4_NO_BODY,
};

enum spec_persisted {
	SPEC_PERSISTED_NONE,
	SPEC_PERSISTED_DENY,
	SPEC_PERSISTED_ALLOW_REGISTERED,
};

enum spec_operation_type {
	SPEC_OPERATION_NONE,
	SPEC_OPERATION_QUERY,
	SPEC_OPERATION_MUTATION,
	SPEC_OPERATION_SUBSCRIPTION,
	SPEC_OPERATION_ANY,
};

struct spec_filesystem {
	const struct doc_node *node;
	bool include_workdir;
	struct str_list read_only, read_write;
};

struct spec_landlock {
	const struct doc_node *node;
	uint32_t hard_requirement; /* compatibility */
};

struct spec_process {
	const struct doc_node *node;
	const char *run_as_user, *run_as_group;
};

/* rules[].allow and deny_rules[] */
struct spec_rule {
	const struct doc_node *node;
	const char *method, *path, *command;
	uint32_t operation_type;
	const char *operation_name;
	struct str_list fields;
	/* shapes are checked, contents carried as they are */
	const struct doc_node *query, *tool, *params;
};

struct spec_allow {
	const struct doc_node *node;
	struct spec_rule *allow;
};

/* graphql_persisted_queries.<id> */
struct spec_operation {
	const char *key;
	const struct doc_node *node;
	uint32_t operation_type;
	const char *operation_name;
	struct str_list fields;
};

struct spec_mcp {
	const struct doc_node *node;
	struct opt_u32 max_body_bytes;
	struct opt_bool strict_tool_names, allow_all_known_mcp_methods;
};

struct spec_json_rpc {
	const struct doc_node *node;
	struct opt_u32 max_body_bytes;
};

struct spec_binding {
	const struct doc_node *node;
	const char *provider;
};

struct spec_endpoint {
	const struct doc_node *node;
	const char *host, *path;
	struct opt_u32 port;
	LIST_OF(uint32_t) ports;
	uint32_t protocol; /* enum policy_protocol */
	uint32_t tls; /* enum policy_tls */
	struct opt_u32 enforcement;
	uint32_t access;
	LIST_OF(struct spec_allow) rules;
	LIST_OF(struct spec_rule) deny_rules;
	struct str_list allowed_ips;
	bool allow_encoded_slash, allow_uninspected_credentials;
	bool websocket_credential_rewrite, request_body_credential_rewrite;
	uint32_t persisted_queries;
	LIST_OF(struct spec_operation) graphql_persisted_queries;
	struct opt_u32 graphql_max_body_bytes;
	uint32_t credential_signing;
	const char *signing_service, *signing_region;
	struct spec_binding *credential_binding;
	struct spec_json_rpc *json_rpc;
	struct spec_mcp *mcp;
};

struct spec_binary {
	const struct doc_node *node;
	const char *path;
	struct opt_bool harness; /* OpenShell's leftover: no meaning */
};

/* network_policies.<key> */
struct spec_entry {
	const char *key;
	const struct doc_node *node;
	const char *name;
	LIST_OF(struct spec_endpoint) endpoints;
	LIST_OF(struct spec_binary) binaries;
};

struct spec_selector {
	const struct doc_node *node;
	struct str_list include, exclude;
};

/* network_middlewares.<key> */
struct spec_middleware {
	const char *key;
	const struct doc_node *node;
	const char *name, *middleware;
	int32_t order;
	const struct doc_node *config;
	uint32_t fail_open; /* on_error */
	struct spec_selector *endpoints;
};

/* network.allow[] of the short form */
struct spec_short {
	struct spec_endpoint endpoint; /* host, port, ports */
	struct str_list binaries;
};

struct spec_network {
	const struct doc_node *node;
	uint32_t deny; /* default: always "deny" */
	LIST_OF(struct spec_short) allow;
};

struct spec {
	const struct doc_node *node;
	struct opt_u32 version;
	struct spec_filesystem *filesystem_policy;
	struct spec_landlock *landlock;
	struct spec_process *process;
	LIST_OF(struct spec_entry) network_policies;
	LIST_OF(struct spec_middleware) network_middlewares;
	struct spec_network *network; /* the short form, when there */
};

/*
 * Decode @root. Returns 0, or -EINVAL after messages; what decoded well is in
 * *ret either way, so that the checks can go on and find more.
 */
int spec_decode(struct arena *a, const struct doc_node *root, struct spec *ret,
		struct doc_errors *errors);

/* All tables hang off this one: for tests and the manual's check. */
struct decode_table;
extern const struct decode_table spec_table;

/* The text that stands for a value: "rest", "skip", "enforce". */
const char *spec_protocol_name(uint32_t protocol);

#endif
