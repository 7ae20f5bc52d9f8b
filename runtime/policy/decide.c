/* SPDX-License-Identifier: Apache-2.0 */
#include <netinet/in.h>
#include <string.h>

#include "runtime/base/strbuf.h"
#include "runtime/policy/decide.h"
#include "runtime/policy/policy.h"

/* How far an endpoint came. */
enum stage {
	STAGE_NONE,
	STAGE_HOST,
	STAGE_PORT,
	STAGE_BINARY,
	STAGE_ALL,
};

struct search {
	const struct policy *p;
	const struct decide_dest *dest;
	const struct decide_caller *caller;
	/* the best so far */
	enum stage stage;
	enum reason reason;
	uint32_t endpoint;
	const char *host;
	bool inspect;
	/* the last entry whose binaries were asked for */
	uint32_t asked_entry;
	enum reason asked;
};

/* ------------------------------------------------------ one endpoint */

static bool in_allowed_ips(const struct policy *p,
			   const struct policy_endpoint *e,
			   const struct match_ip *ip)
{
	for (uint32_t i = 0; i < e->n_cidrs; i++) {
		const struct policy_cidr *c = &p->cidr[e->first_cidr + i];

		if (match_ip_within(ip, c->address, c->prefix))
			return true;
	}
	return false;
}

/* The address rules of one endpoint: REASON_ALLOWED, or why not. */
static enum reason check_address(const struct policy *p, uint32_t endpoint,
				 const struct match_ip *ip, uint16_t port)
{
	const struct policy_endpoint *e = &p->endpoint[endpoint];
	enum match_class class = match_ip_class(ip);
	bool declared;

	if (class == MATCH_BLOCKED)
		return REASON_BLOCKED_ADDRESS;
	if (e->n_cidrs)
		declared = in_allowed_ips(p, e, ip);
	else if (e->host_kind == POLICY_HOST_LITERAL)
		declared = memcmp(ip->b, e->literal, sizeof(ip->b)) == 0;
	else if (e->host_kind == POLICY_HOST_EXACT)
		declared = true;
	else
		return class == MATCH_PUBLIC ? REASON_ALLOWED
					     : REASON_PRIVATE_ADDRESS;
	if (!declared)
		return REASON_PRIVATE_ADDRESS;
	return match_port_is_control_plane(port) ? REASON_BLOCKED_PORT
						 : REASON_ALLOWED;
}

static enum reason ask_binaries(const struct search *s,
				const struct policy_entry *e)
{
	if (e->flags & POLICY_ENTRY_ANY_BINARY)
		return REASON_ALLOWED;
	if (!s->caller || !s->caller->matches)
		return e->n_binaries ? REASON_BINARY_UNKNOWN
				     : REASON_BINARY_NOT_ALLOWED;
	for (uint32_t i = 0; i < e->n_binaries; i++)
		if (s->caller->matches(
			    s->caller, s->p,
			    s->p->binary_ref[e->first_binary + i].binary))
			return REASON_ALLOWED;
	return REASON_BINARY_NOT_ALLOWED;
}

static enum reason check_binary(struct search *s, uint32_t entry)
{
	if (s->asked_entry != entry) {
		s->asked = ask_binaries(s, &s->p->entry[entry]);
		s->asked_entry = entry;
	}
	return s->asked;
}

static enum stage how_far(struct search *s, uint32_t endpoint,
			  enum reason *ret_reason)
{
	*ret_reason = REASON_PORT_NOT_ALLOWED;
	if (!policy_has_port(s->p, endpoint, s->dest->port))
		return STAGE_HOST;
	*ret_reason = check_binary(s, s->p->endpoint[endpoint].entry);
	if (*ret_reason != REASON_ALLOWED)
		return STAGE_PORT;
	*ret_reason =
		check_address(s->p, endpoint, &s->dest->ip, s->dest->port);
	return *ret_reason == REASON_ALLOWED ? STAGE_ALL : STAGE_BINARY;
}

/* At the same stage, the entry with the smaller name is reported. */
static bool is_better(const struct search *s, enum stage stage,
		      uint32_t endpoint)
{
	int order;

	if (stage != s->stage)
		return stage > s->stage;
	order = strcmp(policy_name_of(s->p, endpoint),
		       policy_name_of(s->p, s->endpoint));
	return order ? order < 0 : endpoint < s->endpoint;
}

static void consider(struct search *s, uint32_t endpoint, const char *host)
{
	enum reason reason;
	enum stage stage = how_far(s, endpoint, &reason);

	if (stage == STAGE_ALL &&
	    s->p->endpoint[endpoint].inspect != POLICY_NONE)
		s->inspect = true;
	if (!is_better(s, stage, endpoint))
		return;
	s->stage = stage;
	s->reason = reason;
	s->endpoint = endpoint;
	s->host = host;
}

/* ------------------------------------------------------ all endpoints */

