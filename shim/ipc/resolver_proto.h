/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What osh-shim and osh-resolver say to one another.
 *
 * Transport: a SOCK_SEQPACKET pair. Each message is one struct, exactly of
 * its size, with exactly its number of descriptors (SCM_RIGHTS). Either side
 * takes anything else as proof that the other is broken: the resolver exits,
 * the shim kills the resolver and starts another (a bounded number of times).
 *
 * The resolver is started by fexecve, in fresh user, pid, mount and network
 * namespaces (it is pid 1 of its own), without capabilities, with these
 * descriptors and nothing else open, argv { "osh-resolver", NULL }, no
 * environment:
 *	0,1,2	/dev/null
 *	3	the channel
 *	4,5	UDP sockets bound to 127.0.0.1 and ::1 of the sandbox's network
 *		namespace, both on the same port; non-blocking
 *	6,7	TCP sockets that listen there; non-blocking
 * 5 and 7 are absent where the kernel or the namespace has no IPv6. It
 * confines itself further (no_new_privs, seccomp, rlimits), then says READY.
 *
 *	shim -> SOCKETS (one for each kind, 0 to RESOLVER_SOCKETS_MAX fds)
 *	resolver -> READY
 *	shim -> POLICY_ADD (a container)     resolver -> POLICY_DONE
 *	shim -> POLICY_REMOVE                (no answer)
 *	resolver -> ANSWER                   shim -> ANSWER_ACK
 *	resolver -> QUERY                    (no answer)
 *
 * The listening sockets outlive a resolver: the shim keeps copies and hands
 * the same ones to the next. So do the upstream sockets: they are opened in
 * the sandbox's namespace, marked RESOLVER_MARK, unbound and unconnected; the
 * resolver connects one for an exchange and releases it with
 * connect(AF_UNSPEC), after which the kernel picks a new source port.
 *
 * A query comes from one of the containers that share the network namespace,
 * and a datagram does not say which. So a name is eligible when the policy
 * (and the ceiling, where there is one) of *any* attached container covers
 * it, and the first such container's upstreams are asked. What a name
 * resolved to grants nothing by itself: the shim decides each connection
 * with the policy of the container that makes it, SSRF rules included.
 */
#ifndef OSH_SHIM_IPC_RESOLVER_PROTO_H
#define OSH_SHIM_IPC_RESOLVER_PROTO_H

#include <stdint.h>

#include "runtime/policy/shim_proto.h"

enum {
	RESOLVER_FD_CHANNEL = 3,
	RESOLVER_FD_UDP4 = 4,
	RESOLVER_FD_UDP6 = 5,
	RESOLVER_FD_TCP4 = 6,
	RESOLVER_FD_TCP6 = 7,

	/*
	 * Sockets of one SOCKETS message: SCM_MAX_FD is 253. One UDP socket
	 * carries one outstanding query, so that each has its own port.
	 */
	RESOLVER_SOCKETS_MAX = 64,
	RESOLVER_UDP_SOCKETS = 48, /* of each family */
	RESOLVER_TCP_SOCKETS = 8,  /* of each family */

	RESOLVER_NAME_BYTES = 256, /* 253 characters of a name, NUL */
	RESOLVER_ADDRS_MAX = 32,   /* of one answer; the rest is left out */
	RESOLVER_SLOTS_MAX = SHIM_CONTAINERS_MAX,
};

enum resolver_op {
	RESOLVER_OP_SOCKETS = 1,
	RESOLVER_OP_READY,
	RESOLVER_OP_POLICY_ADD, /* fds: policy[, ceiling] */
	RESOLVER_OP_POLICY_DONE,
	RESOLVER_OP_POLICY_REMOVE,
	RESOLVER_OP_ANSWER,
	RESOLVER_OP_ANSWER_ACK,
	RESOLVER_OP_QUERY,
	RESOLVER_OP_N
};

enum resolver_socket_kind {
	RESOLVER_SOCKET_UDP4,
	RESOLVER_SOCKET_UDP6,
	RESOLVER_SOCKET_TCP4,
	RESOLVER_SOCKET_TCP6,
	RESOLVER_SOCKET_N
};

/* A container: its place in the shim's table, and which of its tenants. */
struct resolver_slot {
	uint32_t index; /* < RESOLVER_SLOTS_MAX */
	uint32_t generation;
};

struct resolver_sockets {
	uint32_t op;
	uint32_t kind; /* enum resolver_socket_kind */
	uint32_t n;    /* descriptors with this message */
	uint32_t unused;
};

struct resolver_ready {
	uint32_t op, unused;
};

struct resolver_policy_add {
	uint32_t op;
	uint32_t has_ceiling; /* 1: the second descriptor */
	struct resolver_slot slot;
	uint32_t n_upstreams;
	uint32_t unused;
	struct shim_upstream upstream[SHIM_UPSTREAMS_MAX];
};

struct resolver_policy_done {
	uint32_t op, unused;
	struct resolver_slot slot;
	struct err err; /* code 0: in force */
};

struct resolver_policy_remove {
	uint32_t op, unused;
	struct resolver_slot slot;
};

/* Who asked: IPv4 as v4-mapped; port in host order; as the socket that
 * received the query sees it. */
struct resolver_client {
	uint8_t addr[16];
	uint16_t port;
	uint16_t tcp; /* 1: over TCP */
	uint32_t unused;
};

/*
 * @name is lower case, without a trailing dot: the name that the client asked
 * for, not the last of a CNAME chain. All addresses hold for @ttl_s seconds
 * from now. The answer goes to the client only after the ACK: a client that
 * has an address can connect to it.
 */
struct resolver_answer {
	uint32_t op;
	uint32_t seq; /* comes back in the ACK */
	struct resolver_slot slot; /* whose upstreams were asked */
	struct resolver_client client;
	uint32_t ttl_s;
	uint16_t qtype;
	uint16_t n_addrs; /* 1 to RESOLVER_ADDRS_MAX */
	char name[RESOLVER_NAME_BYTES];
	uint8_t addr[RESOLVER_ADDRS_MAX][16]; /* IPv4 as v4-mapped */
};

/* @code is 0 or a positive errno (ENOSPC: the table is full): then the client
 * gets SERVFAIL. */
struct resolver_answer_ack {
	uint32_t op;
	uint32_t seq;
	uint32_t code, unused;
};

/*
 * For the decision log, kind dns: a query that was answered without an
 * ANSWER (allow: an empty or HTTPS answer, PTR) or refused. @reason is an
 * enum reason (runtime/policy/reason.h: name-not-allowed, dns-type,
 * dns-limit, private-address, blocked-address, ...). The slot has generation
 * 0 where no container's policy covers the name. @count > 1: that many alike
 * that were not reported one by one (dns-limit).
 */
struct resolver_query {
	uint32_t op;
	uint32_t count;
	struct resolver_slot slot;
	struct resolver_client client;
	uint16_t qtype;
	uint8_t allow; /* 1: answered */
	uint8_t unused;
	uint32_t reason;
	char name[RESOLVER_NAME_BYTES];
};

#endif
