/* SPDX-License-Identifier: Apache-2.0 */
/* What a document becomes: the sections of its compiled policy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "policy-compiler/base64.h"
#include "policy-compiler/compile.h"
#include "runtime/base/arena.h"
#include "runtime/base/digest.h"
#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/policy/policy.h"

static struct arena arena;

static int teardown(void **state)
{
	(void)state;
	arena_done(&arena);
	return 0;
}

static struct policy compiled(const char *text)
{
	struct compile_messages m;
	struct policy p;
	struct err err;
	void *data;
	size_t len;

	compile_messages_init(&m, &arena, "p");
	if (compile(&arena, text, strlen(text), &m, &data, &len) < 0)
		fail_msg("%s", m.errors.v[0].text);
	assert_int_equal(policy_load(data, len, &p, &err), 0);
	return p;
}

static bool has_path(const struct policy *p, const char *path, uint32_t flags)
{
	for (uint32_t i = 0; i < p->n_paths; i++)
		if (str_eq(policy_text(p, p->path[i].path), path) &&
		    p->path[i].flags == flags)
			return true;
	return false;
}

static void test_short_form(void **state)
{
	struct policy p = compiled("network:\n"
				   "  default: deny\n"
				   "  allow:\n"
				   "  - host: A.example.com\n"
				   "    port: 443\n"
				   "  - host: 10.0.0.1\n"
				   "    ports: [5, 1]\n"
				   "    binaries: [/x, '/y/**']\n");

	(void)state;
	assert_false(policy_has(&p, POLICY_FULL_FORM));
	assert_false(policy_has(&p, POLICY_FS_ENFORCE));
	assert_false(policy_has(&p, POLICY_FS_PRESENT));
	assert_int_equal(p.n_paths, 0);
	assert_int_equal(p.header->network_line, 1);
	assert_int_equal(p.n_entries, 2);
	assert_string_equal(policy_name_of(&p, 0), "network.allow[0]");
	assert_string_equal(policy_name_of(&p, 1), "network.allow[1]");
	assert_int_equal(p.entry[0].flags, POLICY_ENTRY_ANY_BINARY);
	assert_int_equal(p.entry[1].flags, 0);
	assert_int_equal(p.endpoint[0].line, 4);
	assert_string_equal(policy_text(&p, p.endpoint[0].host),
			    "a.example.com");
	assert_int_equal(p.endpoint[1].host_kind, POLICY_HOST_LITERAL);
	assert_int_equal(p.port[p.endpoint[1].first_port], 1);
	assert_int_equal(p.n_binaries, 2);
	assert_int_equal(p.binary[1].glob, 1);
	assert_int_equal(p.binary_ref[0].line, 8);
	assert_int_equal(p.header->user, POLICY_NONE);
}

static void test_short_form_with_sections(void **state)
{
	struct policy p = compiled("network:\n"
				   "  default: deny\n"
				   "  allow: [{host: a.b.c, port: 1}]\n"
				   "filesystem_policy: {read_only: [/data]}\n"
				   "landlock: {compatibility: "
				   "hard_requirement}\n"
				   "process: {run_as_user: 7}\n");

	(void)state;
	assert_true(policy_has(&p, POLICY_FS_ENFORCE));
	assert_true(policy_has(&p, POLICY_LANDLOCK_HARD));
	assert_false(policy_has(&p, POLICY_FS_WORKDIR));
	assert_true(has_path(&p, "/data", 0));
	assert_true(has_path(&p, "/usr", POLICY_PATH_BASELINE));
	assert_string_equal(policy_text(&p, p.header->user), "7");
	assert_int_equal(p.header->user_line, 6);
	assert_int_equal(p.header->landlock_line, 5);
	assert_int_equal(p.header->filesystem_line, 4);
}

static void test_baseline(void **state)
{
	static const char network[] =
		"network_policies: {a: {endpoints: [{host: a.b.c, port: 1}], "
		"binaries: [{path: /x}]}}\n";
	char *text = arena_printf(&arena,
				  "version: 1\n%sfilesystem_policy:\n"
				  "  read_only: [/tmp, /usr/]\n"
				  "  read_write: [/var/log]\n",
				  network);
	struct policy p = compiled(text);

	(void)state;
	/* the author's own lists win */
	assert_true(has_path(&p, "/tmp", 0));
	assert_false(
		has_path(&p, "/tmp", POLICY_PATH_WRITE | POLICY_PATH_BASELINE));
	assert_true(has_path(&p, "/usr/", 0));
	assert_false(has_path(&p, "/usr", POLICY_PATH_BASELINE));
	assert_true(has_path(&p, "/var/log", POLICY_PATH_WRITE));
	assert_false(has_path(&p, "/var/log", POLICY_PATH_BASELINE));
	assert_true(has_path(&p, "/dev/null",
			     POLICY_PATH_WRITE | POLICY_PATH_BASELINE));
	assert_true(has_path(&p, "/proc", POLICY_PATH_BASELINE));
	assert_true(has_path(&p, "/dev/nvidia0",
			     POLICY_PATH_WRITE | POLICY_PATH_BASELINE |
				     POLICY_PATH_GPU));

	/* an absent section: the working directory, and the baseline */
	p = compiled(arena_printf(&arena, "version: 1\n%s", network));
	assert_true(policy_has(&p, POLICY_FS_WORKDIR));
	assert_true(policy_has(&p, POLICY_FS_ENFORCE));
	assert_false(policy_has(&p, POLICY_FS_PRESENT));
	assert_true(has_path(&p, "/usr", POLICY_PATH_BASELINE));

	/* no network, no baseline; both lists empty, no Landlock */
	p = compiled("version: 1\nfilesystem_policy: {read_only: [/a]}\n");
	assert_int_equal(p.n_paths, 1);
	assert_true(policy_has(&p, POLICY_FS_ENFORCE));
	p = compiled("version: 1\n");
	assert_int_equal(p.n_paths, 0);
	assert_false(policy_has(&p, POLICY_FS_ENFORCE));
	assert_true(policy_has(&p, POLICY_NO_EGRESS));
}

