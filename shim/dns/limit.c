/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <sodium/crypto_shorthash.h>
#include <string.h>

#include "shim/dns/dns_msg.h"
#include "shim/dns/limit.h"

/* Buckets are kept in millionths: one in 1000 s is one in a millisecond. */
enum { TOKEN = 1000000 };

static_assert(RECENT_KEY_BYTES == crypto_shorthash_KEYBYTES, "siphash");
static_assert(sizeof(uint64_t) == crypto_shorthash_BYTES, "siphash");

void limit_init(struct limit *l, const struct limit_rate *rate,
		uint64_t now_ms)
{
	*l = (struct limit){ .micro = (uint64_t)rate->burst * TOKEN,
			     .at_ms = now_ms };
}

bool limit_take(struct limit *l, const struct limit_rate *rate,
		uint64_t now_ms)
{
	uint64_t full = (uint64_t)rate->burst * TOKEN;
	uint64_t passed_ms = now_ms > l->at_ms ? now_ms - l->at_ms : 0;

	l->at_ms = now_ms;
	/* a bucket that stands for so long is full, whatever the rate */
	if (passed_ms > UINT32_MAX)
		l->micro = full;
	else
		l->micro += passed_ms * rate->per_1000_s;
	if (l->micro > full)
		l->micro = full;
	if (l->micro < TOKEN)
		return false;
	l->micro -= TOKEN;
	return true;
}

static uint64_t hash(const struct recent *r, uint64_t owner, const char *name)
{
	uint8_t in[sizeof(owner) + DNS_HOST_BYTES];
	size_t n = strlen(name);
	uint64_t h;

	assert(n < DNS_HOST_BYTES);
	memcpy(in, &owner, sizeof(owner));
	memcpy(in + sizeof(owner), name, n);
	crypto_shorthash((unsigned char *)&h, in, sizeof(owner) + n, r->key);
	return h;
}

void recent_init(struct recent *r, const uint8_t key[RECENT_KEY_BYTES])
{
	memcpy(r->key, key, RECENT_KEY_BYTES);
	memset(r->set, 0, sizeof(r->set));
}

static struct recent_name *find(struct recent *r, uint64_t h, uint64_t now_ms)
{
	struct recent_name *way = r->set[h % RECENT_SETS];

	for (size_t i = 0; i < RECENT_WAYS; i++)
		if (way[i].at_ms && way[i].hash == h &&
		    now_ms - way[i].at_ms < RECENT_MS)
			return &way[i];
	return NULL;
}

bool recent_has(struct recent *r, uint64_t owner, const char *name,
		uint64_t now_ms)
{
	struct recent_name *found = find(r, hash(r, owner, name), now_ms);

	if (found)
		found->at_ms = now_ms;
	return found;
}

void recent_add(struct recent *r, uint64_t owner, const char *name,
		uint64_t now_ms)
{
	uint64_t h = hash(r, owner, name);
	struct recent_name *way = r->set[h % RECENT_SETS], *to = &way[0];

	for (size_t i = 1; i < RECENT_WAYS; i++)
		if (way[i].at_ms < to->at_ms)
			to = &way[i];
	*to = (struct recent_name){ .hash = h, .at_ms = now_ms };
}
