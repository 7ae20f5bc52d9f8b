/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that don't reach out: to serve others, and sockets for i386. */
#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "runtime/base/own.h"
#include "runtime/base/packet.h"
#include "shim/ipc/maker_proto.h"
#include "shim/nft/ruleset.h"
#include "shim/notify/step.h"

/* ------------------------------------------------------------ inbound */

/* Marks the socket where inbound is open, and records that it serves. */
static void serve_outside(struct step *st, const char *what)
{
	int r = step_set_mark(st, MARK_LISTENER);

	if (r < 0) {
		step_fail(st, LOG_INBOUND, "mark the socket", -r);
	} else if (step_record(st, LOG_INBOUND, LOG_ALLOW, REASON_ALLOWED, what,
			       NULL) < 0) {
		(void)step_set_mark(st, 0);
		st->ret->error = -EACCES;
	}
}

/* The socket is to serve @st->addr, its own. */
static void serve(struct step *st, const char *what)
{
	if (step_is_loopback(&st->addr.ip) &&
	    !step_is_unspecified(&st->addr.ip))
		return; /* nothing from outside can reach it */
	if (st->s->inbound == SHIM_INBOUND_LISTENING) {
		serve_outside(st, what);
		return;
	}
	/* it may listen all the same, for the sandbox itself */
	(void)step_set_mark(st, 0);
	(void)step_record(st, LOG_INBOUND, LOG_DENY, REASON_INBOUND_CLOSED,
			  what, NULL);
}

void step_listen(struct step *st)
{
	int r;

	if (!step_read_call(st, LOG_INBOUND, false) || !step_is_tcp(&st->sock))
		return;
	r = task_local_addr(st->sock.fd, &st->addr);
	if (r < 0)
		step_fail(st, LOG_INBOUND, "read the socket's address", -r);
	else
		serve(st, "listens");
	if (r == 0)
		step_remember_port(st, st->addr.port);
}

void step_bind(struct step *st)
{
	if (!step_read_call(st, LOG_INBOUND, true) || !step_is_udp(&st->sock) ||
	    st->addr.port == 0)
		return;
	serve(st, "serves datagrams");
}

/* ------------------------------------------------------------ socketcall */

/* What the filter's program allows for socket(2) itself. */
static bool socket_allowed(int domain, int type, int protocol)
{
	type &= ~(SOCK_CLOEXEC | SOCK_NONBLOCK);
	switch (domain) {
	case AF_UNIX:
		return true;
	case AF_NETLINK:
		return protocol == NETLINK_ROUTE;
	case AF_INET:
	case AF_INET6:
		break;
	default:
		return false;
	}
	if (type == SOCK_STREAM)
		return protocol == 0 || protocol == IPPROTO_TCP;
	return type == SOCK_DGRAM &&
	       (protocol == 0 || protocol == IPPROTO_UDP ||
		protocol == IPPROTO_ICMP || protocol == IPPROTO_ICMPV6);
}

/*
 * The arguments lie in memory that may change, so the call must not go on:
 * the socket is made in the namespace by our own process there.
 */
void step_socket(struct step *st)
{
	const struct call *c = &st->call;
	struct maker_request rq = {.op = MAKER_OP_SOCKET,
				   .domain = c->domain,
				   .type = c->type,
				   .protocol = c->protocol};
	struct maker_reply reply;
	size_t n_fds;
	ssize_t n;
	int fd, r;

	if (!socket_allowed(c->domain, c->type, c->protocol)) {
		st->ret->error = -EPERM;
		return;
	}
	r = packet_send(st->f->maker_fd, &rq, sizeof(rq), NULL, 0);
	if (r < 0) {
		st->ret->error = -EACCES;
		return;
	}
	n = packet_recv(st->f->maker_fd, &reply, sizeof(reply), &fd, 1, &n_fds,
			0);
	if (n != (ssize_t)sizeof(reply) || (reply.code == 0) != (n_fds == 1)) {
		close_fd(fd);
		st->ret->error = -EACCES;
		return;
	}
	st->ret->error = -(int)reply.code;
	st->ret->add_fd = fd;
	st->ret->cloexec = c->type & SOCK_CLOEXEC;
}
