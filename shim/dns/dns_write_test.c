/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "shim/dns/dns_msg_fixture.h"

static void test_write_reply(void **state)
{
	struct dns_query q = asked("WwW.x.org", ns_t_a);
	static uint8_t out[DNS_MSG_BYTES];
	struct dns_answer in;
	size_t n;
	(void)state;

	head(0x77, 0x8180, 1, 3, 0);
	question("www.x.org", ns_t_a);
	record_cname("www.x.org", 3600, "mid.net");
	record_cname("mid.net", 3600, "end.net");
	record_a("end.net", 3600, "\1\2\3\4");
	assert_int_equal(reply(&q), 0);
	in = a;
	q.edns = true;
	n = dns_write_reply(out, sizeof(out), &q, &in);
	assert_int_equal(out[0] << 8 | out[1], 0x1234);
	assert_int_equal(out[2] << 8 | out[3], 0x8180);
	assert_memory_equal(out + 12, "\3WwW\1x\3org", 11);
	/* read it back: it says what was read */
	assert_int_equal(dns_read_reply(&a, &q, 0x1234, out, n), 0);
	assert_int_equal(a.n_chain, 2);
	assert_memory_equal(a.chain, in.chain, 2 * sizeof(in.chain[0]));
	assert_int_equal(a.n_addrs, 1);
	assert_memory_equal(a.addr, in.addr, sizeof(in.addr[0]));
	assert_int_equal(a.ttl_s, DNS_TTL_MAX_S);
	in.ttl_s = 0;
	n = dns_write_reply(out, sizeof(out), &q, &in);
	assert_int_equal(dns_read_reply(&a, &q, 0x1234, out, n), 0);
	assert_int_equal(a.ttl_s, DNS_TTL_MIN_S);
}

static void test_write_cut(void **state)
{
	struct dns_query q = asked("www.x.org", ns_t_aaaa);
	static uint8_t out[DNS_MSG_BYTES];
	size_t n;
	(void)state;

	a = (struct dns_answer){ .n_addrs = 16, .n_chain = 1 };
	a.chain[0] = q.qname;
	n = dns_write_reply(out, sizeof(out), &q, &a);
	assert_false(out[2] & 2);
	assert_true(n > 460 && n < 512);
	q.edns = true;
	n = dns_write_reply(out, 480, &q, &a);
	assert_true(out[2] & 2);
	assert_true(n <= 480);
	assert_int_equal(out[7], 15); /* a CNAME and 14 addresses */
	assert_int_equal(out[11], 1); /* OPT was kept room for */
	/* not even the chain fits */
	a.n_chain = DNS_CHAIN_MAX;
	for (size_t i = 0; i < DNS_CHAIN_MAX; i++) {
		a.chain[i].n = DNS_WIRE_BYTES;
		for (size_t at = 0; at < 192; at += 64)
			a.chain[i].wire[at] = 63;
		a.chain[i].wire[192] = 61;
		a.chain[i].wire[254] = 0;
	}
	n = dns_write_reply(out, DNS_UDP_BYTES, &q, &a);
	assert_true(out[2] & 2);
	assert_int_equal(out[7], 1);
	assert_true(n <= DNS_UDP_BYTES);
	/* the largest reply there is stays within a message */
	a.n_chain = DNS_CHAIN_MAX;
	a.n_data = DNS_DATA_MAX;
	for (size_t i = 0; i < DNS_DATA_MAX; i++)
		a.data[i].n = DNS_DATA_BYTES;
	n = dns_write_reply(out, sizeof(out), &q, &a);
	assert_true(n <= sizeof(out));
}

static void test_write_query(void **state)
{
	struct dns_query q = asked("WwW.X-1.org", ns_t_a), back;
	uint8_t out[DNS_UDP_BYTES];
	size_t n;
	(void)state;

	n = dns_write_query(out, sizeof(out), &q, 0xabcd, true);
	assert_int_equal(dns_read_query(&back, out, n), 0);
	assert_int_equal(back.id, 0xabcd);
	assert_int_equal(back.udp_bytes, DNS_EDNS_BYTES);
	assert_true(back.rd && back.edns && !back.cd);
	/* whatever the client's letters were */
	assert_memory_equal(back.qname.wire, "\3www\3x-1\3org", 13);
	n = dns_write_query(out, sizeof(out), &q, 1, false);
	assert_int_equal(dns_read_query(&back, out, n), 0);
	assert_false(back.edns);
}

static void test_write_others(void **state)
{
	struct dns_query q = asked("1.0.0.10.in-addr.arpa", ns_t_ptr);
	uint8_t out[DNS_UDP_BYTES];
	ns_msg h;
	ns_rr rr;
	char text[NS_MAXDNAME];
	size_t n;
	(void)state;

	n = dns_write_ptr(out, sizeof(out), &q, "api.x.org");
	assert_int_equal(ns_initparse(out, (int)n, &h), 0);
	assert_int_equal(ns_parserr(&h, ns_s_an, 0, &rr), 0);
	assert_string_equal(rr.name, "1.0.0.10.in-addr.arpa");
	assert_true(ns_name_uncompress(out, out + n, rr.rdata, text,
				       sizeof(text)) > 0);
	assert_string_equal(text, "api.x.org");

	q.edns = q.cd = true;
	n = dns_write_ptr(out, 60, &q, "api.x.org");
	assert_true(n <= 60 && (out[2] & 2));
	n = dns_write_ptr(out, sizeof(out), &q, "a..b");
	assert_int_equal(out[3] & 0x1f, 0x10 | ns_r_servfail);
	n = dns_write_empty(out, sizeof(out), &q, ns_r_nxdomain);
	assert_int_equal(ns_initparse(out, (int)n, &h), 0);
	assert_int_equal(ns_msg_getflag(h, ns_f_rcode), ns_r_nxdomain);
	assert_int_equal(ns_msg_count(h, ns_s_an), 0);
	assert_int_equal(ns_msg_count(h, ns_s_ar), 1);

	head(0x4242, 0x2900, 1, 0, 0);
	n = dns_write_error(out, sizeof(out), m.b, ns_r_notimpl);
	assert_int_equal(n, DNS_HEADER_BYTES);
	assert_memory_equal(out, "\x42\x42\xa9\x84\0\0\0\0\0\0\0\0", 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write_reply),
		cmocka_unit_test(test_write_cut),
		cmocka_unit_test(test_write_query),
		cmocka_unit_test(test_write_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
