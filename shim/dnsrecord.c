/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/policy/decide.h"
#include "shim/dnsrecord.h"
#include "shim/notify/askers.h"
#include "shim/notify/sandbox.h"

/* Names of the types that programs ask for (IANA's registry). */
static const struct {
	uint16_t type;
	const char *name;
} types[] = {
	{ 1, "A" },    { 2, "NS" },    { 5, "CNAME" }, { 6, "SOA" },
	{ 12, "PTR" }, { 15, "MX" },   { 16, "TXT" },  { 28, "AAAA" },
	{ 33, "SRV" }, { 64, "SVCB" }, { 65, "HTTPS" }, { 255, "ANY" },
};

static void add_type(struct strbuf *sb, uint16_t type)
{
	for (size_t i = 0; i < N_ELEMENTS(types); i++) {
		if (types[i].type != type)
			continue;
		strbuf_adds(sb, types[i].name);
		return;
	}
	strbuf_addf(sb, "TYPE%u", type);
}

/* The line of the policy that the name falls under. */
static void add_line(struct journal_record *r, const struct sandbox *s,
		     const char *name)
{
	struct decision d;

	decide_name(&s->policy.view, s->has_ceiling ? &s->ceiling.view : NULL,
		    name, &d);
	r->policy.line = d.line;
	if (d.endpoint != POLICY_NONE)
		r->policy.name = policy_name_of(d.policy, d.endpoint);
}

/* A record about the query of @asker, whose paths become the record's. */
struct subject {
	const struct asker *asker; /* NULL: not known */
	const char *ancestor[ASKER_ANCESTORS];
};

static struct subject find_subject(const struct dnsrecord *to,
				   const struct resolver_client *client)
{
	struct subject s = { .asker = NULL };

	if (!client->tcp)
		s.asker = askers_find(to->askers, client->port);
	for (size_t i = 0; s.asker && i < s.asker->n_ancestors; i++)
		s.ancestor[i] = s.asker->ancestor[i];
	return s;
}

static void add_subject(struct journal_record *r, const struct subject *s)
{
	const struct asker *k = s->asker;

	if (!k)
		return;
	r->binary.path = k->path[0] ? k->path : NULL;
	r->binary.sha256 = k->sha256[0] ? k->sha256 : NULL;
	r->binary.pid = k->pid;
	r->binary.ancestors = s->ancestor;
	r->binary.n_ancestors = k->n_ancestors;
}

static int write_answer(struct sandbox *s, const struct subject *subject,
			const struct resolver_answer *a, int code)
{
	char room[1024];
	struct strbuf detail = STRBUF_FIXED(room);
	struct journal_record r = {
		.kind = LOG_DNS,
		.verdict = code ? LOG_DENY : LOG_ALLOW,
		.reason = code ? REASON_DNS_LIMIT : REASON_ALLOWED,
		.detail = room,
		.dest = { .host = a->name, .proto = "dns" },
		.policy = { .digest = s->policy.digest },
	};
	struct err err = ERR_INIT;
	int e;

	add_type(&detail, a->qtype);
	for (uint32_t i = 0; i < a->n_addrs; i++) {
		char ip[MATCH_IP_TEXT];
		const struct match_ip address = match_ip_v6(a->addr[i]);

		match_ip_text(&address, ip);
		strbuf_addf(&detail, " %s", ip);
	}
	add_line(&r, s, a->name);
	add_subject(&r, subject);
	e = journal_write(&s->journal, &r, &err);
	return code ? code : e;
}

int dnsrecord_answer(const struct dnsrecord *to, struct sandbox *s,
		     const struct resolver_answer *a, int code)
{
	struct subject subject = find_subject(to, &a->client);
	struct sandbox *asks = NULL;

	if (subject.asker)
		asks = sandbox_get(to->sandboxes, subject.asker->sandbox);
	return write_answer(asks ? asks : s, &subject, a, code);
}

static void write_query(struct sandbox *s, const struct subject *subject,
			const struct resolver_query *q)
{
	char room[32];
	struct strbuf detail = STRBUF_FIXED(room);
	struct journal_record r = {
		.kind = LOG_DNS,
		.verdict = q->allow ? LOG_ALLOW : LOG_DENY,
		.reason = (enum reason)q->reason,
		.detail = room,
		.dest = { .host = q->name[0] ? q->name : ".",
			  .proto = "dns" },
		.policy = { .digest = s->policy.digest },
		.count = q->count,
	};
	struct err err = ERR_INIT;

	add_type(&detail, q->qtype);
	if (q->name[0])
		add_line(&r, s, q->name);
	add_subject(&r, subject);
	/* a lost record is counted; there is nothing here to be undone */
	(void)journal_write(&s->journal, &r, &err);
}

void dnsrecord_query(const struct dnsrecord *to,
		     const struct resolver_query *q)
{
	struct sandbox_ref ref = { q->slot.index, q->slot.generation };
	struct subject subject = { .asker = NULL };
	struct sandbox *s = NULL;

	if (q->count <= 1)
		subject = find_subject(to, &q->client);
	if (subject.asker)
		s = sandbox_get(to->sandboxes, subject.asker->sandbox);
	if (!s)
		s = sandbox_get(to->sandboxes, ref);
	if (s) {
		write_query(s, &subject, q);
		return;
	}
	/* no policy covers it, and a datagram names no container */
	for (unsigned int i = 0; i < SHIM_CONTAINERS_MAX; i++)
		if (to->sandboxes->sandbox[i].used)
			write_query(&to->sandboxes->sandbox[i], &subject, q);
}
