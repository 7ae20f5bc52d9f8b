/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/base/arena.h"
#include "runtime/base/json.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/doc/decode.h"
#include "runtime/doc/suggest.h"

enum color { RED, GREEN };

struct leaf {
	const char *name; /* the key, when in a map */
	uint32_t size;
};

struct all {
	const struct doc_node *node;
	bool flag;
	const char *text, *scalar, *word;
	int32_t i32, small;
	uint32_t u32;
	int64_t i64;
	uint64_t u64, bits;
	uint32_t color;
	struct leaf *child;
	struct leaf inlined;
	LIST_OF(struct leaf) leaves;
	LIST_OF(uint32_t) numbers;
	LIST_OF(uint32_t) colors;
	struct str_list words;
	struct pair_list pairs;
	LIST_OF(struct leaf) named;
	struct opt_bool o_flag;
	struct opt_i32 o_i32;
	struct opt_u32 o_u32;
	struct opt_i64 o_i64;
	struct opt_u64 o_u64, o_bits;
	int custom;
};

static const struct decode_name colors[] = {
	{"red", RED}, {"rot", RED}, {"green", GREEN}, {NULL, 0}};
static const struct decode_name bits[] = {
	{"none", 0}, {"a", 1}, {"b", 2}, {NULL, 0}};

static const struct decode_row leaf_rows[] = {
	DECODE_ROW(struct leaf, size, "size", DECODE_U32,
		   .flags = DECODE_REQUIRED),
};
static const struct decode_table leaf_table =
	DECODE_TABLE(struct leaf, leaf_rows);

static void take_custom(struct decode *d, const struct decode_row *row,
			const struct doc_node *node, void *at)
{
	(void)row;
	if (node->kind == DOC_BOOL)
		*(int *)at = node->boolean ? 7 : 8;
	else
		doc_error_at(d->errors, node, "custom needs a boolean");
}

static void put_custom(struct json *j, const struct decode_row *row,
		       const void *at)
{
	json_bool(j, row->key, *(const int *)at == 7);
}

static void check_all(struct decode *d, const struct doc_node *node, void *obj)
{
	const struct all *a = obj;

	if (a->i32 == 13)
		doc_error_at(d->errors, doc_get(node, "i32"), "unlucky");
}

