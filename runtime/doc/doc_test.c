/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/doc/doc.h"
#include "runtime/doc/errors.h"

static struct arena arena;
static struct doc_errors errors;

static int setup(void **state)
{
	(void)state;
	arena_init(&arena);
	doc_errors_init(&errors, &arena, "f");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_done(&arena);
	return 0;
}

static const struct doc_node *good_n(enum doc_format format, const char *text,
				     size_t n)
{
	const struct doc_node *root = NULL;
	int r = doc_parse(&arena, text, n, format, &root, &errors);

	if (errors.n)
		print_message("unexpected: %s\n", errors.v[0].text);
	assert_int_equal(r, 0);
	assert_non_null(root);
	return root;
}

static const struct doc_node *good(enum doc_format format, const char *text)
{
	return good_n(format, text, strlen(text));
}

/* All messages of a bad document, one per line. */
static const char *bad_n(enum doc_format format, const char *text, size_t n)
{
	static char room[4096];
	struct strbuf sb = STRBUF_FIXED(room);
	const struct doc_node *root;

	doc_errors_init(&errors, &arena, "f");
	assert_int_equal(doc_parse(&arena, text, n, format, &root, &errors),
			 -EINVAL);
	assert_null(root);
	for (size_t i = 0; i < errors.n; i++) {
		struct strbuf one = STRBUF_HEAP;

		doc_message_text(&one, &errors, &errors.v[i]);
		strbuf_addf(&sb, "%s%s", i ? "\n" : "", one.s);
		strbuf_done(&one);
	}
	return room;
}

static const char *bad(enum doc_format format, const char *text)
{
	return bad_n(format, text, strlen(text));
}

static void assert_pos(const struct doc_node *node, uint32_t line, uint32_t col)
{
	assert_non_null(node);
	assert_int_equal(node->pos.line, line);
	assert_int_equal(node->pos.col, col);
}

static void test_json_tree(void **state)
{
	const struct doc_node *root, *list, *it;

	(void)state;
	root = good(DOC_JSON, "{\"a\": [1, -2.5e3, true, false, null],\n"
			      " \"\": {\"b\\u00e9\\n\": \"x\\\\\"}}");
	assert_int_equal(root->kind, DOC_MAP);
	assert_int_equal(root->n, 2);
	assert_null(root->parent);
	list = doc_get(root, "a");
	assert_int_equal(list->kind, DOC_LIST);
	assert_int_equal(list->n, 5);
	assert_pos(list, 1, 7);
	assert_int_equal(list->key_pos.col, 2);
	it = list->first;
	assert_int_equal(it->kind, DOC_NUMBER);
	assert_string_equal(it->text, "1");
	it = it->next;
	assert_string_equal(it->text, "-2.5e3");
	assert_pos(it, 1, 11);
	it = it->next;
	assert_int_equal(it->kind, DOC_BOOL);
	assert_true(it->boolean);
	it = it->next;
	assert_false(it->boolean);
	assert_int_equal(it->next->kind, DOC_NULL);
	assert_null(it->next->next);
	it = doc_get(doc_get(root, ""), "b\xc3\xa9\n");
	assert_string_equal(it->text, "x\\");
	assert_int_equal(it->len, 2);
	assert_pos(it, 2, 20);
	assert_int_equal(it->key_pos.line, 2);
	assert_int_equal(it->key_pos.col, 7);
}

static void test_json_columns_are_characters(void **state)
{
	const struct doc_node *root;

	(void)state;
	root = good(DOC_JSON, "{\"\xc3\xa9\xe2\x82\xac\": \"\xf0\x9f\x98\x80\","
			      "\"b\":1}");
	assert_pos(doc_get(root, "b"), 1, 16);
}

static void test_json_surrogates(void **state)
{
	const struct doc_node *root;

	(void)state;
	root = good(DOC_JSON, "[\"\\ud83d\\ude00\", \"\\\\ud800\"]");
	assert_string_equal(root->first->text, "\xf0\x9f\x98\x80");
	assert_string_equal(root->last->text, "\\ud800");
	assert_string_equal(bad(DOC_JSON, "[\"\\ud83d\"]"),
			    "f:1:2: string with half a surrogate pair");
	assert_string_equal(bad(DOC_JSON, "[\"\\ud83d\\u0041\"]"),
			    "f:1:2: string with half a surrogate pair");
	assert_string_equal(bad(DOC_JSON, "[\"\\uDE00x\"]"),
			    "f:1:2: string with half a surrogate pair");
	assert_string_equal(bad(DOC_JSON, "{\"\\uD83Dabcdefg\": 1}"),
			    "f:1:2: string with half a surrogate pair");
}

