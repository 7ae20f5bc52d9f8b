/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/packet.h"
#include "shim/dns/link.h"

/* What either side may say. .min_fds and .max_fds are of what comes in. */
static const struct {
	const char *name;
	size_t size;
	bool in;
	unsigned int min_fds, max_fds;
} messages[RESOLVER_OP_N] = {
	[RESOLVER_OP_SOCKETS] = { "SOCKETS", sizeof(struct resolver_sockets),
				  true, 0, RESOLVER_SOCKETS_MAX },
	[RESOLVER_OP_READY] = { "READY", sizeof(struct resolver_ready), false,
				0, 0 },
	[RESOLVER_OP_POLICY_ADD] = { "POLICY_ADD",
				     sizeof(struct resolver_policy_add), true,
				     1, 2 },
	[RESOLVER_OP_POLICY_DONE] = { "POLICY_DONE",
				      sizeof(struct resolver_policy_done),
				      false, 0, 0 },
	[RESOLVER_OP_POLICY_REMOVE] = { "POLICY_REMOVE",
					sizeof(struct resolver_policy_remove),
					true, 0, 0 },
	[RESOLVER_OP_ANSWER] = { "ANSWER", sizeof(struct resolver_answer),
				 false, 0, 0 },
	[RESOLVER_OP_ANSWER_ACK] = { "ANSWER_ACK",
				     sizeof(struct resolver_answer_ack), true,
				     0, 0 },
	[RESOLVER_OP_QUERY] = { "QUERY", sizeof(struct resolver_query), false,
				0, 0 },
};

void link_init(struct link *l, int fd)
{
	l->fd = fd;
	l->first = l->n = 0;
}

/* Returns 1, 0 when the shim takes nothing now, or an error. */
static int send_one(struct link *l, const union link_msg *msg,
		    struct err *err)
{
	ssize_t r;

	do
		r = send(l->fd, msg, messages[msg->op].size,
			 MSG_DONTWAIT | MSG_NOSIGNAL);
	while (r < 0 && errno == EINTR);
	if (r >= 0)
		return 1;
	/* ENOBUFS: AF_UNIX has no memory for it at the moment */
	if (errno == EAGAIN || errno == ENOBUFS)
		return 0;
	return err_errno(err, errno, "send %s to the shim",
			 messages[msg->op].name);
}

int link_send(struct link *l, const union link_msg *msg, struct err *err)
{
	int r = 0;

	assert(msg->op < RESOLVER_OP_N && messages[msg->op].size &&
	       !messages[msg->op].in);
	if (!l->n)
		r = send_one(l, msg, err);
	if (r != 0)
		return r < 0 ? r : 0;
	if (l->n == LINK_QUEUE_MAX)
		return err_set(err, ENOBUFS, "send %s to the shim: it is stuck",
			       messages[msg->op].name);
	memcpy(&l->queue[(l->first + l->n++) % LINK_QUEUE_MAX], msg,
	       messages[msg->op].size);
	return 0;
}

int link_flush(struct link *l, struct err *err)
{
	while (l->n) {
		int r = send_one(l, &l->queue[l->first], err);

		if (r <= 0)
			return r;
		l->first = (l->first + 1) % LINK_QUEUE_MAX;
		l->n--;
	}
	return 0;
}

bool link_pending(const struct link *l)
{
	return l->n > 0;
}

bool link_room(const struct link *l)
{
	return l->n < LINK_QUEUE_RECORDS;
}

static bool is_message(const struct link_in *in, size_t size)
{
	uint32_t op = size >= sizeof(in->msg.op) ? in->msg.op : 0;

	return op < RESOLVER_OP_N && messages[op].in &&
	       size == messages[op].size && in->n_fds >= messages[op].min_fds &&
	       in->n_fds <= messages[op].max_fds;
}

int link_read(struct link *l, struct link_in *ret, struct err *err)
{
	ssize_t n = packet_recv(l->fd, &ret->msg, sizeof(ret->msg), ret->fd,
				N_ELEMENTS(ret->fd), &ret->n_fds,
				MSG_DONTWAIT);

	if (n == -EAGAIN)
		return 0;
	if (n == -EMSGSIZE)
		return err_set(err, EPROTO, "read from the shim: too long");
	if (n < 0)
		return err_errno(err, (int)-n, "read from the shim");
	if (n == 0)
		return err_set(err, EPIPE, "read from the shim: it is gone");
	if (!is_message(ret, (size_t)n)) {
		packet_close(ret->fd, ret->n_fds);
		return err_set(err, EPROTO,
			       "read from the shim: %zd bytes with %zu "
			       "descriptors are no message", n, ret->n_fds);
	}
	return 1;
}
