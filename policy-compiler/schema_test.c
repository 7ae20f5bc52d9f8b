/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutations of every row of the schema: a document that uses all keys is
 * written out again and again, each time with one thing wrong, and the error
 * must be where that thing is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "policy-compiler/compile.h"
#include "policy-compiler/spec.h"
#include "runtime/base/arena.h"
#include "runtime/base/json.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/doc/decode.h"

static const char full[] =
	"version: 1\n"
	"filesystem_policy:\n"
	"  include_workdir: true\n"
	"  read_only: [/usr]\n"
	"  read_write: [/tmp]\n"
	"landlock: {compatibility: hard_requirement}\n"
	"process: {run_as_user: sandbox, run_as_group: '1000'}\n"
	"network_policies:\n"
	"  all:\n"
	"    name: everything\n"
	"    endpoints:\n"
	"    - host: rest.example.com\n"
	"      path: /v1/**\n"
	"      port: 443\n"
	"      protocol: rest\n"
	"      tls: terminate\n"
	"      enforcement: enforce\n"
	"      rules:\n"
	"      - allow: {method: GET, path: /a, command: x,\n"
	"                query: {q: {any: [a]}}, operation_type: query,\n"
	"                operation_name: n, fields: [f]}\n"
	"      deny_rules: [{method: PUT, path: /b}]\n"
	"      allowed_ips: [10.0.0.0/8]\n"
	"      allow_encoded_slash: true\n"
	"      websocket_credential_rewrite: true\n"
	"      allow_uninspected_credentials: true\n"
	"      credential_signing: sigv4\n"
	"      signing_service: s3\n"
	"      signing_region: eu-west-1\n"
	"      credential_binding: {provider: aws}\n"
	"    - host: gql.example.com\n"
	"      ports: [443, 8443]\n"
	"      protocol: graphql\n"
	"      enforcement: enforce\n"
	"      access: read-only\n"
	"      request_body_credential_rewrite: false\n"
	"      persisted_queries: allow_registered\n"
	"      graphql_persisted_queries:\n"
	"        abc: {operation_type: query, operation_name: n, fields: [f]}\n"
	"      graphql_max_body_bytes: 65536\n"
	"      json_rpc: {max_body_bytes: 1}\n"
	"    - host: mcp.example.com\n"
	"      port: 443\n"
	"      protocol: mcp\n"
	"      enforcement: enforce\n"
	"      rules:\n"
	"      - allow: {method: tools/call, tool: {any: [read, 'get_*']}}\n"
	"      - allow: {params: {name: list}}\n"
	"      mcp: {max_body_bytes: 1, strict_tool_names: true,\n"
	"            allow_all_known_mcp_methods: true}\n"
	"    binaries: [{path: /usr/bin/curl, harness: true}]\n"
	"network_middlewares:\n"
	"  guard:\n"
	"    name: Guard\n"
	"    middleware: content-guard\n"
	"    order: -5\n"
	"    config: {a: [1, {b: c}]}\n"
	"    on_error: fail_open\n"
	"    endpoints: {include: ['*.example.com'], exclude: [x.example.com]}\n";

static const char brief[] = "version: 1\n"
			    "network:\n"
			    "  default: deny\n"
			    "  allow:\n"
			    "  - host: a.example.com\n"
			    "    port: 443\n"
			    "    binaries: [/usr/bin/curl]\n"
			    "  - host: b.example.com\n"
			    "    ports: [1, 2]\n";

enum mutation {
	NOTHING,
	UNKNOWN_KEY,
	WRONG_TYPE,
	OUT_OF_RANGE,
	BELOW_RANGE,
	DUPLICATE,
	MISSING,
	MUTATION_N
};

/* A document being written as JSON, one member a line. */
struct writer {
	struct strbuf sb;
	uint32_t line;
	size_t line_start;
	/* what to do, to which member of which map */
	enum mutation mutation;
	const struct doc_node *target;
	const struct decode_row *row;
	/* where that is */
	struct doc_pos pos;
};

static struct arena arena;

static struct doc_pos here(const struct writer *w)
{
	return (struct doc_pos){w->line,
				(uint32_t)(w->sb.len - w->line_start + 1)};
}

static void new_line(struct writer *w)
{
	strbuf_addc(&w->sb, '\n');
	w->line++;
	w->line_start = w->sb.len;
}

