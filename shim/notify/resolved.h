/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which names led to which addresses: the resolver's answers, for as long as
 * they hold. Pure; fixed pools (limits.h). An address whose time is over stays
 * known until its place is needed, so that a refusal can say that it was given
 * out once.
 */
#ifndef OSH_SHIM_NOTIFY_RESOLVED_H
#define OSH_SHIM_NOTIFY_RESOLVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/limits.h"

enum {
	RESOLVED_NAME_BYTES = 256,
	RESOLVED_NAME_BUCKETS = 4096,
	RESOLVED_ADDR_BUCKETS = 8192,
};

struct resolved_name {
	char name[RESOLVED_NAME_BYTES];
	uint32_t n_addrs; /* 0: free */
	uint32_t next;	  /* of its bucket, or of the free ones; 0: none */
};

struct resolved_addr {
	uint8_t addr[16];
	uint32_t name; /* 0: free */
	uint32_t next;
	uint64_t expires_ms;
};

/*
 * Index 0 of the pools is not used: 0 says "none". Places beyond the highest
 * that was ever taken stay untouched, so that they cost no memory.
 */
struct resolved {
	struct resolved_name name[SHIM_NAMES_MAX + 1];
	struct resolved_addr addr[SHIM_NAME_ADDRS_MAX + 1];
	uint32_t name_bucket[RESOLVED_NAME_BUCKETS];
	uint32_t addr_bucket[RESOLVED_ADDR_BUCKETS];
	uint32_t free_name, free_addr;
	uint32_t top_name, top_addr; /* the highest ever taken */
	uint8_t key[16]; /* of the hash: names come from the agent */
};

/* @t is zeroed storage, @key is random. */
void resolved_init(struct resolved *t, const uint8_t key[16]);

/*
 * @name (lower case) leads to @addrs (IPv4 as v4-mapped) for @ttl_s from
 * @now_ms on, within the bounds of limits.h. 0, or -ENOSPC when a pool is full
 * of what still holds: then some of @addrs may be in, which does no harm.
 */
int resolved_put(struct resolved *t, const char *name,
		 const uint8_t (*addrs)[16], size_t n_addrs, uint32_t ttl_s,
		 uint64_t now_ms);

/*
 * The names that lead to @addr now: up to @max in ret_name, borrowed until the
 * next resolved_put(). *ret_was: it was given out, for these or for others.
 */
size_t resolved_find(const struct resolved *t, const uint8_t addr[16],
		     uint64_t now_ms, const char **ret_name, size_t max,
		     bool *ret_was);

/* Until when @name leads to @addr; 0 when it doesn't. */
uint64_t resolved_expiry(const struct resolved *t, const char *name,
			 const uint8_t addr[16]);

#endif
