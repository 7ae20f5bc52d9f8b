/* SPDX-License-Identifier: Apache-2.0 */
/* The reader against lines that the writer would never write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>

#include <cmocka.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/policy/decision_log.h"

#define HEAD  "{\"seq\":4,\"time\":\"t\",\"sandbox\":\"c\","
#define WHY   "\"kind\":\"connect\",\"verdict\":\"deny\",\"reason\":\"limit\""
#define TAIL  ",\"prev\":\"00\"}"

static int text_of(const char *line, struct strbuf *sb)
{
	struct err err = ERR_INIT;

	strbuf_reset(sb);
	return decision_log_text(line, strlen(line), sb, &err);
}

static void test_text(void **state)
{
	static const struct {
		const char *line, *text;
	} rows[] = {
		{ HEAD WHY TAIL, "DENY  sandbox=c  reason=limit" },
		{ HEAD WHY ",\"binary\":{\"path\":\"/a b\",\"pid\":3,"
			   "\"ancestors\":[\"/x\",\"/y\"]}" TAIL,
		  "DENY  sandbox=c  binary=\"/a b\"  reason=limit" },
		/* what a terminal would act on, as escapes or raw bytes */
		{ HEAD WHY ",\"binary\":{\"path\":\"\\u001b[2J\xc2\x9b\"}" TAIL,
		  "DENY  sandbox=c  binary=\"\\x1b[2J\\xc2\\x9b\"  "
		  "reason=limit" },
		/* a value can't pretend to be the next field */
		{ HEAD WHY ",\"dest\":{\"host\":\"a  reason=allowed\"}" TAIL,
		  "DENY  sandbox=c  dest=\"a  reason=allowed\"  "
		  "reason=limit" },
		{ HEAD WHY ",\"dest\":{\"ip\":\"2001:db8::1\",\"port\":443}" TAIL,
		  "DENY  sandbox=c  dest=[2001:db8::1]:443  reason=limit" },
		{ HEAD WHY ",\"policy\":{\"name\":\"web\",\"line\":9}" TAIL,
		  "DENY  sandbox=c  reason=limit  policy=web  line=9" },
		{ HEAD WHY ",\"count\":12,\"until\":\"t\"" TAIL,
		  "DENY  sandbox=c  reason=limit  count=12" },
		{ HEAD "\"kind\":\"finding\",\"verdict\":\"deny\","
		       "\"reason\":\"limit\",\"detail\":\"x y\"" TAIL,
		  "FINDING  sandbox=c  reason=limit  detail=\"x y\"" },
	};
	own_strbuf struct strbuf sb = STRBUF_HEAP;

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(rows); i++) {
		if (text_of(rows[i].line, &sb) < 0)
			fail_msg("%s", rows[i].line);
		assert_string_equal(sb.s, rows[i].text);
	}
}

static void test_refused(void **state)
{
	static const char *const rows[] = {
		"",
		"{}",
		"[]",
		HEAD WHY TAIL " ",
		HEAD WHY TAIL "x",
		HEAD WHY,
		HEAD WHY ",\"seq\":5" TAIL,		      /* twice */
		HEAD WHY ",\"count\":01" TAIL,		      /* not JSON */
		HEAD WHY ",\"count\":-1" TAIL,
		HEAD WHY ",\"count\":18446744073709551616" TAIL, /* 2^64 */
		HEAD WHY ",\"detail\":\"a\\u0000b\"" TAIL,
		HEAD WHY ",\"detail\":\"a\\u00e9\"" TAIL, /* never written */
		HEAD WHY ",\"detail\":\"a\\x\"" TAIL,
		HEAD WHY ",\"detail\":\"a\nb\"" TAIL,
		HEAD WHY ",\"x\":[[[[[1]]]]]" TAIL, /* too deep */
		HEAD "\"kind\":\"connect\"" TAIL,   /* members missing */
	};
	own_strbuf struct strbuf sb = STRBUF_HEAP;

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(rows); i++)
		if (text_of(rows[i], &sb) != -EINVAL)
			fail_msg("taken: %s", rows[i]);
}

/* A cut line is never a record, and never read beyond its end. */
static void test_every_prefix(void **state)
{
	static const char line[] =
		HEAD WHY ",\"binary\":{\"path\":\"/a\\u001b\"}" TAIL;
	own_strbuf struct strbuf sb = STRBUF_HEAP;
	struct err err = ERR_INIT;

	(void)state;
	for (size_t n = 0; n < sizeof(line) - 1; n++) {
		own_free char *copy = malloc(n + 1);

		assert_non_null(copy);
		memcpy(copy, line, n);
		assert_int_equal(decision_log_text(copy, n, &sb, &err),
				 -EINVAL);
	}
	assert_int_equal(text_of(line, &sb), 0);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(log_kind_name(LOG_LIFECYCLE), "lifecycle");
	assert_string_equal(log_kind_name(LOG_PACKET), "packet");
	assert_string_equal(log_verdict_name(LOG_AUDIT), "audit");
}

static void test_verify_partial(void **state)
{
	struct decision_log_verify v = { .id = "c" };
	static const char line[] = HEAD WHY TAIL;
	struct err err = ERR_INIT;

	(void)state;
	/* begins at 4: the older files were rotated away */
	assert_int_equal(
		decision_log_verify(&v, line, sizeof(line) - 1, &err), 0);
	assert_int_equal(v.first_seq, 4);
	assert_int_equal(
		decision_log_verify(&v, line, sizeof(line) - 1, &err),
		-EINVAL);
	v = (struct decision_log_verify){ .id = "other" };
	assert_int_equal(
		decision_log_verify(&v, line, sizeof(line) - 1, &err),
		-EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_every_prefix),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_verify_partial),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
