/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "shim/nft/ruleset.h"
#include "shim/notify/step.h"

/* ------------------------------------------------------------ connect */

static void decide(struct step *st, uint8_t proto, struct decision *ret)
{
	struct filter *f = st->f;
	struct decide_dest dest = {.ip = st->addr.ip,
				   .port = st->addr.port,
				   .proto = proto,
				   .names = st->name};
	bool known;

	st->n_names = resolved_find(f->resolved, st->addr.ip.b, clock_now_ms(),
				    st->name, SHIM_NAMES_PER_ADDR,
				    &dest.was_resolved);
	dest.n_names = st->n_names;
	step_identify(st);
	known = f->identity.process[0].known;
	decide_connect(&st->s->policy.view,
		       st->s->has_ceiling ? &st->s->ceiling.view : NULL, &dest,
		       known ? &f->identity.decide : NULL, ret);
	if (ret->allow && ret->inspect) {
		/* create refuses such a policy: there is no gateway yet */
		ret->allow = false;
		ret->reason = REASON_SHIM_ERROR;
	}
	if (ret->allow || ret->reason != REASON_BINARY_NOT_ALLOWED)
		return;
	if (f->identity.changed)
		ret->reason = REASON_BINARY_CHANGED;
	else if (f->identity.full)
		ret->reason = REASON_LIMIT;
}

/* Put the destination into the table, and its mark on the socket. */
static int grant(struct step *st, const struct decision *d, struct err *err)
{
	struct sandbox *s = st->s;
	bool live = sandbox_is_live(s, d->endpoint);
	uint32_t mark = grants_mark(s->number, d->endpoint);
	uint64_t now = clock_now_ms(), until = now;
	int r;

	if (d->host)
		until = resolved_expiry(st->f->resolved, d->host,
					st->addr.ip.b);
	r = grants_put(st->f->grants, mark, st->addr.ip.b, st->addr.port, now,
		       until, &live, err);
	if (r < 0)
		return r;
	if (live)
		s->live[d->endpoint / 8] |= (uint8_t)(1u << d->endpoint % 8);
	r = step_set_mark(st, mark);
	if (r < 0)
		return err_errno(err, -r, "mark the socket");
	return 0;
}

static void allow(struct step *st, const struct decision *d)
{
	struct err err = ERR_INIT;
	int r = grant(st, d, &err);

	if (r < 0) {
		(void)step_set_mark(st, 0);
		step_refuse(st, LOG_CONNECT,
			    r == -ENOSPC ? REASON_LIMIT : REASON_SHIM_ERROR,
			    err.text, d);
		return;
	}
	if (step_record(st, LOG_CONNECT, LOG_ALLOW, REASON_ALLOWED, d->detail,
			d) < 0) {
		/* what can't be recorded is not allowed */
		(void)step_set_mark(st, 0);
		st->ret->error = -EACCES;
	}
}

/* To the sandbox's own: nobody is asked, but a neighbour is told of. */
static void connect_inside(struct step *st)
{
	struct sandbox *other = step_listener_on(st->f, st->addr.port);
	char detail[SHIM_ID_BYTES + 32];

	(void)step_set_mark(st, 0);
	if (!other || other == st->s || st->addr.port == 53)
		return;
	snprintf(detail, sizeof(detail), "container %s listens there",
		 other->id);
	if (step_record(st, LOG_CONNECT, LOG_ALLOW, REASON_ALLOWED, detail,
			NULL) < 0)
		st->ret->error = -EACCES;
}

static void connect_tcp(struct step *st)
{
	struct decision d;

	if (step_is_loopback(&st->addr.ip) || st->addr.port == 53) {
		connect_inside(st);
		return;
	}
	decide(st, IPPROTO_TCP, &d);
	if (!step_still_waits(st))
		return;
	if (d.allow) {
		allow(st, &d);
		return;
	}
	if (step_is_local(st->f, &st->addr.ip)) {
		connect_inside(st);
		return;
	}
	(void)step_set_mark(st, 0);
	step_refuse(st, LOG_CONNECT, d.reason, d.detail, &d);
}

/* The resolver will be asked from this socket, whatever its destination. */
static void remember_asker(struct step *st)
{
	step_identify(st);
	askers_add(&st->f->askers, &st->sock.fd, st->ref, &st->f->identity);
}

static void on_connect(struct step *st)
{
	if (!step_read_call(st, LOG_CONNECT, true) ||
	    st->addr.family == FAMILY_UNSPEC)
		return;
	if (step_is_udp(&st->sock)) {
		if (st->addr.port == 53)
			remember_asker(st);
		return;
	}
	if (step_is_tcp(&st->sock))
		connect_tcp(st);
	else if (!step_is_loopback(&st->addr.ip))
		step_refuse(st, LOG_CONNECT, REASON_PROTOCOL, NULL, NULL);
}

/* ------------------------------------------------------------ sendto */

static void on_sendto(struct step *st)
{
	struct decision d;

	if (!st->call.addr || !step_read_call(st, LOG_DATAGRAM, true))
		return;
	if (step_is_tcp(&st->sock)) {
		if (st->call.flags & MSG_FASTOPEN)
			step_refuse(st, LOG_CONNECT, REASON_PROTOCOL,
				    "TCP Fast Open connects without asking",
				    NULL);
		return;
	}
	if (step_is_udp(&st->sock) && st->addr.port == 53) {
		remember_asker(st);
		return;
	}
	if (step_is_loopback(&st->addr.ip) ||
	    (step_is_udp(&st->sock) && st->sock.mark == MARK_LISTENER))
		return;
	if (step_is_local(st->f, &st->addr.ip))
		return;
	decide(st, (uint8_t)st->sock.protocol, &d);
	if (!step_still_waits(st))
		return;
	/* only TCP can be allowed: an allowing answer would be a mistake */
	step_refuse(st, LOG_DATAGRAM, d.allow ? REASON_PROTOCOL : d.reason,
		    d.detail, &d);
}

/* ------------------------------------------------------------ dispatch */

typedef void step_fn(struct step *st);

static step_fn *const steps[] = {
	[CALL_CONNECT] = on_connect, [CALL_BIND] = step_bind,
	[CALL_LISTEN] = step_listen, [CALL_SENDTO] = on_sendto,
	[CALL_SOCKET] = step_socket, [CALL_OTHER] = NULL,
};
static_assert(N_ELEMENTS(steps) == CALL_OP_N, "a function for each call");

void filter_decide(struct filter *f, struct sandbox *s, struct sandbox_ref ref,
		   int listener_fd, int root_pid, const struct seccomp_notif *n,
		   struct answer *ret)
{
	struct step st = {.f = f,
			  .s = s,
			  .ref = ref,
			  .n = n,
			  .listener_fd = listener_fd,
			  .root_pid = root_pid,
			  .sock = {.fd = -EBADF},
			  .ret = ret};
	int r;

	*ret = (struct answer){.add_fd = -EBADF};
	if (n->pid == 0) { /* a task of no pid namespace that we see */
		ret->error = -EACCES;
		return;
	}
	r = task_call(n, &st.call);
	if (r < 0 || !steps[st.call.op]) {
		/* nothing that we asked to be told of: refuse it */
		ret->error = r < 0 ? r : -ENOSYS;
		return;
	}
	steps[st.call.op](&st);
	close_fd(st.sock.fd);
}
