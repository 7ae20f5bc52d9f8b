/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which (mark, address, port) the kernel's sets hold, and until when: what the
 * shim put there, remembered, so that most connections cost no netlink
 * message.
 *
 * A mark is 0 NNNNNNNNNNNNNNN EEEEEEEEEEEEEEEE: the attached container's
 * number, 1 to GRANTS_NUMBER_MAX, and its endpoint's index plus one.
 */
#ifndef OSH_SHIM_NOTIFY_GRANTS_H
#define OSH_SHIM_NOTIFY_GRANTS_H

#include <stdbool.h>
#include <stdint.h>

#include "shim/limits.h"

struct err;
struct netlink;

enum {
	GRANTS_NUMBER_MAX = 0x7ffe, /* 0x7fff is MARK_RESOLVER's */
	GRANTS_BUCKETS = 8192,
};

static inline uint32_t grants_mark(uint32_t number, uint32_t endpoint)
{
	return number << 16 | (endpoint + 1);
}

struct grant {
	uint32_t mark; /* 0: free */
	uint32_t next;
	uint8_t addr[16];
	uint16_t port;
	uint64_t expires_ms;
};

/* Index 0 is not used; see struct resolved. */
struct grants {
	struct netlink *nl; /* borrowed */
	struct grant grant[SHIM_GRANTS_MAX + 1];
	uint32_t bucket[GRANTS_BUCKETS];
	uint32_t free_grant, top_grant;
	uint8_t key[16];
};

/* @g is zeroed storage, @key is random. */
void grants_init(struct grants *g, struct netlink *nl, const uint8_t key[16]);

/*
 * See to it that a TCP connection with @mark to @addr:@port passes the table
 * now, and until @until_ms at least. @live: the mark is in the set of live
 * ones already; set when it was added. Errors: ENOSPC (table full), or
 * netlink's.
 */
int grants_put(struct grants *g, uint32_t mark, const uint8_t addr[16],
	       uint16_t port, uint64_t now_ms, uint64_t until_ms, bool *live,
	       struct err *err);

/*
 * Take back everything of container @number, its live marks too: endpoints
 * for which @live(ctx, endpoint) is true, of @n_endpoints. Established flows
 * of the container end. Goes through to the end whatever fails; the first
 * error is returned.
 */
int grants_revoke(struct grants *g, uint32_t number, uint32_t n_endpoints,
		  bool (*live)(const void *ctx, uint32_t endpoint),
		  const void *ctx, struct err *err);

#endif