static void test_json_refused(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "f:1:1: invalid JSON: premature EOF"},
		{"{]", "f:1:2: invalid JSON: invalid object key (must be a "
		       "string)"},
		{"{\"a\": 1,\n  }", "f:2:3: invalid JSON: invalid object key "
				    "(must be a string)"},
		{"{\"a\": 1", "f:1:8: invalid JSON: premature EOF"},
		{"{\"a\": 1} x", "f:1:10: invalid JSON: trailing garbage"},
		{"{\"a\": 1} \"x", "f:1:10: invalid JSON: trailing garbage"},
		{"12\"", "f:1:3: invalid JSON: trailing garbage"},
		{"{} tru", "f:1:4: invalid JSON: trailing garbage"},
		{"{\"a\": 1} {}", "f:1:10: invalid JSON: trailing garbage"},
		{"{\"a\": \"\\u0000\"}", "f:1:7: string with a NUL character"},
		{"{\"\\u0000\": 1}", "f:1:2: string with a NUL character"},
		{"{\"a\": 1, \"b\": 2,\n\"a\": 3, \"b\": 4, \"a\": 5}",
		 "f:2:1: duplicate key \"a\": first at line 1, column 2\n"
		 "f:2:17: duplicate key \"a\": first at line 1, column 2\n"
		 "f:2:9: duplicate key \"b\": first at line 1, column 10"},
		{"// c\n1", "f:1:1: invalid JSON: "},
		{"{\"a\": \"\xff\"}", "f:1:8: not valid UTF-8"},
		{"\n\xed\xa0\x80", "f:2:1: not valid UTF-8"},
	};

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
		const char *got = bad(DOC_JSON, cases[i].text);

		if (!str_after(got, cases[i].message))
			fail_msg("%s: %s", cases[i].text, got);
	}
}

static void test_limits(void **state)
{
	struct strbuf sb = STRBUF_HEAP;
	char *big;

	(void)state;
	for (int i = 0; i < DOC_DEPTH_MAX; i++)
		strbuf_addc(&sb, '[');
	for (int i = 0; i < DOC_DEPTH_MAX; i++)
		strbuf_addc(&sb, ']');
	good(DOC_JSON, sb.s);
	good(DOC_YAML, sb.s);
	strbuf_reset(&sb);
	for (int i = 0; i < 100000; i++)
		strbuf_addc(&sb, '[');
	assert_string_equal(bad(DOC_JSON, sb.s),
			    "f:1:49: nested more than 48 levels deep");
	assert_string_equal(bad(DOC_YAML, sb.s),
			    "f:1:49: nested more than 48 levels deep");
	strbuf_reset(&sb);
	strbuf_adds(&sb, "[0");
	for (int i = 0; i < DOC_NODES_MAX; i++)
		strbuf_adds(&sb, ",0");
	strbuf_adds(&sb, "]");
	assert_string_equal(bad(DOC_JSON, sb.s),
			    "f:1:1048576: more than 524288 values");
	strbuf_done(&sb);
	big = calloc(1, DOC_BYTES_MAX + 1);
	assert_non_null(big);
	memset(big, ' ', DOC_BYTES_MAX + 1);
	assert_string_equal(bad_n(DOC_JSON, big, DOC_BYTES_MAX + 1),
			    "f:1:1: larger than 16777216 bytes");
	free(big);
}

static void test_yaml_scalars(void **state)
{
	static const struct {
		const char *text;
		enum doc_kind kind;
	} cases[] = {
		{"~", DOC_NULL},
		{"null", DOC_NULL},
		{"Null", DOC_NULL},
		{"nULL", DOC_STRING},
		{"true", DOC_BOOL},
		{"False", DOC_BOOL},
		{"TRUE", DOC_BOOL},
		{"tRUE", DOC_STRING},
		{"yes", DOC_STRING},
		{"no", DOC_STRING},
		{"on", DOC_STRING},
		{"off", DOC_STRING},
		{"y", DOC_STRING},
		{"0", DOC_NUMBER},
		{"8080", DOC_NUMBER},
		{"-1", DOC_NUMBER},
		{"+1", DOC_NUMBER},
		{"0755", DOC_STRING},
		{"00", DOC_STRING},
		{"0x1F", DOC_NUMBER},
		{"0xg", DOC_STRING},
		{"0x", DOC_STRING},
		{"0o17", DOC_NUMBER},
		{"0o8", DOC_STRING},
		{"0b10", DOC_NUMBER},
		{"1.5", DOC_NUMBER},
		{"1.", DOC_NUMBER},
		{".5", DOC_NUMBER},
		{".", DOC_STRING},
		{"1e3", DOC_NUMBER},
		{"1.5E-3", DOC_NUMBER},
		{"1e", DOC_STRING},
		{"e3", DOC_STRING},
		{".inf", DOC_NUMBER},
		{"-.inf", DOC_NUMBER},
		{".NaN", DOC_NUMBER},
		{"10.0.0.1", DOC_STRING},
		{"1_000", DOC_STRING},
		{"1.5x", DOC_STRING},
		{"-", DOC_LIST},
		{"'8080'", DOC_STRING},
		{"\"true\"", DOC_STRING},
		{"''", DOC_STRING},
		{"|\n  true", DOC_STRING},
		{"2001-01-01", DOC_STRING},
		{"+", DOC_STRING},
	};

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
		const struct doc_node *root = good(DOC_YAML, cases[i].text);

		if (root->kind != cases[i].kind)
			fail_msg("%s: %s", cases[i].text,
				 doc_kind_text(root->kind));
	}
}

