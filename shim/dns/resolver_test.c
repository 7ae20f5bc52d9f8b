/* SPDX-License-Identifier: Apache-2.0 */
/* What is answered, what is refused, and what the shim hears of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/own.h"
#include "runtime/base/packet.h"
#include "shim/dns/resolver_fixture.h"

/* ------------------------------------------------------------ the policy */

static void test_refused_name(void **state)
{
	static const char *const names[] = {
		"evil.org", "x.org", "apix.org", "a.b.wild.org", "wild.org",
		"api.x.org.default.svc.cluster.local", "x", "www.api.x.org",
	};
	(void)state;

	for (size_t i = 0; i < N_ELEMENTS(names); i++) {
		struct resolver_query q;

		ask(names[i], ns_t_a);
		expect_reply(ns_r_nxdomain, 0);
		q = expect_record(REASON_NAME_NOT_ALLOWED, names[i]);
		assert_int_equal(q.qtype, ns_t_a);
		assert_int_equal(q.count, 1);
		assert_int_equal(q.slot.generation, 0);
		assert_int_equal(q.client.addr[12], 127);
		assert_false(q.client.tcp);
	}
	ask("a\\.b.wild.org", ns_t_a);
	expect_reply(ns_r_nxdomain, 0);
	expect_record(REASON_NAME_NOT_ALLOWED, "a\\.b.wild.org");
	ask(".", ns_t_ns);
	expect_reply(ns_r_nxdomain, 0);
	expect_record(REASON_NAME_NOT_ALLOWED, ".");
	expect_silence(up_udp[0]);
}

static void test_answer_waits(void **state)
{
	struct resolver_answer a;
	struct reply got;
	struct msg m;
	(void)state;

	ask("API.x.org", ns_t_a);
	m = take_query(0);
	assert_memory_equal(m.b + DNS_HEADER_BYTES, "\3api\1x\3org", 11);
	make_reply(&m, 0, ADDRS("93.184.216.34", "93.184.216.35"));
	send_back(0, &m);
	a = expect_answer("api.x.org", 2);
	assert_int_equal(a.ttl_s, DNS_TTL_MAX_S);
	assert_int_equal(a.slot.generation, 7);
	assert_memory_equal(a.addr[1],
			    "\0\0\0\0\0\0\0\0\0\0\xff\xff\x5d\xb8\xd8\x23", 16);
	expect_silence(client_fd); /* not before the shim has them */
	acknowledge(a.seq, 0);
	got = take_reply();
	assert_int_equal(got.rcode, ns_r_noerror);
	assert_int_equal(got.n, 2);
	assert_int_equal(got.first.ttl, DNS_TTL_MAX_S);
	assert_memory_equal(got.b + DNS_HEADER_BYTES, "\3api\1x\3org", 11);

	/* now its reverse name is known, and another's is not */
	ask("34.216.184.93.in-addr.arpa", ns_t_ptr);
	expect_reply(ns_r_noerror, 1);
	expect_record(REASON_ALLOWED, "34.216.184.93.in-addr.arpa");
	ask("36.216.184.93.in-addr.arpa", ns_t_ptr);
	expect_reply(ns_r_nxdomain, 0);
	expect_record(REASON_NAME_NOT_ALLOWED, "36.216.184.93.in-addr.arpa");
	expect_silence(up_udp[0]);
}

static void test_shim_refuses(void **state)
{
	struct resolver_answer a;
	(void)state;

	ask("api.x.org", ns_t_a);
	answer_with(0, ADDRS("93.184.216.34"));
	a = expect_answer("api.x.org", 1);
	acknowledge(a.seq, ENOSPC);
	expect_reply(ns_r_servfail, 0);
	/* a name that was not acknowledged has no reverse name either */
	ask("34.216.184.93.in-addr.arpa", ns_t_ptr);
	expect_reply(ns_r_nxdomain, 0);
	expect_record(REASON_NAME_NOT_ALLOWED, "34.216.184.93.in-addr.arpa");
}

static void test_shim_is_late(void **state)
{
	struct resolver_answer a;
	(void)state;

	ask("api.x.org", ns_t_a);
	answer_with(0, ADDRS("93.184.216.34"));
	a = expect_answer("api.x.org", 1);
	skew_ms += FORWARD_ACK_MS;
	expect_reply(ns_r_servfail, 0);
	expect_record(REASON_ALLOWED, "api.x.org");
	acknowledge(a.seq, 0);
	acknowledge(a.seq + 1, 0);
	acknowledge(0, 0);
	expect_silence(client_fd);
}

