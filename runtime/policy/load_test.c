/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <cmocka.h>

#include "runtime/base/arena.h"
#include "runtime/base/digest.h"
#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/policy/build.h"
#include "runtime/policy/decide.h"
#include "runtime/policy/policy.h"

struct file {
	struct arena arena;
	uint8_t *data;
	size_t len;
};

static void make_network(struct policy_build *b)
{
	static const uint8_t net[16] = {0xfd, 1, 2, 3, 4, 5};
	struct policy_endpoint *e;
	uint32_t root;

	policy_build_entry(b, "one", "first", 3, 0);
	e = policy_build_endpoint(b, POLICY_HOST_EXACT, "B.example.com", 5, 7);
	e->protocol = POLICY_PROTO_REST;
	e->inspect = policy_build_text(b, "protocol rest");
	e->layer7 = policy_build_node(b, POLICY_NODE_MAP, NULL, 2, 5, 7);
	root = e->layer7;
	policy_build_node(b, POLICY_NODE_STRING, "protocol",
			  policy_build_text(b, "rest"), 6, 9);
	policy_build_node(b, POLICY_NODE_LIST, "rules", 1, 7, 9);
	policy_build_node(b, POLICY_NODE_BOOL, NULL, 1, 8, 9);
	policy_build_node_close(b, root + 2);
	policy_build_node_close(b, root);
	policy_build_port(b, 8443);
	policy_build_port(b, 443);
	policy_build_port(b, 443);
	policy_build_port(b, 600);
	policy_build_endpoint(b, POLICY_HOST_EXACT, "a.example.com", 6, 7);
	policy_build_port(b, 1);
	policy_build_binary(b, "/usr/bin/curl", 10);
	policy_build_binary(b, "/usr/**", 11);

	policy_build_entry(b, "two", "two", 20, POLICY_ENTRY_ANY_BINARY);
	policy_build_endpoint(b, POLICY_HOST_NONE, "", 21, 7);
	policy_build_port(b, 65535);
	policy_build_cidr(b, net, 30, 22);
	policy_build_endpoint(b, POLICY_HOST_GLOB, "*.x.y", 23, 7);
	policy_build_port(b, 443);
	policy_build_endpoint(b, POLICY_HOST_LITERAL, "1.2.3.4", 24, 7);
	policy_build_port(b, 443);
	policy_build_endpoint(b, POLICY_HOST_LITERAL, "1.2.3.3", 24, 7);
	policy_build_port(b, 443);

	policy_build_entry(b, "three", "three", 30, 0);
	policy_build_binary(b, "/usr/bin/curl", 31);
}

