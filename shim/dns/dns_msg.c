/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names are kept as on the wire and compared as the text that libresolv makes
 * of them: ns_parserr() gives owners in that form only, and its escapes are
 * the same for the same name.
 *
 * A reply is written with two kinds of compression pointer: to the question's
 * name, and to the target of the CNAME written last.
 */
#include <arpa/nameser.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "shim/dns/dns_msg.h"

enum {
	FLAG_QR = 0x8000,
	FLAG_TC = 0x0200,
	FLAG_RD = 0x0100,
	FLAG_RA = 0x0080,
	FLAG_CD = 0x0010,

	POINTER = 0xc000,
	POINTER_BYTES = 2,
	OPT_BYTES = 11,

	/* RFC 9460 14.3.2 */
	SVC_MANDATORY = 0,
	SVC_IPV4HINT = 4,
	SVC_ECH = 5,
	SVC_IPV6HINT = 6,
};

/* ---------------------------------------------------------------- names */

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint16_t wire_bytes(const uint8_t *wire)
{
	uint16_t n = 0;

	while (wire[n])
		n = (uint16_t)(n + wire[n] + 1);
	return (uint16_t)(n + 1);
}

/*
 * Read the name at @at within the message. Returns how many bytes it takes
 * there, or a negative errno.
 */
static int read_name(struct dns_name *ret, const ns_msg *h, const uint8_t *at)
{
	int used = ns_name_unpack(ns_msg_base(*h), ns_msg_end(*h), at,
				  ret->wire, sizeof(ret->wire));

	if (used < 0)
		return -EBADMSG;
	ret->n = wire_bytes(ret->wire);
	return used;
}

/* In the form that ns_parserr() gives: the root is "". */
static int name_text(const struct dns_name *name, char text[NS_MAXDNAME])
{
	if (ns_name_ntop(name->wire, text, NS_MAXDNAME) < 0)
		return -EBADMSG;
	if (strcmp(text, ".") == 0)
		text[0] = '\0';
	return 0;
}

/* 0, or the character that the policy's matching sees for it. */
static char host_char(uint8_t c)
{
	if (c >= 'A' && c <= 'Z')
		return (char)(c - 'A' + 'a');
	if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
	    c == '_')
		return (char)c;
	return '\0';
}

static void host_text(const struct dns_name *name, char ret[DNS_HOST_BYTES])
{
	size_t n = 0;

	for (size_t at = 0; name->wire[at]; at += name->wire[at] + 1u) {
		if (n)
			ret[n++] = '.';
		for (size_t i = 1; i <= name->wire[at]; i++) {
			ret[n] = host_char(name->wire[at + i]);
			if (!ret[n++]) {
				ret[0] = '\0';
				return;
			}
		}
	}
	ret[n] = '\0';
}

void dns_show(const struct dns_name *name, char ret_text[DNS_SHOW_BYTES])
{
	char text[NS_MAXDNAME];

	if (ns_name_ntop(name->wire, text, sizeof(text)) < 0)
		text[0] = '\0';
	memccpy(ret_text, text, '\0', DNS_SHOW_BYTES);
	ret_text[DNS_SHOW_BYTES - 1] = '\0';
}

/* The digits of one label of a reverse name, and what follows its dot. */
static const char *reverse_label(const char *s, unsigned int base,
				 unsigned int max, uint8_t *ret)
{
	unsigned int v = 0, n = 0;

	for (; *s && *s != '.'; s++, n++) {
		const char *digits = "0123456789abcdef";
		const char *d = strchr(digits, *s);

		if (!d || (unsigned int)(d - digits) >= base || n == 3 ||
		    (n > 0 && v == 0))
			return NULL;
		v = v * base + (unsigned int)(d - digits);
	}
	if (n == 0 || v > max || *s != '.')
		return NULL;
	*ret = (uint8_t)v;
	return s + 1;
}

static bool reverse4(const char *host, struct dns_addr *ret)
{
	*ret = (struct dns_addr){ .b = { [10] = 0xff, [11] = 0xff } };
	for (size_t i = 0; i < 4 && host; i++)
		host = reverse_label(host, 10, 255, &ret->b[15 - i]);
	return host && strcmp(host, "in-addr.arpa") == 0;
}

static bool reverse6(const char *host, struct dns_addr *ret)
{
	uint8_t nibble = 0;

	*ret = (struct dns_addr){ .b = { 0 } };
	for (size_t i = 0; i < 32 && host; i++) {
		uint8_t *b = &ret->b[15 - i / 2];

		host = reverse_label(host, 16, 15, &nibble);
		*b = (uint8_t)(*b | nibble << (i % 2 ? 4 : 0));
	}
	return host && strcmp(host, "ip6.arpa") == 0;
}

