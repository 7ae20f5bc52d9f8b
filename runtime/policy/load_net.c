/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "runtime/base/err.h"
#include "runtime/policy/load.h"
#include "runtime/policy/match.h"
#include "runtime/policy/policy.h"

/* Does the range begin where the one before ended, and end within @total?
 * Moves *next to its end. */
static bool range_follows(uint32_t first, uint32_t n, uint32_t total,
			  uint32_t *next)
{
	if (first != *next || n > total - first)
		return false;
	*next += n;
	return true;
}

static int check_entries(const struct policy *p, struct err *err)
{
	uint32_t endpoints = 0, binaries = 0, i, j;

	for (i = 0; i < p->n_entries; i++) {
		const struct policy_entry *e = &p->entry[i];

		if (!load_string_ok(p, e->key, false) ||
		    !load_string_ok(p, e->name, false) ||
		    e->flags & ~(uint32_t)POLICY_ENTRY_ANY_BINARY)
			return load_bad(err, "entries", i, "damaged");
		if (!range_follows(e->first_endpoint, e->n_endpoints,
				   p->n_endpoints, &endpoints) ||
		    !range_follows(e->first_binary, e->n_binaries,
				   p->n_binary_refs, &binaries))
			return load_bad(err, "entries", i, "misplaced parts");
		if (e->flags & POLICY_ENTRY_ANY_BINARY && e->n_binaries)
			return load_bad(err, "entries", i,
					"any binary, yet some");
		for (j = 0; j < e->n_endpoints; j++)
			if (p->endpoint[e->first_endpoint + j].entry != i)
				return load_bad(err, "entries", i,
						"another entry's endpoint");
	}
	if (endpoints != p->n_endpoints || binaries != p->n_binary_refs)
		return load_bad(err, "entries", i, "parts of no entry");
	return 0;
}

static bool is_zero(const uint8_t address[16])
{
	static const uint8_t zero[16];

	return memcmp(address, zero, sizeof(zero)) == 0;
}

static bool is_lower(const char *s)
{
	for (; *s; s++)
		if (*s >= 'A' && *s <= 'Z')
			return false;
	return true;
}

static bool host_ok(const struct policy *p, const struct policy_endpoint *e)
{
	const char *host = policy_text(p, e->host);
	struct match_ip ip;
	struct err ignored;

	if (e->host_kind != POLICY_HOST_LITERAL && !is_zero(e->literal))
		return false;
	switch ((enum policy_host)e->host_kind) {
	case POLICY_HOST_NONE:
		return !*host && e->n_cidrs > 0;
	case POLICY_HOST_EXACT:
		return match_name_ok(host) && is_lower(host);
	case POLICY_HOST_GLOB:
		return match_is_glob(host) && is_lower(host) &&
		       match_glob_check(host, &ignored) == 0;
	case POLICY_HOST_LITERAL:
		return match_ip_parse(host, &ip) == 0 &&
		       memcmp(ip.b, e->literal, sizeof(ip.b)) == 0;
	case POLICY_HOST_N:
		break;
	}
	return false;
}

static bool ports_ok(const struct policy *p, const struct policy_endpoint *e)
{
	const uint16_t *port = p->port + e->first_port;

	for (uint32_t i = 0; i < e->n_ports; i++)
		if (port[i] == 0 || (i && port[i] <= port[i - 1]))
			return false;
	return e->n_ports > 0 && e->n_ports <= POLICY_PORTS_PER_ENDPOINT_MAX;
}

static int check_endpoints(const struct policy *p, struct err *err)
{
	uint32_t ports = 0, cidrs = 0, i;

	for (i = 0; i < p->n_endpoints; i++) {
		const struct policy_endpoint *e = &p->endpoint[i];

		if (!load_string_ok(p, e->host, false) ||
		    !load_string_ok(p, e->inspect, true))
			return load_bad(err, "endpoints", i, "damaged");
		if (e->protocol >= POLICY_PROTO_N || e->tls >= POLICY_TLS_N ||
		    e->enforcement >= POLICY_ENFORCEMENT_N)
			return load_bad(err, "endpoints", i, "unknown value");
		/* an inspected protocol must not pass as plain layer 4 */
		if (e->protocol > POLICY_PROTO_TCP && e->inspect == POLICY_NONE)
			return load_bad(err, "endpoints", i, "not inspected");
		if (!range_follows(e->first_port, e->n_ports, p->n_ports,
				   &ports) ||
		    !range_follows(e->first_cidr, e->n_cidrs, p->n_cidrs,
				   &cidrs))
			return load_bad(err, "endpoints", i, "misplaced parts");
		if (!ports_ok(p, e))
			return load_bad(err, "endpoints", i, "damaged ports");
		if (!host_ok(p, e))
			return load_bad(err, "endpoints", i, "damaged host");
	}
	if (ports != p->n_ports || cidrs != p->n_cidrs)
		return load_bad(err, "endpoints", i, "parts of no endpoint");
	return 0;
}