static int setup(void **state)
{
	static const struct sock_filter program[] = {
		{BPF_LD | BPF_W | BPF_ABS, 0, 0, 4},
		{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 7},
		{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
		{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS},
	};
	static struct file f;
	struct policy_build b;
	struct err err;
	void *data;

	arena_init(&f.arena);
	policy_build_init(&b, &f.arena);
	memset(b.header.document_digest, 0xab, 32);
	b.header.flags = POLICY_FULL_FORM | POLICY_FS_PRESENT;
	b.header.user = policy_build_text(&b, "sandbox");
	make_network(&b);
	b.header.middlewares =
		policy_build_node(&b, POLICY_NODE_NULL, NULL, 0, 1, 1);
	policy_build_path(&b, "/usr", 2, 0);
	policy_build_path(&b, "/tmp", 0,
			  POLICY_PATH_WRITE | POLICY_PATH_BASELINE);
	policy_build_program(&b, POLICY_PROGRAM_LISTENER, program, 4);
	policy_build_warning(&b, "beware", 2, 3);
	if (policy_build_finish(&b, &data, &f.len, &err) < 0)
		fail_msg("%s", err.text);
	f.data = data;
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct file *f = *state;

	arena_done(&f->arena);
	return 0;
}

static void test_what_was_written(void **state)
{
	struct file *f = *state;
	struct policy p;
	struct err err;
	char digest[POLICY_DIGEST_TEXT];
	uint32_t first, node;

	assert_int_equal(policy_load(f->data, f->len, &p, &err), 0);
	assert_int_equal(p.n_entries, 3);
	assert_int_equal(p.n_endpoints, 6);
	assert_int_equal(p.n_binaries, 2); /* each path once */
	assert_int_equal(p.n_binary_refs, 3);
	assert_string_equal(policy_name_of(&p, 1), "first");
	assert_string_equal(policy_text(&p, p.endpoint[0].host),
			    "b.example.com");
	assert_string_equal(policy_text(&p, POLICY_NONE), "");
	assert_string_equal(policy_text(&p, p.header->user), "sandbox");
	assert_int_equal(p.endpoint[0].n_ports, 3);
	assert_true(policy_has_port(&p, 0, 443));
	assert_true(policy_has_port(&p, 0, 600));
	assert_true(policy_has_port(&p, 0, 8443));
	assert_false(policy_has_port(&p, 0, 1));
	assert_false(policy_has_port(&p, 0, 65535));
	assert_int_equal(policy_find_host(&p, "A.EXAMPLE.com", &first), 1);
	assert_int_equal(p.by_host[first], 1);
	assert_int_equal(policy_find_host(&p, "example.com", &first), 0);
	assert_int_equal(policy_find_address(&p, p.endpoint[4].literal, &first),
			 1);
	assert_int_equal(p.by_address[first], 4);
	assert_int_equal(p.cidr[0].address[3], 0); /* host bits are gone */
	assert_int_equal(p.cidr[0].address[4], 0);
	assert_true(policy_has(&p, POLICY_HAS_BINARIES));
	assert_true(policy_has(&p, POLICY_NEEDS_INSPECTION));
	assert_false(policy_has(&p, POLICY_NO_EGRESS));
	assert_int_equal(policy_first_inspected(&p), 0);
	assert_non_null(policy_find_program(&p, POLICY_PROGRAM_LISTENER));
	assert_null(policy_find_program(&p, POLICY_PROGRAM_PLAIN));

	node = policy_node_member(&p, p.endpoint[0].layer7, "rules");
	assert_int_equal(p.node[node].value, 1);
	assert_int_equal(policy_node_member(&p, p.endpoint[0].layer7, "x"),
			 POLICY_NONE);
	assert_int_equal(policy_node_member(&p, POLICY_NONE, "x"), POLICY_NONE);
	assert_int_equal(policy_node_member(&p, node, "x"), POLICY_NONE);

	policy_digest_text(&p, digest);
	assert_memory_equal(digest, "sha256:abab", 11);
	assert_int_equal(strlen(digest), 71);
}

static void seal(void *data, size_t len)
{
	enum { COVERED = offsetof(struct policy_header, version) };
	struct policy_header *h = data;
	struct digest d;

	digest_of(&d, (uint8_t *)data + COVERED, len - COVERED);
	memcpy(h->digest, d.b, sizeof(h->digest));
}

/* Use everything that a view offers: a sanitizer sees what goes wrong. */
static void use(const struct policy *p)
{
	static const char *const names[] = {"a.example.com", "q.x.y"};
	struct decide_dest dest = {.port = 443,
				   .proto = IPPROTO_TCP,
				   .names = names,
				   .n_names = 2};
	struct decide_caller c = {.matches = decide_by_path,
				  .exe = "/usr/bin/curl"};
	struct decision d;
	uint32_t out[8];

	assert_int_equal(match_ip_parse("1.2.3.4", &dest.ip), 0);
	decide_connect(p, p, &dest, &c, &d);
	decide_name(p, p, "b.example.com", &d);
	decide_answer(p, p, "q.x.y", &dest.ip);
	decide_endpoints_of(p, "q.x.y", out, N_ELEMENTS(out));
	for (uint32_t i = 0; i < p->n_endpoints; i++)
		policy_node_member(p, p->endpoint[i].layer7, "rules");
	for (uint32_t i = 0; i < p->n_warnings; i++)
		policy_text(p, p->warning[i].text);
}

/*
 * Each byte in turn, changed in three ways. As it is: the digest tells.
 * Sealed again: refused, or loaded and harmless.
 */
static void test_each_byte(void **state)
{
	static const uint8_t changes[] = {0x01, 0x80, 0xff};
	struct file *f = *state;
	uint8_t *copy = arena_alloc(&f->arena, f->len);
	struct policy p;
	struct err err;
	size_t refused = 0;

	for (size_t i = 0; i < f->len; i++)
		for (size_t k = 0; k < N_ELEMENTS(changes); k++) {
			memcpy(copy, f->data, f->len);
			copy[i] ^= changes[k];
			assert_true(policy_load(copy, f->len, &p, &err) < 0);
			seal(copy, f->len);
			if (policy_load(copy, f->len, &p, &err) == 0)
				use(&p);
			else
				refused++;
		}
	/* lines, columns and the document's digest may be anything; most of
	 * the rest may not */
	assert_true(refused > f->len);
}

static void test_truncated(void **state)
{
	struct file *f = *state;
	uint8_t *copy = arena_alloc(&f->arena, f->len + 8);
	struct policy p;
	struct err err;

	for (size_t n = 0; n < f->len; n++) {
		memcpy(copy, f->data, f->len);
		if (n >= sizeof(struct policy_header))
			seal(copy, n);
		assert_int_equal(policy_load(copy, n, &p, &err), -EINVAL);
	}
	memcpy(copy, f->data, f->len);
	memset(copy + f->len, 0, 8);
	((struct policy_header *)(void *)copy)->file_bytes += 8;
	seal(copy, f->len + 8);
	assert_int_equal(policy_load(copy, f->len + 8, &p, &err), -EINVAL);
	assert_string_equal(err.text,
			    "compiled policy: something follows its end");
}

static void test_version_and_alignment(void **state)
{
	struct file *f = *state;
	uint8_t *copy = arena_alloc(&f->arena, f->len + 8);
	struct policy_header *h = (struct policy_header *)(void *)copy;
	struct policy p;
	struct err err;

	memcpy(copy, f->data, f->len);
	h->version++;
	seal(copy, f->len);
	assert_int_equal(policy_load(copy, f->len, &p, &err), -EPROTO);
	memcpy(copy + 1, f->data, f->len);
	assert_int_equal(policy_load(copy + 1, f->len, &p, &err), -EINVAL);
	assert_int_equal(
		policy_load("not a compiled policy at all", 28, &p, &err),
		-EINVAL);
}

typedef void change_fn(struct policy_header *h, const struct policy *p);

/* A view is read-only; what is beneath it here is the test's copy. */
static void set32(const uint32_t *at, uint32_t v)
{
	memcpy((void *)(uintptr_t)at, &v, sizeof(v));
}

static void set8(const uint8_t *at, uint8_t v)
{
	memcpy((void *)(uintptr_t)at, &v, sizeof(v));
}

static void uninspect(struct policy_header *h, const struct policy *p)
{
	set32(&p->endpoint[0].inspect, POLICY_NONE);
	h->flags &= ~(uint32_t)POLICY_NEEDS_INSPECTION;
}

static void hide_inspection(struct policy_header *h, const struct policy *p)
{
	(void)p;
	h->flags &= ~(uint32_t)POLICY_NEEDS_INSPECTION;
}

static void hide_binaries(struct policy_header *h, const struct policy *p)
{
	(void)p;
	h->flags &= ~(uint32_t)POLICY_HAS_BINARIES;
}

static void any_binary(struct policy_header *h, const struct policy *p)
{
	(void)h;
	set32(&p->entry[0].flags, POLICY_ENTRY_ANY_BINARY);
}

static void steal_endpoint(struct policy_header *h, const struct policy *p)
{
	(void)h;
	set32(&p->endpoint[1].entry, 1);
}

static void leave_out_of_index(struct policy_header *h, const struct policy *p)
{
	(void)h;
	set32(&p->by_host[1], p->by_host[0]);
}

static void swap_index(struct policy_header *h, const struct policy *p)
{
	uint32_t a = p->by_host[0], b = p->by_host[1];

	(void)h;
	set32(&p->by_host[0], b);
	set32(&p->by_host[1], a);
}

static void exact_to_glob(struct policy_header *h, const struct policy *p)
{
	(void)h;
	set8(&p->endpoint[1].host_kind, POLICY_HOST_GLOB);
}

static void other_literal(struct policy_header *h, const struct policy *p)
{
	(void)h;
	set8(&p->endpoint[4].literal[15], 9);
}

static void host_bits(struct policy_header *h, const struct policy *p)
{
	(void)h;
	set8(&p->cidr[0].address[15], 1);
}

static void unterminated(struct policy_header *h, const struct policy *p)
{
	(void)h;
	set8((const uint8_t *)p->strings + p->n_strings - 1, 'x');
}

static void middle_of_string(struct policy_header *h, const struct policy *p)
{
	(void)h;
	set32(&p->entry[0].name, p->entry[0].name + 1);
}

static void deep_jump(struct policy_header *h, const struct policy *p)
{
	struct sock_filter f = {BPF_JMP | BPF_JEQ | BPF_K, 0, 2, 7};

	(void)h;
	memcpy((void *)(uintptr_t)&p->insn[1], &f, sizeof(f));
}

static void no_return(struct policy_header *h, const struct policy *p)
{
	struct sock_filter f = {BPF_LD | BPF_W | BPF_ABS, 0, 0, 0};

	(void)h;
	memcpy((void *)(uintptr_t)&p->insn[3], &f, sizeof(f));
}

static void foreign_insn(struct policy_header *h, const struct policy *p)
{
	struct sock_filter f = {BPF_LD | BPF_H | BPF_ABS, 0, 0, 0};

	(void)h;
	memcpy((void *)(uintptr_t)&p->insn[0], &f, sizeof(f));
}

static void relative_path(struct policy_header *h, const struct policy *p)
{
	(void)h;
	set32(&p->path[0].path, p->entry[0].name);
}

static void node_too_big(struct policy_header *h, const struct policy *p)
{
	(void)h;
	set32(&p->node[2].size, 3);
}

static void node_too_few(struct policy_header *h, const struct policy *p)
{
	(void)h;
	set32(&p->node[0].value, 3);
}

static void node_too_many(struct policy_header *h, const struct policy *p)
{
	(void)h;
	set32(&p->node[0].value, 1);
}

static void node_shared(struct policy_header *h, const struct policy *p)
{
	h->middlewares = p->endpoint[0].layer7;
}

static void test_each_lie(void **state)
{
	static const struct {
		change_fn *change;
		const char *text;
	} lies[] = {
		{uninspect, "endpoints[0]: not inspected"},
		{hide_inspection, "its flags are not what it holds"},
		{hide_binaries, "its flags are not what it holds"},
		{any_binary, "entries[0]: any binary, yet some"},
		{steal_endpoint, "entries[0]: another entry's endpoint"},
		{leave_out_of_index, "hosts[1]: out of order"},
		{swap_index, "hosts[1]: out of order"},
		{exact_to_glob, "endpoints[1]: damaged host"},
		{other_literal, "endpoints[4]: damaged host"},
		{host_bits, "allowed_ips[0]: host bits"},
		{unterminated, "strings without an end"},
		{middle_of_string, "entries[0]: damaged"},
		{deep_jump, "instructions[1]: refused"},
		{no_return, "programs[0]: has no end"},
		{foreign_insn, "instructions[0]: refused"},
		{relative_path, "paths[0]: not absolute"},
		{node_too_big, "nodes[2]: damaged"},
		{node_too_few, "nodes[3]: too few"},
		{node_too_many, "nodes[2]: one too many"},
		{node_shared, "nodes[0]: misplaced"},
	};
	struct file *f = *state;
	uint8_t *copy = arena_alloc(&f->arena, f->len);
	struct policy p;
	struct err err;

	for (size_t i = 0; i < N_ELEMENTS(lies); i++) {
		memcpy(copy, f->data, f->len);
		assert_int_equal(policy_load(copy, f->len, &p, &err), 0);
		lies[i].change((struct policy_header *)(void *)copy, &p);
		seal(copy, f->len);
		assert_int_equal(policy_load(copy, f->len, &p, &err), -EINVAL);
		assert_string_equal(err.text + strlen("compiled policy: "),
				    lies[i].text);
	}
}

/* 10,000 endpoints load, and are found without walking through them. */
static void test_many(void **state)
{
	struct arena a = ARENA_INIT;
	struct policy_build b;
	struct policy p;
	struct err err;
	char host[64];
	void *data;
	size_t len;
	uint32_t first;

	(void)state;
	policy_build_init(&b, &a);
	for (uint32_t i = 0; i < 10000; i++) {
		snprintf(host, sizeof(host), "host-%u.example.com", i);
		policy_build_entry(&b, host, host, i + 1,
				   POLICY_ENTRY_ANY_BINARY);
		policy_build_endpoint(&b, POLICY_HOST_EXACT, host, i + 1, 1);
		policy_build_port(&b, 443);
	}
	assert_int_equal(policy_build_finish(&b, &data, &len, &err), 0);
	assert_int_equal(policy_load(data, len, &p, &err), 0);
	assert_int_equal(policy_find_host(&p, "host-7777.example.com", &first),
			 1);
	assert_int_equal(p.endpoint[p.by_host[first]].line, 7778);
	assert_true(len < 3 << 20);
	arena_done(&a);
}

static void test_limits(void **state)
{
	struct arena a = ARENA_INIT;
	struct policy_build b;
	struct err err;
	char host[64];
	void *data;
	size_t len;

	(void)state;
	policy_build_init(&b, &a);
	policy_build_entry(&b, "k", "k", 1, POLICY_ENTRY_ANY_BINARY);
	for (uint32_t i = 0; i <= POLICY_HOST_GLOBS_MAX; i++) {
		snprintf(host, sizeof(host), "*.h%u.example.com", i);
		policy_build_endpoint(&b, POLICY_HOST_GLOB, host, i + 1, 1);
		policy_build_port(&b, 443);
	}
	assert_int_equal(policy_build_finish(&b, &data, &len, &err), -EINVAL);
	assert_string_equal(err.text, "compiled policy: globs[1025]: misplaced "
				      "or too many");
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_was_written),
		cmocka_unit_test(test_each_byte),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_version_and_alignment),
		cmocka_unit_test(test_each_lie),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
