/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "policy-compiler/explain.h"
#include "runtime/base/err.h"
#include "runtime/base/num.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/policy/decide.h"
#include "runtime/policy/policy.h"

enum { ANCESTORS_MAX = 64, HOST_MAX = 256 };

/* Public, and nobody's in particular: what an unresolved name stands for. */
static const char public_ip[] = "1.0.0.1";

struct question {
	struct decide_dest dest;
	struct decide_caller caller;
	char host[HOST_MAX];
	const char *name;
	char ancestors[4096];
	const char *ancestor[ANCESTORS_MAX];
	bool assumed_ip;
};

/* ------------------------------------------------------------- question */

static int parse_dest(const char *dest, struct question *q, struct err *err)
{
	const char *colon = strrchr(dest, ':');
	const char *from = dest, *to = colon;
	uint32_t port;

	if (!colon || num_parse_u32(colon + 1, 65535, &port) < 0 || port == 0)
		return err_set(err, EINVAL,
			       "parse --dest: \"%s\" is not HOST:PORT", dest);
	if (*from == '[' && to > from && to[-1] == ']') {
		from++;
		to--;
	}
	if (to == from || (size_t)(to - from) >= sizeof(q->host))
		return err_set(err, EINVAL, "parse --dest: \"%s\" has no host",
			       dest);
	memcpy(q->host, from, (size_t)(to - from));
	q->host[to - from] = '\0';
	q->dest.port = (uint16_t)port;
	return 0;
}

static int set_address(const char *ip, struct question *q, struct err *err)
{
	if (match_ip_parse(q->host, &q->dest.ip) == 0) {
		if (ip)
			return err_set(err, EINVAL,
				       "parse --ip: --dest is an address "
				       "already");
		return 0;
	}
	q->name = q->host;
	q->dest.names = &q->name;
	q->dest.n_names = 1;
	q->assumed_ip = !ip;
	if (match_ip_parse(ip ? ip : public_ip, &q->dest.ip) < 0)
		return err_set(err, EINVAL,
			       "parse --ip: \"%s\" is not an address", ip);
	return 0;
}

static int check_path(const char *option, const char *path, struct err *err)
{
	if (*path == '/')
		return 0;
	return err_set(err, EINVAL, "parse %s: \"%s\" is not an absolute path",
		       option, path);
}

static int set_caller(const struct explain_question *in, struct question *q,
		      struct err *err)
{
	char *at = q->ancestors;
	int r;

	if (!in->binary) {
		if (in->ancestors)
			return err_set(err, EINVAL,
				       "parse --ancestors: they need "
				       "--binary");
		return 0;
	}
	r = check_path("--binary", in->binary, err);
	if (r < 0)
		return r;
	q->caller.matches = decide_by_path;
	q->caller.exe = in->binary;
	q->caller.ancestors = q->ancestor;
	if (!in->ancestors)
		return 0;
	if (!str_copy(q->ancestors, sizeof(q->ancestors), in->ancestors))
		return err_set(err, EINVAL, "parse --ancestors: too long");
	while (at) {
		if (q->caller.n_ancestors == ANCESTORS_MAX)
			return err_set(err, EINVAL,
				       "parse --ancestors: more than %d",
				       ANCESTORS_MAX);
		q->ancestor[q->caller.n_ancestors++] = at;
		at = strchr(at, ',');
		if (at)
			*at++ = '\0';
	}
	for (size_t i = 0; r == 0 && i < q->caller.n_ancestors; i++)
		r = check_path("--ancestors", q->ancestor[i], err);
	return r;
}

static int set_proto(const char *name, struct question *q, struct err *err)
{
	static const struct {
		const char *name;
		uint8_t proto;
	} rows[] = {
		{"tcp", IPPROTO_TCP},
		{"udp", IPPROTO_UDP},
		{"icmp", IPPROTO_ICMP},
		{"sctp", IPPROTO_SCTP},
	};

	q->dest.proto = IPPROTO_TCP;
	for (size_t i = 0; name && i < N_ELEMENTS(rows); i++)
		if (str_eq(rows[i].name, name)) {
			q->dest.proto = rows[i].proto;
			return 0;
		}
	return name ? err_set(err, EINVAL,
			      "parse --proto: \"%s\" is none of tcp, udp, "
			      "icmp, sctp",
			      name)
		    : 0;
}

/* --------------------------------------------------------------- answer */

