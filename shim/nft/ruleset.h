/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nftables table `inet osh` of a sandbox's network namespace: what the
 * kernel enforces. It is loaded as one transaction, which also replaces
 * whatever a shim before this one left, and it outlives the shim: a dead shim
 * leaves a namespace that drops everything new.
 *
 * The text of the rules is kept beside their expressions; integration/egress
 * loads both and compares what nft(8) lists.
 */
#ifndef OSH_SHIM_NFT_RULESET_H
#define OSH_SHIM_NFT_RULESET_H

#include <stdint.h>

struct err;
struct netlink;
struct strbuf;

#define RULESET_TABLE "osh"

/*
 * Firewall marks. Bit 31 is the gateway's. A grant's is the container's number
 * and the endpoint's (grants.h), below these two.
 */
enum {
	MARK_RESOLVER = 0x7fff0001,
	MARK_LISTENER = 0x7fff0002,
	RULESET_LOG_GROUP = 5,
};

enum ruleset_set {
	SET_ALLOW4,
	SET_ALLOW6,
	SET_UPSTREAM4,
	SET_UPSTREAM6,
	SET_LIVE,
	SET_N
};

const char *ruleset_set_name(enum ruleset_set set);

struct ruleset_config {
	uint16_t resolver_port; /* host order */
};

/* Replace the table. */
int ruleset_load(struct netlink *nl, const struct ruleset_config *config,
		 struct err *err);
/* Remove the table; that it is gone already is no error. */
int ruleset_delete(struct netlink *nl, struct err *err);

/* The rules as nft(8) reads them, for audit and tests. */
void ruleset_text(const struct ruleset_config *config, struct strbuf *sb);

#endif
