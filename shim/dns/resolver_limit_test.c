/* SPDX-License-Identifier: Apache-2.0 */
/* Every bound, and what happens when it is reached; clients by TCP; a broken shim. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/own.h"
#include "runtime/base/packet.h"
#include "shim/dns/resolver_fixture.h"

/* ------------------------------------------------------------- limits */

static void test_outstanding(void **state)
{
	struct resolver_answer a;
	(void)state;

	for (int i = 0; i < RESOLVER_UDP_SOCKETS; i++) {
		ask("api.x.org", ns_t_a);
		take_query(0);
	}
	ask("api.x.org", ns_t_a);
	expect_reply(ns_r_servfail, 0);
	expect_record(REASON_DNS_LIMIT, "api.x.org");
	/* names that are refused need no place */
	ask("evil.org", ns_t_a);
	expect_reply(ns_r_nxdomain, 0);
	expect_record(REASON_NAME_NOT_ALLOWED, "evil.org");
	for (int i = 0; i < FORWARD_TRIES_MAX; i++) {
		skew_ms += FORWARD_TRY_MS;
		pump();
	}
	for (int i = 0; i < RESOLVER_UDP_SOCKETS; i++) {
		char b[512];

		pump_for(client_fd);
		assert_true(recv(client_fd, b, sizeof(b), 0) > 0);
		expect_record(REASON_ALLOWED, "api.x.org");
	}
	/* and then all is as it was */
	while (recv(up_udp[0], &(char){ 0 }, 1, MSG_DONTWAIT) > 0)
		;
	ask("api.x.org", ns_t_a);
	answer_with(0, ADDRS("93.184.216.34"));
	a = expect_answer("api.x.org", 1);
	acknowledge(a.seq, 0);
	expect_reply(ns_r_noerror, 1);
}

static void test_same_query_twice(void **state)
{
	struct msg m = query_of("api.x.org", ns_t_a, false);
	struct resolver_answer a;
	(void)state;

	for (int i = 0; i < 3; i++)
		sendto(client_fd, m.b, m.n, 0, (struct sockaddr *)&udp_addr,
		       sizeof(udp_addr));
	answer_with(0, ADDRS("93.184.216.34"));
	expect_silence(up_udp[0]);
	a = expect_answer("api.x.org", 1);
	acknowledge(a.seq, 0);
	expect_reply(ns_r_noerror, 1);
	expect_silence(client_fd);
}

/* Returns whether the upstream was asked. */
static bool leaves(const char *name)
{
	struct msg m;

	ask(name, ns_t_a);
	for (int i = 0; i < 4; i++)
		pump();
	if (poll(&(struct pollfd){ .fd = up_udp[0], .events = POLLIN }, 1,
		 0) == 0) {
		expect_reply(ns_r_servfail, 0);
		expect_record(REASON_DNS_LIMIT, name);
		return false;
	}
	m = take_query(0);
	make_reply(&m, ns_r_nxdomain, NULL);
	send_back(0, &m);
	expect_reply(ns_r_nxdomain, 0);
	expect_record(REASON_ALLOWED, name);
	return true;
}

static void test_fresh_names(void **state)
{
	char name[64];
	(void)state;

	for (unsigned int i = 0; i < limit_fresh.burst; i++) {
		snprintf(name, sizeof(name), "secret-%u.wild.org", i);
		assert_true(leaves(name));
	}
	assert_false(leaves("one-more.wild.org"));
	/* what is known, and what is written in the policy, goes on */
	assert_true(leaves(name));
	assert_true(leaves("api.x.org"));
	skew_ms += 1000;
	assert_true(leaves("one-more.wild.org"));
	assert_false(leaves("two-more.wild.org"));
}

static void test_flood_of_records(void **state)
{
	unsigned int told = 0, counted = 0;
	struct resolver_query q;
	(void)state;

	for (unsigned int i = 0; i < 500; i++) {
		ask("evil.org", ns_t_a);
		expect_reply(ns_r_nxdomain, 0);
		while (recv(shim_fd, &q, sizeof(q), MSG_DONTWAIT) > 0)
			told += q.count;
	}
	assert_true(told >= limit_records.burst && told < 500);
	skew_ms += REPORT_FLUSH_MS;
	while (told + counted < 500) {
		q = expect_record(REASON_NAME_NOT_ALLOWED, "evil.org");
		counted += q.count;
	}
	assert_int_equal(told + counted, 500);
	expect_silence(shim_fd);
}

