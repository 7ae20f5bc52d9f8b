/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/loop.h"
#include "runtime/base/own.h"
#include "runtime/base/packet.h"
#include "shim/ipc/maker_proto.h"
#include "shim/nft/ruleset.h"
#include "shim/notify/filter.h"
#include "shim/notify/task.h"

/* One call on its way through the steps. */
struct step {
	struct filter *f;
	struct sandbox *s;
	struct sandbox_ref ref;
	const struct seccomp_notif *n;
	int listener_fd, root_pid;
	struct call call;
	struct task_addr addr;
	struct task_socket sock;
	const char *name[SHIM_NAMES_PER_ADDR]; /* that led to addr */
	size_t n_names;
	bool identified;
	struct answer *ret;
};

static bool is_stream(const struct task_socket *s)
{
	return s->type == SOCK_STREAM && s->protocol == IPPROTO_TCP;
}

static bool is_udp(const struct task_socket *s)
{
	return s->type == SOCK_DGRAM && s->protocol == IPPROTO_UDP;
}

static const char *proto_name(const struct task_socket *s)
{
	if (is_stream(s))
		return "tcp";
	if (is_udp(s))
		return "udp";
	return s->protocol == IPPROTO_ICMP || s->protocol == IPPROTO_ICMPV6 ?
		       "icmp" :
		       "other";
}

