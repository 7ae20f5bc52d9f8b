/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Those who ask: the UDP and TCP sockets that listen in the sandbox's network
 * namespace, and the TCP connections (RFC 7766: two bytes of length before
 * each message).
 *
 * A connection has one query under way at a time; what it sends meanwhile
 * waits in its socket. A full pool gives up the connection that has been idle
 * for longest, so that slow clients can't keep others out.
 */
#ifndef OSH_DNS_CLIENT_H
#define OSH_DNS_CLIENT_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/loop.h"
#include "shim/dns/dns_msg.h"
#include "shim/dns/resolver_limits.h"

struct err;
struct resolver_client;

union client_addr {
	struct sockaddr sa;
	struct sockaddr_in in4;
	struct sockaddr_in6 in6;
};

/* Where a reply goes. A value: it may outlive what it names. */
struct client {
	union client_addr addr;
	socklen_t n_addr;
	bool tcp;
	uint32_t index; /* of the socket (UDP), of the connection (TCP) */
	uint32_t generation;
};

enum client_state {
	CLIENT_FREE,
	CLIENT_READ,  /* a query arrives: .at of 2 + its length */
	CLIENT_WAIT,  /* it is being answered */
	CLIENT_WRITE, /* the reply leaves: .at of .n */
};

struct client_conn {
	enum client_state state;
	uint32_t generation;
	int fd; /* owned */
	struct loop_ref ref;
	union client_addr addr;
	socklen_t n_addr;
	uint64_t deadline_ms;
	size_t at, n;
	uint8_t buf[2 + DNS_MSG_BYTES];
};

/*
 * A query. It is answered by clients_reply() or clients_drop(), now or later,
 * once.
 */
typedef void client_fn(void *ctx, const struct client *from,
		       const uint8_t *msg, size_t n);

struct clients {
	struct loop *loop;
	uint64_t (*now_ms)(void);
	client_fn *fn;
	void *ctx;
	int udp_fd[2], tcp_fd[2]; /* borrowed; negative where absent */
	struct client_conn conn[CLIENT_TCP_MAX];
};

/* The sockets are non-blocking and stay the caller's. */
int clients_init(struct clients *c, struct loop *loop, const int udp_fd[2],
		 const int tcp_fd[2], client_fn *fn, void *ctx,
		 struct err *err);
void clients_done(struct clients *c);

/* Send @n bytes, at most clients_limit(). A client that is gone gets
 * nothing. */
void clients_reply(struct clients *c, const struct client *to,
		   const uint8_t *msg, size_t n);
/* No reply: by UDP nothing happens, a connection ends. */
void clients_drop(struct clients *c, const struct client *to);
/* How long a reply to @q may be. */
size_t clients_limit(const struct client *to, const struct dns_query *q);
bool client_same(const struct client *a, const struct client *b);
void client_show(const struct client *from, struct resolver_client *ret);

/* End what is overdue. */
void clients_tick(struct clients *c);
/* When clients_tick() has something to do; UINT64_MAX: never. */
uint64_t clients_deadline(const struct clients *c);

#endif
