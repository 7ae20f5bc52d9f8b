/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two endpoints that one request may reach must agree on how the connection
 * is made and how the request is read: otherwise the order of the document
 * would decide. What they allow (access, rules, deny_rules) may differ: that
 * adds up. The facts are those of OpenShell's openshell-policy/ambiguity.rs.
 *
 * Each endpoint is reduced to its traits. Traits that are equal share a
 * number, so that most pairs are settled by one comparison.
 */
#include <stdlib.h>
#include <string.h>

#include "policy-compiler/check.h"
#include "policy-compiler/overlap.h"
#include "policy-compiler/spec.h"
#include "runtime/base/arena.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/doc/doc.h"
#include "runtime/doc/errors.h"

enum { BODY_BYTES_DEFAULT = 65536 };

enum trait {
	TRAIT_TCP,
	TRAIT_TLS,
	TRAIT_ALLOWED_IPS,
	/* from here on: only between endpoints that read requests */
	TRAIT_PROTOCOL,
	TRAIT_ENFORCEMENT,
	TRAIT_ENCODED_SLASH,
	TRAIT_WEBSOCKET_REWRITE,
	TRAIT_BODY_REWRITE,
	TRAIT_SIGNING,
	TRAIT_SIGNING_SERVICE,
	TRAIT_SIGNING_REGION,
	TRAIT_BINDING,
	/* and of these only with the same protocol */
	TRAIT_GRAPHQL_OVER_WEBSOCKET,
	TRAIT_BODY_BYTES,
	TRAIT_STRICT_TOOLS,
	TRAIT_N
};

static const char *const trait_names[] = {
	[TRAIT_TCP] = "protocol tcp",
	[TRAIT_TLS] = "tls",
	[TRAIT_ALLOWED_IPS] = "allowed_ips",
	[TRAIT_PROTOCOL] = "protocol",
	[TRAIT_ENFORCEMENT] = "enforcement",
	[TRAIT_ENCODED_SLASH] = "allow_encoded_slash",
	[TRAIT_WEBSOCKET_REWRITE] = "websocket_credential_rewrite",
	[TRAIT_BODY_REWRITE] = "request_body_credential_rewrite",
	[TRAIT_SIGNING] = "credential_signing",
	[TRAIT_SIGNING_SERVICE] = "signing_service",
	[TRAIT_SIGNING_REGION] = "signing_region",
	[TRAIT_BINDING] = "credential_binding",
	[TRAIT_GRAPHQL_OVER_WEBSOCKET] = "GraphQL over WebSocket",
	[TRAIT_BODY_BYTES] = "max_body_bytes",
	[TRAIT_STRICT_TOOLS] = "mcp.strict_tool_names",
};
_Static_assert(N_ELEMENTS(trait_names) == TRAIT_N, "each trait has a name");

struct subject {
	const struct spec_endpoint *e;
	const char *trait[TRAIT_N];
	bool reads_requests;
	size_t specificity; /* of the path */
	size_t group; /* equal for equal traits */
};

/* ----------------------------------------------------------------- traits */

static int order_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The networks in one canonical text: order, case and repetition are gone. */
static const char *networks(struct arena *a, const struct spec_endpoint *e)
{
	own_strbuf struct strbuf sb = STRBUF_HEAP;
	const char **v = arena_array(a, const char *, e->allowed_ips.n);
	size_t n = 0;

	for (size_t i = 0; i < e->allowed_ips.n; i++)
		if (e->allowed_ips.v[i])
			v[n++] = e->allowed_ips.v[i];
	qsort(v, n, sizeof(*v), order_text);
	strbuf_adds(&sb, "");
	for (size_t i = 0; i < n; i++)
		if (i == 0 || !str_eq(v[i], v[i - 1]))
			strbuf_addf(&sb, "%s ", v[i]);
	return arena_strndup(a, sb.s ? sb.s : "", sb.len);
}

static bool rule_has_graphql(const struct spec_rule *r)
{
	return r && (r->operation_type || r->operation_name || r->fields.n);
}

static bool has_graphql(const struct spec_endpoint *e)
{
	size_t i;

	if (e->graphql_persisted_queries.n ||
	    e->persisted_queries == SPEC_PERSISTED_ALLOW_REGISTERED)
		return true;
	for (i = 0; i < e->rules.n; i++)
		if (rule_has_graphql(e->rules.v[i].allow))
			return true;
	for (i = 0; i < e->deny_rules.n; i++)
		if (rule_has_graphql(&e->deny_rules.v[i]))
			return true;
	return false;
}

static const char *yes_no(bool v)
{
	return v ? "true" : "false";
}

static uint32_t body_bytes(const struct spec_endpoint *e)
{
	const struct opt_u32 *v = NULL;

	if (e->protocol == POLICY_PROTO_GRAPHQL)
		v = &e->graphql_max_body_bytes;
	else if (e->protocol == POLICY_PROTO_JSON_RPC && e->json_rpc)
		v = &e->json_rpc->max_body_bytes;
	else if (e->protocol == POLICY_PROTO_MCP && e->mcp)
		v = &e->mcp->max_body_bytes;
	return v && v->set ? v->v : BODY_BYTES_DEFAULT;
}

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