/* Is the task still waiting, so that all that was read was its own? */
static bool still_waits(const struct step *st)
{
	uint64_t id = st->n->id;

	return ioctl(st->listener_fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

static int set_mark(struct step *st, uint32_t mark)
{
	int v = (int)mark;

	if (st->sock.mark == mark)
		return 0;
	if (setsockopt(st->sock.fd, SOL_SOCKET, SO_MARK, &v, sizeof(v)) < 0)
		return -errno;
	st->sock.mark = mark;
	return 0;
}

/* ------------------------------------------------------------ records */

static void identify(struct step *st)
{
	struct identity *id = &st->f->identity;
	struct sandbox *s = st->s;

	if (st->identified)
		return;
	st->identified = true;
	id->proc_fd = st->f->proc_fd;
	id->table[0] = &s->policy.binaries;
	id->table[1] = s->has_ceiling ? &s->ceiling.binaries : NULL;
	id->init_pid = s->init_pid;
	id->root_pid = st->root_pid;
	id->pidns_dev = s->pidns_dev;
	id->pidns_ino = s->pidns_ino;
	(void)identity_read(id, (int)st->n->pid);
}

static const char *digest_of_policy(const struct sandbox *s,
				    const struct decision *d)
{
	if (d && d->policy == &s->ceiling.view)
		return s->ceiling.digest;
	return s->policy.digest;
}

/*
 * One record on what was decided. @d may be NULL: then @reason and @detail
 * say all. Returns journal_write()'s result.
 */
static int record(struct step *st, enum log_kind kind, enum log_verdict v,
		  enum reason reason, const char *detail,
		  const struct decision *d)
{
	struct identity *id = &st->f->identity;
	char ip[MATCH_IP_TEXT], sum[DIGEST_HEX];
	struct journal_record r = {
		.kind = kind,
		.verdict = v,
		.reason = reason,
		.detail = detail && *detail ? detail : NULL,
		.dest = { .ip = ip,
			  .port = st->addr.port,
			  .has_port = st->addr.port != 0,
			  .proto = proto_name(&st->sock) },
		.policy = { .digest = digest_of_policy(st->s, d) },
	};
	struct err err = ERR_INIT;

	identify(st);
	identity_walk(id);
	if (id->process[0].known)
		r.binary.path = id->process[0].path;
	r.binary.sha256 = identity_sum(id, false, sum);
	r.binary.pid = (int)st->n->pid;
	r.binary.ancestors = id->decide.ancestors;
	r.binary.n_ancestors = id->decide.n_ancestors;
	match_ip_text(&st->addr.ip, ip);
	if (d && d->host)
		r.dest.host = d->host;
	else if (st->n_names)
		r.dest.host = st->name[0];
	if (d)
		r.policy.line = d->line;
	if (d && d->endpoint != POLICY_NONE)
		r.policy.name = policy_name_of(d->policy, d->endpoint);
	return journal_write(&st->s->journal, &r, &err);
}

static void refuse(struct step *st, enum log_kind kind, enum reason reason,
		   const char *detail, const struct decision *d)
{
	/* a record that can't be written is counted; the refusal stands */
	(void)record(st, kind, LOG_DENY, reason, detail, d);
	st->ret->error = -EACCES;
}

/* Something of ours failed: nothing is allowed on that account. */
static void fail(struct step *st, enum log_kind kind, const char *what,
		 int code)
{
	char detail[160];

	snprintf(detail, sizeof(detail), "%s: %s", what, err_text(code));
	refuse(st, kind, REASON_SHIM_ERROR, detail, NULL);
}

/* ------------------------------------------------------------ reading */

/* Errors that the kernel will find itself: the call goes on to meet them. */
static bool kernels_own(int r)
{
	return r == -EFAULT || r == -EINVAL || r == -EBADF ||
	       r == -ENOTSOCK || r == -ESRCH;
}

/*
 * Read the address and duplicate the socket. False: the answer is given. An
 * address of another family, and a socket that is none of the internet's, go
 * on.
 */
static bool read_call(struct step *st, enum log_kind kind, bool with_addr)
{
	int tid = (int)st->n->pid, r = 0;

	if (with_addr)
		r = task_read_addr(tid, &st->call, &st->addr);
	if (r == 0 && with_addr && st->addr.family == FAMILY_OTHER)
		return false;
	if (r == 0)
		r = task_get_socket(st->f->proc_fd, tid, st->call.fd,
				    &st->sock);
	if (r < 0) {
		if (!kernels_own(r))
			fail(st, kind, "read the call", -r);
		return false;
	}
	if (st->sock.domain != AF_INET && st->sock.domain != AF_INET6)
		return false;
	if (st->sock.netns_cookie != st->f->netns_cookie) {
		refuse(st, kind, REASON_PROTOCOL,
		       "the socket is of another network namespace", NULL);
		return false;
	}
	return true;
}

/* 0.0.0.0 or ::, which as a destination means the loopback address. */
static bool is_unspecified(const struct match_ip *ip)
{
	static const uint8_t zero[16];

	return memcmp(ip->b, zero, 16) == 0 ||
	       (match_ip_is_v4(ip) && memcmp(ip->b + 12, zero, 4) == 0);
}

static bool is_loopback(const struct match_ip *ip)
{
	static const uint8_t one[16] = { [15] = 1 };

	return is_unspecified(ip) || memcmp(ip->b, one, 16) == 0 ||
	       (match_ip_is_v4(ip) && ip->b[12] == 127);
}

/*
 * Is @ip one of the namespace's own addresses? The kernel's routing knows: it
 * would send from that very address. A connected UDP socket sends nothing.
 */
static bool is_local(const struct filter *f, const struct match_ip *ip)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6,
				    .sin6_port = htons(9) };
	struct sockaddr_in four = { .sin_family = AF_INET,
				    .sin_port = htons(9) };
	const struct sockaddr none = { .sa_family = AF_UNSPEC };
	bool v4 = match_ip_is_v4(ip);
	int fd = v4 ? f->probe4_fd : f->probe6_fd;
	struct task_addr from;
	bool local = false;

	if (fd < 0)
		return false;
	memcpy(&four.sin_addr, ip->b + 12, 4);
	memcpy(&six.sin6_addr, ip->b, 16);
	if (connect(fd, v4 ? (struct sockaddr *)&four : (struct sockaddr *)&six,
		    v4 ? sizeof(four) : sizeof(six)) == 0 &&
	    task_local_addr(fd, &from) == 0)
		local = memcmp(from.ip.b, ip->b, 16) == 0;
	(void)connect(fd, &none, sizeof(none));
	return local;
}

/* ------------------------------------------------------------ connect */