bool dns_reverse(const char *host, struct dns_addr *ret)
{
	return reverse4(host, ret) || reverse6(host, ret);
}

/* -------------------------------------------------------------- reading */

/* The only other record that a query may carry (RFC 6891 6.1). */
static int read_opt(struct dns_query *ret, ns_msg *h)
{
	ns_rr rr;

	if (ns_msg_count(*h, ns_s_ar) == 0)
		return 0;
	if (ns_msg_count(*h, ns_s_ar) > 1 ||
	    ns_parserr(h, ns_s_ar, 0, &rr) < 0 || rr.type != ns_t_opt ||
	    rr.name[0] != '\0')
		return ns_r_formerr;
	if ((rr.ttl >> 16 & 0xff) != 0) /* its version */
		return ns_r_formerr;
	ret->edns = true;
	if (rr.rr_class > DNS_UDP_BYTES)
		ret->udp_bytes = rr.rr_class;
	return 0;
}

int dns_read_query(struct dns_query *ret, const uint8_t *msg, size_t n)
{
	uint16_t flags;
	ns_msg h;
	int used;

	if (n < DNS_HEADER_BYTES || (get16(msg + 2) & FLAG_QR))
		return -EBADMSG;
	flags = get16(msg + 2);
	if ((flags >> 11 & 0xf) != ns_o_query)
		return ns_r_notimpl;
	if (n > DNS_QUERY_BYTES || ns_initparse(msg, (int)n, &h) < 0 ||
	    (flags & FLAG_TC) || ns_msg_count(h, ns_s_qd) != 1 ||
	    ns_msg_count(h, ns_s_an) || ns_msg_count(h, ns_s_ns))
		return ns_r_formerr;

	*ret = (struct dns_query){ .id = get16(msg),
				   .rd = flags & FLAG_RD,
				   .cd = flags & FLAG_CD,
				   .udp_bytes = DNS_UDP_BYTES };
	used = read_name(&ret->qname, &h, msg + DNS_HEADER_BYTES);
	/* what is shorter here than unpacked is compressed, with what? */
	if (used != ret->qname.n)
		return ns_r_formerr;
	ret->type = get16(msg + DNS_HEADER_BYTES + used);
	ret->rr_class = get16(msg + DNS_HEADER_BYTES + used + 2);
	host_text(&ret->qname, ret->host);
	return read_opt(ret, &h);
}

static void take_ttl(struct dns_answer *a, const ns_rr *rr)
{
	/* RFC 2181 8: with the top bit set it is zero */
	uint32_t ttl_s = rr->ttl > INT32_MAX ? 0 : rr->ttl;

	if (ttl_s < a->ttl_s)
		a->ttl_s = ttl_s;
}

/* The target of @owner's CNAME. Returns 1, 0 (there is none) or an errno. */
static int read_cname(struct dns_answer *a, ns_msg *h, const char *owner,
		      struct dns_name *ret)
{
	int found = 0;
	ns_rr rr;

	for (int i = 0; i < ns_msg_count(*h, ns_s_an); i++) {
		if (ns_parserr(h, ns_s_an, i, &rr) < 0)
			return -EBADMSG;
		if (rr.type != ns_t_cname || rr.rr_class != ns_c_in ||
		    strcasecmp(rr.name, owner) != 0)
			continue;
		if (found++ || read_name(ret, h, rr.rdata) != rr.rdlength)
			return -EBADMSG;
		take_ttl(a, &rr);
	}
	return found;
}

/* Fill a->chain; @owner becomes the name at its end. */
static int read_chain(struct dns_answer *a, ns_msg *h, uint16_t type,
		      char owner[NS_MAXDNAME])
{
	struct dns_name target = { 0 };
	int r;

	while ((r = read_cname(a, h, owner, &target)) > 0) {
		if (a->n_chain == DNS_CHAIN_MAX)
			return -E2BIG;
		a->chain[a->n_chain++] = target;
		if (type == ns_t_cname)
			return 0;
		r = name_text(&target, owner);
		if (r < 0)
			return r;
	}
	return r;
}

static int add_addr(struct dns_answer *a, const ns_rr *rr)
{
	struct dns_addr *to = &a->addr[a->n_addrs];
	bool v4 = rr->type == ns_t_a;

	if (rr->rdlength != (v4 ? NS_INADDRSZ : NS_IN6ADDRSZ))
		return -EBADMSG;
	if (a->n_addrs == DNS_ADDRS_MAX) {
		a->n_cut++;
		return 0;
	}
	*to = (struct dns_addr){ .b = { [10] = 0xff, [11] = 0xff } };
	memcpy(to->b + (v4 ? 12 : 0), rr->rdata, rr->rdlength);
	a->n_addrs++;
	return 0;
}

