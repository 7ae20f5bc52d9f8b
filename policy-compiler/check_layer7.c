/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protocols and their rules. A row for each protocol says which keys a rule
 * must have, may have and must not have; what is in none of them has no
 * effect, and is warned about.
 */
#include <string.h>

#include "policy-compiler/check.h"
#include "policy-compiler/spec.h"
#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/doc/doc.h"
#include "runtime/doc/errors.h"
#include "runtime/policy/match.h"

enum rule_key {
	RULE_METHOD = 1 << 0,
	RULE_PATH = 1 << 1,
	RULE_COMMAND = 1 << 2,
	RULE_QUERY = 1 << 3,
	RULE_OPERATION_TYPE = 1 << 4,
	RULE_OPERATION_NAME = 1 << 5,
	RULE_FIELDS = 1 << 6,
	RULE_TOOL = 1 << 7,
	RULE_PARAMS = 1 << 8,

	RULE_GRAPHQL = RULE_OPERATION_TYPE | RULE_OPERATION_NAME | RULE_FIELDS,
	RULE_HTTP = RULE_METHOD | RULE_PATH | RULE_QUERY,
	RULE_MCP = RULE_TOOL | RULE_PARAMS,
};

static const struct {
	unsigned int key;
	const char *name;
} rule_keys[] = {
	{RULE_METHOD, "method"},
	{RULE_PATH, "path"},
	{RULE_COMMAND, "command"},
	{RULE_QUERY, "query"},
	{RULE_OPERATION_TYPE, "operation_type"},
	{RULE_OPERATION_NAME, "operation_name"},
	{RULE_FIELDS, "fields"},
	{RULE_TOOL, "tool"},
	{RULE_PARAMS, "params"},
};

static const struct protocol {
	bool inspected;
	bool presets; /* access may be given */
	bool needs_base; /* rules or access must be given */
	unsigned int required, allowed, refused; /* enum rule_key */
	const char *methods; /* " GET HEAD ": others are warned about */
} protocols[] = {
	[POLICY_PROTO_NONE] = {.presets = true},
	[POLICY_PROTO_TCP] = {.presets = false},
	[POLICY_PROTO_REST] =
		{
			.inspected = true,
			.presets = true,
			.needs_base = true,
			.allowed = RULE_HTTP,
			.refused = RULE_MCP,
			.methods = " GET HEAD POST PUT DELETE PATCH OPTIONS "
				   "* ",
		},
	[POLICY_PROTO_WEBSOCKET] =
		{
			.inspected = true,
			.presets = true,
			.needs_base = true,
			.allowed = RULE_HTTP | RULE_GRAPHQL,
			.refused = RULE_MCP,
			.methods = " GET WEBSOCKET_TEXT * ",
		},
	[POLICY_PROTO_GRAPHQL] =
		{
			.inspected = true,
			.presets = true,
			.needs_base = true,
			.required = RULE_OPERATION_TYPE,
			.allowed = RULE_GRAPHQL,
			.refused = RULE_MCP,
		},
	[POLICY_PROTO_SQL] =
		{
			.inspected = true,
			.presets = true,
			.needs_base = true,
			.allowed = RULE_COMMAND,
			.refused = RULE_MCP,
		},
	[POLICY_PROTO_JSON_RPC] =
		{
			.inspected = true,
			.needs_base = true,
			.required = RULE_METHOD,
			.allowed = RULE_METHOD,
			.refused = RULE_MCP | RULE_PATH | RULE_QUERY,
		},
	[POLICY_PROTO_MCP] =
		{
			.inspected = true,
			.allowed = RULE_METHOD | RULE_MCP,
			.refused = RULE_PATH | RULE_QUERY,
		},
};
_Static_assert(N_ELEMENTS(protocols) == POLICY_PROTO_N, "a row for each");

static unsigned int keys_of(const struct doc_node *rule)
{
	unsigned int keys = 0;

	for (size_t i = 0; i < N_ELEMENTS(rule_keys); i++)
		if (doc_get(rule, rule_keys[i].name))
			keys |= rule_keys[i].key;
	return keys;
}

static bool has_wildcard(const char *s)
{
	return strpbrk(s, "*?[]{}") != NULL;
}

/* Does any glob of a matcher hold a wildcard? */
static bool matcher_has_wildcard(const struct doc_node *m)
{
	const struct doc_node *any = doc_get(m, "any");

	if (m->kind == DOC_STRING)
		return has_wildcard(m->text);
	if (any)
		doc_for_each (it, any)
			if (it->kind == DOC_STRING && has_wildcard(it->text))
				return true;
	return false;
}

static void check_glob(const struct doc_node *n, struct doc_errors *errors)
{
	struct err err;

	if (n && n->kind == DOC_STRING && match_glob_check(n->text, &err) < 0)
		doc_error_at(errors, n, "\"%.80s\" is not a glob: %s", n->text,
			     err.text);
}

