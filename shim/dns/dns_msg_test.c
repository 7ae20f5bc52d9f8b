/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "runtime/base/own.h"
#include "shim/dns/dns_msg_fixture.h"

/* -------------------------------------------------------------- queries */

static void test_query(void **state)
{
	struct dns_query q;
	(void)state;

	head(0xbeef, 0x0110, 1, 0, 1);
	question("API.Example.com", ns_t_aaaa);
	opt(4096, 0x8000);
	assert_int_equal(dns_read_query(&q, m.b, m.n), 0);
	assert_int_equal(q.id, 0xbeef);
	assert_int_equal(q.type, ns_t_aaaa);
	assert_int_equal(q.rr_class, ns_c_in);
	assert_int_equal(q.udp_bytes, 4096);
	assert_true(q.rd && q.cd && q.edns);
	assert_string_equal(q.host, "api.example.com");
	assert_memory_equal(q.qname.wire, "\3API\7Example\3com", 17);
	assert_int_equal(q.qname.n, 17);
}

static void test_query_sizes(void **state)
{
	struct dns_query q;
	char label[65];
	(void)state;

	/* EDNS below 512 is 512 (RFC 6891 6.2.3) */
	head(1, 0, 1, 0, 1);
	question("a", ns_t_a);
	opt(100, 0);
	assert_int_equal(dns_read_query(&q, m.b, m.n), 0);
	assert_int_equal(q.udp_bytes, 512);
	assert_false(q.rd);

	/* the longest name there is, and one byte more */
	memset(label, 'x', sizeof(label));
	for (unsigned int last = 61; last <= 62; last++) {
		head(1, 0, 1, 0, 0);
		for (int i = 0; i < 3; i++) {
			u8(63);
			bytes(label, 63);
		}
		u8(last);
		bytes(label, last);
		u8(0);
		u16(ns_t_a);
		u16(ns_c_in);
		assert_int_equal(dns_read_query(&q, m.b, m.n),
				 last == 61 ? 0 : ns_r_formerr);
	}
	head(1, 0, 1, 0, 0);
	for (int i = 0; i < 3; i++) {
		u8(63);
		bytes(label, 63);
	}
	u8(61);
	bytes(label, 61);
	u8(0);
	u16(ns_t_a);
	u16(ns_c_in);
	assert_int_equal(dns_read_query(&q, m.b, m.n), 0);
	assert_int_equal(strlen(q.host), 253);
	assert_int_equal(q.qname.n, 255);

	/* longer than any query has to be */
	head(1, 0, 1, 0, 1);
	question("a", ns_t_a);
	u8(0);
	u16(ns_t_opt);
	u16(4096);
	u32(0);
	u16(1100);
	m.n += 1100;
	assert_int_equal(dns_read_query(&q, m.b, m.n), ns_r_formerr);
}

static void test_query_hosts(void **state)
{
	static const struct {
		const char *wire;
		size_t n;
		const char *host;
	} rows[] = {
		{ "\0", 1, "" },
		{ "\4_srv\4_tcp\1x\0", 13, "_srv._tcp.x" },
		{ "\3a.b\1c\0", 7, "" },
		{ "\3a\0b\1c\0", 7, "" },
		{ "\3a b\0", 5, "" },
		{ "\3a\xc3\xa4\0", 5, "" },
		{ "\1*\1c\0", 5, "" },
		{ "\4a\\.b\0", 6, "" },
	};
	struct dns_query q;
	(void)state;

	for (size_t i = 0; i < N_ELEMENTS(rows); i++) {
		head(1, 0, 1, 0, 0);
		bytes(rows[i].wire, rows[i].n);
		u16(ns_t_a);
		u16(ns_c_in);
		assert_int_equal(dns_read_query(&q, m.b, m.n), 0);
		assert_string_equal(q.host, rows[i].host);
	}
}