static void write_node(struct writer *w, const struct doc_node *n);

static const char *wrong_type(const struct decode_row *row)
{
	switch (row->kind) {
	case DECODE_STR:
		return "{}";
	case DECODE_BOOL:
	case DECODE_I32:
	case DECODE_U32:
	case DECODE_I64:
	case DECODE_U64:
	case DECODE_BITS:
	case DECODE_STRUCT:
	case DECODE_LIST:
	case DECODE_DICT:
		return "\"x\"";
	case DECODE_ENUM:
	case DECODE_FN:
	case DECODE_N:
		break;
	}
	return "5";
}

/* NULL: the row has no such limit. */
static const char *out_of_range(const struct decode_row *row, bool below)
{
	bool leaf = row->kind == DECODE_I32 || row->kind == DECODE_U32;

	if (row->kind == DECODE_ENUM)
		return below ? "\"\"" : "\"bogus\"";
	if (row->kind == DECODE_STR || row->kind == DECODE_LIST) {
		if (below && (row->flags & DECODE_NONEMPTY))
			return row->kind == DECODE_STR ? "\"\"" : "[]";
		if (row->kind == DECODE_LIST && !below &&
		    row->elem == DECODE_U32)
			return "[65536]";
		return NULL;
	}
	if (!leaf)
		return NULL;
	if (below)
		return row->kind == DECODE_I32 ? "-2147483649" : "0";
	return arena_printf(
		&arena, "%llu",
		(unsigned long long)(row->max ? row->max : UINT32_MAX) + 1);
}

static void write_member(struct writer *w, const struct doc_node *n)
{
	bool hit = n == w->target;

	json_quote(&w->sb, n->key, strlen(n->key));
	strbuf_adds(&w->sb, ": ");
	if (hit && w->mutation != UNKNOWN_KEY && w->mutation != DUPLICATE)
		w->pos = here(w);
	/* what is out of range is in the list */
	if (hit && w->mutation == OUT_OF_RANGE && w->row->kind == DECODE_LIST)
		w->pos.col++;
	if (hit && w->mutation == WRONG_TYPE)
		strbuf_adds(&w->sb, wrong_type(w->row));
	else if (hit &&
		 (w->mutation == OUT_OF_RANGE || w->mutation == BELOW_RANGE))
		strbuf_adds(&w->sb,
			    out_of_range(w->row, w->mutation == BELOW_RANGE));
	else
		write_node(w, n);
}

static void write_map(struct writer *w, const struct doc_node *n)
{
	bool some = false;

	for (const struct doc_node *it = n->first; it; it = it->next) {
		if (it == w->target && w->mutation == MISSING)
			continue;
		if (some)
			strbuf_addc(&w->sb, ',');
		new_line(w);
		some = true;
		write_member(w, it);
		if (it != w->target)
			continue;
		if (w->mutation == UNKNOWN_KEY) {
			strbuf_addc(&w->sb, ',');
			w->pos = here(w);
			strbuf_addf(&w->sb, "\"%s_x_y\": 1", it->key);
		} else if (w->mutation == DUPLICATE) {
			strbuf_addc(&w->sb, ',');
			w->pos = here(w);
			write_member(w, it);
		}
	}
}

static void write_node(struct writer *w, const struct doc_node *n)
{
	switch (n->kind) {
	case DOC_MAP:
		if (w->mutation == MISSING && w->target->parent == n)
			w->pos = here(w);
		strbuf_addc(&w->sb, '{');
		write_map(w, n);
		strbuf_addc(&w->sb, '}');
		return;
	case DOC_LIST:
		strbuf_addc(&w->sb, '[');
		for (const struct doc_node *it = n->first; it; it = it->next) {
			if (it != n->first)
				strbuf_addc(&w->sb, ',');
			write_node(w, it);
		}
		strbuf_addc(&w->sb, ']');
		return;
	case DOC_STRING:
		json_quote(&w->sb, n->text, n->len);
		return;
	case DOC_NULL:
	case DOC_BOOL:
	case DOC_NUMBER:
	case DOC_N:
		strbuf_adds(&w->sb, n->text);
		return;
	}
}

