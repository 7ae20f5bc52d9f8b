/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "policy-compiler/overlap.h"
#include "runtime/base/own.h"

static void test_hosts(void **state)
{
	static const struct {
		const char *a, *b;
		bool overlap;
	} facts[] = {
		{"a.b.c", "a.b.c", true},
		{"a.b.c", "A.B.C", true},
		{"a.b.c", "a.b.d", false},
		{NULL, "a.b.c", true},
		{NULL, NULL, true},
		{"*.b.c", "a.b.c", true},
		{"*.b.c", "a.x.b.c", false},
		{"**.b.c", "a.x.b.c", true},
		{"**.b.c", "b.c", false},
		{"*.b.c", "*.b.d", false},
		{"*.b.c", "a.*.c", true},
		{"*-x.b.c", "y-*.b.c", true},
		{"*-x.b.c", "*-y.b.c", false},
		{"a*.b.c", "b*.b.c", false},
		{"*a.b.c", "a*.b.c", true},
		{"**.c.d", "*.x.c.d", true},
		{"**.c.d", "*.x.e.d", false},
		/* not understood: on the safe side */
		{"[ab]*.b.c", "zz.b.c", true},
		{"{a,b}*.b.c", "zz.b.c", true},
	};

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(facts); i++)
		if (overlap_hosts(facts[i].a, facts[i].b) != facts[i].overlap ||
		    overlap_hosts(facts[i].b, facts[i].a) != facts[i].overlap)
			fail_msg("%s and %s", facts[i].a, facts[i].b);
}

static void test_paths(void **state)
{
	static const struct {
		const char *a, *b;
		bool overlap;
	} facts[] = {
		{NULL, "/x", true},
		{"**", "/x", true},
		{"/**", "/x", true},
		{"/a", "/a", true},
		{"/a", "/b", false},
		{"/a", "/A", true}, /* cautious: case is not looked at */
		{"/a/*", "/*/b", true},
		{"/v1/*", "/v1/a/b", true}, /* there, * crosses / */
		{"/v1/*", "/v2/a", false},
		{"/v?", "/v1", true},
		{"/v?", "/v12", false},
		{"/v[12]", "/v3", true},
		{"/repos/**", "/graphql", false},
		{"/repos/**", "/repos/", true},
	};

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(facts); i++)
		if (overlap_paths(facts[i].a, facts[i].b) != facts[i].overlap ||
		    overlap_paths(facts[i].b, facts[i].a) != facts[i].overlap)
			fail_msg("%s and %s", facts[i].a, facts[i].b);
}

static void test_long(void **state)
{
	char a[2000], b[2000];

	(void)state;
	memset(a, 'a', sizeof(a));
	memset(b, 'a', sizeof(b));
	a[0] = b[0] = '/';
	a[1500] = b[1500] = '\0';
	a[1] = '*';
	assert_true(overlap_paths(a, b)); /* too long to tell */
	a[1000] = b[1000] = '\0';
	assert_true(overlap_paths(a, b));
	b[999] = 'b';
	assert_false(overlap_paths(a, b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