static void decide(struct step *st, uint8_t proto, struct decision *ret)
{
	struct filter *f = st->f;
	struct decide_dest dest = { .ip = st->addr.ip,
				    .port = st->addr.port,
				    .proto = proto,
				    .names = st->name };
	bool known;

	st->n_names = resolved_find(f->resolved, st->addr.ip.b, loop_now_ms(),
				    st->name, SHIM_NAMES_PER_ADDR,
				    &dest.was_resolved);
	dest.n_names = st->n_names;
	identify(st);
	known = f->identity.process[0].known;
	decide_connect(&st->s->policy.view,
		       st->s->has_ceiling ? &st->s->ceiling.view : NULL,
		       &dest, known ? &f->identity.decide : NULL, ret);
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
	uint64_t now = loop_now_ms(), until = now;
	int r;

	if (d->host)
		until = resolved_expiry(st->f->resolved, d->host,
					st->addr.ip.b);
	r = grants_put(st->f->grants, mark, st->addr.ip.b, st->addr.port, now,
		       until, &live, err);
	if (r < 0)
		return r;
	if (live)
		s->live[d->endpoint / 8] |=
			(uint8_t)(1u << d->endpoint % 8);
	r = set_mark(st, mark);
	if (r < 0)
		return err_errno(err, -r, "mark the socket");
	return 0;
}

static void allow(struct step *st, const struct decision *d)
{
	struct err err = ERR_INIT;
	int r = grant(st, d, &err);

	if (r < 0) {
		refuse(st, LOG_CONNECT,
		       r == -ENOSPC ? REASON_LIMIT : REASON_SHIM_ERROR,
		       err.text, d);
		return;
	}
	if (record(st, LOG_CONNECT, LOG_ALLOW, REASON_ALLOWED, d->detail, d) <
	    0) {
		/* what can't be recorded is not allowed */
		(void)set_mark(st, 0);
		st->ret->error = -EACCES;
	}
}

/* Newest first; a port that was closed since may still be there. */
static struct sandbox *listener_on(struct filter *f, uint16_t port)
{
	for (unsigned int i = 0; i < FILTER_PORTS; i++) {
		unsigned int at = f->next_listens + FILTER_PORTS - 1 - i;
		struct filter_port *p = &f->listens[at % FILTER_PORTS];

		if (p->port == port)
			return sandbox_get(f->sandboxes, p->sandbox);
	}
	return NULL;
}

static void remember_port(struct step *st, uint16_t port)
{
	struct filter *f = st->f;
	struct filter_port *p = &f->listens[f->next_listens % FILTER_PORTS];

	if (!port || listener_on(f, port) == st->s)
		return;
	f->next_listens = (f->next_listens + 1) % FILTER_PORTS;
	*p = (struct filter_port){ .port = port, .sandbox = st->ref };
}

/* To the sandbox's own: nobody is asked, but a neighbour is told of. */
static void connect_inside(struct step *st)
{
	struct sandbox *other = listener_on(st->f, st->addr.port);
	char detail[SHIM_ID_BYTES + 32];

	(void)set_mark(st, 0);
	if (!other || other == st->s || st->addr.port == 53)
		return;
	snprintf(detail, sizeof(detail), "container %s listens there",
		 other->id);
	if (record(st, LOG_CONNECT, LOG_ALLOW, REASON_ALLOWED, detail, NULL) <
	    0)
		st->ret->error = -EACCES;
}

static void connect_tcp(struct step *st)
{
	struct decision d;

	if (is_loopback(&st->addr.ip) || st->addr.port == 53) {
		connect_inside(st);
		return;
	}
	decide(st, IPPROTO_TCP, &d);
	if (!still_waits(st))
		return;
	if (d.allow) {
		allow(st, &d);
		return;
	}
	if (is_local(st->f, &st->addr.ip)) {
		connect_inside(st);
		return;
	}
	(void)set_mark(st, 0);
	refuse(st, LOG_CONNECT, d.reason, d.detail, &d);
}

/* The resolver will be asked from this socket, whatever its destination. */
static void remember_asker(struct step *st)
{
	identify(st);
	askers_add(&st->f->askers, st->sock.fd, st->ref, &st->f->identity);
}

static void on_connect(struct step *st)
{
	if (!read_call(st, LOG_CONNECT, true) ||
	    st->addr.family == FAMILY_UNSPEC)
		return;
	if (is_udp(&st->sock)) {
		if (st->addr.port == 53)
			remember_asker(st);
		return;
	}
	if (is_stream(&st->sock))
		connect_tcp(st);
	else if (!is_loopback(&st->addr.ip))
		refuse(st, LOG_CONNECT, REASON_PROTOCOL, NULL, NULL);
}