static const struct doc_node *parse(const char *text)
{
	const struct doc_node *root;
	struct doc_errors e;

	doc_errors_init(&e, &arena, "fixture");
	assert_int_equal(
		doc_parse(&arena, text, strlen(text), DOC_AUTO, &root, &e), 0);
	return root;
}

static bool has_error_at(const struct doc_errors *e, struct doc_pos pos)
{
	for (size_t i = 0; i < e->n; i++)
		if (e->v[i].pos.line == pos.line && e->v[i].pos.col == pos.col)
			return true;
	return false;
}

static size_t n_mutations;

static void mutate(const struct doc_node *root, const struct doc_node *member,
		   const struct decode_row *row, enum mutation mutation)
{
	struct writer w = {
		.sb = STRBUF_HEAP,
		.line = 1,
		.mutation = mutation,
		.target = member,
		.row = row,
	};
	struct compile_messages m;
	struct arena scratch = ARENA_INIT;
	void *data;
	size_t len;

	compile_messages_init(&m, &scratch, "mutant");
	write_node(&w, root);
	if (mutation == NOTHING) {
		if (compile(&scratch, w.sb.s, w.sb.len, &m, &data, &len) < 0)
			fail_msg("%s", m.errors.v[0].text);
	} else if (compile(&scratch, w.sb.s, w.sb.len, &m, &data, &len) == 0 ||
		   !has_error_at(&m.errors, w.pos)) {
		print_message("%s\n", w.sb.s);
		for (size_t i = 0; i < m.errors.n; i++)
			print_message("%u:%u %s\n", m.errors.v[i].pos.line,
				      m.errors.v[i].pos.col,
				      m.errors.v[i].text);
		fail_msg("mutation %d of %s: no error at %u:%u", (int)mutation,
			 row->key, w.pos.line, w.pos.col);
	}
	n_mutations++;
	arena_done(&scratch);
	strbuf_done(&w.sb);
}

/* ------------------------------------------------------------- the walk */

enum { SEEN_MAX = 256 };

static const struct decode_row *seen[SEEN_MAX];
static size_t n_seen;

static void see(const struct decode_row *row)
{
	for (size_t i = 0; i < n_seen; i++)
		if (seen[i] == row)
			return;
	assert_true(n_seen < SEEN_MAX);
	seen[n_seen++] = row;
}

static void mutate_row(const struct doc_node *root,
		       const struct doc_node *member,
		       const struct decode_row *row)
{
	mutate(root, member, row, UNKNOWN_KEY);
	mutate(root, member, row, WRONG_TYPE);
	mutate(root, member, row, DUPLICATE);
	if (out_of_range(row, false))
		mutate(root, member, row, OUT_OF_RANGE);
	if (out_of_range(row, true))
		mutate(root, member, row, BELOW_RANGE);
	if (row->flags & DECODE_REQUIRED)
		mutate(root, member, row, MISSING);
	see(row);
}

static void walk(const struct doc_node *root, const struct decode_table *t,
		 const struct doc_node *map)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct decode_row *row = &t->rows[i];
		const struct doc_node *n = doc_get(map, row->key);

		if (!n)
			continue;
		mutate_row(root, n, row);
		if (row->kind == DECODE_STRUCT)
			walk(root, row->table, n);
		else if (row->elem == DECODE_STRUCT && row->table)
			for (const struct doc_node *it = n->first; it;
			     it = it->next)
				walk(root, row->table, it);
	}
}

static void check_seen(const struct decode_table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct decode_row *row = &t->rows[i];
		bool found = false;

		for (size_t k = 0; k < n_seen; k++)
			found |= seen[k] == row;
		if (!found)
			fail_msg("no mutation of %s", row->key);
		if (row->table)
			check_seen(row->table);
	}
}

static void test_mutations(void **state)
{
	const struct doc_node *one = parse(full), *two = parse(brief);

	(void)state;
	mutate(one, NULL, NULL, NOTHING);
	mutate(two, NULL, NULL, NOTHING);
	walk(one, &spec_table, one);
	walk(two, &spec_table, two);
	check_seen(&spec_table);
	assert_true(n_mutations > 300);
}

static void test_tables(void **state)
{
	(void)state;
	assert_null(decode_table_fault(&spec_table));
}

static int teardown(void **state)
{
	(void)state;
	arena_done(&arena);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_mutations),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