/* The shim reads nothing for a while: nothing is lost, nobody waits. */
static void test_shim_is_stuck(void **state)
{
	struct resolver_query q;
	unsigned int n = 0;
	(void)state;

	for (unsigned int i = 0; i < 3000; i++) {
		skew_ms += 20; /* a full bucket each time */
		ask("evil.org", ns_t_a);
		expect_reply(ns_r_nxdomain, 0);
	}
	for (int i = 0; i < ROUNDS && n < 3000; i++) {
		while (recv(shim_fd, &q, sizeof(q), MSG_DONTWAIT) > 0)
			n += q.count;
		skew_ms += REPORT_FLUSH_MS;
		pump();
	}
	assert_int_equal(n, 3000);
}

/* --------------------------------------------------------- TCP clients */

static int dial(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&tcp_addr,
				 sizeof(tcp_addr)), 0);
	pump_for(tcp_fd);
	pump();
	return fd;
}

static void put_tcp(int fd, const struct msg *m)
{
	uint8_t b[2 + sizeof(m->b)] = { (uint8_t)(m->n >> 8),
					(uint8_t)m->n };

	memcpy(b + 2, m->b, m->n);
	assert_int_equal(send(fd, b, m->n + 2, MSG_NOSIGNAL),
			 (ssize_t)m->n + 2);
}

static struct reply get_tcp(int fd)
{
	static struct reply got;
	uint8_t head[2];

	pump_for(fd);
	assert_int_equal(recv(fd, head, 2, MSG_WAITALL), 2);
	got.size = (size_t)(head[0] << 8 | head[1]);
	assert_int_equal(recv(fd, got.b, got.size, MSG_WAITALL),
			 (ssize_t)got.size);
	got = parse_reply(got);
	return got;
}

static void expect_end(int fd)
{
	char byte;

	pump_for(fd);
	assert_true(recv(fd, &byte, 1, MSG_DONTWAIT) <= 0);
	assert_int_not_equal(errno, EAGAIN);
	close(fd);
}

static void test_tcp_client(void **state)
{
	struct msg one = query_of("api.x.org", ns_t_a, false),
		   two = query_of("evil.org", ns_t_aaaa, false);
	struct resolver_answer a;
	struct reply got;
	int fd = dial();
	(void)state;

	/* two at once, one after the other, on a connection that stays */
	put_tcp(fd, &one);
	put_tcp(fd, &two);
	answer_with(0, ADDRS("93.184.216.34"));
	a = expect_answer("api.x.org", 1);
	assert_int_equal(a.client.tcp, 1);
	expect_silence(fd);
	acknowledge(a.seq, 0);
	got = get_tcp(fd);
	assert_int_equal(got.id, last_id - 1);
	assert_int_equal(got.n, 1);
	got = get_tcp(fd);
	assert_int_equal(got.id, last_id);
	assert_int_equal(got.rcode, ns_r_nxdomain);
	expect_record(REASON_NAME_NOT_ALLOWED, "evil.org");

	/* byte by byte */
	assert_int_equal(send(fd, "\0", 1, 0), 1);
	pump();
	assert_int_equal(send(fd, &(char){ (char)two.n }, 1, 0), 1);
	for (size_t i = 0; i < two.n; i++) {
		pump();
		assert_int_equal(send(fd, two.b + i, 1, 0), 1);
	}
	assert_int_equal(get_tcp(fd).rcode, ns_r_nxdomain);
	expect_record(REASON_NAME_NOT_ALLOWED, "evil.org");
	skew_ms += CLIENT_TCP_MS;
	errno = 0;
	expect_end(fd);
}

static void test_tcp_nonsense(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
	} rows[] = { { "\0\0", 2 }, { "\xff\xff", 2 }, { "\4\1", 2 },
		     { "\0\1x", 3 } };
	struct msg m = query_of("api.x.org", ns_t_a, false);
	int fd;
	(void)state;

	for (size_t i = 0; i < N_ELEMENTS(rows); i++) {
		fd = dial();
		assert_int_equal(send(fd, rows[i].bytes, rows[i].n, 0),
				 (ssize_t)rows[i].n);
		errno = 0;
		expect_end(fd);
	}
	/* a client that leaves while its query is under way */
	fd = dial();
	put_tcp(fd, &m);
	m = take_query(0);
	shutdown(fd, SHUT_RDWR);
	close(fd);
	for (int i = 0; i < 4; i++)
		pump();
	make_reply(&m, 0, NULL);
	send_back(0, &m);
	expect_record(REASON_ALLOWED, "api.x.org");
}

