/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader takes the form that the shim writes and no other: an object of
 * strings, integers, and objects or arrays of those; no blanks outside
 * strings, no fractions, no duplicates among the members it knows.
 */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/policy/decision_log.h"

enum { DEPTH_MAX = 4, KEY_BYTES = 32 };

static const char *const kinds[] = {
	[LOG_CONNECT] = "connect",     [LOG_DATAGRAM] = "datagram",
	[LOG_DNS] = "dns",	       [LOG_INBOUND] = "inbound",
	[LOG_HTTP] = "http",	       [LOG_CREDENTIAL] = "credential",
	[LOG_PACKET] = "packet",       [LOG_POLICY] = "policy",
	[LOG_FINDING] = "finding",     [LOG_LIFECYCLE] = "lifecycle",
};
static_assert(N_ELEMENTS(kinds) == LOG_KIND_N, "a name for each kind");

static const char *const verdicts[] = {
	[LOG_ALLOW] = "allow",
	[LOG_DENY] = "deny",
	[LOG_AUDIT] = "audit",
};
static_assert(N_ELEMENTS(verdicts) == LOG_VERDICT_N, "a name for each");

const char *log_kind_name(enum log_kind k)
{
	assert((unsigned int)k < LOG_KIND_N);
	return kinds[k];
}

const char *log_verdict_name(enum log_verdict v)
{
	assert((unsigned int)v < LOG_VERDICT_N);
	return verdicts[v];
}

static bool id_ok(const char *id)
{
	if (id[0] == '\0' || id[0] == '.')
		return false;
	for (const char *p = id; *p; p++)
		if (!isascii((unsigned char)*p) ||
		    !(isalnum((unsigned char)*p) || strchr("_+-.", *p)))
			return false;
	return true;
}

bool decision_log_file(const char *id, unsigned int n,
		       char ret_name[DECISION_LOG_NAME_BYTES])
{
	int len;

	if (!id_ok(id))
		return false;
	if (n)
		len = snprintf(ret_name, DECISION_LOG_NAME_BYTES,
			       "%s.jsonl.%u", id, n);
	else
		len = snprintf(ret_name, DECISION_LOG_NAME_BYTES, "%s.jsonl",
			       id);
	return len < DECISION_LOG_NAME_BYTES;
}

void decision_log_anchor(const char *id, struct digest *ret)
{
	own_strbuf struct strbuf sb = STRBUF_HEAP;

	strbuf_addf(&sb, "osh-runtime log v1 %s", id);
	digest_of(ret, sb.s, sb.len);
}

/* ------------------------------------------------------------ reading */

enum field {
	F_SEQ,
	F_SANDBOX,
	F_KIND,
	F_VERDICT,
	F_REASON,
	F_DETAIL,
	F_BINARY,
	F_HOST,
	F_IP,
	F_PORT,
	F_POLICY,
	F_LINE,
	F_COUNT,
	F_PREV,
	F_N
};

struct field_row {
	const char *parent, *key; /* parent "": the record itself */
	bool number, needed;
};

static const struct field_row fields[] = {
	[F_SEQ] = { "", "seq", true, true },
	[F_SANDBOX] = { "", "sandbox", false, true },
	[F_KIND] = { "", "kind", false, true },
	[F_VERDICT] = { "", "verdict", false, true },
	[F_REASON] = { "", "reason", false, true },
	[F_DETAIL] = { "", "detail", false, false },
	[F_BINARY] = { "binary", "path", false, false },
	[F_HOST] = { "dest", "host", false, false },
	[F_IP] = { "dest", "ip", false, false },
	[F_PORT] = { "dest", "port", true, false },
	[F_POLICY] = { "policy", "name", false, false },
	[F_LINE] = { "policy", "line", true, false },
	[F_COUNT] = { "", "count", true, false },
	[F_PREV] = { "", "prev", false, true },
};
static_assert(N_ELEMENTS(fields) == F_N, "a row for each field");

struct value {
	bool present;
	uint64_t number;
	char *text; /* owned by the record; has its length in @len */
	size_t len;
};

struct record {
	const char *p, *end;
	struct value v[F_N];
};

#define own_record __attribute__((cleanup(record_done)))

static void record_done(struct record *r)
{
	for (unsigned int i = 0; i < F_N; i++)
		free(r->v[i].text);
}

