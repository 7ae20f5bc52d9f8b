/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elements of the table's sets. Each function is one transaction: all of it
 * or nothing.
 */
#ifndef OSH_SHIM_NFT_ELEMENTS_H
#define OSH_SHIM_NFT_ELEMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "shim/nft/ruleset.h"

struct err;
struct netlink;

/* More in one call is -ENOBUFS. */
enum { ELEMENTS_MAX = 64 };

/*
 * Which fields count depends on the set: SET_ALLOW*: all; SET_UPSTREAM*:
 * proto, addr, port; SET_LIVE: mark.
 */
struct element {
	enum ruleset_set set;
	uint32_t mark;
	uint8_t proto;
	uint8_t addr[16]; /* IPv4 as v4-mapped, for the sets of IPv4 too */
	uint16_t port;	  /* host order */
	uint64_t timeout_ms; /* SET_ALLOW* */
};

/*
 * Add, or set the timeout of an element anew. Re-adding alone does not
 * refresh a timeout, and deleting alone fails on one that just expired: so
 * each is added, deleted and added.
 */
int elements_put(struct netlink *nl, const struct element *e, size_t n,
		 struct err *err);
/* Remove; that one is gone already is no error. */
int elements_remove(struct netlink *nl, const struct element *e, size_t n,
		    struct err *err);
/* Make @set (no timeouts) hold exactly @e. */
int elements_replace(struct netlink *nl, enum ruleset_set set,
		     const struct element *e, size_t n, struct err *err);

#endif
