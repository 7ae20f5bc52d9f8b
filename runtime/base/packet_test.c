/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/base/own.h"
#include "runtime/base/packet.h"

static int pair[2];

static unsigned int count_fds(void)
{
	own_dir DIR *d = opendir("/proc/self/fd");
	unsigned int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	return n;
}

static int setup(void **state)
{
	(void)state;
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair);
}

static int teardown(void **state)
{
	(void)state;
	close(pair[0]);
	close(pair[1]);
	return 0;
}

static void test_round_trip(void **state)
{
	int fds[2] = { 1, 2 }, got[3];
	char buf[8];
	size_t n;

	(void)state;
	assert_int_equal(packet_send(pair[0], "abc", 3, fds, 2), 0);
	assert_int_equal(packet_send(pair[0], "d", 1, NULL, 0), 0);
	assert_int_equal(packet_recv(pair[1], buf, sizeof(buf), got, 3, &n, 0),
			 3);
	assert_int_equal(n, 2);
	assert_int_equal(got[2], -EBADF);
	assert_int_equal(fcntl(got[0], F_GETFD), FD_CLOEXEC);
	packet_close(got, n);
	assert_int_equal(got[0], -EBADF);
	assert_int_equal(packet_recv(pair[1], buf, sizeof(buf), got, 3, &n, 0),
			 1);
	assert_int_equal(n, 0);
	assert_int_equal(packet_recv(pair[1], buf, sizeof(buf), got, 3, &n,
				     MSG_DONTWAIT),
			 -EAGAIN);
	shutdown(pair[0], SHUT_WR);
	assert_int_equal(packet_recv(pair[1], buf, sizeof(buf), got, 3, &n, 0),
			 0);
}

static void test_too_much(void **state)
{
	unsigned int before = count_fds();
	int fds[3] = { 1, 2, 1 }, got[2];
	char buf[4];
	size_t n;

	(void)state;
	/* more descriptors than asked for, a longer message, both */
	assert_int_equal(packet_send(pair[0], "a", 1, fds, 3), 0);
	assert_int_equal(packet_recv(pair[1], buf, sizeof(buf), got, 2, &n, 0),
			 -EMSGSIZE);
	assert_int_equal(n, 0);
	assert_int_equal(packet_send(pair[0], "abcde", 5, fds, 1), 0);
	assert_int_equal(packet_recv(pair[1], buf, sizeof(buf), got, 2, &n, 0),
			 -EMSGSIZE);
	assert_int_equal(packet_send(pair[0], "abcde", 5, fds, 3), 0);
	assert_int_equal(packet_recv(pair[1], buf, sizeof(buf), got, 0, &n, 0),
			 -EMSGSIZE);
	assert_int_equal(count_fds(), before);
}

static void test_peer_gone(void **state)
{
	(void)state;
	close(pair[1]);
	assert_int_equal(packet_send(pair[0], "a", 1, NULL, 0), -EPIPE);
	pair[1] = dup(pair[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_round_trip, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_too_much, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_peer_gone, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