static void set_traits(struct arena *a, struct subject *s)
{
	static const char digits[][2] = {"0", "1", "2", "3"};
	const struct spec_endpoint *e = s->e;
	bool strict = !e->mcp || !e->mcp->strict_tool_names.set ||
		      e->mcp->strict_tool_names.v;
	bool plain = e->protocol == POLICY_PROTO_NONE ||
		     e->protocol == POLICY_PROTO_TCP;

	s->trait[TRAIT_TCP] = yes_no(e->protocol == POLICY_PROTO_TCP);
	s->trait[TRAIT_TLS] = e->tls == POLICY_TLS_SKIP ? "skip" : "auto";
	s->trait[TRAIT_ALLOWED_IPS] = networks(a, e);
	s->trait[TRAIT_PROTOCOL] = plain ? "none"
					 : spec_protocol_name(e->protocol);
	s->trait[TRAIT_ENFORCEMENT] =
		e->enforcement.v == POLICY_ENFORCE ? "enforce" : "audit";
	s->trait[TRAIT_ENCODED_SLASH] = yes_no(e->allow_encoded_slash);
	s->trait[TRAIT_WEBSOCKET_REWRITE] =
		yes_no(e->websocket_credential_rewrite);
	s->trait[TRAIT_BODY_REWRITE] =
		yes_no(e->request_body_credential_rewrite);
	s->trait[TRAIT_SIGNING] = digits[e->credential_signing & 3];
	s->trait[TRAIT_SIGNING_SERVICE] = or_empty(e->signing_service);
	s->trait[TRAIT_SIGNING_REGION] = or_empty(e->signing_region);
	s->trait[TRAIT_BINDING] = or_empty(
		e->credential_binding ? e->credential_binding->provider : NULL);
	s->trait[TRAIT_GRAPHQL_OVER_WEBSOCKET] =
		yes_no(e->protocol == POLICY_PROTO_WEBSOCKET && has_graphql(e));
	s->trait[TRAIT_BODY_BYTES] = arena_printf(a, "%u", body_bytes(e));
	s->trait[TRAIT_STRICT_TOOLS] =
		yes_no(e->protocol == POLICY_PROTO_MCP && strict);

	s->reads_requests = !plain || e->allowed_ips.n ||
			    e->tls != POLICY_TLS_AUTO || e->credential_binding;
	for (const char *p = or_empty(e->path); *p; p++)
		s->specificity += *p != '*';
}

static bool same_traits(const struct subject *a, const struct subject *b)
{
	for (unsigned int t = 0; t < TRAIT_N; t++)
		if (!str_eq(a->trait[t], b->trait[t]))
			return false;
	return true;
}

/* The group of the first subject with these traits; few differ. */
static void set_group(struct subject *v, size_t n, size_t *leaders,
		      size_t *n_leaders)
{
	for (size_t i = 0; i < *n_leaders; i++)
		if (same_traits(&v[leaders[i]], &v[n])) {
			v[n].group = leaders[i];
			return;
		}
	v[n].group = n;
	leaders[(*n_leaders)++] = n;
}

/* ------------------------------------------------------------------ pairs */

static bool has_port(const struct spec_endpoint *e, uint32_t port)
{
	if (e->port.set && e->port.v == port)
		return true;
	for (size_t i = 0; i < e->ports.n; i++)
		if (e->ports.v[i] == port)
			return true;
	return false;
}

/* A port that both have, or 0. */
static uint32_t common_port(const struct spec_endpoint *a,
			    const struct spec_endpoint *b)
{
	if (a->port.set && has_port(b, a->port.v))
		return a->port.v;
	for (size_t i = 0; i < a->ports.n; i++)
		if (has_port(b, a->ports.v[i]))
			return a->ports.v[i];
	return 0;
}

/* How many traits of this pair count. */
static unsigned int n_traits(const struct subject *a, const struct subject *b)
{
	if (!a->reads_requests || !b->reads_requests ||
	    a->specificity != b->specificity ||
	    !overlap_paths(a->e->path, b->e->path))
		return TRAIT_PROTOCOL;
	return a->e->protocol == b->e->protocol ? TRAIT_N
						: TRAIT_GRAPHQL_OVER_WEBSOCKET;
}

static void check_pair(const struct subject *a, const struct subject *b,
		       struct doc_errors *errors)
{
	char room[200], path[200];
	struct strbuf differ = STRBUF_FIXED(room), where = STRBUF_FIXED(path);
	uint32_t port = common_port(a->e, b->e);
	unsigned int n;

	if (!port || !overlap_hosts(a->e->host, b->e->host))
		return;
	n = n_traits(a, b);
	for (unsigned int t = 0; t < n; t++)
		if (!str_eq(a->trait[t], b->trait[t]))
			strbuf_addf(&differ, "%s%s", differ.len ? ", " : "",
				    trait_names[t]);
	if (!differ.len)
		return;
	doc_path(&where, a->e->node);
	doc_error_at(errors, b->e->node,
		     "ambiguous: port %u of the same host is in %s (line %u) "
		     "too, with another %s",
		     port, where.s, a->e->node->pos.line, differ.s);
}

void check_ambiguity(struct arena *a, const struct spec *s,
		     struct doc_errors *errors)
{
	size_t n = 0, n_leaders = 0, i, j;
	struct subject *v;
	size_t *leaders;

	for (i = 0; i < s->network_policies.n; i++)
		n += s->network_policies.v[i].endpoints.n;
	v = arena_array(a, struct subject, n);
	leaders = arena_array(a, size_t, n);

	n = 0;
	for (i = 0; i < s->network_policies.n; i++)
		for (j = 0; j < s->network_policies.v[i].endpoints.n; j++) {
			v[n].e = &s->network_policies.v[i].endpoints.v[j];
			if (!v[n].e->node)
				continue;
			set_traits(a, &v[n]);
			set_group(v, n, leaders, &n_leaders);
			n++;
		}
	for (i = 0; i < n; i++)
		for (j = i + 1; j < n && errors->n_dropped == 0; j++)
			if (v[i].group != v[j].group)
				check_pair(&v[i], &v[j], errors);
}
