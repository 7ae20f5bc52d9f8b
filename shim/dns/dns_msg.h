/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DNS messages (RFC 1035, 2181, 6891, 9460): what a client asks, what an
 * upstream answers, and what the client is told.
 *
 * Everything read here is hostile. Parsing is libresolv's (ns_initparse walks
 * every record of every section within the message's bounds, names included,
 * and refuses trailing bytes); what is kept of a message is copied into the
 * fixed structs below, and a reply is always written anew from them: no byte
 * of an upstream's message reaches a client that was not understood.
 *
 * Nothing is allocated, nothing is kept between calls.
 */
#ifndef OSH_DNS_MSG_H
#define OSH_DNS_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DNS_HEADER_BYTES = 12,
	DNS_MSG_BYTES = 8192,	/* of a message to or from an upstream */
	DNS_QUERY_BYTES = 1024, /* of a client's: a name, EDNS, padding */
	DNS_UDP_BYTES = 512,	/* RFC 1035 2.3.4, without EDNS */
	DNS_EDNS_BYTES = 1232,	/* what we accept: below any path's MTU */
	DNS_WIRE_BYTES = 255,	/* of a name, uncompressed */
	DNS_HOST_BYTES = 254,	/* of a name as text, with its NUL */
	DNS_SHOW_BYTES = 256,	/* of a name for the log, cut */
	DNS_CHAIN_MAX = 8,	/* CNAMEs of an answer */
	DNS_ADDRS_MAX = 16,	/* addresses of an answer */
	DNS_DATA_MAX = 16,	/* SRV, HTTPS and SVCB records of an answer */
	DNS_DATA_BYTES = 512,	/* of one of them */
	DNS_TTL_MIN_S = 1,
	DNS_TTL_MAX_S = 30,
};

/* RFC 9460; nameser.h does not know them. */
enum {
	DNS_TYPE_SVCB = 64,
	DNS_TYPE_HTTPS = 65,
};

/* A name as on the wire, uncompressed, its root label included. */
struct dns_name {
	uint16_t n;
	uint8_t wire[DNS_WIRE_BYTES];
};

struct dns_query {
	uint16_t id, type, rr_class;
	bool rd, cd, edns;
	uint16_t udp_bytes;    /* what the client takes by UDP */
	struct dns_name qname; /* in the client's letters */
	/*
	 * The name in lower case, without the last dot. Empty when it is no
	 * name of a host: then a byte is not a letter, digit, '-' or '_'.
	 */
	char host[DNS_HOST_BYTES];
};

/* IPv4 as v4-mapped IPv6. */
struct dns_addr {
	uint8_t b[16];
};

struct dns_data {
	uint16_t n;
	uint8_t b[DNS_DATA_BYTES];
};

/* What is known of an answer, and what a reply is written from. */
struct dns_answer {
	uint8_t rcode;
	bool tc;	/* the message was truncated */
	uint32_t ttl_s; /* smallest of all records used, not clamped */
	unsigned int n_chain, n_addrs, n_data;
	unsigned int n_cut; /* records beyond what fits here */
	struct dns_name chain[DNS_CHAIN_MAX]; /* targets, in order */
	struct dns_addr addr[DNS_ADDRS_MAX];
	struct dns_data data[DNS_DATA_MAX]; /* rdata */
};

/*
 * Read a client's query. Returns 0, or the response code to answer it with
 * (ns_r_formerr, ns_r_notimpl; see dns_write_error), or -EBADMSG for what must
 * not be answered at all: shorter than a header, or a response.
 */
int dns_read_query(struct dns_query *ret, const uint8_t *msg, size_t n);

/*
 * Read an upstream's reply to @q, asked under @id. Returns
 *	0	  it answers the question: *ret is filled
 *	-ENOMSG	  it is not a reply to this question: somebody is guessing
 *	-EBADMSG  it is, but it makes no sense (loops, bounds, two CNAMEs)
 *	-E2BIG	  its chain of CNAMEs is longer than DNS_CHAIN_MAX
 * With .tc set nothing but .rcode is filled. Of HTTPS and SVCB records the
 * keys ech, ipv4hint and ipv6hint are taken out: the first would hide the name
 * that a connection is for, the others are addresses that nobody checked.
 */
int dns_read_reply(struct dns_answer *ret, const struct dns_query *q,
		   uint16_t id, const uint8_t *msg, size_t n);

/*
 * Each of these returns the number of bytes written to @buf. @size is at
 * least DNS_UDP_BYTES.
 */

/* The query for an upstream: @q's name in lower case, an id of ours. */
size_t dns_write_query(uint8_t *buf, size_t size, const struct dns_query *q,
		       uint16_t id, bool edns);
/*
 * The reply to @q. What does not fit into @size is left out and TC set. The
 * TTL of every record is @a's, clamped to DNS_TTL_MIN_S..DNS_TTL_MAX_S.
 */
size_t dns_write_reply(uint8_t *buf, size_t size, const struct dns_query *q,
		       const struct dns_answer *a);
/* An empty reply with @rcode. */
size_t dns_write_empty(uint8_t *buf, size_t size, const struct dns_query *q,
		       unsigned int rcode);
/* The reply to a PTR query: the name of a host, as in struct dns_query. */
size_t dns_write_ptr(uint8_t *buf, size_t size, const struct dns_query *q,
		     const char *host);
/* A bare header in answer to @msg (at least DNS_HEADER_BYTES long). */
size_t dns_write_error(uint8_t *buf, size_t size, const uint8_t *msg,
		       unsigned int rcode);

static inline uint32_t dns_clamp_ttl(uint32_t ttl_s)
{
	if (ttl_s < DNS_TTL_MIN_S)
		return DNS_TTL_MIN_S;
	return ttl_s > DNS_TTL_MAX_S ? DNS_TTL_MAX_S : ttl_s;
}

/* The name as text for people: escaped, printable, cut to fit. */
void dns_show(const struct dns_name *name, char ret_text[DNS_SHOW_BYTES]);

/*
 * The address of a reverse name (4.3.2.1.in-addr.arpa, ....ip6.arpa), which
 * must be complete. Returns false for every other name.
 */
bool dns_reverse(const char *host, struct dns_addr *ret);

#endif