static int check_cidrs(const struct policy *p, struct err *err)
{
	for (uint32_t i = 0; i < p->n_cidrs; i++) {
		const struct policy_cidr *c = &p->cidr[i];

		if (c->prefix > 128)
			return load_bad(err, "allowed_ips", i, "damaged");
		for (uint32_t bit = c->prefix; bit < 128; bit++)
			if (c->address[bit / 8] & (0x80 >> bit % 8))
				return load_bad(err, "allowed_ips", i,
						"host bits");
	}
	return 0;
}

static int check_binaries(const struct policy *p, struct err *err)
{
	struct err ignored;
	uint32_t i;

	for (i = 0; i < p->n_binaries; i++) {
		const struct policy_binary *b = &p->binary[i];
		const char *path;

		if (!load_string_ok(p, b->path, false) || b->glob > 1)
			return load_bad(err, "binaries", i, "damaged");
		path = policy_text(p, b->path);
		if (!*path || b->glob != match_is_glob(path) ||
		    (b->glob && match_glob_check(path, &ignored) < 0))
			return load_bad(err, "binaries", i, "damaged path");
	}
	for (i = 0; i < p->n_binary_refs; i++)
		if (p->binary_ref[i].binary >= p->n_binaries)
			return load_bad(err, "binary references", i, "damaged");
	return 0;
}

int load_check_net(const struct policy *p, struct err *err)
{
	int r = check_entries(p, err);

	if (r == 0)
		r = check_endpoints(p, err);
	if (r == 0)
		r = check_cidrs(p, err);
	if (r == 0)
		r = check_binaries(p, err);
	return r;
}

/* ------------------------------------------------------------- indexes */

/* Order within an index: <0, 0, >0. Ties go by number. */
static int order(const struct policy *p, enum policy_host kind, uint32_t a,
		 uint32_t b)
{
	const struct policy_endpoint *x = &p->endpoint[a], *y = &p->endpoint[b];
	int r = 0;

	if (kind == POLICY_HOST_EXACT)
		r = strcmp(policy_text(p, x->host), policy_text(p, y->host));
	else if (kind == POLICY_HOST_LITERAL)
		r = memcmp(x->literal, y->literal, sizeof(x->literal));
	if (r)
		return r;
	return a < b ? -1 : a > b;
}

/* Each endpoint of the kind once, in order. */
static int check_index(const struct policy *p, enum policy_host kind,
		       const uint32_t *index, uint32_t n, const char *name,
		       struct err *err)
{
	uint32_t n_kind = 0, i;

	for (i = 0; i < p->n_endpoints; i++)
		n_kind += p->endpoint[i].host_kind == kind;
	if (n != n_kind)
		return load_bad(err, name, n, "not all of them");
	for (i = 0; i < n; i++) {
		if (index[i] >= p->n_endpoints ||
		    p->endpoint[index[i]].host_kind != kind)
			return load_bad(err, name, i, "damaged");
		if (i && order(p, kind, index[i - 1], index[i]) >= 0)
			return load_bad(err, name, i, "out of order");
	}
	return 0;
}

int load_check_index(const struct policy *p, struct err *err)
{
	int r = check_index(p, POLICY_HOST_EXACT, p->by_host, p->n_by_host,
			    "hosts", err);

	if (r == 0)
		r = check_index(p, POLICY_HOST_LITERAL, p->by_address,
				p->n_by_address, "addresses", err);
	if (r == 0)
		r = check_index(p, POLICY_HOST_GLOB, p->by_glob, p->n_by_glob,
				"globs", err);
	if (r == 0)
		r = check_index(p, POLICY_HOST_NONE, p->hostless, p->n_hostless,
				"hostless endpoints", err);
	return r;
}
