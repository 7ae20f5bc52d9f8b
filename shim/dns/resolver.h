/* SPDX-License-Identifier: Apache-2.0 */
/*
 * osh-resolver without its process: what is answered, what is refused, what
 * the shim must know first. The whole state is one struct of fixed size; only
 * policies are mapped and unmapped as containers come and go.
 */
#ifndef OSH_DNS_RESOLVER_H
#define OSH_DNS_RESOLVER_H

#include <stdint.h>

#include "runtime/base/err.h"
#include "runtime/base/loop.h"
#include "shim/dns/client.h"
#include "shim/dns/forward.h"
#include "shim/dns/given.h"
#include "shim/dns/limit.h"
#include "shim/dns/link.h"
#include "shim/dns/names.h"
#include "shim/dns/report.h"

enum {
	/* the channel, four listeners, a source for each client and query */
	RESOLVER_SOURCES = 8 + CLIENT_TCP_MAX + FORWARD_JOBS_MAX,
	/* what may be open at once */
	RESOLVER_FILES = 16 + RESOLVER_SOURCES +
			 RESOLVER_SOCKET_N * RESOLVER_SOCKETS_MAX,
};

struct resolver {
	uint64_t (*now_ms)(void); /* here, in clients and in forward */
	struct loop loop;
	struct loop_source source[RESOLVER_SOURCES];
	struct link link;
	struct loop_ref link_ref;
	struct link_in in;
	struct names names;
	struct given given;
	struct recent recent;
	struct report report;
	struct clients clients;
	struct forward forward;
	uint32_t seq;
	uint8_t reply[DNS_MSG_BYTES];
	struct err broken; /* code not 0: the shim is gone or broken */
};

/*
 * @udp_fd and @tcp_fd: IPv4, IPv6; negative where absent. All descriptors are
 * borrowed and non-blocking.
 */
int resolver_init(struct resolver *r, int channel_fd, const int udp_fd[2],
		  const int tcp_fd[2], struct err *err);
/* Say READY: from now on the shim's messages are answered. */
int resolver_ready(struct resolver *r, struct err *err);
/* Work until the shim is gone: always an error. */
int resolver_run(struct resolver *r, struct err *err);
/* One round, at most @wait_ms long: for tests. */
int resolver_once(struct resolver *r, int wait_ms, struct err *err);
void resolver_done(struct resolver *r);

#endif
