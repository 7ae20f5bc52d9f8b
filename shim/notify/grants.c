/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <netinet/in.h>
#include <sodium.h>
#include <string.h>

#include "runtime/base/err.h"
#include "runtime/policy/match.h"
#include "shim/nft/elements.h"
#include "shim/notify/grants.h"

void grants_init(struct grants *g, struct netlink *nl, const uint8_t key[16])
{
	g->nl = nl;
	memcpy(g->key, key, sizeof(g->key));
}

/* A free place, or 0. */
static uint32_t peek(struct grants *g)
{
	if (!g->free_grant && g->top_grant < SHIM_GRANTS_MAX)
		g->free_grant = ++g->top_grant;
	return g->free_grant;
}

static uint32_t bucket(const struct grants *g, uint32_t mark,
		       const uint8_t addr[16], uint16_t port)
{
	uint8_t in[22];
	uint64_t h;

	memcpy(in, &mark, 4);
	memcpy(in + 4, addr, 16);
	memcpy(in + 20, &port, 2);
	crypto_shorthash((unsigned char *)&h, in, sizeof(in), g->key);
	return (uint32_t)(h & (GRANTS_BUCKETS - 1));
}

static void release(struct grants *g, uint32_t i)
{
	struct grant *e = &g->grant[i];
	uint32_t *at = &g->bucket[bucket(g, e->mark, e->addr, e->port)];

	while (*at != i)
		at = &g->grant[*at].next;
	*at = e->next;
	e->mark = 0;
	e->next = g->free_grant;
	g->free_grant = i;
}

/* The kernel has forgotten them too. */
static void collect(struct grants *g, uint64_t now_ms)
{
	for (uint32_t i = 1; i <= g->top_grant; i++)
		if (g->grant[i].mark && g->grant[i].expires_ms <= now_ms)
			release(g, i);
}

static struct grant *find(struct grants *g, uint32_t mark,
			  const uint8_t addr[16], uint16_t port)
{
	uint32_t i = g->bucket[bucket(g, mark, addr, port)];

	for (; i; i = g->grant[i].next) {
		struct grant *e = &g->grant[i];

		if (e->mark == mark && e->port == port &&
		    memcmp(e->addr, addr, 16) == 0)
			return e;
	}
	return NULL;
}

static struct grant *insert(struct grants *g, uint32_t mark,
			    const uint8_t addr[16], uint16_t port,
			    uint64_t now_ms)
{
	uint32_t b = bucket(g, mark, addr, port), i;
	struct grant *e;

	if (!peek(g))
		collect(g, now_ms);
	i = peek(g);
	if (!i)
		return NULL;
	e = &g->grant[i];
	g->free_grant = e->next;
	e->mark = mark;
	e->port = port;
	memcpy(e->addr, addr, 16);
	e->expires_ms = 0; /* not in the kernel yet */
	e->next = g->bucket[b];
	g->bucket[b] = i;
	return e;
}

static struct element element_of(const struct grant *g, uint64_t timeout_ms)
{
	struct match_ip ip;
	struct element e = { .mark = g->mark,
			     .proto = IPPROTO_TCP,
			     .port = g->port,
			     .timeout_ms = timeout_ms };

	memcpy(ip.b, g->addr, 16);
	memcpy(e.addr, g->addr, 16);
	e.set = match_ip_is_v4(&ip) ? SET_ALLOW4 : SET_ALLOW6;
	return e;
}

int grants_put(struct grants *g, uint32_t mark, const uint8_t addr[16],
	       uint16_t port, uint64_t now_ms, uint64_t until_ms, bool *live,
	       struct err *err)
{
	struct grant *e = find(g, mark, addr, port);
	struct element add[2];
	size_t n = 0;
	int r;

	if (until_ms < now_ms + SHIM_GRANT_MIN_S * 1000)
		until_ms = now_ms + SHIM_GRANT_MIN_S * 1000;
	if (e && *live &&
	    e->expires_ms >= now_ms + SHIM_GRANT_FRESH_S * 1000)
		return 0;
	if (!e)
		e = insert(g, mark, addr, port, now_ms);
	if (!e)
		return err_set(err, ENOSPC, "grant a connection: all %d "
					    "elements are in use",
			       SHIM_GRANTS_MAX);
	add[n++] = element_of(e, until_ms - now_ms);
	if (!*live)
		add[n++] = (struct element){ .set = SET_LIVE, .mark = mark };
	r = elements_put(g->nl, add, n, err);
	if (r < 0) {
		release(g, (uint32_t)(e - g->grant));
		return r;
	}
	*live = true;
	e->expires_ms = until_ms;
	return 0;
}

/* Elements to remove, in groups. */
struct removal {
	struct netlink *nl;
	struct element e[ELEMENTS_MAX];
	size_t n;
	struct err *err;
	int first;
};

static void flush(struct removal *r)
{
	struct err err = ERR_INIT;

	if (r->n && elements_remove(r->nl, r->e, r->n, &err) < 0 &&
	    !r->first) {
		*r->err = err;
		r->first = -err.code;
	}
	r->n = 0;
}

static void remove_later(struct removal *r, const struct element *e)
{
	r->e[r->n++] = *e;
	if (r->n == ELEMENTS_MAX)
		flush(r);
}

int grants_revoke(struct grants *g, uint32_t number, uint32_t n_endpoints,
		  bool (*live)(const void *ctx, uint32_t endpoint),
		  const void *ctx, struct err *err)
{
	struct removal r = { .nl = g->nl, .err = err };

	for (uint32_t i = 0; i < n_endpoints; i++)
		if (live(ctx, i))
			remove_later(&r, &(struct element){
						 .set = SET_LIVE,
						 .mark = grants_mark(number,
								     i) });
	for (uint32_t i = 1; i <= g->top_grant; i++) {
		struct element e;

		if (g->grant[i].mark >> 16 != number)
			continue;
		/* it may have expired: removing adds it for a moment */
		e = element_of(&g->grant[i], 1000);
		remove_later(&r, &e);
		release(g, i);
	}
	flush(&r);
	return r.first;
}
