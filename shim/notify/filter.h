/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decision on one stopped call, from reading it to the answer: steps 1 to
 * 6 of the design. What is allowed to leave gets its endpoint's mark on the
 * socket and goes on; the kernel's table binds the mark to its destination.
 *
 *	connect	TCP	decided; to the sandbox itself or port 53 (which the
 *			table redirects to the resolver): goes on, unmarked,
 *			and recorded when another container listens there
 *		UDP	goes on, unmarked: nothing is sent yet, and the table
 *			drops what is (getaddrinfo probes its own address so)
 *		others	refused
 *	sendto	TCP	refused with MSG_FASTOPEN, which connects; otherwise
 *			the address means nothing
 *		UDP	to the sandbox itself, port 53, or from a socket that
 *			serves: goes on; otherwise refused, recorded
 *		others	to the sandbox itself goes on; otherwise refused
 *	listen	TCP	marked as a listener where inbound is open
 *	bind	UDP	to a port, the same
 *	socket	i386's socketcall: the shim makes the socket
 * Every other family goes on: it has no way out of the namespace.
 */
#ifndef OSH_SHIM_NOTIFY_FILTER_H
#define OSH_SHIM_NOTIFY_FILTER_H

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>

#include "shim/notify/askers.h"
#include "shim/notify/grants.h"
#include "shim/notify/identity.h"
#include "shim/notify/resolved.h"
#include "shim/notify/sandbox.h"

/* Who listens where, for the log: containers of a pod share the loopback. */
struct filter_port {
	uint16_t port; /* 0: free */
	struct sandbox_ref sandbox;
};

enum { FILTER_PORTS = 128 }; /* the oldest makes room */

struct filter {
	int proc_fd;		       /* borrowed, all of them */
	int probe4_fd, probe6_fd;      /* UDP sockets of the namespace */
	int maker_fd;		       /* channel to the socket maker */
	uint64_t netns_cookie;
	struct resolved *resolved;
	struct grants *grants;
	struct sandboxes *sandboxes;
	struct askers askers;
	struct filter_port listens[FILTER_PORTS];
	unsigned int next_listens;
	struct identity identity; /* of the caller at hand */
};

/* What the waiting call gets. */
struct answer {
	int error;  /* 0, or a negative errno */
	int add_fd; /* owned; >= 0: the call returns this descriptor */
	bool cloexec;
};

/*
 * Decide. @listener_fd is where @n came from; @root_pid is the process that
 * installed the filter (ancestors end there).
 */
void filter_decide(struct filter *f, struct sandbox *s,
		   struct sandbox_ref ref, int listener_fd, int root_pid,
		   const struct seccomp_notif *n, struct answer *ret);

#endif