static bool take(struct record *r, char c)
{
	if (r->p == r->end || *r->p != c)
		return false;
	r->p++;
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* \uXXXX: the writer escapes control characters only, all below 0x80. */
static bool read_u(struct record *r, char *ret)
{
	int v = 0;

	for (int i = 0; i < 4; i++) {
		int d = r->p < r->end ? hex_digit(*r->p++) : -1;

		if (d < 0)
			return false;
		v = v << 4 | d;
	}
	*ret = (char)v;
	return v < 0x80;
}

static bool read_escape(struct record *r, char *ret)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at;

	if (r->p == r->end)
		return false;
	if (*r->p == 'u') {
		r->p++;
		return read_u(r, ret);
	}
	at = *r->p ? strchr(from, *r->p) : NULL;
	if (!at)
		return false;
	r->p++;
	*ret = to[at - from];
	return true;
}

/* A string; @sb may be NULL to skip it. */
static bool read_string(struct record *r, struct strbuf *sb)
{
	if (!take(r, '"'))
		return false;
	while (r->p < r->end && *r->p != '"') {
		char c = *r->p++;

		if ((unsigned char)c < 0x20)
			return false;
		if (c == '\\' && !read_escape(r, &c))
			return false;
		if (sb)
			strbuf_addc(sb, c);
	}
	return take(r, '"');
}

static bool read_number(struct record *r, uint64_t *ret)
{
	const char *start = r->p;
	uint64_t v = 0;

	while (r->p < r->end && *r->p >= '0' && *r->p <= '9') {
		unsigned int d = (unsigned int)(*r->p++ - '0');

		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, d, &v))
			return false;
	}
	*ret = v;
	return r->p > start && (*start != '0' || r->p == start + 1);
}

static bool read_value(struct record *r, const char *parent, const char *key,
		       unsigned int depth);

static bool read_members(struct record *r, const char *parent, bool array,
			 unsigned int depth)
{
	char close = array ? ']' : '}';

	r->p++;
	if (take(r, close))
		return true;
	do {
		char room[KEY_BYTES];
		struct strbuf key = STRBUF_FIXED(room);

		if (!array && (!read_string(r, &key) || key.cut ||
			       strlen(key.s) != key.len || !take(r, ':')))
			return false;
		if (!read_value(r, parent, array ? NULL : key.s, depth))
			return false;
	} while (take(r, ','));
	return take(r, close);
}

static struct value *find_value(struct record *r, const char *parent,
				const char *key, bool number)
{
	for (unsigned int i = 0; parent && key && i < F_N; i++)
		if (str_eq(fields[i].parent, parent) &&
		    str_eq(fields[i].key, key) && fields[i].number == number)
			return &r->v[i];
	return NULL;
}

static bool read_scalar(struct record *r, const char *parent, const char *key)
{
	bool number = *r->p != '"';
	struct value *v = find_value(r, parent, key, number);
	own_strbuf struct strbuf sb = STRBUF_HEAP;
	uint64_t n;

	if (v && v->present)
		return false;
	if (number) {
		if (!read_number(r, v ? &v->number : &n))
			return false;
	} else {
		if (!read_string(r, v ? &sb : NULL))
			return false;
		if (v) {
			v->len = sb.len;
			v->text = strbuf_take(&sb);
		}
	}
	if (v)
		v->present = true;
	return true;
}

static bool read_value(struct record *r, const char *parent, const char *key,
		       unsigned int depth)
{
	if (r->p == r->end || depth == DEPTH_MAX)
		return false;
	/* what is nested deeper, or in an array, has no row */
	if (*r->p == '{')
		return read_members(r, depth == 1 && key ? key : NULL, false,
				    depth + 1);
	if (*r->p == '[')
		return read_members(r, NULL, true, depth + 1);
	return read_scalar(r, parent, key);
}

static int read_record(struct record *r, const char *line, size_t n,
		       struct err *err)
{
	*r = (struct record){ .p = line, .end = line + n };
	if (n == 0 || *line != '{' || !read_members(r, "", false, 1) ||
	    r->p != r->end)
		return err_set(err, EINVAL, "read record: no record of the "
					    "decision log");
	for (unsigned int i = 0; i < F_N; i++) {
		if (fields[i].needed && !r->v[i].present)
			return err_set(err, EINVAL,
				       "read record: %s is missing",
				       fields[i].key);
		if (r->v[i].text && strlen(r->v[i].text) != r->v[i].len)
			return err_set(err, EINVAL,
				       "read record: NUL in %s",
				       fields[i].key);
	}
	return 0;
}

/* ------------------------------------------------------------ text */

static bool plain(const char *s)
{
	for (; *s; s++)
		if (*s <= ' ' || *s >= 0x7f || *s == '"' || *s == '\\')
			return false;
	return true;
}

/* @s comes from the agent: nothing of it may drive a terminal. */
static void add_quoted(struct strbuf *sb, const char *s)
{
	strbuf_addc(sb, '"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			strbuf_addf(sb, "\\%c", *s);
		else if (*s >= ' ' && *s < 0x7f)
			strbuf_addc(sb, *s);
		else
			strbuf_addf(sb, "\\x%02x", (unsigned char)*s);
	}
	strbuf_addc(sb, '"');
}