static void test_yaml_tree(void **state)
{
	const struct doc_node *root, *list;

	(void)state;
	root = good(DOC_YAML, "# c\na:\n  - b: 1\n    \xc3\xa9: [x, 'y']\n"
			      "  - \n443: {}\ne:\n");
	assert_int_equal(root->n, 3);
	list = doc_get(root, "a");
	assert_int_equal(list->n, 2);
	assert_pos(list, 3, 3);
	assert_pos(doc_get(list->first, "b"), 3, 8);
	assert_int_equal(doc_get(list->first, "b")->key_pos.col, 5);
	assert_pos(doc_get(list->first, "\xc3\xa9")->last, 4, 12);
	assert_int_equal(list->last->kind, DOC_NULL);
	assert_int_equal(doc_get(root, "443")->kind, DOC_MAP);
	assert_int_equal(doc_get(root, "e")->kind, DOC_NULL);
	assert_null(doc_get(root, "x"));
	assert_null(doc_get(list, "x"));
	assert_null(doc_get(NULL, "x"));
}

static void test_yaml_refused(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "f:1:1: empty document"},
		{"# only a comment\n", "f:1:1: empty document"},
		{"a: &x 1", "f:1:4: anchors are not allowed here"},
		{"a: &x [1]", "f:1:4: anchors are not allowed here"},
		{"a: &x {b: 1}", "f:1:4: anchors are not allowed here"},
		{"a: *x", "f:1:4: aliases are not allowed here"},
		{"a: !!str 1", "f:1:4: tags are not allowed here"},
		{"a: ! 1", "f:1:4: tags are not allowed here"},
		{"a: !x [1]", "f:1:4: tags are not allowed here"},
		{"a: !x {b: 1}", "f:1:4: tags are not allowed here"},
		{"%TAG ! tag:x,2000:\n---\na: 1",
		 "f:1:1: tags are not allowed here"},
		{"a: 1\n---\nb: 2",
		 "f:2:1: a second document is not allowed here"},
		{"<<: {a: 1}", "f:1:1: merge keys are not allowed here"},
		{"? [a]\n: 1",
		 "f:1:3: a key that is no string is not allowed here"},
		{"? {a: 1}\n: 1",
		 "f:1:3: a key that is no string is not allowed here"},
		{"~: 1", "f:1:1: a null key is not allowed here"},
		{"a: 1\nb: 2\na: 3",
		 "f:3:1: duplicate key \"a\": first at line 1, column 1"},
		{"a: \"x\\0y\"", "f:1:4: string with a NUL character"},
		{"\"x\\0\": 1", "f:1:1: string with a NUL character"},
		{"a: [1", "f:2:1: invalid YAML: while parsing a flow "
			  "sequence, did not find expected ',' or ']'"},
		{"a: b: c", "f:1:5: invalid YAML: mapping values are not "
			    "allowed in this context"},
		{"a: 1\n\x01", "f:2:1: invalid YAML: control characters are "
			       "not allowed"},
		{"a: \xff", "f:1:4: not valid UTF-8"},
	};

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
		const char *got = bad(DOC_YAML, cases[i].text);

		if (!str_eq(got, cases[i].message))
			fail_msg("%s: %s", cases[i].text, got);
	}
}

static void test_auto(void **state)
{
	(void)state;
	assert_int_equal(good(DOC_AUTO, " \n{\"a\": 1}")->n, 1);
	assert_int_equal(good(DOC_AUTO, "a: 1")->n, 1);
	/* what begins like JSON must be JSON */
	assert_string_equal(bad(DOC_AUTO, "{a: 1}"),
			    "f:1:3: invalid JSON: invalid char in json text.");
	assert_string_equal(bad(DOC_AUTO, "  "), "f:1:1: empty document");
}

