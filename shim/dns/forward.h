/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking the upstreams: a fixed pool of queries under way, and the sockets
 * that the shim opened for them in the sandbox's network namespace.
 *
 * Each try has a socket of its own, connected to the upstream (so that the
 * kernel drops what others send), a source port that the kernel picks anew
 * and a random id. A truncated reply is asked for again by TCP.
 */
#ifndef OSH_DNS_FORWARD_H
#define OSH_DNS_FORWARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/loop.h"
#include "shim/dns/client.h"
#include "shim/dns/dns_msg.h"
#include "shim/dns/resolver_limits.h"
#include "shim/ipc/resolver_proto.h"

struct err;
struct names_slot;
struct names_upstream;

enum forward_state {
	FORWARD_FREE,
	FORWARD_UDP,	 /* waits for a datagram */
	FORWARD_CONNECT, /* TCP: waits for the connection */
	FORWARD_READ,	 /* TCP: waits for .n of the reply's bytes */
	FORWARD_HELD,	 /* answered; waits for the shim's ACK */
};

struct forward_job {
	enum forward_state state;
	struct client client;
	struct dns_query query;
	struct names_slot *slot; /* borrowed; see forward_end_slot() */
	struct names_upstream *upstream; /* the one asked now */
	unsigned int n_tries, n_misses;
	bool edns;
	bool too_long; /* a chain was: DNS_CHAIN_MAX */
	bool guessed;  /* FORWARD_MISSES_MAX was reached */
	uint16_t id;
	enum resolver_socket_kind kind;
	int fd; /* of the pool, ours meanwhile */
	struct loop_ref ref;
	uint64_t deadline_ms;

	/* the owner's, while HELD */
	uint32_t seq;
	unsigned int n_addrs;
	struct dns_addr addr[DNS_ADDRS_MAX];

	size_t at, n;
	uint8_t buf[2 + DNS_MSG_BYTES];
};

struct forward;

/*
 * The end of a job: @answer (valid during the call), or NULL when no upstream
 * gave one or the job's time is over. The job is HELD; its .buf is free for
 * the reply. It is the owner's until forward_free().
 */
typedef void forward_fn(void *ctx, struct forward_job *job,
			const struct dns_answer *answer);

struct forward_pool {
	size_t n_free, n;
	int fd[RESOLVER_SOCKETS_MAX]; /* owned */
};

struct forward {
	struct loop *loop;
	uint64_t (*now_ms)(void);
	forward_fn *fn;
	void *ctx;
	struct forward_pool pool[RESOLVER_SOCKET_N];
	struct dns_answer answer;
	struct forward_job job[FORWARD_JOBS_MAX];
};

void forward_init(struct forward *f, struct loop *loop, forward_fn *fn,
		  void *ctx);
void forward_done(struct forward *f);

/* Add a socket, which is f's from now on, also on failure. */
int forward_add_socket(struct forward *f, enum resolver_socket_kind kind,
		       int fd, struct err *err);

/*
 * Ask @slot's upstreams. The callback may come at once. Returns false when the
 * pool is full: then nothing happens.
 */
bool forward_start(struct forward *f, const struct client *client,
		   const struct dns_query *query, struct names_slot *slot);
/* Is the same client's same query under way (it was sent once more)? */
bool forward_has(const struct forward *f, const struct client *client,
		 const struct dns_query *query);
/* The job HELD under @seq, or NULL. */
struct forward_job *forward_held(struct forward *f, uint32_t seq);
void forward_free(struct forward *f, struct forward_job *job);
/* End the jobs of @slot, as if no upstream had answered. */
void forward_end_slot(struct forward *f, const struct names_slot *slot);

/* Try again, or end, what is overdue. */
void forward_tick(struct forward *f);
uint64_t forward_deadline(const struct forward *f);

#endif