static void consider_name(struct search *s, const char *name)
{
	uint32_t first, n = policy_find_host(s->p, name, &first), i;

	for (i = 0; i < n; i++)
		consider(s, s->p->by_host[first + i], name);
	for (i = 0; i < s->p->n_by_glob; i++) {
		uint32_t endpoint = s->p->by_glob[i];
		const char *glob =
			policy_text(s->p, s->p->endpoint[endpoint].host);

		if (match_host(glob, name))
			consider(s, endpoint, name);
	}
}

static void consider_address(struct search *s)
{
	const struct match_ip *ip = &s->dest->ip;
	uint32_t first, n = policy_find_address(s->p, ip->b, &first), i;

	for (i = 0; i < n; i++)
		consider(s, s->p->by_address[first + i], NULL);
	for (i = 0; i < s->p->n_hostless; i++) {
		uint32_t endpoint = s->p->hostless[i];

		if (in_allowed_ips(s->p, &s->p->endpoint[endpoint], ip))
			consider(s, endpoint, NULL);
	}
}

/* No endpoint at all: why. */
static enum reason reason_of_nothing(const struct decide_dest *dest)
{
	if (match_ip_class(&dest->ip) == MATCH_BLOCKED)
		return REASON_BLOCKED_ADDRESS;
	if (dest->n_names)
		return REASON_HOST_NOT_IN_ALLOWLIST;
	return dest->was_resolved ? REASON_ADDRESS_NOT_RESOLVED
				  : REASON_LITERAL_ADDRESS;
}

/* -------------------------------------------------------------- detail */

static void add_destination(struct strbuf *sb, const struct decide_dest *dest,
			    const char *host)
{
	char ip[MATCH_IP_TEXT];

	match_ip_text(&dest->ip, ip);
	if (!host && dest->n_names)
		host = dest->names[0];
	if (host)
		strbuf_addf(sb, "%s:%u", host, dest->port);
	else if (match_ip_is_v4(&dest->ip))
		strbuf_addf(sb, "%s:%u", ip, dest->port);
	else
		strbuf_addf(sb, "[%s]:%u", ip, dest->port);
}

static void add_list(struct strbuf *sb, const char *const *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		strbuf_addf(sb, "%s%s", i ? " -> " : "", v[i]);
}

static void detail_binary(struct strbuf *sb, const struct search *s)
{
	const struct decide_caller *c = s->caller;

	strbuf_addf(sb, "binary '%s' not allowed in policy '%s' (ancestors: [",
		    c && c->exe ? c->exe : "unknown",
		    policy_name_of(s->p, s->endpoint));
	if (c && c->ancestors)
		add_list(sb, c->ancestors, c->n_ancestors);
	strbuf_adds(sb, "])");
}

static void detail_address(struct strbuf *sb, const struct search *s)
{
	const struct policy_endpoint *e = &s->p->endpoint[s->endpoint];
	const char *host = s->host ? s->host : policy_text(s->p, e->host);
	char ip[MATCH_IP_TEXT];

	match_ip_text(&s->dest->ip, ip);
	if (s->reason == REASON_BLOCKED_PORT)
		strbuf_addf(sb,
			    "port %u is a blocked control-plane port, "
			    "connection rejected",
			    s->dest->port);
	else if (s->reason == REASON_BLOCKED_ADDRESS)
		strbuf_addf(sb,
			    "%s resolves to always-blocked address %s, "
			    "connection rejected",
			    host, ip);
	else if (e->n_cidrs)
		strbuf_addf(sb,
			    "%s resolves to %s which is not in allowed_ips, "
			    "connection rejected",
			    host, ip);
	else
		strbuf_addf(sb,
			    "%s resolves to internal address %s, "
			    "connection rejected",
			    host, ip);
}

static void add_detail(struct strbuf *sb, const struct search *s)
{
	switch (s->reason) {
	case REASON_ALLOWED:
		return;
	case REASON_PROTOCOL:
		strbuf_addf(sb, "protocol %u: %s", s->dest->proto,
			    reason_meaning(s->reason));
		return;
	case REASON_BINARY_NOT_ALLOWED:
	case REASON_BINARY_UNKNOWN:
		detail_binary(sb, s);
		return;
	default:
		break;
	}
	if (s->stage == STAGE_BINARY) {
		detail_address(sb, s);
		return;
	}
	if (s->p->n_endpoints == 0) {
		strbuf_adds(sb, "network connections not allowed by policy");
		return;
	}
	strbuf_adds(sb, "endpoint ");
	add_destination(sb, s->dest, s->host);
	strbuf_adds(sb, " is not allowed by any policy");
}

/* ------------------------------------------------------------ decisions */

static void decision_init(struct decision *d, const struct policy *p)
{
	memset(d, 0, sizeof(*d));
	d->policy = p;
	d->line = p->header->network_line;
	d->entry = d->endpoint = POLICY_NONE;
}

static void set_endpoint(struct decision *d, uint32_t endpoint,
			 const char *host)
{
	const struct policy_endpoint *e = &d->policy->endpoint[endpoint];

	d->endpoint = endpoint;
	d->entry = e->entry;
	d->line = e->line;
	d->host = host;
}

