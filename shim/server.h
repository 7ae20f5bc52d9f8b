/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shim as osh-runtime sees it (runtime/policy/shim_proto.h), and what
 * holds its parts together.
 */
#ifndef OSH_SHIM_SERVER_H
#define OSH_SHIM_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/loop.h"
#include "runtime/policy/shim_proto.h"
#include "shim/dnslink.h"
#include "shim/limits.h"
#include "shim/netns.h"
#include "shim/notify/filter.h"
#include "shim/notify/grants.h"
#include "shim/notify/listeners.h"
#include "shim/notify/resolved.h"
#include "shim/notify/sandbox.h"

struct err;

/* Who connected: one request at a time. */
struct connection {
	int fd; /* owned; negative: free */
	struct loop_ref source;
	struct sandbox_ref creates; /* goes with it until COMMIT */
	bool waits;		    /* for the resolver: ATTACH's answer */
	uint64_t deadline_ms;
	/* BINARY rows that BINARIES announced and that are still to come */
	uint32_t n_rows;
	struct sandbox_ref rows_of;
};

struct server {
	struct loop loop;
	struct loop_source source[SHIM_LISTENERS_MAX + SHIM_CONNECTIONS_MAX +
				  16];
	int listen_fd, dir_fd;
	int syslog_fd; /* negative: there is none */
	bool accepting;
	struct loop_ref accept_source;
	struct netns netns;
	struct grants grants;
	struct resolved resolved;
	struct sandboxes sandboxes;
	struct filter filter;
	struct listeners listeners;
	struct dnslink dns;
	struct connection connection[SHIM_CONNECTIONS_MAX];
	uint64_t started_ms;
	bool visited; /* a connection has ended: the first is no longer awaited */
	uint64_t n_packets_lost;
	bool keep_table; /* some socket could not be aborted */
};

/*
 * Load the table, start the resolver, serve until the last container is gone;
 * then remove table, socket and folder. netns, filter.proc_fd, filter.maker_fd,
 * listen_fd and dir_fd are set. An error leaves the table as it is.
 */
int server_run(struct server *s, int resolver_fd, struct err *err);

#endif