static void test_query_refused(void **state)
{
	struct dns_query q;
	size_t whole;
	(void)state;

	head(1, 0x8100, 1, 0, 0); /* a response */
	question("a.b", ns_t_a);
	assert_int_equal(dns_read_query(&q, m.b, m.n), -EBADMSG);
	head(1, 0x2800, 1, 0, 0); /* UPDATE */
	question("a.b", ns_t_a);
	assert_int_equal(dns_read_query(&q, m.b, m.n), ns_r_notimpl);
	head(1, 0x0200, 1, 0, 0); /* TC */
	question("a.b", ns_t_a);
	assert_int_equal(dns_read_query(&q, m.b, m.n), ns_r_formerr);
	head(1, 0, 2, 0, 0);
	question("a.b", ns_t_a);
	question("c.d", ns_t_a);
	assert_int_equal(dns_read_query(&q, m.b, m.n), ns_r_formerr);
	head(1, 0, 0, 0, 0);
	assert_int_equal(dns_read_query(&q, m.b, m.n), ns_r_formerr);
	head(1, 0, 1, 1, 0);
	question("a.b", ns_t_a);
	record_a("a.b", 1, "\1\2\3\4");
	assert_int_equal(dns_read_query(&q, m.b, m.n), ns_r_formerr);
	head(1, 0, 1, 0, 1); /* an additional record that is not OPT */
	question("a.b", ns_t_a);
	record_a("a.b", 1, "\1\2\3\4");
	assert_int_equal(dns_read_query(&q, m.b, m.n), ns_r_formerr);
	head(1, 0, 1, 0, 1); /* an OPT that has a name; two of them */
	question("a.b", ns_t_a);
	u8(1);
	u8('x');
	opt(1232, 0);
	assert_int_equal(dns_read_query(&q, m.b, m.n), ns_r_formerr);
	head(1, 0, 1, 0, 2);
	question("a.b", ns_t_a);
	opt(1232, 0);
	opt(1232, 0);
	assert_int_equal(dns_read_query(&q, m.b, m.n), ns_r_formerr);
	head(1, 0, 1, 0, 0); /* a record among the nameservers */
	m.b[9] = 1;
	question("a.b", ns_t_a);
	record_a("a.b", 1, "\1\2\3\4");
	assert_int_equal(dns_read_query(&q, m.b, m.n), ns_r_formerr);
	head(1, 0, 1, 0, 1); /* EDNS version 1 */
	question("a.b", ns_t_a);
	opt(1232, 0x00010000);
	assert_int_equal(dns_read_query(&q, m.b, m.n), ns_r_formerr);
	head(1, 0, 1, 0, 0); /* trailing bytes */
	question("a.b", ns_t_a);
	u8(0);
	assert_int_equal(dns_read_query(&q, m.b, m.n), ns_r_formerr);
	head(1, 0, 1, 0, 0); /* a pointer to itself, and to a zero byte */
	u16(0xc00c);
	u16(ns_t_a);
	u16(ns_c_in);
	assert_int_equal(dns_read_query(&q, m.b, m.n), ns_r_formerr);
	head(1, 0, 1, 0, 0);
	u8(1);
	u8('a');
	u16(0xc004);
	u16(ns_t_a);
	u16(ns_c_in);
	assert_int_equal(dns_read_query(&q, m.b, m.n), ns_r_formerr);

	head(1, 0, 1, 0, 1); /* cut anywhere */
	question("a.b", ns_t_a);
	opt(1232, 0);
	whole = m.n;
	for (size_t n = 0; n < whole; n++)
		assert_int_equal(dns_read_query(&q, m.b, n),
				 n < DNS_HEADER_BYTES ? -EBADMSG :
							(int)ns_r_formerr);
}