static void check_globs(const struct doc_node *n, struct doc_errors *errors)
{
	if (!n)
		return;
	check_glob(n, errors);
	if (n->kind == DOC_LIST || n->kind == DOC_MAP)
		doc_for_each (it, n)
			check_globs(it, errors);
}

/* -------------------------------------------------------------------- mcp */

static const struct doc_node *tool_selector(const struct doc_node *rule)
{
	const struct doc_node *tool = doc_get(rule, "tool");

	return tool ? tool : doc_get(doc_get(rule, "params"), "name");
}

static bool is_tools_call(const char *method)
{
	return match_path(method, "tools/call") || str_eq(method, "*");
}

static bool strict_names(const struct spec_endpoint *e)
{
	return !e->mcp || !e->mcp->strict_tool_names.set ||
	       e->mcp->strict_tool_names.v;
}

static bool all_known_methods(const struct spec_endpoint *e)
{
	return e->mcp && e->mcp->allow_all_known_mcp_methods.set &&
	       e->mcp->allow_all_known_mcp_methods.v;
}

static bool selects_tools(const struct spec_endpoint *e)
{
	for (size_t i = 0; i < e->rules.n; i++)
		if (e->rules.v[i].allow &&
		    tool_selector(e->rules.v[i].allow->node))
			return true;
	return false;
}

static void check_params(const struct doc_node *rule, struct doc_errors *errors)
{
	const struct doc_node *params = doc_get(rule, "params");

	if (!params)
		return;
	if (doc_get(rule, "tool") && doc_get(params, "name"))
		doc_error_at(errors, params,
			     "tool and params.name exclude each other");
	doc_for_each (it, params)
		if (!str_eq(it->key, "name"))
			doc_error_at(errors, it,
				     "arguments of tools can't be matched, "
				     "only their name");
}

static void check_mcp_rule(const struct spec_endpoint *e,
			   const struct spec_rule *r, struct doc_errors *errors)
{
	const struct doc_node *method = doc_get(r->node, "method");
	const struct doc_node *tool = tool_selector(r->node);

	check_params(r->node, errors);
	if (!method && !all_known_methods(e))
		doc_error_at(errors, r->node,
			     "needs a method, since "
			     "mcp.allow_all_known_mcp_methods isn't true");
	if (tool && !strict_names(e) && matcher_has_wildcard(tool))
		doc_error_at(errors, tool,
			     "wildcards in tool names need "
			     "mcp.strict_tool_names");
	if (!r->method)
		return;
	if (has_wildcard(r->method) && !str_after(r->method, "tools/") &&
	    !str_eq(r->method, "*"))
		doc_error_at(errors, method,
			     "only methods of tools/ may have wildcards");
	if (tool && !str_eq(r->method, "tools/call"))
		doc_error_at(errors, method,
			     "a rule for a tool must have the method "
			     "tools/call, or none");
	if (!tool && selects_tools(e) && is_tools_call(r->method))
		doc_error_at(errors, method,
			     "it is about every tool call, which contradicts "
			     "the rules for single tools");
}

/* ------------------------------------------------------------------ rules */

static void check_graphql_rule(const struct spec_rule *r, unsigned int keys,
			       struct doc_errors *errors)
{
	if (keys & RULE_GRAPHQL && keys & RULE_HTTP)
		doc_error_at(errors, r->node,
			     "method, path and query can't stand beside "
			     "operation_type, operation_name and fields");
	else if (keys & RULE_GRAPHQL && !(keys & RULE_OPERATION_TYPE))
		doc_error_at(errors, r->node, "needs operation_type");
}

static void check_rule(const struct spec_endpoint *e, const struct spec_rule *r,
		       struct doc_errors *errors)
{
	const struct protocol *p = &protocols[e->protocol];
	unsigned int keys = keys_of(r->node);

	for (size_t i = 0; i < N_ELEMENTS(rule_keys); i++) {
		const struct doc_node *n = doc_get(r->node, rule_keys[i].name);

		if (p->refused & rule_keys[i].key && n)
			doc_error_at(errors, n,
				     "has no meaning with protocol %s",
				     spec_protocol_name(e->protocol));
		if (p->required & rule_keys[i].key && !n)
			doc_error_at(errors, r->node,
				     "protocol %s needs %s in every rule",
				     spec_protocol_name(e->protocol),
				     rule_keys[i].name);
	}
	check_globs(doc_get(r->node, "path"), errors);
	check_globs(doc_get(r->node, "query"), errors);
	check_globs(doc_get(r->node, "operation_name"), errors);
	check_globs(doc_get(r->node, "fields"), errors);
	check_globs(tool_selector(r->node), errors);

