/* SPDX-License-Identifier: Apache-2.0 */
/* Against the kernel, in a network namespace of the test's own. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "shim/nft/elements.h"
#include "shim/nft/netlink.h"
#include "shim/nft/ruleset.h"
#include "shim/notify/grants.h"

static struct netlink nl;
static struct grants grants;
static bool have_net;
static const uint8_t key[16] = { 9 };

static bool enter_namespace(void)
{
	uid_t uid = geteuid();
	char map[64];

	if (uid == 0)
		return unshare(CLONE_NEWNET) == 0;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		return false;
	snprintf(map, sizeof(map), "0 %u 1", uid);
	return io_write_str(AT_FDCWD, "/proc/self/uid_map", map) == 0;
}

static int setup_net(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	have_net = enter_namespace() &&
		   netlink_open(&nl, NETLINK_NETFILTER, &err) == 0;
	return 0;
}

static int setup(void **state)
{
	const struct ruleset_config config = { .resolver_port = 53 };
	struct err err = ERR_INIT;

	(void)state;
	memset(&grants, 0, sizeof(grants));
	grants_init(&grants, &nl, key);
	if (have_net && ruleset_load(&nl, &config, &err) < 0)
		fail_msg("%s", err.text);
	return 0;
}

static int put(uint32_t mark, uint32_t n, uint64_t now_ms, uint64_t until_ms,
	       bool *live)
{
	uint8_t addr[16] = { [10] = 0xff, [11] = 0xff, [12] = 10,
			     [13] = (uint8_t)(n >> 16), [14] = (uint8_t)(n >> 8),
			     [15] = (uint8_t)n };
	struct err err = ERR_INIT;

	return grants_put(&grants, mark, addr, 443, now_ms, until_ms, live,
			  &err);
}

/* How many messages went to the kernel. */
static uint32_t messages_of(uint32_t mark, uint32_t n, uint64_t now_ms,
			    bool *live)
{
	uint32_t before = nl.seq;

	assert_int_equal(put(mark, n, now_ms, now_ms, live), 0);
	return nl.seq - before;
}

static void test_once(void **state)
{
	const uint64_t fresh_ms =
		(SHIM_GRANT_MIN_S - SHIM_GRANT_FRESH_S) * 1000;
	bool live = false;

	(void)state;
	if (!have_net)
		skip();
	assert_true(messages_of(0x10001, 1, 1000, &live) > 0);
	assert_true(live);
	/* the second connection costs nothing, until it is no longer fresh */
	assert_int_equal(messages_of(0x10001, 1, 2000, &live), 0);
	assert_int_equal(messages_of(0x10001, 1, 1000 + fresh_ms, &live), 0);
	assert_true(messages_of(0x10001, 1, 1001 + fresh_ms, &live) > 0);
	/* another address, another mark: each its own */
	assert_true(messages_of(0x10001, 2, 2000, &live) > 0);
	live = false;
	assert_true(messages_of(0x20001, 1, 2000, &live) > 0);
}

static bool all_live(const void *ctx, uint32_t endpoint)
{
	(void)ctx;
	(void)endpoint;
	return true;
}

static void test_revoke(void **state)
{
	struct err err = ERR_INIT;
	bool live = false;

	(void)state;
	if (!have_net)
		skip();
	for (uint32_t i = 0; i < 200; i++) {
		live = false;
		assert_int_equal(put(grants_mark(1, i), i, 1000, 1000, &live),
				 0);
	}
	live = false;
	assert_int_equal(put(grants_mark(2, 0), 1, 1000, 1000, &live), 0);
	if (grants_revoke(&grants, 1, 200, all_live, NULL, &err) < 0)
		fail_msg("%s", err.text);
	/* the other container's is where it was */
	assert_int_equal(messages_of(grants_mark(2, 0), 1, 2000, &live), 0);
	/* twice is nothing: not even what the kernel no longer has */
	assert_int_equal(grants_revoke(&grants, 1, 200, all_live, NULL, &err),
			 0);
	assert_true(messages_of(grants_mark(1, 7), 7, 2000, &live) > 0);
}

static void test_full(void **state)
{
	bool live = true;
	uint32_t i;

	(void)state;
	if (!have_net)
		skip();
	/* only the shim's own table: the kernel's is twice as large */
	for (i = 0; i < SHIM_GRANTS_MAX; i++)
		if (put(grants_mark(1, 0), i, 1000, 1000, &live) < 0)
			fail_msg("%u", i);
	assert_int_equal(put(grants_mark(1, 0), i, 2000, 2000, &live),
			 -ENOSPC);
	/* when their time is over there is room */
	assert_int_equal(put(grants_mark(1, 0), i,
			     1000 + SHIM_GRANT_MIN_S * 1000, 0, &live),
			 0);
}

/* Without the table every grant fails, and none is remembered as given. */
static void test_no_table(void **state)
{
	struct err err = ERR_INIT;
	bool live = false;

	(void)state;
	if (!have_net)
		skip();
	assert_int_equal(ruleset_delete(&nl, &err), 0);
	assert_true(put(0x10001, 1, 1000, 1000, &live) < 0);
	assert_false(live);
	setup(NULL);
	assert_true(messages_of(0x10001, 1, 1000, &live) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_once, setup),
		cmocka_unit_test_setup(test_revoke, setup),
		cmocka_unit_test_setup(test_full, setup),
		cmocka_unit_test_setup(test_no_table, setup),
	};

	return cmocka_run_group_tests(tests, setup_net, NULL);
}