static void decide_one(const struct policy *p, const struct decide_dest *dest,
		       const struct decide_caller *caller, struct decision *ret)
{
	struct search s = {
		.p = p,
		.dest = dest,
		.caller = caller,
		.asked_entry = POLICY_NONE,
	};
	struct strbuf detail = STRBUF_FIXED(ret->detail);

	decision_init(ret, p);
	if (dest->proto == IPPROTO_TCP) {
		for (size_t i = 0; i < dest->n_names; i++)
			consider_name(&s, dest->names[i]);
		consider_address(&s);
		if (s.stage == STAGE_NONE)
			s.reason = reason_of_nothing(dest);
	} else {
		s.reason = REASON_PROTOCOL;
	}

	ret->allow = s.stage == STAGE_ALL;
	ret->inspect = s.inspect;
	ret->reason = s.reason;
	if (s.stage != STAGE_NONE)
		set_endpoint(ret, s.endpoint, s.host);
	add_detail(&detail, &s);
}

void decide_connect(const struct policy *p, const struct policy *ceiling,
		    const struct decide_dest *dest,
		    const struct decide_caller *caller, struct decision *ret)
{
	struct decision second;

	decide_one(p, dest, caller, ret);
	if (!ret->allow || !ceiling)
		return;
	decide_one(ceiling, dest, caller, &second);
	if (second.allow) {
		ret->inspect |= second.inspect;
		return;
	}
	second.reason = REASON_CEILING;
	*ret = second;
}

bool decide_by_path(const struct decide_caller *c, const struct policy *p,
		    uint32_t binary)
{
	const struct policy_binary *b = &p->binary[binary];
	const char *path = policy_text(p, b->path);

	for (size_t i = 0; i <= c->n_ancestors; i++) {
		const char *exe = i ? c->ancestors[i - 1] : c->exe;

		if (!exe)
			continue;
		if (b->glob ? match_path(path, exe) : str_eq(path, exe))
			return true;
	}
	return false;
}

/* ---------------------------------------------------------------- names */

size_t decide_endpoints_of(const struct policy *p, const char *name,
			   uint32_t *ret_endpoint, size_t max)
{
	uint32_t first, n_exact = policy_find_host(p, name, &first), i;
	size_t n = 0;

	if (!match_name_ok(name))
		return 0;
	for (i = 0; i < n_exact; i++, n++)
		if (n < max)
			ret_endpoint[n] = p->by_host[first + i];
	for (i = 0; i < p->n_by_glob; i++) {
		uint32_t e = p->by_glob[i];

		if (!match_host(policy_text(p, p->endpoint[e].host), name))
			continue;
		if (n < max)
			ret_endpoint[n] = e;
		n++;
	}
	for (i = 0; i < p->n_hostless; i++, n++)
		if (n < max)
			ret_endpoint[n] = p->hostless[i];
	return n;
}

static bool name_in(const struct policy *p, const char *name,
		    uint32_t *ret_endpoint)
{
	return decide_endpoints_of(p, name, ret_endpoint, 1) > 0;
}

void decide_name(const struct policy *p, const struct policy *ceiling,
		 const char *name, struct decision *ret)
{
	struct strbuf detail = STRBUF_FIXED(ret->detail);
	uint32_t endpoint;

	decision_init(ret, p);
	if (!name_in(p, name, &endpoint)) {
		ret->reason = REASON_NAME_NOT_ALLOWED;
	} else {
		set_endpoint(ret, endpoint, name);
		ret->allow = true;
		if (!ceiling || name_in(ceiling, name, &endpoint))
			return;
		decision_init(ret, ceiling);
		ret->reason = REASON_CEILING;
	}
	strbuf_adds(&detail, reason_meaning(ret->reason));
}

static bool accepts(const struct policy *p, uint32_t endpoint,
		    const struct match_ip *ip)
{
	const struct policy_endpoint *e = &p->endpoint[endpoint];

	for (uint32_t i = 0; i < e->n_ports; i++)
		if (check_address(p, endpoint, ip,
				  p->port[e->first_port + i]) ==
		    REASON_ALLOWED)
			return true;
	return false;
}

static bool answer_in(const struct policy *p, const char *name,
		      const struct match_ip *ip)
{
	uint32_t first, n = policy_find_host(p, name, &first), i;

	for (i = 0; i < n; i++)
		if (accepts(p, p->by_host[first + i], ip))
			return true;
	for (i = 0; i < p->n_by_glob; i++) {
		uint32_t e = p->by_glob[i];

		if (match_host(policy_text(p, p->endpoint[e].host), name) &&
		    accepts(p, e, ip))
			return true;
	}
	for (i = 0; i < p->n_hostless; i++)
		if (accepts(p, p->hostless[i], ip))
			return true;
	return false;
}

bool decide_answer(const struct policy *p, const struct policy *ceiling,
		   const char *name, const struct match_ip *ip)
{
	return match_name_ok(name) && answer_in(p, name, ip) &&
	       (!ceiling || answer_in(ceiling, name, ip));
}
