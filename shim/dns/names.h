/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose names may be asked for: the policies of the containers that share the
 * network namespace, each with the nameservers that create recorded for it.
 *
 * A datagram does not say which of the containers sent it, so a name is
 * eligible when any of them may ask for it, and an address is given out when
 * any of them may be told it. That grants nothing: the shim decides each
 * connection by the policy of the container that makes it.
 */
#ifndef OSH_DNS_NAMES_H
#define OSH_DNS_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/policy/policy.h"
#include "runtime/policy/reason.h"
#include "shim/dns/limit.h"
#include "shim/ipc/resolver_proto.h"

struct dns_addr;
struct err;

struct names_upstream {
	struct shim_upstream at;
	bool no_edns;	       /* it refused a query for having EDNS */
	uint64_t tcp_until_ms; /* somebody guessed at replies: TCP only */
};

/* A policy's bytes, mapped: the slot's own. */
struct names_policy {
	void *data; /* NULL: there is none */
	size_t n;
	struct policy view;
};

struct names_slot {
	uint32_t generation; /* 0: free */
	struct names_policy policy, ceiling;
	unsigned int n_upstreams;
	struct names_upstream upstream[SHIM_UPSTREAMS_MAX];
	struct limit queries; /* of all names */
	struct limit fresh;   /* of names not asked for before */
};

struct names {
	struct names_slot slot[RESOLVER_SLOTS_MAX];
};

/*
 * Put a container's policy in force. The descriptors are borrowed and read at
 * once; @ceiling_fd is negative where there is none. Errors: EPROTO (the slot
 * is another's: the shim is broken), and what policy_load() says.
 */
int names_add(struct names *n, const struct resolver_policy_add *add,
	      int policy_fd, int ceiling_fd, uint64_t now_ms, struct err *err);
/* Returns the slot, so that its queries can be ended before names_free();
 * NULL when there is no such container. */
struct names_slot *names_get(struct names *n, const struct resolver_slot *s);
void names_free(struct names_slot *slot);

/*
 * The first container that may ask for @host (struct dns_query's), or NULL
 * with the reason.
 */
struct names_slot *names_find(struct names *n, const char *host,
			      enum reason *ret_reason);
/* May some container be told @addr in an answer for @host? Otherwise the
 * reason. */
enum reason names_answer(const struct names *n, const char *host,
			 const struct dns_addr *addr);
/* Is @host written in the slot's policy letter by letter? */
bool names_exact(const struct names_slot *slot, const char *host);

struct resolver_slot names_ref(const struct names *n,
			       const struct names_slot *slot);

#endif
