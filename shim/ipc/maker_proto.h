/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What osh-shim asks of its maker: the process that it forks before it locks
 * itself up, and that stays in the sandbox's network namespace, without a
 * privilege there. One request at a time over a SOCK_SEQPACKET pair, each
 * answered.
 *
 *	SOCKET		a socket of the sandbox's namespace; the reply carries
 *			it
 *	RESOLVER	start osh-resolver in fresh namespaces; descriptors:
 *			its program, its channel, its listening sockets UDP4
 *			and TCP4, and with IPv6 UDP6 and TCP6
 *			(resolver_proto.h)
 */
#ifndef OSH_SHIM_IPC_MAKER_PROTO_H
#define OSH_SHIM_IPC_MAKER_PROTO_H

#include <stdint.h>

enum maker_op {
	MAKER_OP_SOCKET = 1,
	MAKER_OP_RESOLVER,
	MAKER_OP_N
};

enum { MAKER_FDS_MAX = 6 };

struct maker_request {
	uint32_t op;
	int32_t domain, type, protocol; /* SOCKET */
};

struct maker_reply {
	uint32_t op;
	uint32_t code; /* 0 or a positive errno */
	int32_t pid;   /* RESOLVER */
	uint32_t unused;
};

#endif
