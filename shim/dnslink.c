/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state	event			next
 * DOWN		start works		STARTING
 *		start fails		as a death
 * STARTING	READY			READY, every policy is sent
 *		the time is over	as a death
 * READY	ANSWER, QUERY, DONE	READY
 * any		death, bad message	DOWN and a timer, or GIVEN_UP after
 *					SHIM_RESOLVER_STARTS_MAX in the window
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "runtime/base/clock.h"
#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/packet.h"
#include "runtime/base/strbuf.h"
#include "runtime/policy/decide.h"
#include "shim/dnslink.h"
#include "shim/ipc/maker_proto.h"
#include "shim/netns.h"

enum {
	MESSAGES_PER_TURN = 16,
	/* more than a channel's buffer holds */
	MESSAGES_PER_DRAIN = 1024,
	END_MS = 250, /* between two messages of one that is to end */
};

union message {
	uint32_t op;
	struct resolver_ready ready;
	struct resolver_policy_done policy_done;
	struct resolver_answer answer;
	struct resolver_query query;
};

static void note_all(struct dnslink *d, const char *what, const char *why)
{
	for (unsigned int i = 0; i < SHIM_CONTAINERS_MAX; i++) {
		struct sandbox *s = &d->sandboxes->sandbox[i];

		if (s->used)
			sandbox_note(s, LOG_FINDING, REASON_SHIM_ERROR,
				     "%s: %s", what, why);
	}
}

/* ------------------------------------------------------------ life */

static void down(struct dnslink *d, const char *why);

static int ask_maker(struct dnslink *d, int channel_fd, struct err *err)
{
	const struct maker_request rq = { .op = MAKER_OP_RESOLVER };
	const int *l = d->netns->listen_fd;
	int fds[MAKER_FDS_MAX] = { d->program_fd, channel_fd,
				   l[RESOLVER_SOCKET_UDP4],
				   l[RESOLVER_SOCKET_TCP4],
				   l[RESOLVER_SOCKET_UDP6],
				   l[RESOLVER_SOCKET_TCP6] };
	size_t n = l[RESOLVER_SOCKET_UDP6] >= 0 ? MAKER_FDS_MAX :
						  MAKER_FDS_MAX - 2;
	struct maker_reply reply = { .code = EPIPE };
	size_t n_fds;
	ssize_t got;
	int none, r;

	r = packet_send(d->maker_fd, &rq, sizeof(rq), fds, n);
	if (r < 0)
		return err_errno(err, -r, "ask for a resolver");
	got = packet_recv(d->maker_fd, &reply, sizeof(reply), &none, 0,
			  &n_fds, 0);
	if (got != (ssize_t)sizeof(reply))
		return err_errno(err, got < 0 ? (int)-got : EPIPE,
				 "start osh-resolver");
	if (reply.code)
		return err_errno(err, (int)reply.code, "start osh-resolver");
	return 0;
}

static int send_sockets(struct dnslink *d, struct err *err)
{
	for (uint32_t kind = 0; kind < RESOLVER_SOCKET_N; kind++) {
		struct resolver_sockets m = { .op = RESOLVER_OP_SOCKETS,
					      .kind = kind,
					      .n = d->netns->n_upstream[kind] };
		int r = packet_send(d->fd, &m, sizeof(m),
				    d->netns->upstream_fd[kind], m.n);

		if (r < 0)
			return err_errno(err, -r, "hand sockets to "
						  "osh-resolver");
	}
	return 0;
}

static void on_channel(struct loop *loop, struct loop_ref ref,
		       uint32_t events, void *ctx, uint64_t arg);