static void put(struct dns_data *d, const void *from, size_t n)
{
	memcpy(d->b + d->n, from, n);
	d->n = (uint16_t)(d->n + n);
}

/* RFC 2782: priority, weight, port, target. Returns 1 to keep it. */
static int read_srv(struct dns_data *d, ns_msg *h, const ns_rr *rr,
		    const char *owner)
{
	enum { FIXED = 6 };
	struct dns_name target;

	(void)owner;
	if (rr->rdlength <= FIXED ||
	    read_name(&target, h, rr->rdata + FIXED) != rr->rdlength - FIXED)
		return -EBADMSG;
	put(d, rr->rdata, FIXED);
	put(d, target.wire, target.n);
	return 1;
}

static bool svc_stripped(uint16_t key)
{
	return key == SVC_ECH || key == SVC_IPV4HINT || key == SVC_IPV6HINT;
}

/* A record that can't be used without a key that goes is no use at all. */
static bool svc_mandatory_goes(const uint8_t *value, size_t n)
{
	for (size_t i = 0; i + 1 < n; i += 2)
		if (svc_stripped(get16(value + i)))
			return true;
	return false;
}

/* RFC 9460 2.2: SvcParams, ascending by key. Returns 1, 0 to drop it. */
static int read_params(struct dns_data *d, const uint8_t *p, size_t n)
{
	enum { HEAD = 4 };
	int last = -1;

	while (n) {
		uint16_t key, len;

		if (n < HEAD)
			return -EBADMSG;
		key = get16(p);
		len = get16(p + 2);
		if (key <= last || len > n - HEAD)
			return -EBADMSG;
		last = key;
		if (key == SVC_MANDATORY && svc_mandatory_goes(p + HEAD, len))
			return 0;
		if (!svc_stripped(key)) {
			if (d->n + HEAD + len > DNS_DATA_BYTES)
				return 0;
			put(d, p, HEAD + (size_t)len);
		}
		p += HEAD + len;
		n -= HEAD + (size_t)len;
	}
	return 1;
}

/*
 * RFC 9460 2.2: priority, target, parameters. Only records that stay with the
 * owner's own name are kept: another target's addresses would be asked for
 * under a name that the policy may not know, and clients that prefer such a
 * record do not all come back from that.
 */
static int read_svc(struct dns_data *d, ns_msg *h, const ns_rr *rr,
		    const char *owner)
{
	enum { FIXED = 2 };
	char text[NS_MAXDNAME];
	struct dns_name target;
	int used;

	if (rr->rdlength <= FIXED)
		return -EBADMSG;
	used = read_name(&target, h, rr->rdata + FIXED);
	/* never compressed (2.2), so it is as long as it is when unpacked */
	if (used != target.n || used > rr->rdlength - FIXED ||
	    name_text(&target, text) < 0)
		return -EBADMSG;
	if (text[0] != '\0' && strcasecmp(text, owner) != 0)
		return 0;
	put(d, rr->rdata, FIXED);
	put(d, target.wire, target.n);
	return read_params(d, rr->rdata + FIXED + used,
			   (size_t)(rr->rdlength - FIXED - used));
}

static int add_data(struct dns_answer *a, ns_msg *h, const ns_rr *rr,
		    const char *owner)
{
	struct dns_data *d = &a->data[a->n_data];
	int r;

	if (a->n_data == DNS_DATA_MAX) {
		a->n_cut++;
		return 0;
	}
	d->n = 0;
	r = rr->type == ns_t_srv ? read_srv(d, h, rr, owner) :
				   read_svc(d, h, rr, owner);
	if (r > 0)
		a->n_data++;
	return r < 0 ? r : 0;
}

/* The records of @type that @owner, the end of the chain, has. */
static int read_records(struct dns_answer *a, ns_msg *h, uint16_t type,
			const char *owner)
{
	ns_rr rr;
	int r;

	for (int i = 0; i < ns_msg_count(*h, ns_s_an); i++) {
		if (ns_parserr(h, ns_s_an, i, &rr) < 0)
			return -EBADMSG;
		if (rr.type != type || rr.rr_class != ns_c_in ||
		    strcasecmp(rr.name, owner) != 0)
			continue;
		if (type == ns_t_a || type == ns_t_aaaa)
			r = add_addr(a, &rr);
		else
			r = add_data(a, h, &rr, owner);
		if (r < 0)
			return r;
		take_ttl(a, &rr);
	}
	return 0;
}

