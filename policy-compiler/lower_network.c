/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "policy-compiler/check.h"
#include "policy-compiler/lower.h"
#include "policy-compiler/spec.h"
#include "runtime/base/arena.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/doc/doc.h"
#include "runtime/policy/build.h"
#include "runtime/policy/match.h"

/* -------------------------------------------------------------- layer 7 */

static uint32_t scalar_value(struct policy_build *b, const struct doc_node *n)
{
	switch (n->kind) {
	case DOC_BOOL:
		return n->boolean;
	case DOC_NUMBER:
	case DOC_STRING:
		return policy_build_text(b, n->text);
	case DOC_NULL:
	case DOC_LIST:
	case DOC_MAP:
	case DOC_N:
		break;
	}
	return 0;
}

/* A document's subtree as nodes; @key NULL outside maps. */
static void lower_tree(struct policy_build *b, const struct doc_node *n,
		       const char *key)
{
	static const uint8_t kinds[] = {
		[DOC_NULL] = POLICY_NODE_NULL,
		[DOC_BOOL] = POLICY_NODE_BOOL,
		[DOC_NUMBER] = POLICY_NODE_NUMBER,
		[DOC_STRING] = POLICY_NODE_STRING,
		[DOC_LIST] = POLICY_NODE_LIST,
		[DOC_MAP] = POLICY_NODE_MAP,
	};
	bool has_members = n->kind == DOC_LIST || n->kind == DOC_MAP;
	uint32_t value = has_members ? (uint32_t)n->n : scalar_value(b, n);
	uint32_t node = policy_build_node(b,
					  (enum policy_node_kind)kinds[n->kind],
					  key, value, n->pos.line, n->pos.col);

	if (!has_members)
		return;
	doc_for_each (it, n)
		lower_tree(b, it, n->kind == DOC_MAP ? it->key : NULL);
	policy_build_node_close(b, node);
}

/* Why the gateway has to see what goes to this endpoint, or NULL. */
static const char *inspect_reason(struct arena *a, const struct spec *s,
				  const struct spec_endpoint *e)
{
	const struct {
		bool needed;
		const char *reason;
	} rows[] = {
		{e->credential_binding != NULL, "credential_binding"},
		{e->credential_signing != SPEC_SIGNING_NONE,
		 "credential_signing"},
		{e->request_body_credential_rewrite,
		 "request_body_credential_rewrite"},
		{e->websocket_credential_rewrite,
		 "websocket_credential_rewrite"},
	};
	const char *middleware;

	if (e->protocol > POLICY_PROTO_TCP)
		return arena_printf(a, "protocol %s",
				    spec_protocol_name(e->protocol));
	for (size_t i = 0; i < N_ELEMENTS(rows); i++)
		if (rows[i].needed)
			return rows[i].reason;
	middleware = check_middleware_of(s, e);
	return middleware ? arena_printf(a, "middleware %s", middleware) : NULL;
}

/* All of the endpoint's map; what it is for is in the struct already, too. */
static uint32_t lower_layer7(struct policy_build *b,
			     const struct spec_endpoint *e)
{
	uint32_t root = b->section[POLICY_NODES].n;

	lower_tree(b, e->node, NULL);
	return root;
}

/* ------------------------------------------------------------ endpoints */

static void lower_ports(struct policy_build *b, const struct spec_endpoint *e)
{
	if (e->port.set)
		policy_build_port(b, (uint16_t)e->port.v);
	for (size_t i = 0; i < e->ports.n; i++)
		policy_build_port(b, (uint16_t)e->ports.v[i]);
}

static void lower_networks(struct policy_build *b,
			   const struct spec_endpoint *e)
{
	const struct doc_node *list = doc_get(e->node, "allowed_ips");
	struct match_ip ip;
	uint32_t prefix;

	if (!list)
		return;
	doc_for_each (it, list)
		if (check_parse_net(it->text, &ip, &prefix) == 0)
			policy_build_cidr(b, ip.b, prefix, it->pos.line);
}

static void lower_endpoint(struct policy_build *b, const struct spec *s,
			   const struct spec_endpoint *e)
{
	const char *inspect = inspect_reason(b->arena, s, e);
	struct policy_endpoint *out = policy_build_endpoint(
		b, check_host_kind(e->host), e->host ? e->host : "",
		e->node->pos.line, e->node->pos.col);

	out->protocol = (uint8_t)e->protocol;
	out->tls = (uint8_t)e->tls;
	out->enforcement = (uint8_t)e->enforcement.v;
	if (inspect) {
		out->inspect = policy_build_text(b, inspect);
		out->layer7 = lower_layer7(b, e);
	}
	lower_ports(b, e);
	lower_networks(b, e);
}

static void lower_entry(struct policy_build *b, const struct spec *s,
			const struct spec_entry *entry)
{
	size_t i;

	policy_build_entry(b, entry->key,
			   entry->name ? entry->name : entry->key,
			   entry->node->key_pos.line, 0);
	for (i = 0; i < entry->endpoints.n; i++)
		lower_endpoint(b, s, &entry->endpoints.v[i]);
	for (i = 0; i < entry->binaries.n; i++)
		policy_build_binary(b, entry->binaries.v[i].path,
				    entry->binaries.v[i].node->pos.line);
}

static void lower_short(struct policy_build *b, const struct spec *s,
			const struct spec_short *row, size_t number)
{
	const struct doc_node *node = row->endpoint.node;
	const struct doc_node *binaries = doc_get(node, "binaries");
	char room[40];
	struct strbuf name = STRBUF_FIXED(room);

	strbuf_addf(&name, "network.allow[%zu]", number);
	policy_build_entry(b, name.s, name.s, node->pos.line,
			   binaries ? 0 : POLICY_ENTRY_ANY_BINARY);
	lower_endpoint(b, s, &row->endpoint);
	if (binaries)
		doc_for_each (it, binaries)
			policy_build_binary(b, it->text, it->pos.line);
}

static uint32_t line_of(const struct spec *s, const char *key)
{
	const struct doc_node *n = doc_get(s->node, key);

	return n ? n->key_pos.line : 0;
}

void lower_network(struct policy_build *b, const struct spec *s)
{
	const struct doc_node *middlewares =
		doc_get(s->node, "network_middlewares");
	size_t i;

	b->header.network_line =
		line_of(s, s->network ? "network" : "network_policies");
	for (i = 0; i < s->network_policies.n; i++)
		lower_entry(b, s, &s->network_policies.v[i]);
	for (i = 0; s->network && i < s->network->allow.n; i++)
		lower_short(b, s, &s->network->allow.v[i], i);
	if (middlewares) {
		b->header.middlewares = b->section[POLICY_NODES].n;
		lower_tree(b, middlewares, NULL);
	}
}