static void test_show(void **state)
{
	struct dns_name n = { .n = 9, .wire = "\3a.b\3\1\"x" };
	char text[DNS_SHOW_BYTES];
	(void)state;

	dns_show(&n, text);
	assert_string_equal(text, "a\\.b.\\001\\\"x");
	for (size_t i = 0; i < 4; i++) { /* 4 x 60 bytes, \DDD each */
		n.wire[i * 61] = 60;
		memset(n.wire + i * 61 + 1, 1, 60);
	}
	n.wire[244] = 0;
	n.n = 245;
	dns_show(&n, text);
	assert_int_equal(strlen(text), DNS_SHOW_BYTES - 1);
}

static void test_reverse(void **state)
{
	static const char *const bad[] = {
		"",
		"in-addr.arpa",
		"4.3.2.in-addr.arpa",
		"5.4.3.2.1.in-addr.arpa",
		"256.3.2.1.in-addr.arpa",
		"04.3.2.1.in-addr.arpa",
		"0000.3.2.1.in-addr.arpa",
		".3.2.1.in-addr.arpa",
		"a.3.2.1.in-addr.arpa",
		"4.3.2.1.in-addr.arpa.x",
		"1.0.0.0.0.0.0.0.ip6.arpa",
		"10.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0"
		".2.ip6.arpa",
		"g.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0"
		".2.ip6.arpa",
	};
	struct dns_addr addr;
	(void)state;

	assert_true(dns_reverse("4.30.200.0.in-addr.arpa", &addr));
	assert_memory_equal(addr.b, "\0\0\0\0\0\0\0\0\0\0\xff\xff\0\xc8\x1e\4",
			    16);
	assert_true(dns_reverse("f.e.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0."
				"0.0.8.b.d.0.1.0.0.2.ip6.arpa",
				&addr));
	assert_memory_equal(addr.b, "\x20\1\xd\xb8\0\0\0\0\0\0\0\0\0\0\0\xef", 16);
	for (size_t i = 0; i < N_ELEMENTS(bad); i++)
		assert_false(dns_reverse(bad[i], &addr));
}

/* -------------------------------------------------------------- replies */

static void test_reply_chain(void **state)
{
	struct dns_query q = asked("www.x.org", ns_t_a);
	(void)state;

	head(0x77, 0x8180, 1, 5, 1);
	question("WWW.x.org", ns_t_a);
	/* in any order, and with what was not asked for */
	record_a("end.cdn.net", 20, "\1\2\3\4");
	record_cname("mid.cdn.net", 7, "end.cdn.net");
	record_a("other.net", 1, "\6\6\6\6");
	record_cname("www.X.org", 300, "MID.cdn.net");
	record_a("end.CDN.net", 60, "\1\2\3\5");
	opt(1232, 0);
	assert_int_equal(reply(&q), 0);
	assert_int_equal(a.rcode, ns_r_noerror);
	assert_int_equal(a.n_chain, 2);
	assert_int_equal(a.n_addrs, 2);
	assert_int_equal(a.ttl_s, 7);
	assert_memory_equal(a.chain[0].wire, "\3MID\3cdn\3net", 13);
	assert_memory_equal(a.addr[1].b,
			    "\0\0\0\0\0\0\0\0\0\0\xff\xff\1\2\3\5", 16);

	/* the chain alone was asked for */
	q = asked("www.x.org", ns_t_cname);
	head(0x77, 0x8180, 1, 2, 0);
	question("www.x.org", ns_t_cname);
	record_cname("www.x.org", 300, "mid.cdn.net");
	record_cname("mid.cdn.net", 7, "end.cdn.net");
	assert_int_equal(reply(&q), 0);
	assert_int_equal(a.n_chain, 1);
	assert_int_equal(a.ttl_s, 300);
}

