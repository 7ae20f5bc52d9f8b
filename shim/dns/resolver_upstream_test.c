/* SPDX-License-Identifier: Apache-2.0 */
/* Upstreams that are silent, broken, old or not what they seem. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/own.h"
#include "runtime/base/packet.h"
#include "shim/dns/resolver_fixture.h"

/* ----------------------------------------------------------- upstreams */

static void test_next_upstream(void **state)
{
	struct resolver_answer a;
	struct msg first, m;
	(void)state;

	/* silence, and then SERVFAIL; the late reply is nobody's */
	ask("api.x.org", ns_t_a);
	first = take_query(0);
	skew_ms += FORWARD_TRY_MS;
	m = take_query(1);
	assert_memory_equal(m.b + 2, first.b + 2, m.n - 2);
	make_reply(&first, 0, ADDRS("6.6.6.6"));
	send_back(0, &first);
	expect_silence(shim_fd);
	make_reply(&m, ns_r_servfail, NULL);
	send_back(1, &m);
	answer_with(0, ADDRS("93.184.216.34"));
	a = expect_answer("api.x.org", 1);
	assert_int_equal(a.addr[0][12], 93);
	acknowledge(a.seq, 0);
	expect_reply(ns_r_noerror, 1);

	/* none answers: four tries, and that is all */
	ask("api.x.org", ns_t_a);
	for (int i = 0; i < FORWARD_TRIES_MAX; i++) {
		take_query(i % N_UPSTREAMS);
		skew_ms += FORWARD_TRY_MS;
	}
	expect_reply(ns_r_servfail, 0);
	expect_record(REASON_ALLOWED, "api.x.org");
	expect_silence(up_udp[0]);

	/* nobody is there: no waiting */
	for (int i = 0; i < N_UPSTREAMS; i++) {
		close(up_udp[i]);
		up_udp[i] = -EBADF;
	}
	ask("api.x.org", ns_t_a);
	expect_reply(ns_r_servfail, 0);
	expect_record(REASON_ALLOWED, "api.x.org");
}

static void test_without_edns(void **state)
{
	struct msg m;
	(void)state;

	ask("api.x.org", ns_t_a);
	m = take_query(0);
	assert_int_equal(m.b[11], 1); /* it has an OPT record */
	make_reply(&m, ns_r_formerr, NULL);
	send_back(0, &m);
	m = take_query(0);
	assert_int_equal(m.b[11], 0);
	make_reply(&m, ns_r_nxdomain, NULL);
	send_back(0, &m);
	expect_reply(ns_r_nxdomain, 0);
	expect_record(REASON_ALLOWED, "api.x.org");
	/* which is remembered */
	ask("api.x.org", ns_t_a);
	m = take_query(0);
	assert_int_equal(m.b[11], 0);
}

/* Accept the resolver's connection and read its query. */
static int take_tcp_query(int i, struct msg *m)
{
	struct pollfd p = { .events = POLLIN };
	uint8_t b[2 + sizeof(m->b)];
	ssize_t n;

	pump_for(up_tcp[i]);
	p.fd = accept(up_tcp[i], NULL, NULL);
	assert_true(p.fd >= 0);
	pump_for(p.fd);
	n = recv(p.fd, b, sizeof(b), 0);
	assert_true(n > 2);
	m->n = (size_t)n - 2;
	assert_int_equal(b[0] << 8 | b[1], m->n);
	memcpy(m->b, b + 2, m->n);
	return p.fd;
}

static void send_tcp(int fd, const struct msg *m)
{
	const uint8_t head[] = { (uint8_t)(m->n >> 8), (uint8_t)m->n };

	/* in three pieces */
	assert_int_equal(send(fd, head, 1, 0), 1);
	pump();
	assert_int_equal(send(fd, head + 1, 1, 0), 1);
	pump();
	assert_int_equal(send(fd, m->b, m->n, 0), (ssize_t)m->n);
}