static void test_addresses(void **state)
{
	struct resolver_answer a;
	(void)state;

	/* below a wildcard only public ones, one by one */
	ask("a.wild.org", ns_t_a);
	answer_with(0, ADDRS("10.0.0.1", "93.184.216.34", "127.0.0.1"));
	expect_record(REASON_BLOCKED_ADDRESS, "a.wild.org");
	a = expect_answer("a.wild.org", 1);
	assert_int_equal(a.addr[0][12], 93);
	acknowledge(a.seq, 0);
	expect_reply(ns_r_noerror, 1);

	/* none is left: empty, at once */
	ask("b.wild.org", ns_t_a);
	answer_with(0, ADDRS("10.0.0.1"));
	expect_record(REASON_PRIVATE_ADDRESS, "b.wild.org");
	expect_reply(ns_r_noerror, 0);

	/* a host that is named may be internal, never link-local */
	ask("api.x.org", ns_t_a);
	answer_with(0, ADDRS("10.0.0.1", "169.254.169.254"));
	expect_record(REASON_BLOCKED_ADDRESS, "api.x.org");
	a = expect_answer("api.x.org", 1);
	assert_int_equal(a.addr[0][12], 10);
	acknowledge(a.seq, 0);
	expect_reply(ns_r_noerror, 1);
}

static void test_types(void **state)
{
	static const uint16_t refused[] = { ns_t_txt, ns_t_mx,	ns_t_any,
					    ns_t_ns,  ns_t_soa, ns_t_ptr,
					    ns_t_null, 65535 };
	struct msg m;
	(void)state;

	for (size_t i = 0; i < N_ELEMENTS(refused); i++) {
		struct resolver_query q;

		ask("api.x.org", refused[i]);
		expect_reply(ns_r_noerror, 0);
		q = expect_record(REASON_DNS_TYPE, "api.x.org");
		assert_int_equal(q.qtype, refused[i]);
		assert_int_equal(q.slot.generation, 7);
	}
	m = query_of("api.x.org", ns_t_txt, false);
	m.b[m.n - 1] = ns_c_chaos;
	sendto(client_fd, m.b, m.n, 0, (struct sockaddr *)&udp_addr,
	       sizeof(udp_addr));
	expect_reply(ns_r_notimpl, 0);
	expect_record(REASON_DNS_TYPE, "api.x.org");
	expect_silence(up_udp[0]);
	/* what is asked for, and is not an address */
	ask("_s._tcp.x.org", ns_t_srv);
	answer_with(0, NULL);
	expect_reply(ns_r_noerror, 0);
	expect_record(REASON_ALLOWED, "_s._tcp.x.org");
}

static void test_localhost(void **state)
{
	struct reply got;
	(void)state;

	ask("localhost", ns_t_a);
	got = take_reply();
	assert_int_equal(got.n, 1);
	assert_memory_equal(got.first.rdata, "\x7f\0\0\1", 4);
	ask("x.LOCALHOST", ns_t_aaaa);
	got = take_reply();
	assert_int_equal(got.n, 1);
	assert_memory_equal(got.first.rdata,
			    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 16);
	ask("localhost", ns_t_mx);
	expect_reply(ns_r_noerror, 0);
	expect_silence(shim_fd);
	ask("1.0.0.127.in-addr.arpa", ns_t_ptr);
	expect_reply(ns_r_noerror, 1);
	expect_record(REASON_ALLOWED, "1.0.0.127.in-addr.arpa");
	ask("notlocalhost", ns_t_a);
	expect_reply(ns_r_nxdomain, 0);
	expect_record(REASON_NAME_NOT_ALLOWED, "notlocalhost");
}

static void test_unreadable(void **state)
{
	struct msg m = query_of("api.x.org", ns_t_a, false);
	struct reply got = { .size = 0 };
	ssize_t n;
	(void)state;

	m.b[m.n++] = 0;
	sendto(client_fd, m.b, m.n, 0, (struct sockaddr *)&udp_addr,
	       sizeof(udp_addr));
	expect_reply(ns_r_formerr, 0);
	expect_record(REASON_DNS_TYPE, "");
	m.n = 1200;
	sendto(client_fd, m.b, m.n, 0, (struct sockaddr *)&udp_addr,
	       sizeof(udp_addr));
	expect_reply(ns_r_formerr, 0);
	expect_record(REASON_DNS_LIMIT, "");
	/* to a response, or to a byte, there is no answer */
	m.b[2] |= 0x80;
	for (m.n = 1; m.n < 30; m.n += 28)
		sendto(client_fd, m.b, m.n, 0, (struct sockaddr *)&udp_addr,
		       sizeof(udp_addr));
	expect_silence(client_fd);
	expect_silence(shim_fd);
	/* a later one is answered all the same */
	ask("evil.org", ns_t_a);
	pump_for(client_fd);
	n = recv(client_fd, got.b, sizeof(got.b), 0);
	assert_true(n > DNS_HEADER_BYTES);
}