static void test_integers(void **state)
{
	static const struct {
		const char *text;
		int u_result, i_result;
		uint64_t u;
		int64_t i;
	} cases[] = {
		{"0", 0, 0, 0, 0},
		{"-0", 0, 0, 0, 0},
		{"+7", 0, 0, 7, 7},
		{"18446744073709551615", 0, -ERANGE, UINT64_MAX, 0},
		{"18446744073709551616", -ERANGE, -ERANGE, 0, 0},
		{"-9223372036854775808", -ERANGE, 0, 0, INT64_MIN},
		{"-9223372036854775809", -ERANGE, -ERANGE, 0, 0},
		{"9223372036854775807", 0, 0, INT64_MAX, INT64_MAX},
		{"0x1f", 0, 0, 31, 31},
		{"-0x1F", -ERANGE, 0, 0, -31},
		{"0o17", 0, 0, 15, 15},
		{"0b101", 0, 0, 5, 5},
		{"0xfffffffffffffffff", -ERANGE, -ERANGE, 0, 0},
		{"1.5", -EINVAL, -EINVAL, 0, 0},
		{"1e3", -EINVAL, -EINVAL, 0, 0},
		{".inf", -EINVAL, -EINVAL, 0, 0},
		{"abc", -EINVAL, -EINVAL, 0, 0},
		{"[1]", -EINVAL, -EINVAL, 0, 0},
		{"{a: 1}", -EINVAL, -EINVAL, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
		const struct doc_node *n = good(DOC_YAML, cases[i].text);
		uint64_t u = 0;
		int64_t s = 0;

		assert_int_equal(doc_u64(n, &u), cases[i].u_result);
		assert_int_equal(doc_i64(n, &s), cases[i].i_result);
		assert_true(u == cases[i].u);
		assert_true(s == cases[i].i);
	}
}

static void test_path(void **state)
{
	char room[100];
	struct strbuf sb = STRBUF_FIXED(room);
	const struct doc_node *root, *n;

	(void)state;
	root = good(DOC_JSON, "{\"a\": [[1], {\"b.c\": {\"d-e\": 1}}]}");
	doc_path(&sb, root);
	assert_string_equal(sb.s, "");
	doc_path(&sb, doc_get(root, "a")->first->first);
	assert_string_equal(sb.s, "a[0][0]");
	strbuf_reset(&sb);
	n = doc_get(doc_get(doc_get(root, "a")->last, "b.c"), "d-e");
	doc_path(&sb, n);
	assert_string_equal(sb.s, "a[1][\"b.c\"].d-e");
}

static void test_errors(void **state)
{
	const struct doc_pos nowhere = {0, 0};
	struct strbuf sb = STRBUF_HEAP;
	const struct doc_node *root;
	struct err err = ERR_INIT;

	(void)state;
	root = good(DOC_YAML, "a: [1]");
	doc_warning_at(&errors, root, "odd");
	doc_error_at(&errors, doc_get(root, "a")->first, "is %d", 1);
	doc_error(&errors, nowhere, "general");
	doc_error_at(&errors, NULL, "nowhere");
	assert_int_equal(errors.n_errors, 3);
	assert_int_equal(errors.n_warnings, 1);
	assert_int_equal(doc_errors_err(&errors, &err), -EINVAL);
	assert_string_equal(err.text, "f:1:5: a[0]: is 1 (and 2 more)");
	doc_message_text(&sb, &errors, &errors.v[0]);
	assert_string_equal(sb.s, "f:1:1: warning: odd");
	strbuf_reset(&sb);
	doc_message_text(&sb, &errors, &errors.v[2]);
	assert_string_equal(sb.s, "f: general");
	strbuf_done(&sb);
}

static void test_errors_are_bounded(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	for (int i = 0; i < DOC_ERRORS_MAX; i++)
		doc_warning_at(&errors, NULL, "w");
	doc_error_at(&errors, NULL, "late");
	assert_int_equal(errors.n, DOC_ERRORS_MAX);
	assert_int_equal(errors.n_dropped, 1);
	assert_int_equal(doc_errors_err(&errors, &err), -EINVAL);
	assert_string_equal(err.text, "f: 1 errors");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_json_tree),
		TEST(test_json_columns_are_characters),
		TEST(test_json_surrogates),
		TEST(test_json_refused),
		TEST(test_limits),
		TEST(test_yaml_scalars),
		TEST(test_yaml_tree),
		TEST(test_yaml_refused),
		TEST(test_auto),
		TEST(test_integers),
		TEST(test_path),
		TEST(test_errors),
		TEST(test_errors_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
