/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/policy/decide.h"
#include "shim/dnsrecord.h"
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

/* The line of the policy that the name falls under, if it does. */
static void add_line(struct journal_record *r, const struct sandbox *s,
		     const char *name)
{
	struct decision d;

	decide_name(&s->policy.view, s->has_ceiling ? &s->ceiling.view : NULL,
		    name, &d);
	if (d.endpoint == POLICY_NONE)
		return;
	r->policy.name = policy_name_of(d.policy, d.endpoint);
	r->policy.line = d.line;
}

int dnsrecord_answer(struct sandboxes *all, struct sandbox *s,
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

	(void)all;
	add_type(&detail, a->qtype);
	for (uint32_t i = 0; i < a->n_addrs; i++) {
		char ip[MATCH_IP_TEXT];
		const struct match_ip address = match_ip_v6(a->addr[i]);

		match_ip_text(&address, ip);
		strbuf_addf(&detail, " %s", ip);
	}
	add_line(&r, s, a->name);
	e = journal_write(&s->journal, &r, &err);
	return code ? code : e;
}

static void write_query(struct sandbox *s, const struct resolver_query *q)
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
	/* a lost record is counted; there is nothing here to be undone */
	(void)journal_write(&s->journal, &r, &err);
}

void dnsrecord_query(struct sandboxes *all, const struct resolver_query *q)
{
	struct sandbox_ref ref = { q->slot.index, q->slot.generation };
	struct sandbox *s = sandbox_get(all, ref);

	if (s) {
		write_query(s, q);
		return;
	}
	/* no policy covers it, and a datagram names no container */
	for (unsigned int i = 0; i < SHIM_CONTAINERS_MAX; i++)
		if (all->sandbox[i].used)
			write_query(&all->sandbox[i], q);
}