/* ------------------------------------------------------------ sendto */

static void on_sendto(struct step *st)
{
	struct decision d;

	if (!st->call.addr || !read_call(st, LOG_DATAGRAM, true))
		return;
	if (is_stream(&st->sock)) {
		if (st->call.flags & MSG_FASTOPEN)
			refuse(st, LOG_CONNECT, REASON_PROTOCOL,
			       "TCP Fast Open connects without asking", NULL);
		return;
	}
	if (is_udp(&st->sock) && st->addr.port == 53) {
		remember_asker(st);
		return;
	}
	if (is_loopback(&st->addr.ip) ||
	    (is_udp(&st->sock) && st->sock.mark == MARK_LISTENER))
		return;
	if (is_local(st->f, &st->addr.ip))
		return;
	decide(st, (uint8_t)st->sock.protocol, &d);
	if (!still_waits(st))
		return;
	/* only TCP can be allowed: an allowing answer would be a mistake */
	refuse(st, LOG_DATAGRAM, d.allow ? REASON_PROTOCOL : d.reason,
	       d.detail, &d);
}

/* ------------------------------------------------------------ inbound */

/* Marks the socket where inbound is open, and records that it serves. */
static void serve_outside(struct step *st, const char *what)
{
	int r = set_mark(st, MARK_LISTENER);

	if (r < 0) {
		fail(st, LOG_INBOUND, "mark the socket", -r);
	} else if (record(st, LOG_INBOUND, LOG_ALLOW, REASON_ALLOWED, what,
			  NULL) < 0) {
		(void)set_mark(st, 0);
		st->ret->error = -EACCES;
	}
}

/* The socket is to serve @st->addr, its own. */
static void serve(struct step *st, const char *what)
{
	if (is_loopback(&st->addr.ip) && !is_unspecified(&st->addr.ip))
		return; /* nothing from outside can reach it */
	if (st->s->inbound == SHIM_INBOUND_LISTENING) {
		serve_outside(st, what);
		return;
	}
	/* it may listen all the same, for the sandbox itself */
	(void)set_mark(st, 0);
	(void)record(st, LOG_INBOUND, LOG_DENY, REASON_INBOUND_CLOSED, what,
		     NULL);
}

static void on_listen(struct step *st)
{
	int r;

	if (!read_call(st, LOG_INBOUND, false) || !is_stream(&st->sock))
		return;
	r = task_local_addr(st->sock.fd, &st->addr);
	if (r < 0)
		fail(st, LOG_INBOUND, "read the socket's address", -r);
	else
		serve(st, "listens");
	if (r == 0)
		remember_port(st, st->addr.port);
}

static void on_bind(struct step *st)
{
	if (!read_call(st, LOG_INBOUND, true) || !is_udp(&st->sock) ||
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
static void on_socket(struct step *st)
{
	const struct call *c = &st->call;
	struct maker_request rq = { .op = MAKER_OP_SOCKET,
				    .domain = c->domain,
				    .type = c->type,
				    .protocol = c->protocol };
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

/* ------------------------------------------------------------ dispatch */

typedef void step_fn(struct step *st);

static step_fn *const steps[] = {
	[CALL_CONNECT] = on_connect, [CALL_BIND] = on_bind,
	[CALL_LISTEN] = on_listen,   [CALL_SENDTO] = on_sendto,
	[CALL_SOCKET] = on_socket,   [CALL_OTHER] = NULL,
};
static_assert(N_ELEMENTS(steps) == CALL_OP_N, "a function for each call");

void filter_decide(struct filter *f, struct sandbox *s,
		   struct sandbox_ref ref, int listener_fd, int root_pid, const struct seccomp_notif *n,
		   struct answer *ret)
{
	struct step st = { .f = f,
			   .s = s,
			   .ref = ref,
			   .n = n,
			   .listener_fd = listener_fd,
			   .root_pid = root_pid,
			   .sock = { .fd = -EBADF },
			   .ret = ret };
	int r;

	*ret = (struct answer){ .add_fd = -EBADF };
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