static void test_full_form(void **state)
{
	static const char text[] =
		"version: 1\n"
		"network_policies:\n"
		"  key_only:\n"
		"    endpoints:\n"
		"    - {host: a.b.c, port: 1, tls: skip}\n"
		"    - {host: d.b.c, port: 1, protocol: tcp,\n"
		"       allowed_ips: [10.1.2.3/8, 'fd00::/8']}\n"
		"    binaries: [{path: /x}]\n"
		"  named:\n"
		"    name: a name\n"
		"    endpoints:\n"
		"    - host: e.b.c\n"
		"      port: 1\n"
		"      protocol: rest\n"
		"      enforcement: enforce\n"
		"      rules: [{allow: {method: GET, path: /a}}]\n"
		"    - {host: g.m.c, port: 1}\n"
		"    - {host: '*.m.c', port: 2}\n"
		"    - {host: x.m.c, port: 1}\n"
		"    - {host: s.b.c, port: 1, credential_binding: {provider: "
		"p}}\n"
		"network_middlewares:\n"
		"  guard: {middleware: m, config: {k: [1, null, true]},\n"
		"    endpoints: {include: ['*.m.c'], exclude: [x.m.c]}}\n";
	struct policy p = compiled(text);
	struct digest d;
	uint32_t node;

	(void)state;
	digest_of(&d, text, strlen(text));
	assert_memory_equal(p.header->document_digest, d.b, sizeof(d.b));
	assert_true(policy_has(&p, POLICY_FULL_FORM));
	assert_string_equal(policy_name_of(&p, 0), "key_only");
	assert_string_equal(policy_name_of(&p, 2), "a name");
	assert_int_equal(p.entry[1].line, 9);
	assert_int_equal(p.endpoint[0].tls, POLICY_TLS_SKIP);
	assert_int_equal(p.endpoint[1].protocol, POLICY_PROTO_TCP);
	assert_int_equal(p.endpoint[1].n_cidrs, 2);
	assert_int_equal(p.cidr[0].prefix, 96 + 8);
	assert_int_equal(p.cidr[0].address[13], 0);
	assert_int_equal(p.cidr[1].prefix, 8);
	assert_int_equal(p.cidr[1].line, 7);

	/* who is inspected, and why */
	assert_int_equal(p.endpoint[0].inspect, POLICY_NONE);
	assert_int_equal(p.endpoint[1].inspect, POLICY_NONE);
	assert_string_equal(policy_text(&p, p.endpoint[2].inspect),
			    "protocol rest");
	assert_int_equal(p.endpoint[2].enforcement, POLICY_ENFORCE);
	assert_string_equal(policy_text(&p, p.endpoint[3].inspect),
			    "middleware guard");
	assert_string_equal(policy_text(&p, p.endpoint[4].inspect),
			    "middleware guard");
	assert_int_equal(p.endpoint[5].inspect, POLICY_NONE);
	assert_string_equal(policy_text(&p, p.endpoint[6].inspect),
			    "credential_binding");

	/* what is carried */
	node = policy_node_member(&p, p.endpoint[2].layer7, "rules");
	assert_int_equal(p.node[node].kind, POLICY_NODE_LIST);
	node = policy_node_member(&p, node + 1, "allow");
	node = policy_node_member(&p, node, "path");
	assert_string_equal(policy_text(&p, p.node[node].value), "/a");
	assert_int_equal(p.node[node].line, 16);
	node = policy_node_member(&p, p.header->middlewares, "guard");
	node = policy_node_member(&p, node, "config");
	node = policy_node_member(&p, node, "k");
	assert_int_equal(p.node[node].value, 3);
	assert_string_equal(policy_text(&p, p.node[node + 1].value), "1");
	assert_int_equal(p.node[node + 2].kind, POLICY_NODE_NULL);
	assert_int_equal(p.node[node + 3].value, 1);

	/* both programs, and warnings: two wide networks, no binaries */
	assert_non_null(policy_find_program(&p, POLICY_PROGRAM_LISTENER));
	assert_non_null(policy_find_program(&p, POLICY_PROGRAM_PLAIN));
	assert_int_equal(p.n_warnings, 3);
	assert_int_equal(p.warning[2].line, 10);
}

static void test_base64(void **state)
{
	static const char *const facts[][2] = {
		/* RFC 4648, section 10 */
		{"", ""},
		{"f", "Zg=="},
		{"fo", "Zm8="},
		{"foo", "Zm9v"},
		{"foob", "Zm9vYg=="},
		{"fooba", "Zm9vYmE="},
		{"foobar", "Zm9vYmFy"},
	};

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(facts); i++) {
		char room[16];
		struct strbuf sb = STRBUF_FIXED(room);

		base64_encode(&sb, facts[i][0], strlen(facts[i][0]));
		assert_string_equal(sb.s, facts[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_form),
		cmocka_unit_test(test_short_form_with_sections),
		cmocka_unit_test(test_baseline),
		cmocka_unit_test(test_full_form),
		cmocka_unit_test(test_base64),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