/*
 * Does the message repeat the question? Looked at without libresolv: a message
 * that is truncated may end within a record.
 */
static bool question_matches(const struct dns_query *q, const uint8_t *msg,
			     size_t n)
{
	size_t end = DNS_HEADER_BYTES + (size_t)q->qname.n + NS_QFIXEDSZ;
	const uint8_t *name = msg + DNS_HEADER_BYTES;

	if (n < end || get16(msg + 4) != 1)
		return false;
	for (size_t i = 0; i < q->qname.n; i++) {
		uint8_t a = name[i], b = q->qname.wire[i];

		/* a length is below 64, so it is never taken for a letter */
		if (a != b && ((a ^ b) != 0x20 || !host_char(a) ||
			       host_char(a) != host_char(b)))
			return false;
	}
	name += q->qname.n;
	return get16(name) == q->type && get16(name + 2) == q->rr_class;
}

int dns_read_reply(struct dns_answer *ret, const struct dns_query *q,
		   uint16_t id, const uint8_t *msg, size_t n)
{
	char owner[NS_MAXDNAME];
	uint16_t flags;
	ns_msg h;
	int r;

	ret->ttl_s = UINT32_MAX;
	ret->n_chain = ret->n_addrs = ret->n_data = ret->n_cut = 0;
	if (n < DNS_HEADER_BYTES || n > DNS_MSG_BYTES || get16(msg) != id)
		return -ENOMSG;
	flags = get16(msg + 2);
	if (!(flags & FLAG_QR) || (flags >> 11 & 0xf) != ns_o_query)
		return -ENOMSG;
	ret->rcode = flags & 0xf;
	ret->tc = flags & FLAG_TC;
	/* servers that refuse a query may leave out what they did not read */
	if (ret->rcode != ns_r_noerror && ret->rcode != ns_r_nxdomain &&
	    n == DNS_HEADER_BYTES)
		return 0;
	if (!question_matches(q, msg, n))
		return -ENOMSG;
	if (ret->tc)
		return 0;
	if (ns_initparse(msg, (int)n, &h) < 0 ||
	    name_text(&q->qname, owner) < 0)
		return -EBADMSG;
	if (ret->rcode != ns_r_noerror)
		return 0;
	r = read_chain(ret, &h, q->type, owner);
	if (r < 0 || q->type == ns_t_cname)
		return r;
	return read_records(ret, &h, q->type, owner);
}

/* -------------------------------------------------------------- writing */

struct writer {
	uint8_t *buf;
	size_t size, at;
};

static void write_bytes(struct writer *w, const void *from, size_t n)
{
	memcpy(w->buf + w->at, from, n);
	w->at += n;
}

static void write16(struct writer *w, unsigned int v)
{
	const uint8_t b[2] = { (uint8_t)(v >> 8), (uint8_t)v };

	write_bytes(w, b, sizeof(b));
}

static void write32(struct writer *w, uint32_t v)
{
	write16(w, v >> 16);
	write16(w, v & 0xffff);
}

static void write_opt(struct writer *w)
{
	write_bytes(w, "", 1);
	write16(w, ns_t_opt);
	write16(w, DNS_EDNS_BYTES);
	write32(w, 0);
	write16(w, 0);
}

static void set16(struct writer *w, size_t at, unsigned int v)
{
	w->buf[at] = (uint8_t)(v >> 8);
	w->buf[at + 1] = (uint8_t)v;
}

static void write_head(struct writer *w, const struct dns_query *q,
		       unsigned int rcode)
{
	write16(w, q->id);
	write16(w, FLAG_QR | FLAG_RA | (q->rd ? FLAG_RD : 0) |
			   (q->cd ? FLAG_CD : 0) | rcode);
	write16(w, 1);
	write16(w, 0);
	write16(w, 0);
	write16(w, q->edns ? 1 : 0);
	write_bytes(w, q->qname.wire, q->qname.n);
	write16(w, q->type);
	write16(w, q->rr_class);
}

/*
 * One record of the name at @owner in the message. Returns false when it does
 * not fit: then nothing was written.
 */
static bool write_record(struct writer *w, size_t owner, uint16_t type,
			 uint32_t ttl_s, const void *data, size_t n)
{
	if (w->at + POINTER_BYTES + NS_RRFIXEDSZ + n > w->size)
		return false;
	write16(w, POINTER | (unsigned int)owner);
	write16(w, type);
	write16(w, ns_c_in);
	write32(w, ttl_s);
	write16(w, (unsigned int)n);
	write_bytes(w, data, n);
	set16(w, 6, get16(w->buf + 6) + 1u); /* ANCOUNT */
	return true;
}