	if (e->protocol == POLICY_PROTO_WEBSOCKET)
		check_graphql_rule(r, keys, errors);
	if (e->protocol == POLICY_PROTO_MCP)
		check_mcp_rule(e, r, errors);
	if (e->protocol == POLICY_PROTO_JSON_RPC && r->method &&
	    !str_eq(r->method, "*") && has_wildcard(r->method))
		doc_error_at(errors, doc_get(r->node, "method"),
			     "a method of JSON-RPC is a name or \"*\"");
}

static bool allows_nothing(const struct spec_endpoint *e)
{
	for (size_t i = 0; i < e->rules.n; i++) {
		const struct spec_rule *r = e->rules.v[i].allow;

		if (!r || keys_of(r->node))
			return false;
	}
	return e->rules.n > 0;
}

static void check_rules(const struct spec_endpoint *e,
			struct doc_errors *errors)
{
	size_t i;

	for (i = 0; i < e->rules.n; i++)
		if (e->rules.v[i].allow && e->rules.v[i].allow->node)
			check_rule(e, e->rules.v[i].allow, errors);
	for (i = 0; i < e->deny_rules.n; i++)
		if (e->deny_rules.v[i].node)
			check_rule(e, &e->deny_rules.v[i], errors);
	for (i = 0; i < e->graphql_persisted_queries.n; i++) {
		const struct spec_operation *o =
			&e->graphql_persisted_queries.v[i];

		if (o->node && !doc_get(o->node, "operation_type"))
			doc_error_at(errors, o->node, "needs operation_type");
	}
	if (allows_nothing(e) && !all_known_methods(e))
		doc_error_at(errors, doc_get(e->node, "rules"),
			     "no rule says what it allows, so that nothing "
			     "would be");
}

/* -------------------------------------------------------------- endpoints */

static void check_tcp(const struct spec_endpoint *e, struct doc_errors *errors)
{
	static const char *const layer7[] = {
		"access",
		"rules",
		"deny_rules",
		"enforcement",
		"path",
		"allow_encoded_slash",
		"websocket_credential_rewrite",
		"request_body_credential_rewrite",
		"persisted_queries",
		"graphql_persisted_queries",
		"graphql_max_body_bytes",
		"json_rpc",
		"mcp",
	};

	for (size_t i = 0; i < N_ELEMENTS(layer7); i++) {
		const struct doc_node *n = doc_get(e->node, layer7[i]);

		if (n)
			doc_error_at(errors, n,
				     "protocol tcp is not inspected, so that "
				     "this would have no effect");
	}
}

static void check_base(const struct spec_endpoint *e, struct doc_errors *errors)
{
	const struct protocol *p = &protocols[e->protocol];
	const struct doc_node *access = doc_get(e->node, "access");
	const struct doc_node *rules = doc_get(e->node, "rules");
	const struct doc_node *deny = doc_get(e->node, "deny_rules");

	if (access && rules)
		doc_error_at(errors, rules,
			     "access and rules exclude each other");
	if (access && !p->presets)
		doc_error_at(errors, access,
			     "protocol %s has no access presets: write rules",
			     spec_protocol_name(e->protocol));
	if (p->needs_base && !rules && !(access && p->presets))
		doc_error_at(errors, e->node,
			     "protocol %s needs rules%s, which say what is "
			     "allowed",
			     spec_protocol_name(e->protocol),
			     p->presets ? " or access" : "");
	if (e->protocol == POLICY_PROTO_MCP && !rules && !all_known_methods(e))
		doc_error_at(errors, e->node,
			     "protocol mcp needs rules, or "
			     "mcp.allow_all_known_mcp_methods: true");
	if (deny && !p->inspected)
		doc_error_at(errors, deny,
			     "needs a protocol that is inspected");
	else if (deny && !rules && !access && e->protocol != POLICY_PROTO_MCP)
		doc_error_at(errors, deny,
			     "needs rules or access to be taken from");
}

static void check_credentials(const struct spec_endpoint *e,
			      struct doc_errors *errors)
{
	const struct doc_node *signing = doc_get(e->node, "credential_signing");

	if (!signing)
		return;
	if (!doc_get(e->node, "signing_service"))
		doc_error_at(errors, signing, "needs signing_service as well");
	if (e->request_body_credential_rewrite)
		doc_error_at(errors, signing,
			     "signs a body that "
			     "request_body_credential_rewrite would change");
}