#define ROW(member, kind, ...) \
	DECODE_ROW(struct all, member, #member, kind, ##__VA_ARGS__)

static const struct decode_row all_rows[] = {
	ROW(flag, DECODE_BOOL),
	ROW(text, DECODE_STR, .flags = DECODE_NONEMPTY),
	ROW(scalar, DECODE_STR, .flags = DECODE_SCALAR),
	ROW(word, DECODE_STR, .max = 3),
	ROW(i32, DECODE_I32),
	ROW(small, DECODE_I32, .min = -5, .max = 5),
	ROW(u32, DECODE_U32),
	ROW(i64, DECODE_I64),
	ROW(u64, DECODE_U64),
	ROW(bits, DECODE_BITS, .names = bits),
	ROW(color, DECODE_ENUM, .names = colors),
	ROW(child, DECODE_STRUCT, .table = &leaf_table,
	    .flags = DECODE_NULLABLE),
	ROW(inlined, DECODE_STRUCT, .table = &leaf_table,
	    .flags = DECODE_INLINE),
	ROW(leaves, DECODE_LIST, .elem = DECODE_STRUCT, .table = &leaf_table,
	    .max = 2),
	ROW(numbers, DECODE_LIST, .elem = DECODE_U32, .max = 3),
	ROW(colors, DECODE_LIST, .elem = DECODE_ENUM, .names = colors),
	ROW(words, DECODE_LIST, .elem = DECODE_STR, .flags = DECODE_NONEMPTY),
	ROW(pairs, DECODE_DICT, .elem = DECODE_STR),
	ROW(named, DECODE_DICT, .elem = DECODE_STRUCT, .table = &leaf_table),
	ROW(o_flag, DECODE_BOOL, .flags = DECODE_OPT),
	ROW(o_i32, DECODE_I32, .flags = DECODE_OPT),
	ROW(o_u32, DECODE_U32, .flags = DECODE_OPT | DECODE_NULLABLE),
	ROW(o_i64, DECODE_I64, .flags = DECODE_OPT),
	ROW(o_u64, DECODE_U64, .flags = DECODE_OPT),
	ROW(o_bits, DECODE_BITS, .names = bits, .flags = DECODE_OPT),
	ROW(custom, DECODE_FN, .fn = take_custom, .write = put_custom),
};
static const struct decode_table all_table = DECODE_TABLE(
	struct all, all_rows, .node_at = DECODE_AT(struct all, node),
	.check = check_all);
static const struct decode_table lax_table =
	DECODE_TABLE(struct all, all_rows,
		     .flags = DECODE_IGNORE_UNKNOWN | DECODE_NULL_ABSENT);

static struct arena arena;
static struct doc_errors errors;
static struct all all;

static int setup(void **state)
{
	(void)state;
	arena_init(&arena);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_done(&arena);
	return 0;
}

static int run(const struct decode_table *table, const char *text)
{
	const struct doc_node *root;

	doc_errors_init(&errors, &arena, "f");
	memset(&all, 0, sizeof(all));
	assert_int_equal(
		doc_parse(&arena, text, strlen(text), DOC_AUTO, &root, &errors),
		0);
	return decode(&arena, table, root, &all, &errors);
}

static const char *messages(void)
{
	static char room[4096];
	struct strbuf sb = STRBUF_FIXED(room);

	for (size_t i = 0; i < errors.n; i++) {
		own_strbuf struct strbuf one = STRBUF_HEAP;

		doc_message_text(&one, &errors, &errors.v[i]);
		strbuf_addf(&sb, "%s%s", i ? "\n" : "", one.s);
	}
	return room;
}

static const char full_text[] =
	"{\"flag\":true,\"text\":\"t\",\"scalar\":\"s\",\"word\":\"abc\","
	"\"i32\":-2147483648,\"small\":5,\"u32\":4294967295,"
	"\"i64\":-9223372036854775808,\"u64\":18446744073709551615,"
	"\"bits\":[\"a\",\"b\"],\"color\":\"green\",\"child\":{\"size\":0},"
	"\"inlined\":{\"size\":3},\"leaves\":[{\"size\":4},{\"size\":0}],"
	"\"numbers\":[1,4294967295],\"colors\":[\"red\",\"green\"],"
	"\"words\":[\"x\",\"\"],\"pairs\":{\"k\":\"v\",\"\":\"\"},"
	"\"named\":{\"n\":{\"size\":9}},\"o_flag\":false,\"o_i32\":0,"
	"\"o_u32\":0,\"o_i64\":-1,\"o_u64\":0,\"o_bits\":[],\"custom\":true}";

static void test_everything_and_back(void **state)
{
	own_strbuf struct strbuf sb = STRBUF_HEAP;
	struct json j = json_to(&sb, false);

	(void)state;
	if (run(&all_table, full_text) < 0)
		fail_msg("%s", messages());
	assert_non_null(all.node);
	assert_string_equal(all.text, "t");
	assert_int_equal(all.bits, 3);
	assert_int_equal(all.color, GREEN);
	assert_int_equal(all.leaves.n, 2);
	assert_int_equal(all.leaves.v[0].size, 4);
	assert_int_equal(all.colors.v[1], GREEN);
	assert_null(all.words.v[2]);
	assert_string_equal(all.pairs.v[0].key, "k");
	assert_string_equal(all.named.v[0].name, "n");
	assert_int_equal(all.named.v[0].size, 9);
	assert_true(all.o_flag.set && !all.o_flag.v);
	assert_true(all.o_bits.set);
	assert_int_equal(all.custom, 7);
	decode_write(&j, NULL, &all_table, &all);
	assert_string_equal(sb.s, full_text);
}

static void test_nothing(void **state)
{
	own_strbuf struct strbuf sb = STRBUF_HEAP;
	struct json j = json_to(&sb, false);

	(void)state;
	assert_int_equal(run(&all_table, "{}"), 0);
	decode_write(&j, NULL, &all_table, &all);
	assert_string_equal(sb.s, "{}");
}

static void test_second_name_is_read(void **state)
{
	(void)state;
	assert_int_equal(run(&all_table, "color: rot"), 0);
	assert_int_equal(all.color, RED);
	assert_string_equal(decode_name_of(colors, RED), "red");
	assert_null(decode_name_of(colors, 5));
}

static void test_scalars_as_strings(void **state)
{
	(void)state;
	assert_int_equal(run(&all_table, "scalar: 8080"), 0);
	assert_string_equal(all.scalar, "8080");
	assert_int_equal(run(&all_table, "scalar: True"), 0);
	assert_string_equal(all.scalar, "True");
	assert_int_equal(run(&all_table, "scalar: ~"), -EINVAL);
}

static void test_null(void **state)
{
	(void)state;
	assert_int_equal(run(&all_table, "child: ~\no_u32: null"), 0);
	assert_null(all.child);
	assert_false(all.o_u32.set);
	assert_int_equal(run(&all_table, "text: ~"), -EINVAL);
	assert_string_equal(messages(),
			    "f:1:7: text: expected a string, found null");
	assert_int_equal(run(&lax_table, "text: ~\nwords: ~\nnope: 1"), 0);
	assert_null(all.text);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"[]", "f:1:1: expected a map, found a list"},
		{"flag: 1", "f:1:7: flag: expected a boolean, found a "
			    "number"},
		{"flag: yes", "f:1:7: flag: expected a boolean, found a "
			      "string"},
		{"text: 1", "f:1:7: text: expected a string, found a number"},
		{"text: ''", "f:1:7: text: must not be empty"},
		{"word: abcd", "f:1:7: word: longer than 3 bytes"},
		{"i32: x", "f:1:6: i32: expected an integer, found a "
			   "string"},
		{"i32: 1.5", "f:1:6: i32: expected an integer, found 1.5"},
		{"i32: 2147483648", "f:1:6: i32: 2147483648 is out of range "
				    "(-2147483648 to 2147483647)"},
		{"i32: 99999999999999999999",
		 "f:1:6: i32: 99999999999999999999 is out of range "
		 "(-2147483648 to 2147483647)"},
		{"small: -6", "f:1:8: small: -6 is out of range (-5 to 5)"},
		{"small: 6", "f:1:8: small: 6 is out of range (-5 to 5)"},
		{"u32: -1", "f:1:6: u32: -1 is out of range (0 to "
			    "4294967295)"},
		{"u32: []", "f:1:6: u32: expected an integer, found a list"},
		{"u64: 18446744073709551616",
		 "f:1:6: u64: 18446744073709551616 is out of range (0 to "
		 "18446744073709551615)"},
		{"i64: 9223372036854775808",
		 "f:1:6: i64: 9223372036854775808 is out of range "
		 "(-9223372036854775808 to 9223372036854775807)"},
		{"color: blue", "f:1:8: color: unknown value \"blue\" (one "
				"of: red, rot, green)"},
		{"color: 1", "f:1:8: color: expected a string, found a "
			     "number"},
		{"bits: [a, c, d]",
		 "f:1:11: bits[1]: unknown value \"c\" (one of: none, a, b)\n"
		 "f:1:14: bits[2]: unknown value \"d\" (one of: none, a, "
		 "b)"},
		{"bits: a", "f:1:7: bits: expected a list, found a string"},
		{"child: 1", "f:1:8: child: expected a map, found a number"},
		{"child: {}", "f:1:8: child: missing key \"size\""},
		{"inlined: []",
		 "f:1:10: inlined: expected a map, found a list"},
		{"leaves: {}", "f:1:9: leaves: expected a list, found a "
			       "map"},
		{"leaves: [1]",
		 "f:1:10: leaves[0]: expected a map, found a number"},
		{"leaves: [{size: 1}, {size: 1}, {size: 1}]",
		 "f:1:9: leaves: more than 2 entries"},
		{"numbers: [1, x, 4294967296]",
		 "f:1:14: numbers[1]: expected an integer, found a string\n"
		 "f:1:17: numbers[2]: 4294967296 is out of range (0 to "
		 "4294967295)"},
		{"words: []", "f:1:8: words: must not be empty"},
		{"words: [1]",
		 "f:1:9: words[0]: expected a string, found a number"},
		{"pairs: []", "f:1:8: pairs: expected a map, found a list"},
		{"pairs: {a: 1}",
		 "f:1:12: pairs.a: expected a string, found a number"},
		{"named: {a: 1}",
		 "f:1:12: named.a: expected a map, found a number"},
		{"custom: x", "f:1:9: custom: custom needs a boolean"},
		{"i32: 13", "f:1:6: i32: unlucky"},
		{"o_i32: x", "f:1:8: o_i32: expected an integer, found a "
			     "string"},
		{"zzz: 1", "f:1:1: unknown key \"zzz\""},
		{"flags: 1", "f:1:1: unknown key \"flags\", did you mean "
			     "\"flag\"?"},
		{"child: {sizee: 1}",
		 "f:1:9: child: unknown key \"sizee\", did you mean "
		 "\"size\"?\n"
		 "f:1:8: child: missing key \"size\""},
	};

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
		assert_int_equal(run(&all_table, cases[i].text), -EINVAL);
		if (!str_eq(messages(), cases[i].message))
			fail_msg("%s:\n%s", cases[i].text, messages());
	}
}

