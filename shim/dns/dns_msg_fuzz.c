/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes both readers: the first byte chooses the type of the question that
 * was asked, 0 reads the rest as a query. What can be read is written, and
 * that must read the same.
 */
#include <arpa/nameser.h>
#include <assert.h>
#include <string.h>

#include "runtime/base/own.h"
#include "shim/dns/dns_msg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t out[DNS_MSG_BYTES];
static struct dns_answer first, second;

static void use_query(const uint8_t *msg, size_t n)
{
	struct dns_query q, again;
	char text[DNS_SHOW_BYTES];
	struct dns_addr addr;
	int r = dns_read_query(&q, msg, n);
	size_t size;

	if (r > 0) {
		size = dns_write_error(out, sizeof(out), msg, (unsigned int)r);
		assert(size == DNS_HEADER_BYTES);
	}
	if (r != 0)
		return;
	assert(strlen(q.host) < DNS_HOST_BYTES);
	dns_show(&q.qname, text);
	assert(strlen(text) < sizeof(text));
	dns_reverse(q.host, &addr);
	size = dns_write_query(out, DNS_UDP_BYTES, &q, q.id, q.edns);
	assert(dns_read_query(&again, out, size) == 0);
	assert(again.type == q.type && again.qname.n == q.qname.n &&
	       again.edns == q.edns && strcmp(again.host, q.host) == 0);
	size = dns_write_empty(out, DNS_UDP_BYTES, &q, ns_r_nxdomain);
	assert(dns_read_reply(&first, &q, q.id, out, size) == 0);
	assert(first.rcode == ns_r_nxdomain);
	dns_write_ptr(out, sizeof(out), &q, q.host);
}

static void use_reply(uint16_t type, const uint8_t *msg, size_t n)
{
	static const char name[] = "\3www\7example\3com";
	struct dns_query q = { .type = type,
			       .rr_class = ns_c_in,
			       .qname.n = sizeof(name) };
	size_t size;

	memcpy(q.qname.wire, name, sizeof(name));
	if (n < DNS_HEADER_BYTES)
		return;
	q.id = (uint16_t)(msg[0] << 8 | msg[1]);
	if (dns_read_reply(&first, &q, q.id, msg, n) < 0 || first.tc)
		return;
	size = dns_write_reply(out, sizeof(out), &q, &first);
	assert(size <= sizeof(out));
	assert(dns_read_reply(&second, &q, q.id, out, size) == 0);
	if (second.tc)
		return;
	assert(second.rcode == first.rcode);
	assert(second.n_chain == first.n_chain);
	assert(second.n_addrs == first.n_addrs);
	assert(second.n_data == first.n_data);
	assert(!memcmp(second.addr, first.addr,
		       first.n_addrs * sizeof(first.addr[0])));
	for (size_t i = 0; i < first.n_data; i++)
		assert(second.data[i].n == first.data[i].n &&
		       !memcmp(second.data[i].b, first.data[i].b,
			       first.data[i].n));
	dns_write_reply(out, DNS_UDP_BYTES, &q, &first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint16_t types[] = { ns_t_a,	ns_t_aaaa,
					  ns_t_cname,	ns_t_srv,
					  DNS_TYPE_SVCB, DNS_TYPE_HTTPS };
	unsigned int which = size ? data[0] % (N_ELEMENTS(types) + 1) : 0;

	if (!size)
		return 0;
	if (which == 0)
		use_query(data + 1, size - 1);
	else
		use_reply(types[which - 1], data + 1, size - 1);
	return 0;
}