void check_layer7(const struct spec_endpoint *e, struct doc_errors *errors)
{
	const struct doc_node *path = doc_get(e->node, "path");
	const struct doc_node *enforcement = doc_get(e->node, "enforcement");
	const struct doc_node *mcp = doc_get(e->node, "mcp");

	/* what follows from a protocol that wasn't understood is noise */
	if (doc_get(e->node, "protocol") && e->protocol == POLICY_PROTO_NONE)
		return;
	if (e->path && e->path[0] != '/' && !str_eq(e->path, "**"))
		doc_error_at(errors, path, "must begin with / or be \"**\"");
	check_glob(path, errors);
	if (e->protocol == POLICY_PROTO_SQL && enforcement &&
	    e->enforcement.v == POLICY_ENFORCE)
		doc_error_at(errors, enforcement,
			     "sql can't be enforced, only audited");
	if (mcp && e->protocol != POLICY_PROTO_MCP)
		doc_error_at(errors, mcp, "is for protocol mcp only");
	check_credentials(e, errors);
	if (e->protocol == POLICY_PROTO_TCP) {
		check_tcp(e, errors);
		return;
	}
	check_base(e, errors);
	if (protocols[e->protocol].inspected)
		check_rules(e, errors);
}

/* --------------------------------------------------------------- warnings */

static void warn_rule(const struct spec_endpoint *e, const struct spec_rule *r,
		      struct doc_errors *warnings)
{
	const struct protocol *p = &protocols[e->protocol];
	char word[32];
	struct strbuf sb = STRBUF_FIXED(word);

	for (size_t i = 0; i < N_ELEMENTS(rule_keys); i++) {
		const struct doc_node *n = doc_get(r->node, rule_keys[i].name);

		if (n && !((p->allowed | p->required) & rule_keys[i].key))
			doc_warning_at(warnings, n,
				       "has no effect with protocol %s",
				       spec_protocol_name(e->protocol));
	}
	if (!p->methods || !r->method)
		return;
	strbuf_addc(&sb, ' ');
	for (const char *c = r->method; *c; c++)
		strbuf_addc(&sb, *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A')
							: *c);
	strbuf_addc(&sb, ' ');
	if (sb.cut || !strstr(p->methods, word))
		doc_warning_at(warnings, doc_get(r->node, "method"),
			       "\"%.80s\" is not a usual method of protocol %s",
			       r->method, spec_protocol_name(e->protocol));
}

static void warn_ignored(const struct spec_endpoint *e,
			 struct doc_errors *warnings)
{
	static const struct {
		const char *key;
		unsigned int protocols; /* bits: where it has an effect */
	} rows[] = {
#define P(name) (1u << POLICY_PROTO_##name)
		{"websocket_credential_rewrite", P(REST) | P(WEBSOCKET)},
		{"request_body_credential_rewrite", P(REST)},
		{"persisted_queries", P(GRAPHQL) | P(WEBSOCKET)},
		{"graphql_persisted_queries", P(GRAPHQL) | P(WEBSOCKET)},
		{"graphql_max_body_bytes", P(GRAPHQL) | P(WEBSOCKET)},
		{"json_rpc", P(JSON_RPC)},
#undef P
	};

	for (size_t i = 0; i < N_ELEMENTS(rows); i++) {
		const struct doc_node *n = doc_get(e->node, rows[i].key);

		if (n && !(rows[i].protocols & 1u << e->protocol))
			doc_warning_at(warnings, n,
				       "has no effect with protocol %s",
				       spec_protocol_name(e->protocol));
	}
}

static void warn_plain(const struct spec_endpoint *e,
		       struct doc_errors *warnings)
{
	static const char *const needs_protocol[] = {
		"rules", "access", "enforcement", "path", "allow_encoded_slash",
	};

	for (size_t i = 0; i < N_ELEMENTS(needs_protocol); i++) {
		const struct doc_node *n = doc_get(e->node, needs_protocol[i]);

		if (n)
			doc_warning_at(warnings, n,
				       "has no effect without protocol: "
				       "everything is allowed to this host "
				       "and port");
	}
}

void check_layer7_warnings(const struct spec_endpoint *e,
			   struct doc_errors *warnings)
{
	const struct doc_node *tls = doc_get(e->node, "tls");
	size_t i;

	warn_ignored(e, warnings);
	if (!protocols[e->protocol].inspected) {
		if (e->protocol == POLICY_PROTO_NONE)
			warn_plain(e, warnings);
		return;
	}
	if (!e->enforcement.set)
		doc_warning_at(warnings, e->node,
			       "enforcement is not set, so that its rules "
			       "only log: write enforcement: enforce");
	if (tls && e->tls == POLICY_TLS_SKIP)
		doc_warning_at(warnings, tls,
			       "rules can't see into TLS that isn't "
			       "terminated");
	for (i = 0; i < e->rules.n; i++)
		warn_rule(e, e->rules.v[i].allow, warnings);
	for (i = 0; i < e->deny_rules.n; i++)
		warn_rule(e, &e->deny_rules.v[i], warnings);
}