static void test_long_choices_are_left_out(void **state)
{
	static const struct decode_name many[] = {
		{"a-name-of-some-length-so-that-the-list-is-too-long", 1},
		{"b-name-of-some-length-so-that-the-list-is-too-long", 2},
		{"c-name-of-some-length-so-that-the-list-is-too-long", 3},
		{"d-name-of-some-length-so-that-the-list-is-too-long", 4},
		{NULL, 0},
	};
	static const struct decode_row rows[] = {
		ROW(color, DECODE_ENUM, .names = many),
	};
	static const struct decode_table table = DECODE_TABLE(struct all, rows);

	(void)state;
	assert_int_equal(run(&table, "color: x"), -EINVAL);
	assert_string_equal(messages(), "f:1:8: color: unknown value \"x\"");
}

static void test_all_errors_in_one_run(void **state)
{
	(void)state;
	assert_int_equal(run(&all_table, "a: 1\nflag: 2\nchild: {}\n"
					 "numbers: [x]\nb: 3"),
			 -EINVAL);
	assert_int_equal(errors.n_errors, 5);
}

static void test_messages_are_printable(void **state)
{
	(void)state;
	assert_int_equal(run(&all_table, "color: \"a\\e[31m\\n\\x9bb\""),
			 -EINVAL);
	assert_string_equal(messages(),
			    "f:1:8: color: unknown value \"a?[31m???b\" (one "
			    "of: red, rot, green)");
}

