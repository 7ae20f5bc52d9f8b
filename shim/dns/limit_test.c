/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "shim/dns/limit.h"

static void test_bucket(void **state)
{
	const struct limit_rate rate = { .burst = 3, .per_1000_s = 500 };
	struct limit l;
	(void)state;

	limit_init(&l, &rate, 1000);
	for (int i = 0; i < 3; i++)
		assert_true(limit_take(&l, &rate, 1000));
	assert_false(limit_take(&l, &rate, 1000));
	/* one in two seconds */
	assert_false(limit_take(&l, &rate, 2999));
	assert_true(limit_take(&l, &rate, 3000));
	assert_false(limit_take(&l, &rate, 3000));
	/* never more than a bucket */
	for (int i = 0; i < 3; i++)
		assert_true(limit_take(&l, &rate, 900000));
	assert_false(limit_take(&l, &rate, 900000));
	/* asking without success does not lose what flowed in */
	for (uint64_t t = 900001; t < 902000; t++)
		assert_false(limit_take(&l, &rate, t));
	assert_true(limit_take(&l, &rate, 902000));
	/* for ever is not too long, and backwards is no time */
	assert_true(limit_take(&l, &rate, UINT64_MAX));
	assert_true(limit_take(&l, &rate, 5));
}

static struct recent r;

static void test_recent(void **state)
{
	const uint8_t key[RECENT_KEY_BYTES] = { 1 };
	(void)state;

	recent_init(&r, key);
	assert_false(recent_has(&r, 1, "a.x", 10));
	recent_add(&r, 1, "a.x", 10);
	assert_true(recent_has(&r, 1, "a.x", 10));
	assert_false(recent_has(&r, 2, "a.x", 10));
	assert_false(recent_has(&r, 1, "b.x", 10));
	/* each time counts anew */
	assert_true(recent_has(&r, 1, "a.x", RECENT_MS));
	assert_true(recent_has(&r, 1, "a.x", 2u * RECENT_MS - 1));
	assert_false(recent_has(&r, 1, "a.x", 3u * RECENT_MS));
}

static void test_recent_full(void **state)
{
	const uint8_t key[RECENT_KEY_BYTES] = { 2 };
	unsigned int kept = 0;
	char name[16];
	(void)state;

	recent_init(&r, key);
	for (uint64_t i = 1; i <= 100000; i++) {
		snprintf(name, sizeof(name), "%u.x", (unsigned int)i);
		recent_add(&r, 1, name, i);
	}
	/* the last ones are there, and never more than there is room for */
	assert_true(recent_has(&r, 1, name, 100000));
	for (uint64_t i = 1; i <= 100000; i++) {
		snprintf(name, sizeof(name), "%u.x", (unsigned int)i);
		kept += recent_has(&r, 1, name, 100000);
	}
	assert_int_equal(kept, RECENT_SETS * RECENT_WAYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bucket),
		cmocka_unit_test(test_recent),
		cmocka_unit_test(test_recent_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
