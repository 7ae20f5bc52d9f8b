/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole resolver in the test's process, between a shim at the other end of
 * a socket pair, a client and two upstreams on loopback. The test plays all
 * three, and its clock is the resolver's: waiting is moving it on.
 *
 * What is expected and doesn't come fails the test.
 */
#ifndef OSH_DNS_RESOLVER_FIXTURE_H
#define OSH_DNS_RESOLVER_FIXTURE_H

#include <arpa/nameser.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/policy/reason.h"
#include "shim/dns/resolver.h"

enum { N_UPSTREAMS = 2, ROUNDS = 50 };

/* A query or a reply, and whom it is from. */
struct msg {
	size_t n;
	struct sockaddr_in from;
	uint8_t b[1500];
};

/* A reply as the client sees it: how many answers, and the first. */
struct reply {
	unsigned int rcode, n, id;
	bool tc;
	size_t size;
	ns_rr first;
	uint8_t b[1500];
};

extern struct resolver r;
extern uint64_t skew_ms; /* of the resolver's clock */
extern int shim_fd, client_fd, tcp_fd;
extern int up_udp[N_UPSTREAMS], up_tcp[N_UPSTREAMS];
extern struct sockaddr_in udp_addr, tcp_addr; /* where it listens */
extern uint16_t last_id;		      /* of query_of() */
extern struct err err;

/*
 * The policy in slot 0, generation 7: api.x.org, both.org, _s._tcp.x.org, and
 * *.wild.org.
 */
int setup(void **state);
int teardown(void **state);

#define CASE(f)	   cmocka_unit_test_setup_teardown(f, setup, teardown)
#define ADDRS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* One round of the loop; until @fd can be read. */
void pump(void);
void pump_for(int fd);
/* Nothing comes to @fd. */
void expect_silence(int fd);

/* The client. @addrs end with NULL, here and below. */
struct msg query_of(const char *name, unsigned int type, bool edns);
void ask(const char *name, unsigned int type);
struct reply parse_reply(struct reply got);
struct reply take_reply(void);
void expect_reply(unsigned int rcode, unsigned int n);

/* The upstreams, by UDP. */
struct msg take_query(int i);
void make_reply(struct msg *m, unsigned int flags, const char *const *addrs);
void send_back(int i, const struct msg *m);
void answer_with(int i, const char *const *addrs);

/* The shim. */
void expect_message(void *msg, size_t n, uint32_t op);
struct resolver_query expect_record(enum reason reason, const char *name);
struct resolver_answer expect_answer(const char *name, unsigned int n);
void acknowledge(uint32_t seq, uint32_t code);
int policy_fd(const void *data, size_t n);
void add_policy(uint32_t index, const char *const *hosts,
		const char *const *ceiling);

#endif