static void test_truncated(void **state)
{
	struct resolver_answer a;
	struct msg m;
	int fd;
	(void)state;

	/* more often than there are sockets: they come back */
	for (int i = 0; i < 2 * RESOLVER_TCP_SOCKETS; i++) {
		ask("api.x.org", ns_t_a);
		m = take_query(0);
		make_reply(&m, 0x200, NULL);
		send_back(0, &m);
		fd = take_tcp_query(0, &m);
		make_reply(&m, 0, ADDRS("93.184.216.34"));
		send_tcp(fd, &m);
		a = expect_answer("api.x.org", 1);
		close(fd);
		acknowledge(a.seq, 0);
		expect_reply(ns_r_noerror, 1);
	}
	/* no TCP there: the next one */
	close(up_tcp[0]);
	up_tcp[0] = -EBADF;
	ask("api.x.org", ns_t_a);
	m = take_query(0);
	make_reply(&m, 0x200, NULL);
	send_back(0, &m);
	answer_with(1, ADDRS("93.184.216.34"));
	expect_answer("api.x.org", 1);
}

static void test_guesses(void **state)
{
	struct resolver_answer a;
	struct msg m, guess;
	int fd;
	(void)state;

	ask("api.x.org", ns_t_a);
	m = take_query(0);
	make_reply(&m, 0, ADDRS("6.6.6.6"));
	for (int i = 1; i <= FORWARD_MISSES_MAX; i++) {
		guess = m;
		guess.b[0] = (uint8_t)(guess.b[0] ^ i);
		send_back(0, &guess);
		pump();
	}
	/* too late even when it is right */
	send_back(0, &m);
	fd = take_tcp_query(0, &m);
	make_reply(&m, 0, ADDRS("93.184.216.34"));
	send_tcp(fd, &m);
	expect_record(REASON_DNS_LIMIT, "api.x.org");
	a = expect_answer("api.x.org", 1);
	assert_int_equal(a.addr[0][12], 93);
	acknowledge(a.seq, 0);
	expect_reply(ns_r_noerror, 1);
	close(fd);
	/* and that upstream has no more datagrams for a while */
	ask("api.x.org", ns_t_a);
	fd = take_tcp_query(0, &m);
	make_reply(&m, 0, ADDRS("93.184.216.34"));
	send_tcp(fd, &m);
	a = expect_answer("api.x.org", 1);
	acknowledge(a.seq, 0);
	expect_reply(ns_r_noerror, 1);
	close(fd);
	skew_ms += FORWARD_TCP_ONLY_MS;
	ask("api.x.org", ns_t_a);
	take_query(0);
}

/* What comes for one query is never counted against the next. */
static void test_replies_left_over(void **state)
{
	struct msg m;
	(void)state;

	for (int round = 0; round < 2; round++) {
		ask("api.x.org", ns_t_aaaa);
		m = take_query(0);
		make_reply(&m, 0, NULL);
		for (int i = 0; i <= FORWARD_MISSES_MAX; i++)
			send_back(0, &m);
		expect_reply(ns_r_noerror, 0);
		expect_record(REASON_ALLOWED, "api.x.org");
	}
}

static void test_source_ports(void **state)
{
	uint16_t port[8], id[8];
	unsigned int same_port = 0, same_id = 0;
	(void)state;

	for (size_t i = 0; i < N_ELEMENTS(port); i++) {
		struct msg m;

		ask("api.x.org", ns_t_aaaa);
		m = take_query(0);
		port[i] = m.from.sin_port;
		id[i] = (uint16_t)(m.b[0] << 8 | m.b[1]);
		make_reply(&m, 0, NULL);
		send_back(0, &m);
		expect_reply(ns_r_noerror, 0);
		expect_record(REASON_ALLOWED, "api.x.org");
		for (size_t j = 0; j < i; j++) {
			same_port += port[i] == port[j];
			same_id += id[i] == id[j];
		}
	}
	assert_true(same_port < 4);
	assert_true(same_id < 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_next_upstream),
		CASE(test_without_edns),
		CASE(test_truncated),
		CASE(test_guesses),
		CASE(test_replies_left_over),
		CASE(test_source_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