static void test_reply_not_ours(void **state)
{
	struct dns_query q = asked("www.x.org", ns_t_a);
	size_t whole;
	(void)state;

	head(0x77, 0x8180, 1, 1, 0);
	question("www.x.org", ns_t_a);
	record_a("www.x.org", 9, "\1\2\3\4");
	assert_int_equal(reply(&q), 0);
	assert_int_equal(dns_read_reply(&a, &q, 0x78, m.b, m.n), -ENOMSG);
	whole = m.n;
	for (size_t n = 0; n < whole; n++)
		assert_true(dns_read_reply(&a, &q, 0x77, m.b, n) < 0);
	m.b[2] = 1; /* a query */
	assert_int_equal(reply(&q), -ENOMSG);
	head(0x77, 0x8180, 1, 0, 0);
	question("www.x.com", ns_t_a);
	assert_int_equal(reply(&q), -ENOMSG);
	head(0x77, 0x8180, 1, 0, 0);
	question("www.x.org", ns_t_aaaa);
	assert_int_equal(reply(&q), -ENOMSG);
	head(0x77, 0x8180, 0, 0, 0);
	assert_int_equal(reply(&q), -ENOMSG);
	/* 0x20 makes letters equal, nothing else */
	q = asked("a-b.org", ns_t_a);
	head(0x77, 0x8180, 1, 0, 0);
	question("a\rb.org", ns_t_a);
	assert_int_equal(reply(&q), -ENOMSG);
}

static void test_reply_senseless(void **state)
{
	struct dns_query q = asked("w.org", ns_t_a);
	(void)state;

	head(0x77, 0x8180, 1, 2, 0); /* two targets */
	question("w.org", ns_t_a);
	record_cname("w.org", 9, "a.org");
	record_cname("w.org", 9, "b.org");
	assert_int_equal(reply(&q), -EBADMSG);
	head(0x77, 0x8180, 1, 1, 0); /* an address of five bytes */
	question("w.org", ns_t_a);
	name("w.org");
	record(ns_t_a, 9, 5);
	bytes("\1\2\3\4\5", 5);
	assert_int_equal(reply(&q), -EBADMSG);
	head(0x77, 0x8180, 1, 1, 0); /* rdata beyond the end */
	question("w.org", ns_t_a);
	name("w.org");
	record(ns_t_a, 9, 400);
	bytes("\1\2\3\4", 4);
	assert_int_equal(reply(&q), -EBADMSG);
	head(0x77, 0x8180, 1, 1, 0); /* a name that points at itself */
	question("w.org", ns_t_a);
	u16(0xc000 | (unsigned int)m.n);
	record(ns_t_a, 9, 4);
	bytes("\1\2\3\4", 4);
	assert_int_equal(reply(&q), -EBADMSG);
	head(0x77, 0x8180, 1, 1, 0); /* rdata longer than its name */
	question("w.org", ns_t_a);
	name("w.org");
	record(ns_t_cname, 9, 8);
	name("a.org");
	u8(0);
	assert_int_equal(reply(&q), -EBADMSG);
	head(0x77, 0x8180, 1, 2, 0); /* round and round */
	question("w.org", ns_t_a);
	record_cname("w.org", 9, "a.org");
	record_cname("a.org", 9, "w.org");
	assert_int_equal(reply(&q), -E2BIG);
}

static void test_reply_limits(void **state)
{
	struct dns_query q = asked("n0.x", ns_t_a);
	char from[] = "n0.x", to[] = "n1.x";
	(void)state;

	for (unsigned int n = 8; n <= 9; n++) {
		head(0x77, 0x8180, 1, n + 1, 0);
		question("n0.x", ns_t_a);
		for (unsigned int i = 0; i < n; i++) {
			from[1] = (char)('0' + i);
			to[1] = (char)('1' + i);
			record_cname(from, 9, to);
		}
		record_a(to, 9, "\1\1\1\1");
		assert_int_equal(reply(&q), n == 8 ? 0 : -E2BIG);
		assert_int_equal(a.n_addrs, n == 8 ? 1 : 0);
	}

	head(0x77, 0x8180, 1, 20, 0);
	question("n0.x", ns_t_a);
	for (unsigned int i = 0; i < 20; i++)
		record_a("n0.x", 0x80000001, "\1\1\1\1");
	assert_int_equal(reply(&q), 0);
	assert_int_equal(a.n_addrs, DNS_ADDRS_MAX);
	assert_int_equal(a.n_cut, 4);
	assert_int_equal(a.ttl_s, 0);

	m.n = DNS_MSG_BYTES + 1;
	assert_int_equal(reply(&q), -ENOMSG);
}

