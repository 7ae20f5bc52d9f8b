/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table against the kernel, in a network namespace of the test's own.
 * nft(8) is the oracle: what it lists after our load must be what it lists
 * after it has loaded our text itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "shim/nft/elements.h"
#include "shim/nft/netlink.h"
#include "shim/nft/ruleset.h"

static const struct ruleset_config config = { .resolver_port = 5353 };
static bool have_net, have_nft;

/* A network namespace that we may configure, without root where possible. */
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

static int setup(void **state)
{
	(void)state;
	have_net = enter_namespace();
	have_nft = access("/usr/sbin/nft", X_OK) == 0;
	return 0;
}

/* Runs nft(8) with @arg, @input on its standard input, and reads the rest. */
static void nft(const char *arg1, const char *arg2, const char *input,
		char *ret_out, size_t size)
{
	int in[2], out[2], status;
	size_t len = 0;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(out), 0);
	pid = fork();
	if (pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		close(out[0]);
		execl("/usr/sbin/nft", "nft", arg1, arg2, NULL);
		_exit(127);
	}
	assert_true(pid > 0);
	close(in[0]);
	close(out[1]);
	assert_int_equal(io_write_all(in[1], input, strlen(input)), 0);
	close(in[1]);
	while ((n = read(out[0], ret_out + len, size - 1 - len)) > 0)
		len += (size_t)n;
	ret_out[len] = '\0';
	close(out[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void test_kernel_has_what_the_text_says(void **state)
{
	static char ours[16384], theirs[16384];
	own_strbuf struct strbuf text = STRBUF_HEAP;
	struct err err = ERR_INIT;
	struct netlink nl;

	(void)state;
	if (!have_net || !have_nft)
		skip();
	assert_int_equal(netlink_open(&nl, NETLINK_NETFILTER, &err), 0);
	ruleset_text(&config, &text);
	nft("-f", "-", text.s, theirs, sizeof(theirs));
	nft("list", "ruleset", "", theirs, sizeof(theirs));
	/* replaces what is there, as after a shim that died */
	if (ruleset_load(&nl, &config, &err) < 0)
		fail_msg("%s", err.text);
	nft("list", "ruleset", "", ours, sizeof(ours));
	assert_string_equal(ours, theirs);
	assert_non_null(strstr(ours, "@live accept"));

	assert_int_equal(ruleset_delete(&nl, &err), 0);
	nft("list", "ruleset", "", ours, sizeof(ours));
	assert_string_equal(ours, "");
	/* and again, with nothing to delete */
	assert_int_equal(ruleset_delete(&nl, &err), 0);
	netlink_close(&nl);
}

static void test_elements(void **state)
{
	static char out[16384];
	struct element e = { .set = SET_ALLOW4,
			     .mark = 0x10001,
			     .proto = 6,
			     .port = 443,
			     .addr = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff,
				       192, 0, 2, 1 },
			     .timeout_ms = 100000 };
	struct element v6 = { .set = SET_ALLOW6,
			      .mark = 0x10002,
			      .proto = 6,
			      .port = 443,
			      .addr = { 0x20, 1, 0xd, 0xb8, [15] = 1 },
			      .timeout_ms = 100000 };
	struct element up = { .set = SET_UPSTREAM4,
			      .proto = 17,
			      .port = 53,
			      .addr = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff,
					192, 0, 2, 53 } };
	struct element live = { .set = SET_LIVE, .mark = 0x10001 };
	struct err err = ERR_INIT;
	struct netlink nl;

	(void)state;
	if (!have_net || !have_nft)
		skip();
	assert_int_equal(netlink_open(&nl, NETLINK_NETFILTER, &err), 0);
	assert_int_equal(ruleset_load(&nl, &config, &err), 0);
	for (int i = 0; i < 2; i++) {
		/* the second time refreshes */
		struct element all[] = { e, v6, live };

		if (elements_put(&nl, all, 3, &err) < 0)
			fail_msg("%s", err.text);
		e.timeout_ms = 500000;
	}
	if (elements_replace(&nl, SET_UPSTREAM4, &up, 1, &err) < 0)
		fail_msg("%s", err.text);
	if (elements_replace(&nl, SET_UPSTREAM4, &up, 1, &err) < 0)
		fail_msg("%s", err.text);
	if (elements_replace(&nl, SET_UPSTREAM6, NULL, 0, &err) < 0)
		fail_msg("%s", err.text);
	nft("list", "ruleset", "", out, sizeof(out));
	assert_non_null(
		strstr(out, "0x00010001 . tcp . 192.0.2.1 . 443 timeout 8m20s"));
	assert_non_null(strstr(
		out, "0x00010002 . tcp . 2001:db8::1 . 443 timeout 1m40s"));
	assert_non_null(strstr(out, "udp . 192.0.2.53 . 53"));
	if (!strstr(out, "elements = { 0x00010001 }"))
		fail_msg("%s", out);

	/* one of them is there, one never was: both end absent */
	e.port = 444;
	if (elements_remove(&nl, (struct element[]){ e, v6, live }, 3, &err) <
	    0)
		fail_msg("%s", err.text);
	nft("list", "ruleset", "", out, sizeof(out));
	assert_null(strstr(out, "2001:db8::1"));
	assert_null(strstr(out, "elements = { 0x00010001 }"));
	assert_null(strstr(out, "444"));
	assert_non_null(strstr(out, "192.0.2.1 . 443"));
	netlink_close(&nl);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel_has_what_the_text_says),
		cmocka_unit_test(test_elements),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