static int start(struct dnslink *d, struct err *err)
{
	own_close int theirs = -EBADF;
	int pair[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_errno(err, errno, "create the resolver's channel");
	d->fd = pair[0];
	theirs = pair[1];
	r = ask_maker(d, theirs, err);
	if (r == 0)
		r = send_sockets(d, err);
	if (r == 0)
		r = loop_add(d->loop, d->fd, EPOLLIN, on_channel, d, 0,
			     &d->source, err);
	if (r < 0) {
		d->fd = close_fd(d->fd);
		return r;
	}
	d->state = DNSLINK_STARTING;
	loop_arm(d->loop, d->timer, SHIM_RESOLVER_TIMEOUT_MS, 0);
	return 0;
}

static bool may_start(struct dnslink *d)
{
	uint64_t now = clock_now_ms();

	if (now - d->window_ms > SHIM_RESOLVER_WINDOW_S * 1000) {
		d->window_ms = now;
		d->n_starts = 0;
	}
	return d->n_starts++ < SHIM_RESOLVER_STARTS_MAX;
}

static void fail_waiting(struct dnslink *d, const char *why)
{
	struct err err = ERR_INIT;

	err_set(&err, EIO, "start osh-resolver: %s", why);
	for (uint32_t i = 0; i < SHIM_CONTAINERS_MAX; i++) {
		struct sandbox *s = &d->sandboxes->sandbox[i];

		if (s->used)
			d->on_policy(d->ctx,
				     (struct sandbox_ref){ i, s->generation },
				     &err);
	}
}

/* The channel is over: by its end, by a bad message, or by the timer. */
static void down(struct dnslink *d, const char *why)
{
	loop_remove(d->loop, d->source);
	d->fd = close_fd(d->fd);
	d->state = DNSLINK_DOWN;
	note_all(d, "osh-resolver ended", why);
	if (d->n_starts < SHIM_RESOLVER_STARTS_MAX) {
		/* 50, 100, 200, ... ms */
		loop_arm(d->loop, d->timer, UINT64_C(25) << d->n_starts, 0);
		return;
	}
	d->state = DNSLINK_GIVEN_UP;
	loop_arm(d->loop, d->timer, 0, 0);
	note_all(d, "no names any more", "osh-resolver ended too often");
	fail_waiting(d, "it ended too often");
}

static void on_timer(struct loop *loop, struct loop_ref ref, uint32_t events,
		     void *ctx, uint64_t arg)
{
	struct dnslink *d = ctx;
	struct err err = ERR_INIT;

	(void)loop;
	(void)ref;
	(void)events;
	(void)arg;
	if (d->state == DNSLINK_STARTING) {
		down(d, "it did not become ready");
		return;
	}
	if (d->state != DNSLINK_DOWN)
		return;
	if (!may_start(d) || start(d, &err) < 0)
		down(d, err.code ? err.text : "it ended too often");
}

int dnslink_init(struct dnslink *d, struct err *err)
{
	int r;

	d->fd = -EBADF;
	d->state = DNSLINK_DOWN;
	d->n_starts = 1;
	d->window_ms = clock_now_ms();
	r = loop_add_timer(d->loop, on_timer, d, 0, &d->timer, err);
	return r < 0 ? r : start(d, err);
}

/* ------------------------------------------------------------ policies */

static int send_policy(struct dnslink *d, struct sandbox_ref ref,
		       const struct sandbox *s)
{
	struct resolver_policy_add m = {
		.op = RESOLVER_OP_POLICY_ADD,
		.has_ceiling = s->has_ceiling,
		.slot = { ref.index, ref.generation },
		.n_upstreams = s->n_upstreams,
	};
	int fds[2] = { s->policy.fd, s->ceiling.fd };

	memcpy(m.upstream, s->upstream, sizeof(m.upstream));
	return packet_send(d->fd, &m, sizeof(m), fds, s->has_ceiling ? 2 : 1);
}

int dnslink_add(struct dnslink *d, struct sandbox_ref ref, struct err *err)
{
	struct sandbox *s = sandbox_get(d->sandboxes, ref);
	int r;

	if (d->state == DNSLINK_GIVEN_UP || !s)
		return err_set(err, ESRCH, "resolve names: osh-resolver ended "
					   "too often");
	if (d->state != DNSLINK_READY)
		return 0; /* with all others, once it is */
	r = send_policy(d, ref, s);
	return r < 0 ? err_errno(err, -r, "tell osh-resolver") : 0;
}

void dnslink_remove(struct dnslink *d, struct sandbox_ref ref)
{
	const struct resolver_policy_remove m = {
		.op = RESOLVER_OP_POLICY_REMOVE,
		.slot = { ref.index, ref.generation },
	};

	/* when it can't be told it is dead, and its end is on the way */
	if (d->state == DNSLINK_READY)
		(void)packet_send(d->fd, &m, sizeof(m), NULL, 0);
}

/* ------------------------------------------------------------ messages */

/* False: it says what it must not. */
typedef bool message_fn(struct dnslink *d, union message *m);

static bool on_ready(struct dnslink *d, union message *m)
{
	(void)m;
	if (d->state != DNSLINK_STARTING)
		return false;
	d->state = DNSLINK_READY;
	loop_arm(d->loop, d->timer, 0, 0);
	for (uint32_t i = 0; i < SHIM_CONTAINERS_MAX; i++) {
		struct sandbox *s = &d->sandboxes->sandbox[i];

		if (s->used &&
		    send_policy(d, (struct sandbox_ref){ i, s->generation },
				s) < 0)
			return false;
	}
	return true;
}

static bool on_policy_done(struct dnslink *d, union message *m)
{
	struct resolver_policy_done *done = &m->policy_done;

	if (done->err.code < 0)
		return false;
	done->err.text[sizeof(done->err.text) - 1] = '\0';
	d->on_policy(d->ctx,
		     (struct sandbox_ref){ done->slot.index,
					   done->slot.generation },
		     done->err.code ? &done->err : NULL);
	return true;
}

static bool name_ok(char name[RESOLVER_NAME_BYTES])
{
	return memchr(name, '\0', RESOLVER_NAME_BYTES) && name[0];
}

static bool on_answer(struct dnslink *d, union message *m)
{
	struct resolver_answer *a = &m->answer;
	struct resolver_answer_ack ack = { .op = RESOLVER_OP_ANSWER_ACK,
					   .seq = a->seq };
	struct sandbox *s = sandbox_get(d->sandboxes,
					(struct sandbox_ref){
						a->slot.index,
						a->slot.generation });
	int r = 0;

	if (!name_ok(a->name) || a->n_addrs < 1 ||
	    a->n_addrs > RESOLVER_ADDRS_MAX)
		return false;
	/* its container may just have gone */
	if (!s)
		r = -ESRCH;
	if (r == 0)
		r = resolved_put(d->resolved, a->name, a->addr, a->n_addrs,
				 a->ttl_s, clock_now_ms());
	if (s)
		r = dnsrecord_answer(&d->record, s, a, r);
	ack.code = (uint32_t)-r;
	return packet_send(d->fd, &ack, sizeof(ack), NULL, 0) == 0;
}

static bool on_query(struct dnslink *d, union message *m)
{
	struct resolver_query *q = &m->query;

	if (!memchr(q->name, '\0', RESOLVER_NAME_BYTES) ||
	    q->reason >= REASON_N)
		return false;
	dnsrecord_query(&d->record, q);
	return true;
}

struct message_row {
	size_t size;
	message_fn *fn;
};

static const struct message_row rows[] = {
	[RESOLVER_OP_READY] = { sizeof(struct resolver_ready), on_ready },
	[RESOLVER_OP_POLICY_DONE] = { sizeof(struct resolver_policy_done),
				      on_policy_done },
	[RESOLVER_OP_ANSWER] = { sizeof(struct resolver_answer), on_answer },
	[RESOLVER_OP_QUERY] = { sizeof(struct resolver_query), on_query },
};

static bool handle(struct dnslink *d, union message *m, size_t n)
{
	if (n < sizeof(m->op) || m->op >= N_ELEMENTS(rows) ||
	    !rows[m->op].fn || n != rows[m->op].size)
		return false;
	return rows[m->op].fn(d, m);
}

/* Up to @max messages, or the channel's end. */
static void take_messages(struct dnslink *d, unsigned int max)
{
	for (unsigned int i = 0; i < max; i++) {
		union message m;
		size_t n_fds;
		int none;
		ssize_t n = packet_recv(d->fd, &m, sizeof(m), &none, 0, &n_fds,
					MSG_DONTWAIT);

		if (n == -EAGAIN)
			return;
		if (n <= 0) {
			down(d, n < 0 ? err_text((int)-n) : "it died");
			return;
		}
		if (!handle(d, &m, (size_t)n)) {
			down(d, "it sent what it must not");
			return;
		}
	}
}

static void on_channel(struct loop *loop, struct loop_ref ref,
		       uint32_t events, void *ctx, uint64_t arg)
{
	struct dnslink *d = ctx;

	(void)loop;
	(void)ref;
	(void)events;
	(void)arg;
	d->busy = true;
	take_messages(d, MESSAGES_PER_TURN);
	d->busy = false;
}

void dnslink_drain(struct dnslink *d)
{
	if (d->busy || d->fd < 0)
		return;
	d->busy = true;
	take_messages(d, MESSAGES_PER_DRAIN);
	d->busy = false;
}

bool dnslink_end(struct dnslink *d)
{
	struct pollfd pfd = { .fd = d->fd, .events = POLLIN };

	if (d->state != DNSLINK_GIVEN_UP) {
		d->state = DNSLINK_GIVEN_UP;
		loop_arm(d->loop, d->timer, 0, 0);
		loop_remove(d->loop, d->source);
	}
	if (d->fd < 0)
		return true;
	(void)shutdown(d->fd, SHUT_WR);
	for (unsigned int i = 0; i < MESSAGES_PER_DRAIN; i++) {
		union message m;
		size_t n_fds;
		int none;

		if (poll(&pfd, 1, END_MS) != 1)
			return false;
		if (packet_recv(d->fd, &m, sizeof(m), &none, 0, &n_fds,
				MSG_DONTWAIT) <= 0) {
			d->fd = close_fd(d->fd);
			return true;
		}
	}
	return false;
}
