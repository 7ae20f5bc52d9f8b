/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often: token buckets, and the names that were asked for lately.
 *
 * A name below an allowed wildcard is a message to whoever serves that zone,
 * so names that were not asked for before are rationed; asking again for a
 * known one is not. Pure: the time is the caller's.
 */
#ifndef OSH_DNS_LIMIT_H
#define OSH_DNS_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct limit_rate {
	uint32_t burst;	      /* tokens that a full bucket holds */
	uint32_t per_1000_s; /* tokens that flow in during 1000 seconds */
};

struct limit {
	uint64_t micro; /* millionths of a token */
	uint64_t at_ms;
};

/* A full bucket. */
void limit_init(struct limit *l, const struct limit_rate *rate,
		uint64_t now_ms);
/* Take a token; false when there is none. */
bool limit_take(struct limit *l, const struct limit_rate *rate,
		uint64_t now_ms);

enum {
	RECENT_SETS = 512, /* a power of two */
	RECENT_WAYS = 4,
	RECENT_KEY_BYTES = 16,
	/* As long as a name is worked with: an agent's task, say. */
	RECENT_MS = 3600 * 1000,
};

struct recent_name {
	uint64_t hash, at_ms; /* at_ms 0: empty */
};

/*
 * Names by their keyed hash (SipHash, 64 bits). A full set gives up the one
 * that was asked for least lately, which then is rationed again.
 */
struct recent {
	uint8_t key[RECENT_KEY_BYTES];
	struct recent_name set[RECENT_SETS][RECENT_WAYS];
};

/* @key is secret and random, so that nobody can aim at a set. */
void recent_init(struct recent *r, const uint8_t key[RECENT_KEY_BYTES]);
/* Was @name asked for by @owner within RECENT_MS? Then it is again. */
bool recent_has(struct recent *r, uint64_t owner, const char *name,
		uint64_t now_ms);
void recent_add(struct recent *r, uint64_t owner, const char *name,
		uint64_t now_ms);

#endif