static void add_field(struct strbuf *sb, const char *name, const char *s)
{
	strbuf_addf(sb, "  %s=", name);
	if (*s && plain(s))
		strbuf_adds(sb, s);
	else
		add_quoted(sb, s);
}

static void add_dest(struct strbuf *sb, const struct record *r)
{
	const struct value *host = &r->v[F_HOST], *port = &r->v[F_PORT];
	own_strbuf struct strbuf d = STRBUF_HEAP;
	const char *name;

	if (!host->present)
		host = &r->v[F_IP];
	if (!host->present)
		return;
	name = host->text;
	if (!port->present)
		strbuf_adds(&d, name);
	else if (strchr(name, ':'))
		strbuf_addf(&d, "[%s]:%llu", name,
			    (unsigned long long)port->number);
	else
		strbuf_addf(&d, "%s:%llu", name,
			    (unsigned long long)port->number);
	add_field(sb, "dest", d.s);
}

/* Records that decide nothing are named by their kind. */
static const char *head_of(const struct record *r)
{
	static const char *const own[] = { "finding", "lifecycle", "policy" };

	for (unsigned int i = 0; i < N_ELEMENTS(own); i++)
		if (str_eq(r->v[F_KIND].text, own[i]))
			return own[i];
	return r->v[F_VERDICT].text;
}

int decision_log_text(const char *line, size_t n, struct strbuf *sb,
		      struct err *err)
{
	own_record struct record r;
	int e = read_record(&r, line, n, err);
	const char *head;

	if (e < 0)
		return e;
	head = head_of(&r);
	for (const char *p = head; *p; p++)
		strbuf_addc(sb, *p >= 'a' && *p <= 'z' ? (char)(*p - 32) : '?');
	add_field(sb, "sandbox", r.v[F_SANDBOX].text);
	if (r.v[F_BINARY].present)
		add_field(sb, "binary", r.v[F_BINARY].text);
	add_dest(sb, &r);
	add_field(sb, "reason", r.v[F_REASON].text);
	if (r.v[F_LINE].present) {
		if (r.v[F_POLICY].present)
			add_field(sb, "policy", r.v[F_POLICY].text);
		strbuf_addf(sb, "  line=%llu",
			    (unsigned long long)r.v[F_LINE].number);
	}
	if (r.v[F_COUNT].present)
		strbuf_addf(sb, "  count=%llu",
			    (unsigned long long)r.v[F_COUNT].number);
	if (head != r.v[F_VERDICT].text && r.v[F_DETAIL].present)
		add_field(sb, "detail", r.v[F_DETAIL].text);
	return 0;
}

int decision_log_seq(const char *line, size_t n, uint64_t *ret_seq,
		     struct err *err)
{
	own_record struct record r;
	int e = read_record(&r, line, n, err);

	if (e < 0)
		return e;
	*ret_seq = r.v[F_SEQ].number;
	return 0;
}

/* ------------------------------------------------------------ verifying */

static int check_line(struct decision_log_verify *v, const struct record *r,
		      struct err *err)
{
	uint64_t seq = r->v[F_SEQ].number;
	char want[DIGEST_HEX];

	if (!str_eq(r->v[F_SANDBOX].text, v->id))
		return err_set(err, EINVAL, "record %llu: of sandbox %s",
			       (unsigned long long)seq, r->v[F_SANDBOX].text);
	if (v->n == 0 && seq != 1) {
		/* the older files are gone, and with them what the first
		 * line's hash would be compared with */
		v->first_seq = v->next_seq = seq;
		return 0;
	}
	if (v->n == 0) {
		v->first_seq = v->next_seq = 1;
		decision_log_anchor(v->id, &v->prev);
	}
	if (seq != v->next_seq)
		return err_set(err, EINVAL,
			       "record %llu: follows on record %llu",
			       (unsigned long long)seq,
			       (unsigned long long)v->next_seq - 1);
	digest_hex(&v->prev, want);
	if (!str_eq(r->v[F_PREV].text, want))
		return err_set(err, EINVAL,
			       "record %llu: the record before it was changed",
			       (unsigned long long)seq);
	return 0;
}

int decision_log_verify(struct decision_log_verify *v, const char *line,
			size_t n, struct err *err)
{
	own_record struct record r;
	int e = read_record(&r, line, n, err);

	if (e < 0)
		return err_wrap(err, "line %llu",
				(unsigned long long)v->n + 1);
	e = check_line(v, &r, err);
	if (e < 0)
		return e;
	digest_of(&v->prev, line, n);
	v->next_seq++;
	v->n++;
	return 0;
}