static void test_tcp_crowd(void **state)
{
	int fd[CLIENT_TCP_MAX + 1];
	struct msg m = query_of("evil.org", ns_t_a, false);
	(void)state;

	for (size_t i = 0; i < N_ELEMENTS(fd); i++) {
		fd[i] = dial();
		skew_ms++;
	}
	/* the first has been idle for longest */
	errno = 0;
	expect_end(fd[0]);
	put_tcp(fd[CLIENT_TCP_MAX], &m);
	assert_int_equal(get_tcp(fd[CLIENT_TCP_MAX]).rcode, ns_r_nxdomain);
	for (size_t i = 1; i < N_ELEMENTS(fd); i++)
		close(fd[i]);
}

/* --------------------------------------------------------- a broken shim */

static void expect_broken(int code)
{
	int ret = 0;

	for (int i = 0; i < 4 && ret == 0; i++)
		ret = resolver_once(&r, 0, &err);
	assert_int_equal(ret, -code);
}

static void send_raw(const void *msg, size_t n, size_t n_fds)
{
	int fd[3] = { shim_fd, shim_fd, shim_fd };

	assert_int_equal(packet_send(shim_fd, msg, n, fd, n_fds), 0);
}

static void test_broken_messages(void **state)
{
	static const struct {
		uint32_t op;
		size_t size, n_fds;
	} rows[] = {
		{ 0, 8, 0 },
		{ RESOLVER_OP_READY, sizeof(struct resolver_ready), 0 },
		{ RESOLVER_OP_N, 8, 0 },
		{ UINT32_MAX, 8, 0 },
		{ RESOLVER_OP_ANSWER_ACK, 4, 0 },
		{ RESOLVER_OP_ANSWER_ACK, 3, 0 },
		{ RESOLVER_OP_ANSWER_ACK, sizeof(struct resolver_answer_ack),
		  1 },
		{ RESOLVER_OP_POLICY_ADD, sizeof(struct resolver_policy_add),
		  0 },
		{ RESOLVER_OP_POLICY_ADD, sizeof(struct resolver_policy_add),
		  2 }, /* has_ceiling is 0 */
		{ RESOLVER_OP_SOCKETS, sizeof(struct resolver_sockets), 1 },
	};

	for (size_t i = 0; i < N_ELEMENTS(rows); i++) {
		union link_msg m = { .op = rows[i].op };

		if (i)
			setup(state);
		send_raw(&m, rows[i].size, rows[i].n_fds);
		expect_broken(EPROTO);
		if (i + 1 < N_ELEMENTS(rows))
			teardown(state);
	}
}

static void test_taken_place(void **state)
{
	struct resolver_policy_add m = { .op = RESOLVER_OP_POLICY_ADD,
					 .slot = { 0, 8 } };
	struct resolver_policy_remove gone = {
		.op = RESOLVER_OP_POLICY_REMOVE,
	};

	send_raw(&m, sizeof(m), 1);
	expect_broken(EPROTO);
	teardown(state);
	/* the wrong tenant, and a place that does not exist */
	for (uint32_t i = 0; i < 2; i++) {
		setup(state);
		gone.slot = (struct resolver_slot){ i * RESOLVER_SLOTS_MAX,
						    8 };
		send_raw(&gone, sizeof(gone), 0);
		expect_broken(EPROTO);
		teardown(state);
	}
	/* one that was never taken is free */
	setup(state);
	gone.slot.index = 1;
	send_raw(&gone, sizeof(gone), 0);
	pump();
}

static void test_shim_gone(void **state)
{
	(void)state;
	close(shim_fd);
	expect_broken(EPIPE);
	shim_fd = dup(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_outstanding),
		CASE(test_same_query_twice),
		CASE(test_fresh_names),
		CASE(test_flood_of_records),
		CASE(test_shim_is_stuck),
		CASE(test_tcp_client),
		CASE(test_tcp_nonsense),
		CASE(test_tcp_crowd),
		CASE(test_broken_messages),
		CASE(test_taken_place),
		CASE(test_shim_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