static void test_reply_codes(void **state)
{
	struct dns_query q = asked("w.org", ns_t_a);
	(void)state;

	head(0x77, 0x8183, 1, 0, 0);
	question("w.org", ns_t_a);
	assert_int_equal(reply(&q), 0);
	assert_int_equal(a.rcode, ns_r_nxdomain);
	/* without the question only a refusal is believed */
	head(0x77, 0x8181, 0, 0, 0);
	assert_int_equal(reply(&q), 0);
	assert_int_equal(a.rcode, ns_r_formerr);
	head(0x77, 0x8183, 0, 0, 0);
	assert_int_equal(reply(&q), -ENOMSG);
	/* truncated within a record */
	head(0x77, 0x8380, 1, 1, 0);
	question("w.org", ns_t_a);
	name("w.org");
	u16(ns_t_a);
	assert_int_equal(reply(&q), 0);
	assert_true(a.tc);
	assert_int_equal(a.n_addrs, 0);
}

static void test_reply_srv(void **state)
{
	struct dns_query q = asked("_x._tcp.w.org", ns_t_srv);
	(void)state;

	head(0x77, 0x8180, 1, 1, 0);
	question("_x._tcp.w.org", ns_t_srv);
	u16(0xc00c);
	record(ns_t_srv, 9, 6 + 4);
	bytes("\0\1\0\2\x1f\x90", 6);
	u8(1);
	u8('h');
	u16(0xc00c + 8); /* w.org */
	assert_int_equal(reply(&q), 0);
	assert_int_equal(a.n_data, 1);
	assert_int_equal(a.data[0].n, 6 + 9);
	assert_memory_equal(a.data[0].b, "\0\1\0\2\x1f\x90\1h\1w\3org", 15);

	head(0x77, 0x8180, 1, 1, 0); /* no target */
	question("_x._tcp.w.org", ns_t_srv);
	u16(0xc00c);
	record(ns_t_srv, 9, 6);
	bytes("\0\1\0\2\x1f\x90", 6);
	assert_int_equal(reply(&q), -EBADMSG);
}

static void test_reply_data_limits(void **state)
{
	struct dns_query q = asked("x", ns_t_srv);
	(void)state;

	head(0x77, 0x8180, 1, DNS_DATA_MAX + 3, 0);
	question("x", ns_t_srv);
	for (int i = 0; i < DNS_DATA_MAX + 3; i++) {
		u16(0xc00c);
		record(ns_t_srv, 9, 6 + 3);
		bytes("\0\1\0\2\x1f\x90\1h", 9);
	}
	assert_int_equal(reply(&q), 0);
	assert_int_equal(a.n_data, DNS_DATA_MAX);
	assert_int_equal(a.n_cut, 3);
}

/* What is not of class IN is not an answer. */
static void test_reply_class(void **state)
{
	struct dns_query q = asked("w.org", ns_t_a);
	size_t class_at;
	(void)state;

	head(0x77, 0x8180, 1, 2, 0);
	question("w.org", ns_t_a);
	class_at = m.n + 7 + 3;
	record_cname("w.org", 9, "a.org");
	record_a("w.org", 9, "\1\2\3\4");
	m.b[class_at] = ns_c_chaos;
	assert_int_equal(reply(&q), 0);
	assert_int_equal(a.n_chain, 0);
	assert_int_equal(a.n_addrs, 1);
	head(0x77, 0x8180, 1, 1, 0);
	question("w.org", ns_t_a);
	class_at = m.n + 7 + 3;
	record_a("w.org", 9, "\1\2\3\4");
	m.b[class_at] = ns_c_chaos;
	assert_int_equal(reply(&q), 0);
	assert_int_equal(a.n_addrs, 0);
	head(0x77, 0xa980, 1, 0, 0); /* not the reply to a QUERY */
	question("w.org", ns_t_a);
	assert_int_equal(reply(&q), -ENOMSG);
}