/* ----------------------------------------------------------- containers */

static void test_containers(void **state)
{
	const struct resolver_policy_remove gone = {
		.op = RESOLVER_OP_POLICY_REMOVE, .slot = { 0, 7 }
	};
	struct resolver_answer a;
	struct msg m;
	(void)state;

	add_policy(3, ADDRS("both.org", "other.org"), NULL);
	ask("both.org", ns_t_a);
	answer_with(0, ADDRS("93.184.216.34"));
	a = expect_answer("both.org", 1);
	assert_int_equal(a.slot.index, 0);
	acknowledge(a.seq, 0);
	expect_reply(ns_r_noerror, 1);
	ask("other.org", ns_t_a);
	answer_with(0, ADDRS("93.184.216.34"));
	a = expect_answer("other.org", 1);
	assert_int_equal(a.slot.index, 3);
	acknowledge(a.seq, 0);
	expect_reply(ns_r_noerror, 1);

	/* one goes, with what it was asking for */
	ask("api.x.org", ns_t_a);
	m = take_query(0);
	assert_int_equal(packet_send(shim_fd, &gone, sizeof(gone), NULL, 0),
			 0);
	expect_reply(ns_r_servfail, 0);
	expect_record(REASON_ALLOWED, "api.x.org");
	make_reply(&m, 0, ADDRS("93.184.216.34"));
	send_back(0, &m);
	expect_silence(client_fd);
	ask("api.x.org", ns_t_a);
	expect_reply(ns_r_nxdomain, 0);
	expect_record(REASON_NAME_NOT_ALLOWED, "api.x.org");
	ask("both.org", ns_t_a);
	answer_with(0, ADDRS("93.184.216.34"));
	a = expect_answer("both.org", 1);
	assert_int_equal(a.slot.index, 3);
}

static void test_ceiling(void **state)
{
	struct resolver_answer a;
	(void)state;

	add_policy(1, ADDRS("one.org", "two.org"), ADDRS("*.org", "one.org"));
	ask("one.org", ns_t_a);
	answer_with(0, ADDRS("10.0.0.1"));
	a = expect_answer("one.org", 1);
	acknowledge(a.seq, 0);
	expect_reply(ns_r_noerror, 1);
	/* below the ceiling's wildcard: no internal address */
	ask("two.org", ns_t_a);
	answer_with(0, ADDRS("10.0.0.1"));
	expect_reply(ns_r_noerror, 0);
	expect_record(REASON_PRIVATE_ADDRESS, "two.org");

	add_policy(2, ADDRS("three.net"), ADDRS("*.org"));
	ask("three.net", ns_t_a);
	expect_reply(ns_r_nxdomain, 0);
	expect_record(REASON_CEILING, "three.net");
}

static void test_bad_policy(void **state)
{
	struct resolver_policy_add m = { .op = RESOLVER_OP_POLICY_ADD,
					 .slot = { 5, 1 } };
	struct resolver_policy_done done;
	char junk[4096] = "OSHpol\r\n";
	int fd;
	(void)state;

	for (size_t n = 0; n <= sizeof(junk); n += sizeof(junk) / 2) {
		fd = policy_fd(junk, n);
		assert_int_equal(packet_send(shim_fd, &m, sizeof(m), &fd, 1),
				 0);
		close(fd);
		expect_message(&done, sizeof(done), RESOLVER_OP_POLICY_DONE);
		assert_int_not_equal(done.err.code, 0);
		assert_int_not_equal(done.err.text[0], '\0');
	}
	/* the place is still free */
	m.slot.generation = 7;
	add_policy(5, ADDRS("other.org"), NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_refused_name),
		CASE(test_answer_waits),
		CASE(test_shim_refuses),
		CASE(test_shim_is_late),
		CASE(test_addresses),
		CASE(test_types),
		CASE(test_localhost),
		CASE(test_unreadable),
		CASE(test_containers),
		CASE(test_ceiling),
		CASE(test_bad_policy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
