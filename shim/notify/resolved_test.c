/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/base/own.h"
#include "shim/notify/resolved.h"

enum { HOLD_MS = (SHIM_TTL_MIN_S + SHIM_TTL_SLACK_S) * 1000 };

static struct resolved table;
static const uint8_t key[16] = { 1, 2, 3 };

static int setup(void **state)
{
	(void)state;
	memset(&table, 0, sizeof(table));
	resolved_init(&table, key);
	return 0;
}

static int put(const char *name, uint32_t n, uint32_t ttl_s, uint64_t now_ms)
{
	uint8_t addr[1][16] = { { [12] = (uint8_t)(n >> 24),
				  [13] = (uint8_t)(n >> 16),
				  [14] = (uint8_t)(n >> 8),
				  [15] = (uint8_t)n } };

	return resolved_put(&table, name, (const uint8_t(*)[16])addr, 1,
			    ttl_s, now_ms);
}

static size_t find(uint32_t n, uint64_t now_ms, const char **ret, size_t max,
		   bool *was)
{
	const uint8_t addr[16] = { [12] = (uint8_t)(n >> 24),
				   [13] = (uint8_t)(n >> 16),
				   [14] = (uint8_t)(n >> 8),
				   [15] = (uint8_t)n };

	return resolved_find(&table, addr, now_ms, ret, max, was);
}

static void test_names_of_an_address(void **state)
{
	const char *name[4];
	bool was;

	(void)state;
	assert_int_equal(find(1, 0, name, 4, &was), 0);
	assert_false(was);
	assert_int_equal(put("a.example", 1, 0, 1000), 0);
	assert_int_equal(put("b.example", 1, 0, 1000), 0);
	assert_int_equal(put("a.example", 2, 0, 1000), 0);
	assert_int_equal(find(1, 1000, name, 4, &was), 2);
	assert_true(was);
	assert_int_equal(find(2, 1000, name, 4, &was), 1);
	assert_string_equal(name[0], "a.example");
	assert_int_equal(find(1, 1000, name, 1, &was), 1); /* bounded */
}

static void test_time(void **state)
{
	const uint8_t addr[16] = { [15] = 1 };
	const char *name[4];
	bool was;

	(void)state;
	assert_int_equal(put("a.example", 1, 0, 1000), 0);
	assert_int_equal(find(1, 1000 + HOLD_MS - 1, name, 4, &was), 1);
	assert_int_equal(find(1, 1000 + HOLD_MS, name, 4, &was), 0);
	assert_true(was); /* it is still known that it was */
	/* asked again: it holds again, and a shorter answer shortens nothing */
	assert_int_equal(put("a.example", 1, 1000, 2000), 0);
	assert_int_equal(put("a.example", 1, 0, 2000), 0);
	assert_int_equal(resolved_expiry(&table, "a.example", addr),
			 2000 + (1000 + SHIM_TTL_SLACK_S) * 1000);
	assert_int_equal(resolved_expiry(&table, "b.example", addr), 0);
	/* an absurd TTL is bounded */
	assert_int_equal(put("c.example", 3, UINT32_MAX, 0), 0);
	assert_int_equal(find(3, (SHIM_TTL_MAX_S + SHIM_TTL_SLACK_S) * 1000,
			      name, 4, &was),
			 0);
}

static void fill(uint32_t first, uint64_t now_ms)
{
	for (uint32_t i = 0; i < SHIM_NAME_ADDRS_MAX; i++) {
		char name[32];

		snprintf(name, sizeof(name), "n%u.example",
			 i % SHIM_NAMES_MAX);
		assert_int_equal(put(name, first + i, 0, now_ms), 0);
	}
}

static void test_full(void **state)
{
	const char *name[4];
	bool was;

	(void)state;
	fill(1000, 1000);
	assert_int_equal(put("more.example", 1, 0, 2000), -ENOSPC);
	assert_int_equal(put("n0.example", 1, 0, 2000), -ENOSPC);
	/* what is in holds, and can be renewed */
	assert_int_equal(put("n0.example", 1000, 0, 5000), 0);
	assert_int_equal(find(1000, 5000, name, 4, &was), 1);
	/* when their time is over there is room again, but for the renewed */
	assert_int_equal(put("more.example", 1, 0, 1000 + HOLD_MS), 0);
	assert_int_equal(find(1, 1000 + HOLD_MS, name, 4, &was), 1);
	assert_int_equal(find(1000, 1000 + HOLD_MS, name, 4, &was), 1);
	assert_int_equal(find(1001, 1000 + HOLD_MS, name, 4, &was), 0);
	assert_false(was);
}

/* Twice through the pool: places and chains stay sound. */
static void test_reuse(void **state)
{
	const char *name[4];
	bool was;

	(void)state;
	fill(1000, 1000);
	fill(50000, 1000 + HOLD_MS);
	for (uint32_t i = 0; i < SHIM_NAME_ADDRS_MAX; i++) {
		char want[32];

		snprintf(want, sizeof(want), "n%u.example",
			 i % SHIM_NAMES_MAX);
		assert_int_equal(
			find(50000 + i, 1000 + HOLD_MS, name, 4, &was), 1);
		assert_string_equal(name[0], want);
	}
}

static void test_long_name(void **state)
{
	char name[300];

	(void)state;
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(put(name, 1, 0, 0), -ENAMETOOLONG);
	assert_int_equal(put("b.example", 1, 0, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_names_of_an_address, setup),
		cmocka_unit_test_setup(test_time, setup),
		cmocka_unit_test_setup(test_full, setup),
		cmocka_unit_test_setup(test_reuse, setup),
		cmocka_unit_test_setup(test_long_name, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