/* One HTTPS record with @params: how many bytes are kept, 0 for none. */
static int https(const char *target, const char *params, size_t n)
{
	struct dns_query q = asked("w.org", DNS_TYPE_HTTPS);
	int r;

	head(0x77, 0x8180, 1, 1, 0);
	question("w.org", DNS_TYPE_HTTPS);
	u16(0xc00c);
	record(DNS_TYPE_HTTPS, 9,
	       2 + n + (*target ? strlen(target) + 2 : 1));
	u16(1);
	name(target);
	bytes(params, n);
	r = reply(&q);
	return r ? r : a.n_data ? a.data[0].n : 0;
}

static void test_reply_https(void **state)
{
	static char large[4 + 519];
	struct dns_query q = asked("w.org", DNS_TYPE_HTTPS);
	(void)state;

	for (unsigned int n = 2; n <= 4; n++) {
		head(0x77, 0x8180, 1, 1, 0);
		question("w.org", DNS_TYPE_HTTPS);
		u16(0xc00c);
		record(DNS_TYPE_HTTPS, 9, n); /* its target is longer */
		bytes("\0\1\xc0\x0c", n);
		assert_int_equal(reply(&q), -EBADMSG);
	}
	/* alpn h2, ipv4hint, ech, ipv6hint, an unknown key */
	assert_int_equal(https("", "\0\1\0\3\2h2" "\0\4\0\4\1\2\3\4"
				   "\0\5\0\2xx" "\0\6\0\20" "0123456789abcdef"
				   "\0\x77\0\1z", 46), 15);
	assert_memory_equal(a.data[0].b, "\0\1\0\0\1\0\3\2h2\0\x77\0\1z", 15);
	assert_int_equal(https("W.org", "", 0), 9);
	/* somewhere else's, or useless without what is stripped */
	assert_int_equal(https("cdn.net", "", 0), 0);
	assert_int_equal(https("", "\0\0\0\2\0\5\0\5\0\1x", 11), 0);
	assert_int_equal(https("", "\0\0\0\2\0\1\0\1\0\1x", 11), 14);
	/* more than is kept of one, and no room for a target */
	memcpy(large, "\0\7\2\7", 4);
	assert_int_equal(https("", large, sizeof(large)), 0);
	assert_int_equal(https("w.org", large, 300), -EBADMSG);
	/* out of order, twice, and beyond the end */
	assert_int_equal(https("", "\0\3\0\0\0\1\0\0", 8), -EBADMSG);
	assert_int_equal(https("", "\0\3\0\0\0\3\0\0", 8), -EBADMSG);
	assert_int_equal(https("", "\0\3\0\1", 4), -EBADMSG);
	assert_int_equal(https("", "\0\3\0", 3), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_query),
		cmocka_unit_test(test_query_sizes),
		cmocka_unit_test(test_query_hosts),
		cmocka_unit_test(test_query_refused),
		cmocka_unit_test(test_show),
		cmocka_unit_test(test_reverse),
		cmocka_unit_test(test_reply_chain),
		cmocka_unit_test(test_reply_not_ours),
		cmocka_unit_test(test_reply_senseless),
		cmocka_unit_test(test_reply_limits),
		cmocka_unit_test(test_reply_codes),
		cmocka_unit_test(test_reply_srv),
		cmocka_unit_test(test_reply_data_limits),
		cmocka_unit_test(test_reply_class),
		cmocka_unit_test(test_reply_https),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