static bool write_chain(struct writer *w, const struct dns_answer *a,
			uint32_t ttl_s, size_t *owner)
{
	for (unsigned int i = 0; i < a->n_chain; i++) {
		size_t target = w->at + POINTER_BYTES + NS_RRFIXEDSZ;

		if (!write_record(w, *owner, ns_t_cname, ttl_s,
				  a->chain[i].wire, a->chain[i].n))
			return false;
		*owner = target;
	}
	return true;
}

static bool write_records(struct writer *w, const struct dns_query *q,
			  const struct dns_answer *a)
{
	uint32_t ttl_s = dns_clamp_ttl(a->ttl_s);
	size_t owner = DNS_HEADER_BYTES;
	bool v4 = q->type == ns_t_a;

	if (!write_chain(w, a, ttl_s, &owner))
		return false;
	for (unsigned int i = 0; i < a->n_addrs; i++)
		if (!write_record(w, owner, q->type, ttl_s,
				  a->addr[i].b + (v4 ? 12 : 0),
				  v4 ? NS_INADDRSZ : NS_IN6ADDRSZ))
			return false;
	for (unsigned int i = 0; i < a->n_data; i++)
		if (!write_record(w, owner, q->type, ttl_s, a->data[i].b,
				  a->data[i].n))
			return false;
	return true;
}

static void set_tc(struct writer *w)
{
	set16(w, 2, get16(w->buf + 2) | FLAG_TC);
}

/* Bytes after which no record may reach: room for OPT is kept. */
static struct writer writer_to(uint8_t *buf, size_t size,
			       const struct dns_query *q)
{
	return (struct writer){ .buf = buf,
				.size = size - (q->edns ? OPT_BYTES : 0) };
}

size_t dns_write_reply(uint8_t *buf, size_t size, const struct dns_query *q,
		       const struct dns_answer *a)
{
	struct writer w = writer_to(buf, size, q);

	write_head(&w, q, a->rcode);
	if (!write_records(&w, q, a))
		set_tc(&w);
	if (q->edns)
		write_opt(&w);
	return w.at;
}

size_t dns_write_empty(uint8_t *buf, size_t size, const struct dns_query *q,
		       unsigned int rcode)
{
	struct writer w = writer_to(buf, size, q);

	write_head(&w, q, rcode);
	if (q->edns)
		write_opt(&w);
	return w.at;
}

size_t dns_write_ptr(uint8_t *buf, size_t size, const struct dns_query *q,
		     const char *host)
{
	struct writer w = writer_to(buf, size, q);
	struct dns_name name;

	if (ns_name_pton(host, name.wire, sizeof(name.wire)) < 0)
		return dns_write_empty(buf, size, q, ns_r_servfail);
	name.n = wire_bytes(name.wire);
	write_head(&w, q, ns_r_noerror);
	if (!write_record(&w, DNS_HEADER_BYTES, ns_t_ptr, DNS_TTL_MAX_S,
			  name.wire, name.n))
		set_tc(&w);
	if (q->edns)
		write_opt(&w);
	return w.at;
}

size_t dns_write_error(uint8_t *buf, size_t size, const uint8_t *msg,
		       unsigned int rcode)
{
	struct writer w = { .buf = buf, .size = size };
	unsigned int kept = get16(msg + 2) & (0x7800 | FLAG_RD);

	write_bytes(&w, msg, 2);
	write16(&w, FLAG_QR | FLAG_RA | kept | rcode);
	write32(&w, 0);
	write32(&w, 0);
	return w.at;
}

size_t dns_write_query(uint8_t *buf, size_t size, const struct dns_query *q,
		       uint16_t id, bool edns)
{
	struct writer w = { .buf = buf, .size = size };

	write16(&w, id);
	write16(&w, FLAG_RD);
	write16(&w, 1);
	write32(&w, 0);
	write16(&w, edns ? 1 : 0);
	write_bytes(&w, q->qname.wire, q->qname.n);
	/* the choice of letters could carry a message; lengths are no letters */
	for (size_t i = DNS_HEADER_BYTES; i < w.at; i++)
		if (buf[i] >= 'A' && buf[i] <= 'Z')
			buf[i] = (uint8_t)host_char(buf[i]);
	write16(&w, q->type);
	write16(&w, q->rr_class);
	if (edns)
		write_opt(&w);
	return w.at;
}
