/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "runtime/base/strbuf.h"
#include "shim/notify/resolved.h"

static uint32_t bucket(const struct resolved *t, const void *data, size_t n,
		       uint32_t n_buckets)
{
	uint64_t h;

	crypto_shorthash((unsigned char *)&h, data, n, t->key);
	return (uint32_t)(h & (n_buckets - 1));
}

static uint32_t name_bucket(const struct resolved *t, const char *name)
{
	return bucket(t, name, strlen(name), RESOLVED_NAME_BUCKETS);
}

static uint32_t addr_bucket(const struct resolved *t, const uint8_t addr[16])
{
	return bucket(t, addr, 16, RESOLVED_ADDR_BUCKETS);
}

void resolved_init(struct resolved *t, const uint8_t key[16])
{
	memcpy(t->key, key, sizeof(t->key));
}

/* A free place, or 0: one given back, or the next that was never taken. */
static uint32_t peek_name(struct resolved *t)
{
	if (!t->free_name && t->top_name < SHIM_NAMES_MAX)
		t->free_name = ++t->top_name;
	return t->free_name;
}

static uint32_t peek_addr(struct resolved *t)
{
	if (!t->free_addr && t->top_addr < SHIM_NAME_ADDRS_MAX)
		t->free_addr = ++t->top_addr;
	return t->free_addr;
}

static uint32_t find_name(const struct resolved *t, const char *name)
{
	uint32_t i = t->name_bucket[name_bucket(t, name)];

	while (i && !str_eq(t->name[i].name, name))
		i = t->name[i].next;
	return i;
}

static uint32_t find_addr(const struct resolved *t, uint32_t name,
			  const uint8_t addr[16])
{
	uint32_t i = t->addr_bucket[addr_bucket(t, addr)];

	while (i && (t->addr[i].name != name ||
		     memcmp(t->addr[i].addr, addr, 16) != 0))
		i = t->addr[i].next;
	return i;
}

static void free_name(struct resolved *t, uint32_t i)
{
	uint32_t *at = &t->name_bucket[name_bucket(t, t->name[i].name)];

	while (*at != i)
		at = &t->name[*at].next;
	*at = t->name[i].next;
	t->name[i].next = t->free_name;
	t->free_name = i;
}

static void free_addr(struct resolved *t, uint32_t i)
{
	uint32_t *at = &t->addr_bucket[addr_bucket(t, t->addr[i].addr)];
	uint32_t name = t->addr[i].name;

	while (*at != i)
		at = &t->addr[*at].next;
	*at = t->addr[i].next;
	t->addr[i].name = 0;
	t->addr[i].next = t->free_addr;
	t->free_addr = i;
	if (--t->name[name].n_addrs == 0)
		free_name(t, name);
}

/* Give back what no longer holds. Rare: only when a pool has run out. */
static void collect(struct resolved *t, uint64_t now_ms)
{
	for (uint32_t i = 1; i <= t->top_addr; i++)
		if (t->addr[i].name && t->addr[i].expires_ms <= now_ms)
			free_addr(t, i);
}

/* A name without addresses yet: the caller adds one at once. */
static uint32_t new_name(struct resolved *t, const char *name)
{
	uint32_t i = peek_name(t), b;

	if (!i || !str_copy(t->name[i].name, RESOLVED_NAME_BYTES, name))
		return 0;
	t->free_name = t->name[i].next;
	b = name_bucket(t, name);
	t->name[i].n_addrs = 0;
	t->name[i].next = t->name_bucket[b];
	t->name_bucket[b] = i;
	return i;
}

static void new_addr(struct resolved *t, uint32_t name,
		     const uint8_t addr[16], uint64_t expires_ms)
{
	uint32_t i = t->free_addr, b = addr_bucket(t, addr);
	struct resolved_addr *a = &t->addr[i];

	t->free_addr = a->next;
	memcpy(a->addr, addr, 16);
	a->name = name;
	a->expires_ms = expires_ms;
	a->next = t->addr_bucket[b];
	t->addr_bucket[b] = i;
	t->name[name].n_addrs++;
}

static int put_one(struct resolved *t, const char *name,
		   const uint8_t addr[16], uint64_t expires_ms)
{
	uint32_t n = find_name(t, name), a;

	a = n ? find_addr(t, n, addr) : 0;
	if (a) {
		if (t->addr[a].expires_ms < expires_ms)
			t->addr[a].expires_ms = expires_ms;
		return 0;
	}
	if (!peek_addr(t) || (!n && !peek_name(t)))
		return -ENOSPC;
	if (!n)
		n = new_name(t, name);
	if (!n)
		return -ENAMETOOLONG;
	new_addr(t, n, addr, expires_ms);
	return 0;
}

int resolved_put(struct resolved *t, const char *name,
		 const uint8_t (*addrs)[16], size_t n_addrs, uint32_t ttl_s,
		 uint64_t now_ms)
{
	uint64_t hold_s = ttl_s;

	if (hold_s < SHIM_TTL_MIN_S)
		hold_s = SHIM_TTL_MIN_S;
	if (hold_s > SHIM_TTL_MAX_S)
		hold_s = SHIM_TTL_MAX_S;
	hold_s += SHIM_TTL_SLACK_S;
	for (size_t i = 0; i < n_addrs; i++) {
		uint64_t expires_ms = now_ms + hold_s * 1000;
		int r = put_one(t, name, addrs[i], expires_ms);

		if (r == -ENOSPC) {
			collect(t, now_ms);
			r = put_one(t, name, addrs[i], expires_ms);
		}
		if (r < 0)
			return r;
	}
	return 0;
}

size_t resolved_find(const struct resolved *t, const uint8_t addr[16],
		     uint64_t now_ms, const char **ret_name, size_t max,
		     bool *ret_was)
{
	uint32_t i = t->addr_bucket[addr_bucket(t, addr)];
	size_t n = 0;

	*ret_was = false;
	for (; i; i = t->addr[i].next) {
		const struct resolved_addr *a = &t->addr[i];

		if (memcmp(a->addr, addr, 16) != 0)
			continue;
		*ret_was = true;
		if (a->expires_ms > now_ms && n < max)
			ret_name[n++] = t->name[a->name].name;
	}
	return n;
}

uint64_t resolved_expiry(const struct resolved *t, const char *name,
			 const uint8_t addr[16])
{
	uint32_t n = find_name(t, name);
	uint32_t a = n ? find_addr(t, n, addr) : 0;

	return a ? t->addr[a].expires_ms : 0;
}