/* Line number @line of the document, without the blanks around it. */
static void add_source_line(struct strbuf *sb, const char *text, uint32_t line)
{
	const char *end;

	for (uint32_t i = 1; i < line; i++) {
		text = strchr(text, '\n');
		if (!text)
			return;
		text++;
	}
	end = text + strcspn(text, "\r\n");
	while (text < end && (*text == ' ' || *text == '\t'))
		text++;
	while (end > text && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	strbuf_add(sb, text, (size_t)(end - text));
}

static void add_where(struct strbuf *sb, const struct explain_source *s,
		      const struct decision *d)
{
	const struct policy *p = s->policy;

	if (d->line) {
		strbuf_addf(sb, "  %s:%u: ", s->file, d->line);
		add_source_line(sb, s->text, d->line);
		strbuf_adds(sb, "\n");
	}
	if (d->endpoint != POLICY_NONE)
		strbuf_addf(sb, "  policy: %s\n",
			    policy_text(p, p->entry[d->entry].name));
}

static void add_binaries(struct strbuf *sb, const struct policy *p,
			 uint32_t entry)
{
	const struct policy_entry *e = &p->entry[entry];

	if (e->flags & POLICY_ENTRY_ANY_BINARY)
		strbuf_adds(sb, "any");
	else if (e->n_binaries == 0)
		strbuf_adds(sb, "none");
	for (uint32_t i = 0; i < e->n_binaries; i++)
		strbuf_addf(
			sb, "%s%s", i ? ", " : "",
			policy_text(p,
				    p->binary[p->binary_ref[e->first_binary + i]
						      .binary]
					    .path));
}

static void add_verdict(struct strbuf *sb, const struct question *q,
			const char *verdict, enum reason reason)
{
	bool v6 = strchr(q->host, ':') != NULL;

	strbuf_addf(sb, "%s  binary=%s  dest=%s%s%s:%u  reason=%s\n", verdict,
		    q->caller.exe ? q->caller.exe : "*", v6 ? "[" : "", q->host,
		    v6 ? "]" : "", q->dest.port, reason_name(reason));
}

/* A caller that is one binary of the policy, whichever that may be. */
struct one_binary {
	struct decide_caller caller; /* first: it is found from this */
	uint32_t binary;
};

static bool is_the_one(const struct decide_caller *c, const struct policy *p,
		       uint32_t binary)
{
	const struct one_binary *one = (const void *)c;

	(void)p;
	return one->binary == binary;
}

/* Without --binary: who may. */
static void add_who(struct strbuf *sb, const struct explain_source *s,
		    const struct question *q, const struct decision *d)
{
	struct one_binary one = {.caller = {.matches = is_the_one}};
	const struct policy *p = s->policy;
	const char *between = "";

	add_verdict(sb, q, "DEPENDS", d->reason);
	add_where(sb, s, d);
	strbuf_adds(sb, "  allowed for: ");
	for (one.binary = 0; one.binary < p->n_binaries; one.binary++) {
		struct decision each;

		decide_connect(p, NULL, &q->dest, &one.caller, &each);
		if (!each.allow)
			continue;
		strbuf_addf(sb, "%s%s", between,
			    policy_text(p, p->binary[one.binary].path));
		between = ", ";
	}
	strbuf_addf(sb, "%s (ask with --binary)\n", *between ? "" : "none");
}

static void add_answer(struct strbuf *sb, const struct explain_source *s,
		       const struct question *q, const struct decision *d)
{
	struct decision name = {.allow = true};

	if (q->name)
		decide_name(s->policy, NULL, q->name, &name);
	add_verdict(sb, q, d->allow ? "ALLOW" : "DENY", d->reason);
	add_where(sb, s, d);
	if (!d->allow)
		strbuf_addf(sb, "  why: %s\n", reason_meaning(d->reason));
	if (d->detail[0])
		strbuf_addf(sb, "  detail: %s\n", d->detail);
	if (d->allow && d->inspect)
		strbuf_addf(
			sb, "  inspected: %s\n",
			policy_text(s->policy,
				    s->policy->endpoint[d->endpoint].inspect));
	if (d->allow && q->assumed_ip)
		strbuf_adds(sb, "  assumed: the name leads to a public address "
				"(ask with --ip)\n");
	if (q->name && !name.allow)
		strbuf_adds(sb, "  the name itself is answered with NXDOMAIN: "
				"name-not-allowed\n");
}

int explain_connect(struct strbuf *sb, const struct explain_source *source,
		    const struct explain_source *ceiling,
		    const struct explain_question *in, struct err *err)
{
	struct question q = {.name = NULL};
	struct decision d;
	int r = parse_dest(in->dest, &q, err);

	if (r == 0)
		r = set_address(in->ip, &q, err);
	if (r == 0)
		r = set_caller(in, &q, err);
	if (r == 0)
		r = set_proto(in->proto, &q, err);
	if (r < 0)
		return r;
	decide_connect(source->policy, ceiling ? ceiling->policy : NULL,
		       &q.dest, &q.caller, &d);
	if (ceiling && d.policy == ceiling->policy)
		add_answer(sb, ceiling, &q, &d);
	else if (d.reason == REASON_BINARY_UNKNOWN)
		add_who(sb, source, &q, &d);
	else
		add_answer(sb, source, &q, &d);
	return 0;
}

/* -------------------------------------------------------------- summary */

static const char *const protocols[] = {
	[POLICY_PROTO_NONE] = "any protocol",
	[POLICY_PROTO_TCP] = "tcp",
	[POLICY_PROTO_REST] = "rest",
	[POLICY_PROTO_WEBSOCKET] = "websocket",
	[POLICY_PROTO_GRAPHQL] = "graphql",
	[POLICY_PROTO_SQL] = "sql",
	[POLICY_PROTO_JSON_RPC] = "json-rpc",
	[POLICY_PROTO_MCP] = "mcp",
};
_Static_assert(N_ELEMENTS(protocols) == POLICY_PROTO_N, "each has a name");

static void add_networks(struct strbuf *sb, const struct policy *p,
			 const struct policy_endpoint *e)
{
	for (uint32_t i = 0; i < e->n_cidrs; i++) {
		const struct policy_cidr *c = &p->cidr[e->first_cidr + i];
		struct match_ip ip = match_ip_v6(c->address);
		bool v4 = match_ip_is_v4(&ip) && c->prefix >= 96;
		char text[MATCH_IP_TEXT];

		match_ip_text(&ip, text);
		strbuf_addf(sb, "%s%s/%u", i ? ", " : ", only to ", text,
			    v4 ? c->prefix - 96 : c->prefix);
	}
}

static void add_endpoint(struct strbuf *sb, const struct policy *p, uint32_t i)
{
	const struct policy_endpoint *e = &p->endpoint[i];
	const char *host = policy_text(p, e->host);

	strbuf_addf(sb, "    %s", *host ? host : "(any host)");
	for (uint32_t k = 0; k < e->n_ports; k++)
		strbuf_addf(sb, "%c%u", k ? ',' : ':',
			    p->port[e->first_port + k]);
	strbuf_addf(sb, "  line %u: %s", e->line, protocols[e->protocol]);
	add_networks(sb, p, e);
	if (e->inspect != POLICY_NONE)
		strbuf_addf(sb, "; inspected (%s), %s",
			    policy_text(p, e->inspect),
			    e->enforcement == POLICY_ENFORCE ? "enforced"
							     : "audited only");
	strbuf_addc(sb, '\n');
}

static void add_entry(struct strbuf *sb, const struct policy *p, uint32_t i)
{
	const struct policy_entry *e = &p->entry[i];

	strbuf_addf(sb, "  %s  line %u\n", policy_text(p, e->name), e->line);
	for (uint32_t k = 0; k < e->n_endpoints; k++)
		add_endpoint(sb, p, e->first_endpoint + k);
	strbuf_adds(sb, "    for binaries: ");
	add_binaries(sb, p, i);
	strbuf_addc(sb, '\n');
}

static void add_paths(struct strbuf *sb, const struct policy *p, bool writable,
		      bool baseline, const char *title)
{
	bool some = false;

	for (uint32_t i = 0; i < p->n_paths; i++) {
		const struct policy_path *f = &p->path[i];

		if (f->flags & POLICY_PATH_GPU ||
		    !!(f->flags & POLICY_PATH_WRITE) != writable ||
		    !!(f->flags & POLICY_PATH_BASELINE) != baseline)
			continue;
		strbuf_addf(sb, "%s %s", some ? "" : title,
			    policy_text(p, f->path));
		some = true;
	}
	if (some)
		strbuf_addc(sb, '\n');
}

static void add_filesystem(struct strbuf *sb, const struct policy *p)
{
	if (!policy_has(p, POLICY_FS_ENFORCE)) {
		strbuf_adds(sb, "filesystem: as the container's config has "
				"it\n");
		return;
	}
	strbuf_addf(sb, "filesystem: nothing but this (Landlock, %s)\n",
		    policy_has(p, POLICY_LANDLOCK_HARD) ? "required"
							: "best effort");
	add_paths(sb, p, false, false, "  read:");
	add_paths(sb, p, true, false, "  read and write:");
	add_paths(sb, p, false, true, "  read, added where it exists:");
	add_paths(sb, p, true, true,
		  "  read and write, added where it exists:");
	if (policy_has(p, POLICY_FS_WORKDIR))
		strbuf_adds(sb, "  read and write: the working directory\n");
}

void explain_summary(struct strbuf *sb, const struct explain_source *source)
{
	const struct policy *p = source->policy;
	char digest[POLICY_DIGEST_TEXT];

	policy_digest_text(p, digest);
	strbuf_addf(sb, "%s: %s form, %s\n", source->file,
		    policy_has(p, POLICY_FULL_FORM) ? "full" : "short", digest);
	if (policy_has(p, POLICY_NO_EGRESS))
		strbuf_adds(sb, "network: nothing is allowed\n");
	else
		strbuf_adds(sb, "network: nothing but this\n");
	for (uint32_t i = 0; i < p->n_entries; i++)
		add_entry(sb, p, i);
	add_filesystem(sb, p);
	strbuf_addf(sb, "process: user %s, group %s\n",
		    p->header->user != POLICY_NONE
			    ? policy_text(p, p->header->user)
			    : "of the config",
		    p->header->group != POLICY_NONE
			    ? policy_text(p, p->header->group)
			    : "of the config");
	if (policy_has(p, POLICY_NEEDS_INSPECTION))
		strbuf_adds(sb, "inspection: needed by some endpoint\n");
	if (p->n_warnings)
		strbuf_addf(sb, "warnings: %u (osh-policy check shows them)\n",
			    p->n_warnings);
}
