/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which name an address was given out for, so that PTR queries are answered
 * from here and never leave: a reverse name is a message too.
 */
#ifndef OSH_DNS_GIVEN_H
#define OSH_DNS_GIVEN_H

#include <stdint.h>

#include "shim/dns/dns_msg.h"
#include "shim/dns/resolver_limits.h"

struct given_row {
	struct dns_addr addr;
	uint64_t at_ms; /* 0: empty */
	char host[DNS_HOST_BYTES];
};

/* When it is full, the oldest row goes. */
struct given {
	struct given_row row[GIVEN_MAX];
};

/* The last name wins. */
void given_add(struct given *g, const struct dns_addr *addr, const char *host,
	       uint64_t now_ms);
/* The name, valid until the next given_add(), or NULL. Loopback is
 * "localhost" (RFC 6761 6.3 has the forward direction). */
const char *given_find(const struct given *g, const struct dns_addr *addr,
		       uint64_t now_ms);

#endif
