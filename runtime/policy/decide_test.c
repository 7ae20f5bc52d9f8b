/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <netinet/in.h>
#include <cmocka.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/policy/build.h"
#include "runtime/policy/decide.h"
#include "runtime/policy/policy.h"

struct world {
	struct arena arena;
	struct policy policy, ceiling, empty;
};

static void add(struct policy_build *b, enum policy_host kind, const char *host,
		uint16_t port, uint32_t line)
{
	policy_build_endpoint(b, kind, host, line, 1);
	policy_build_port(b, port);
}

static void allow_net(struct policy_build *b, const char *net, uint32_t bits)
{
	struct match_ip ip;

	assert_int_equal(match_ip_parse(net, &ip), 0);
	policy_build_cidr(b, ip.b, bits, 1);
}

static struct policy finish(struct policy_build *b)
{
	struct policy p;
	struct err err;
	void *data;
	size_t len;

	if (policy_build_finish(b, &data, &len, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(policy_load(data, len, &p, &err), 0);
	return p;
}

/* line numbers are what the tests tell endpoints apart by */
static struct policy make_policy(struct arena *a)
{
	struct policy_build b;

	policy_build_init(&b, a);
	policy_build_entry(&b, "k1", "zeta", 1, 0);
	add(&b, POLICY_HOST_EXACT, "api.example.com", 443, 10);
	policy_build_binary(&b, "/usr/bin/curl", 2);
	policy_build_binary(&b, "/usr/lib/**", 3);

	policy_build_entry(&b, "k2", "alpha", 1, 0);
	add(&b, POLICY_HOST_EXACT, "API.example.com", 443, 20);
	add(&b, POLICY_HOST_EXACT, "api.example.com", 6443, 21);
	policy_build_binary(&b, "/usr/bin/git", 2);
	policy_build_binary(&b, "/usr/bin/curl", 2);

	policy_build_entry(&b, "k3", "open", 1, POLICY_ENTRY_ANY_BINARY);
	add(&b, POLICY_HOST_GLOB, "*.wild.example", 443, 30);
	add(&b, POLICY_HOST_GLOB, "*.wild.example", 6443, 31);
	add(&b, POLICY_HOST_LITERAL, "10.1.2.3", 5432, 32);
	add(&b, POLICY_HOST_LITERAL, "127.0.0.1", 80, 33);
	add(&b, POLICY_HOST_EXACT, "db.example.com", 5432, 34);
	allow_net(&b, "10.5.0.0", 96 + 16);
	add(&b, POLICY_HOST_NONE, "", 9000, 35);
	allow_net(&b, "10.9.0.0", 96 + 16);
	allow_net(&b, "fd00:9::", 32);
	add(&b, POLICY_HOST_EXACT, "meta.example.com", 80, 36);
	add(&b, POLICY_HOST_LITERAL, "2606:4700::1111", 443, 37);
	add(&b, POLICY_HOST_LITERAL, "10.1.2.4", 10250, 38);

	policy_build_entry(&b, "k4", "nobody", 1, 0);
	add(&b, POLICY_HOST_EXACT, "nobody.example.com", 443, 40);
	return finish(&b);
}

static struct policy make_ceiling(struct arena *a)
{
	struct policy_build b;

	policy_build_init(&b, a);
	policy_build_entry(&b, "c", "ceiling", 1, POLICY_ENTRY_ANY_BINARY);
	add(&b, POLICY_HOST_GLOB, "*.example.com", 443, 100);
	return finish(&b);
}

static struct policy make_empty(struct arena *a)
{
	struct policy_build b;

	policy_build_init(&b, a);
	return finish(&b);
}

static int setup(void **state)
{
	static struct world w;

	arena_init(&w.arena);
	w.policy = make_policy(&w.arena);
	w.ceiling = make_ceiling(&w.arena);
	w.empty = make_empty(&w.arena);
	*state = &w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	arena_done(&w->arena);
	return 0;
}

struct question {
	const char *name, *ip;
	uint16_t port;
	const char *exe, *ancestor;
	enum reason reason;
	uint32_t line;
	const char *detail; /* NULL: not looked at */
};

static void ask(const struct policy *p, const struct policy *ceiling,
		const struct question *q, struct decision *ret)
{
	struct decide_caller c = {
		.matches = q->exe ? decide_by_path : NULL,
		.exe = q->exe,
		.ancestors = &q->ancestor,
		.n_ancestors = q->ancestor ? 1 : 0,
	};
	struct decide_dest d = {
		.port = q->port,
		.proto = IPPROTO_TCP,
		.names = &q->name,
		.n_names = q->name ? 1 : 0,
	};

	assert_int_equal(match_ip_parse(q->ip, &d.ip), 0);
	decide_connect(p, ceiling, &d, &c, ret);
}

#define CURL "/usr/bin/curl"

static const struct question questions[] = {
	/* by name: the smallest name of those that match is reported */
	{"api.example.com", "1.1.1.1", 443, CURL, NULL, REASON_ALLOWED, 20, ""},
	{"Api.Example.Com", "1.1.1.1", 443, CURL, NULL, REASON_ALLOWED, 20, ""},
	{"api.example.com", "1.1.1.1", 443, "/usr/lib/a/b", NULL,
	 REASON_ALLOWED, 10, ""},
	{"api.example.com", "1.1.1.1", 443, "/bin/sh", CURL, REASON_ALLOWED, 20,
	 ""},
	{"api.example.com", "1.1.1.1", 443, "/bin/sh", "/bin/bash",
	 REASON_BINARY_NOT_ALLOWED, 20,
	 "binary '/bin/sh' not allowed in policy 'alpha' (ancestors: "
	 "[/bin/bash])"},
	{"api.example.com", "1.1.1.1", 443, NULL, NULL, REASON_BINARY_UNKNOWN,
	 20, NULL},
	{"api.example.com", "1.1.1.1", 80, CURL, NULL, REASON_PORT_NOT_ALLOWED,
	 20, "endpoint api.example.com:80 is not allowed by any policy"},
	{"other.example.com", "1.1.1.1", 443, CURL, NULL,
	 REASON_HOST_NOT_IN_ALLOWLIST, 0,
	 "endpoint other.example.com:443 is not allowed by any policy"},
	{NULL, "1.1.1.1", 443, CURL, NULL, REASON_LITERAL_ADDRESS, 0,
	 "endpoint 1.1.1.1:443 is not allowed by any policy"},
	{NULL, "2606::1", 443, CURL, NULL, REASON_LITERAL_ADDRESS, 0,
	 "endpoint [2606::1]:443 is not allowed by any policy"},
	/* an entry that lists no binary allows none, identified or not */
	{"nobody.example.com", "1.1.1.1", 443, CURL, NULL,
	 REASON_BINARY_NOT_ALLOWED, 40, NULL},
	{"nobody.example.com", "1.1.1.1", 443, NULL, NULL,
	 REASON_BINARY_NOT_ALLOWED, 40, NULL},
	/* globs: public addresses only, but then any port */
	{"a.wild.example", "1.1.1.1", 443, NULL, NULL, REASON_ALLOWED, 30, ""},
	{"a.wild.example", "1.1.1.1", 6443, NULL, NULL, REASON_ALLOWED, 31, ""},
	{"a.b.wild.example", "1.1.1.1", 443, NULL, NULL,
	 REASON_HOST_NOT_IN_ALLOWLIST, 0, NULL},
	{"a.wild.example", "10.0.0.1", 443, NULL, NULL, REASON_PRIVATE_ADDRESS,
	 30,
	 "a.wild.example resolves to internal address 10.0.0.1, "
	 "connection rejected"},
	{"a.wild.example", "169.254.169.254", 443, NULL, NULL,
	 REASON_BLOCKED_ADDRESS, 30,
	 "a.wild.example resolves to always-blocked address "
	 "169.254.169.254, connection rejected"},
	/* exact hosts: internal addresses too, no control-plane port */
	{"api.example.com", "10.0.0.1", 443, CURL, NULL, REASON_ALLOWED, 20,
	 ""},
	{"api.example.com", "10.0.0.1", 6443, CURL, NULL, REASON_BLOCKED_PORT,
	 21, "port 6443 is a blocked control-plane port, connection rejected"},
	{"meta.example.com", "169.254.169.254", 80, NULL, NULL,
	 REASON_BLOCKED_ADDRESS, 36, NULL},
	{"meta.example.com", "::ffff:127.0.0.9", 80, NULL, NULL,
	 REASON_BLOCKED_ADDRESS, 36, NULL},
	/* allowed_ips beside a host */
	{"db.example.com", "10.5.0.1", 5432, NULL, NULL, REASON_ALLOWED, 34,
	 ""},
	{"db.example.com", "10.6.0.1", 5432, NULL, NULL, REASON_PRIVATE_ADDRESS,
	 34,
	 "db.example.com resolves to 10.6.0.1 which is not in allowed_ips, "
	 "connection rejected"},
	{"db.example.com", "1.1.1.1", 5432, NULL, NULL, REASON_PRIVATE_ADDRESS,
	 34, NULL},
	/* literal addresses, in either family's form */
	{NULL, "10.1.2.3", 5432, NULL, NULL, REASON_ALLOWED, 32, ""},
	{NULL, "::ffff:10.1.2.3", 5432, NULL, NULL, REASON_ALLOWED, 32, ""},
	{NULL, "2606:4700::1111", 443, NULL, NULL, REASON_ALLOWED, 37, ""},
	{NULL, "10.1.2.3", 5433, NULL, NULL, REASON_PORT_NOT_ALLOWED, 32, NULL},
	{NULL, "10.1.2.4", 10250, NULL, NULL, REASON_BLOCKED_PORT, 38, NULL},
	{NULL, "10.1.2.5", 5432, NULL, NULL, REASON_LITERAL_ADDRESS, 0, NULL},
	{NULL, "127.0.0.1", 80, NULL, NULL, REASON_BLOCKED_ADDRESS, 33, NULL},
	{NULL, "127.0.0.2", 80, NULL, NULL, REASON_BLOCKED_ADDRESS, 0, NULL},
	{"other.example.com", "169.254.169.254", 80, NULL, NULL,
	 REASON_BLOCKED_ADDRESS, 0, NULL},
	/* no host: any name, or none, on that port within allowed_ips */
	{NULL, "10.9.1.1", 9000, NULL, NULL, REASON_ALLOWED, 35, ""},
	{NULL, "fd00:9::1", 9000, NULL, NULL, REASON_ALLOWED, 35, ""},
	{"what.ever", "10.9.1.1", 9000, NULL, NULL, REASON_ALLOWED, 35, ""},
	{NULL, "10.9.1.1", 9001, NULL, NULL, REASON_PORT_NOT_ALLOWED, 35, NULL},
	{NULL, "10.8.1.1", 9000, NULL, NULL, REASON_LITERAL_ADDRESS, 0, NULL},
};

static void test_connect(void **state)
{
	struct world *w = *state;

	for (size_t i = 0; i < N_ELEMENTS(questions); i++) {
		const struct question *q = &questions[i];
		struct decision d;

		ask(&w->policy, NULL, q, &d);
		if (d.reason != q->reason || d.line != q->line ||
		    d.allow != (q->reason == REASON_ALLOWED))
			fail_msg("%zu: %s %s:%u: %s, line %u", i,
				 q->name ? q->name : "", q->ip, q->port,
				 reason_name(d.reason), d.line);
		if (q->detail)
			assert_string_equal(d.detail, q->detail);
		assert_ptr_equal(d.policy, &w->policy);
		assert_int_equal(d.endpoint == POLICY_NONE, q->line == 0);
		assert_int_equal(d.entry == POLICY_NONE, q->line == 0);
		assert_false(d.inspect);
	}
}

static void test_host_is_reported(void **state)
{
	struct world *w = *state;
	const char *names[] = {"x.example.com", "db.example.com"};
	struct decide_dest dest = {.port = 5432,
				   .proto = IPPROTO_TCP,
				   .names = names,
				   .n_names = 2};
	struct decision d;

	assert_int_equal(match_ip_parse("10.5.1.1", &dest.ip), 0);
	decide_connect(&w->policy, NULL, &dest, NULL, &d);
	assert_true(d.allow);
	assert_ptr_equal(d.host, names[1]);

	assert_int_equal(match_ip_parse("10.1.2.3", &dest.ip), 0);
	dest.n_names = 0;
	decide_connect(&w->policy, NULL, &dest, NULL, &d);
	assert_true(d.allow);
	assert_null(d.host);
}

static void test_was_resolved(void **state)
{
	struct world *w = *state;
	struct decide_dest dest = {
		.port = 443, .proto = IPPROTO_TCP, .was_resolved = true};
	struct decision d;

	assert_int_equal(match_ip_parse("1.1.1.1", &dest.ip), 0);
	decide_connect(&w->policy, NULL, &dest, NULL, &d);
	assert_int_equal(d.reason, REASON_ADDRESS_NOT_RESOLVED);
}

static void test_protocol(void **state)
{
	static const uint8_t others[] = {IPPROTO_UDP, IPPROTO_ICMP,
					 IPPROTO_SCTP, IPPROTO_UDPLITE, 0};
	struct world *w = *state;
	struct decide_dest dest = {.port = 5432};
	struct decision d;

	assert_int_equal(match_ip_parse("10.1.2.3", &dest.ip), 0);
	for (size_t i = 0; i < N_ELEMENTS(others); i++) {
		dest.proto = others[i];
		decide_connect(&w->policy, NULL, &dest, NULL, &d);
		assert_false(d.allow);
		assert_int_equal(d.reason, REASON_PROTOCOL);
	}
}

static void test_empty(void **state)
{
	struct world *w = *state;
	struct question q = {"a.example.com",
			     "1.1.1.1",
			     443,
			     CURL,
			     NULL,
			     REASON_HOST_NOT_IN_ALLOWLIST,
			     0,
			     NULL};
	struct decision d;

	ask(&w->empty, NULL, &q, &d);
	assert_false(d.allow);
	assert_int_equal(d.reason, q.reason);
	assert_string_equal(d.detail,
			    "network connections not allowed by policy");
	assert_true(policy_has(&w->empty, POLICY_NO_EGRESS));
}

static void test_ceiling(void **state)
{
	struct world *w = *state;
	struct question q = {"api.example.com", "1.1.1.1", 443, CURL, NULL,
			     REASON_ALLOWED,	20,	   NULL};
	struct decision d;

	ask(&w->policy, &w->ceiling, &q, &d);
	assert_true(d.allow);
	assert_ptr_equal(d.policy, &w->policy);
	/* the ceiling's glob takes public addresses only */
	q.ip = "10.0.0.1";
	ask(&w->policy, &w->ceiling, &q, &d);
	assert_false(d.allow);
	assert_int_equal(d.reason, REASON_CEILING);
	assert_ptr_equal(d.policy, &w->ceiling);
	assert_int_equal(d.line, 100);
	/* what the policy refuses is the policy's refusal */
	q.port = 80;
	ask(&w->policy, &w->ceiling, &q, &d);
	assert_int_equal(d.reason, REASON_PORT_NOT_ALLOWED);
	assert_ptr_equal(d.policy, &w->policy);
}

static void test_inspect(void **state)
{
	struct world *w = *state;
	struct question q = {"x.y", "1.1.1.1",	    443, CURL,
			     NULL,  REASON_ALLOWED, 2,	 NULL};
	struct policy_build b;
	struct policy_endpoint *e;
	struct policy p;
	struct decision d;

	policy_build_init(&b, &w->arena);
	policy_build_entry(&b, "a", "a", 1, POLICY_ENTRY_ANY_BINARY);
	add(&b, POLICY_HOST_EXACT, "x.y", 443, 2);
	policy_build_entry(&b, "b", "b", 3, 0);
	e = policy_build_endpoint(&b, POLICY_HOST_EXACT, "x.y", 4, 1);
	e->protocol = POLICY_PROTO_REST;
	e->inspect = policy_build_text(&b, "protocol rest");
	policy_build_port(&b, 443);
	policy_build_binary(&b, CURL, 5);
	p = finish(&b);

	assert_true(policy_has(&p, POLICY_NEEDS_INSPECTION));
	assert_int_equal(policy_first_inspected(&p), 1);
	ask(&p, NULL, &q, &d);
	assert_true(d.allow);
	assert_int_equal(d.line, 2);
	assert_true(d.inspect); /* though the plain endpoint is reported */
	q.exe = "/bin/other";
	ask(&p, NULL, &q, &d);
	assert_true(d.allow);
	assert_false(d.inspect);
}

static void test_names(void **state)
{
	static const struct {
		const char *name;
		bool ok;
		uint32_t line;
	} facts[] = {
		{"api.example.com", true, 10},
		{"API.example.COM", true, 10},
		{"a.wild.example", true, 30},
		{"a.b.wild.example", true, 35}, /* the endpoint without host
						 * covers every name */
		{"", false, 0},
		{"a..b", false, 0},
		{"api.example.com.", false, 0},
	};
	struct world *w = *state;
	struct decision d;

	for (size_t i = 0; i < N_ELEMENTS(facts); i++) {
		decide_name(&w->policy, NULL, facts[i].name, &d);
		assert_int_equal(d.allow, facts[i].ok);
		assert_int_equal(d.line, facts[i].line);
		assert_int_equal(d.reason, facts[i].ok
						   ? REASON_ALLOWED
						   : REASON_NAME_NOT_ALLOWED);
	}
	decide_name(&w->policy, &w->ceiling, "api.example.com", &d);
	assert_true(d.allow);
	decide_name(&w->policy, &w->ceiling, "a.wild.example", &d);
	assert_false(d.allow);
	assert_int_equal(d.reason, REASON_CEILING);
	decide_name(&w->ceiling, NULL, "example.org", &d);
	assert_int_equal(d.reason, REASON_NAME_NOT_ALLOWED);
	assert_string_equal(d.detail, reason_meaning(d.reason));
}

static void test_answers(void **state)
{
	static const struct {
		const char *name, *ip;
		bool ok;
	} facts[] = {
		{"api.example.com", "1.1.1.1", true},
		{"api.example.com", "10.0.0.1", true},
		{"api.example.com", "127.0.0.1", false},
		{"api.example.com", "::1", false},
		{"a.wild.example", "1.1.1.1", true},
		{"a.wild.example", "10.0.0.1", false},
		{"a.wild.example", "10.9.0.1", true}, /* no host, 10.9/16 */
		{"db.example.com", "10.5.0.1", true},
		{"db.example.com", "10.6.0.1", false},
		{"what.ever", "10.9.0.1", true},
		{"what.ever", "1.1.1.1", false},
		{"what..ever", "10.9.0.1", false},
	};
	struct world *w = *state;
	struct match_ip ip;

	for (size_t i = 0; i < N_ELEMENTS(facts); i++) {
		assert_int_equal(match_ip_parse(facts[i].ip, &ip), 0);
		if (decide_answer(&w->policy, NULL, facts[i].name, &ip) !=
		    facts[i].ok)
			fail_msg("%s %s", facts[i].name, facts[i].ip);
	}
	assert_int_equal(match_ip_parse("10.0.0.1", &ip), 0);
	assert_false(
		decide_answer(&w->policy, &w->ceiling, "api.example.com", &ip));
	assert_int_equal(match_ip_parse("1.1.1.1", &ip), 0);
	assert_true(
		decide_answer(&w->policy, &w->ceiling, "api.example.com", &ip));
}

static void test_endpoints_of(void **state)
{
	struct world *w = *state;
	uint32_t got[4] = {99, 99, 99, 99};

	assert_int_equal(
		decide_endpoints_of(&w->policy, "api.example.com", got, 2), 4);
	assert_int_equal(w->policy.endpoint[got[0]].line, 10);
	assert_int_equal(w->policy.endpoint[got[1]].line, 20);
	assert_int_equal(got[2], 99);
	assert_int_equal(
		decide_endpoints_of(&w->policy, "a.wild.example", got, 4), 3);
	assert_int_equal(w->policy.endpoint[got[2]].line, 35);
	assert_int_equal(decide_endpoints_of(&w->policy, "bad..name", got, 4),
			 0);
}

static void test_reasons(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < REASON_N; i++) {
		assert_int_equal(reason_find(reason_name((enum reason)i)), i);
		assert_true(reason_meaning((enum reason)i)[0] != '\0');
	}
	assert_int_equal(reason_find("nonsense"), REASON_N);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_connect),
		cmocka_unit_test(test_host_is_reported),
		cmocka_unit_test(test_was_resolved),
		cmocka_unit_test(test_protocol),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_ceiling),
		cmocka_unit_test(test_inspect),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_endpoints_of),
		cmocka_unit_test(test_reasons),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