static void test_suggest(void **state)
{
	static const struct {
		const char *word, *known;
		bool near;
	} cases[] = {
		{"host", "host", true},
		{"hosts", "host", true},
		{"hst", "host", true},
		{"hoxt", "host", true},
		{"hots", "host", true},
		{"HOST", "host", true},
		{"policyname", "policy-name", true},
		{"policy_name", "policy-name", true},
		{"port", "host", false},
		{"ab", "ac", false},
		{"path", "ports", false},
		{"abcd", "badc", false},
		{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		 "aaaaa",
		 "host", false},
	};

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(cases); i++)
		if (suggest_is_near(cases[i].word, cases[i].known) !=
		    cases[i].near)
			fail_msg("%s, %s", cases[i].word, cases[i].known);
}

static void test_table(void **state)
{
	static const struct decode_row twice[] = {
		ROW(flag, DECODE_BOOL),
		ROW(flag, DECODE_BOOL),
	};
	static const struct decode_row wrong_size[] = {
		ROW(u64, DECODE_U32),
	};
	static const struct decode_row not_opt[] = {
		ROW(o_i64, DECODE_I64),
	};
	static const struct decode_table bad[] = {
		DECODE_TABLE(struct all, twice),
		DECODE_TABLE(struct all, wrong_size),
		DECODE_TABLE(struct all, not_opt),
	};

	(void)state;
	assert_null(decode_table_fault(&all_table));
	assert_null(decode_table_fault(&lax_table));
	for (size_t i = 0; i < N_ELEMENTS(bad); i++)
		assert_non_null(decode_table_fault(&bad[i]));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_everything_and_back),
		TEST(test_nothing),
		TEST(test_second_name_is_read),
		TEST(test_scalars_as_strings),
		TEST(test_null),
		TEST(test_refused),
		TEST(test_long_choices_are_left_out),
		TEST(test_all_errors_in_one_run),
		TEST(test_messages_are_printable),
		TEST(test_suggest),
		TEST(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
