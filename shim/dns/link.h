/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The channel to the shim (shim/ipc/resolver_proto.h): whole messages in and
 * out, a bounded queue for what the shim doesn't take at once.
 *
 * Whatever the shim says is either exactly what the protocol has, or the
 * shim is broken: link_read() then fails, and the program ends.
 */
#ifndef OSH_DNS_LINK_H
#define OSH_DNS_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/dns/resolver_limits.h"
#include "shim/ipc/resolver_proto.h"

struct err;

/* Any message; .op is the first word of each. */
union link_msg {
	uint32_t op;
	struct resolver_sockets sockets;
	struct resolver_ready ready;
	struct resolver_policy_add policy_add;
	struct resolver_policy_done policy_done;
	struct resolver_policy_remove policy_remove;
	struct resolver_answer answer;
	struct resolver_answer_ack answer_ack;
	struct resolver_query query;
};

struct link {
	int fd; /* borrowed */
	size_t first, n;
	union link_msg queue[LINK_QUEUE_MAX];
};

/* What arrived. The descriptors are the caller's to close. */
struct link_in {
	union link_msg msg;
	size_t n_fds;
	int fd[RESOLVER_SOCKETS_MAX];
};

void link_init(struct link *l, int fd);

/*
 * Send @msg (its op is set), or queue it. The caller keeps to link_room();
 * a full queue is -ENOBUFS. Other errors: the shim is gone.
 */
int link_send(struct link *l, const union link_msg *msg, struct err *err);
/* Send what is queued; 0 also when the shim still takes nothing. */
int link_flush(struct link *l, struct err *err);
/* Does something wait to be sent? Then watch for EPOLLOUT. */
bool link_pending(const struct link *l);
/* May a record be sent, or is the rest of the queue for answers? */
bool link_room(const struct link *l);

/*
 * Read one message. Returns 1, or 0 when there is none, or a negative errno:
 * EPIPE (the shim closed it), EPROTO (not a message of the protocol; its
 * descriptors are closed).
 */
int link_read(struct link *l, struct link_in *ret, struct err *err);

#endif
