/* SPDX-License-Identifier: Apache-2.0 */
/* The resolver's bounds, each with its reason. Reaching one is a verdict. */
#ifndef OSH_DNS_RESOLVER_LIMITS_H
#define OSH_DNS_RESOLVER_LIMITS_H

#include "shim/dns/limit.h"

enum {
	/* Queries under way, as OpenShell: one more gets SERVFAIL and a
	 * dns-limit record. */
	FORWARD_JOBS_MAX = 64,
	/* A try with one upstream. */
	FORWARD_TRY_MS = 2000,
	/* Together below the 10 seconds after which glibc and musl give up. */
	FORWARD_TRIES_MAX = 4,
	/* What a shim that works needs to answer is below a millisecond; it
	 * hashes a large binary in one. */
	FORWARD_ACK_MS = 2000,
	/*
	 * Datagrams to a connected socket that answer something else. Whoever
	 * sends from the upstream's address can be the container itself
	 * (IPV6_FREEBIND; an upstream on loopback), and it can read the port
	 * in /proc/net/udp: then 16 bits of id are all that it must guess. So
	 * it gets three guesses, and then that upstream is asked by TCP only.
	 */
	FORWARD_MISSES_MAX = 3,
	FORWARD_TCP_ONLY_MS = 600 * 1000,

	/* TCP clients: glibc and musl keep one for one lookup. */
	CLIENT_TCP_MAX = 32,
	/* For a whole query to arrive, and for a whole reply to be taken. */
	CLIENT_TCP_MS = 5000,
	/* Datagrams taken at once before others have their turn. */
	CLIENT_UDP_BATCH = 32,

	/* Addresses that a PTR query is answered for. */
	GIVEN_MAX = 512,
	GIVEN_MS = 3600 * 1000,

	/* Messages that wait for the shim; records leave room for what each
	 * query under way may still have to say. */
	LINK_QUEUE_MAX = 192,
	LINK_QUEUE_RECORDS = LINK_QUEUE_MAX - FORWARD_JOBS_MAX - 32,

	/* How often what was counted instead of reported is told. */
	REPORT_FLUSH_MS = 1000,
};

/* All queries of allowed names: what a busy build does, not a flood. */
extern const struct limit_rate limit_queries;
/*
 * Names below a wildcard that were not asked for before. Each may carry some
 * 200 bytes outside: 64 names at once, then one a second.
 */
extern const struct limit_rate limit_fresh;
/* Records, so that a flood of refused names can't fill the log. */
extern const struct limit_rate limit_records;

#endif
