/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "shim/notify/step.h"

bool step_is_tcp(const struct task_socket *s)
{
	return s->type == SOCK_STREAM && s->protocol == IPPROTO_TCP;
}

bool step_is_udp(const struct task_socket *s)
{
	return s->type == SOCK_DGRAM && s->protocol == IPPROTO_UDP;
}

static const char *proto_name(const struct task_socket *s)
{
	if (step_is_tcp(s))
		return "tcp";
	if (step_is_udp(s))
		return "udp";
	return s->protocol == IPPROTO_ICMP || s->protocol == IPPROTO_ICMPV6
		       ? "icmp"
		       : "other";
}

bool step_still_waits(const struct step *st)
{
	uint64_t id = st->n->id;

	return ioctl(st->listener_fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

int step_set_mark(struct step *st, uint32_t mark)
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

void step_identify(struct step *st)
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

int step_record(struct step *st, enum log_kind kind, enum log_verdict v,
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
		.dest = {.ip = ip,
			 .port = st->addr.port,
			 .has_port = st->addr.port != 0,
			 .proto = proto_name(&st->sock)},
		.policy = {.digest = digest_of_policy(st->s, d)},
	};
	struct err err = ERR_INIT;

	step_identify(st);
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

void step_refuse(struct step *st, enum log_kind kind, enum reason reason,
		 const char *detail, const struct decision *d)
{
	/* a record that can't be written is counted; the refusal stands */
	(void)step_record(st, kind, LOG_DENY, reason, detail, d);
	st->ret->error = -EACCES;
}

void step_fail(struct step *st, enum log_kind kind, const char *what, int code)
{
	char detail[160];

	snprintf(detail, sizeof(detail), "%s: %s", what, err_text(code));
	step_refuse(st, kind, REASON_SHIM_ERROR, detail, NULL);
}

/* ------------------------------------------------------------ reading */

/* Errors that the kernel will find itself: the call goes on to meet them. */
static bool kernels_own(int r)
{
	return r == -EFAULT || r == -EINVAL || r == -EBADF || r == -ENOTSOCK ||
	       r == -ESRCH;
}

bool step_read_call(struct step *st, enum log_kind kind, bool with_addr)
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
			step_fail(st, kind, "read the call", -r);
		return false;
	}
	if (st->sock.domain != AF_INET && st->sock.domain != AF_INET6)
		return false;
	if (st->sock.netns_cookie != st->f->netns_cookie) {
		step_refuse(st, kind, REASON_PROTOCOL,
			    "the socket is of another network namespace", NULL);
		return false;
	}
	return true;
}

bool step_is_unspecified(const struct match_ip *ip)
{
	static const uint8_t zero[16];

	return memcmp(ip->b, zero, 16) == 0 ||
	       (match_ip_is_v4(ip) && memcmp(ip->b + 12, zero, 4) == 0);
}

bool step_is_loopback(const struct match_ip *ip)
{
	static const uint8_t one[16] = {[15] = 1};

	return step_is_unspecified(ip) || memcmp(ip->b, one, 16) == 0 ||
	       (match_ip_is_v4(ip) && ip->b[12] == 127);
}

/*
 * The kernel's routing knows which addresses are the namespace's own: it
 * would send from that very address. A connected UDP socket sends nothing.
 */
bool step_is_local(const struct filter *f, const struct match_ip *ip)
{
	struct sockaddr_in6 six = {.sin6_family = AF_INET6,
				   .sin6_port = htons(9)};
	struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(9)};
	const struct sockaddr none = {.sa_family = AF_UNSPEC};
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

/* Newest first; a port that was closed since may still be there. */
struct sandbox *step_listener_on(struct filter *f, uint16_t port)
{
	for (unsigned int i = 0; i < FILTER_PORTS; i++) {
		unsigned int at = f->next_listens + FILTER_PORTS - 1 - i;
		struct filter_port *p = &f->listens[at % FILTER_PORTS];

		if (p->port == port)
			return sandbox_get(f->sandboxes, p->sandbox);
	}
	return NULL;
}

void step_remember_port(struct step *st, uint16_t port)
{
	struct filter *f = st->f;
	struct filter_port *p = &f->listens[f->next_listens % FILTER_PORTS];

	if (!port || step_listener_on(f, port) == st->s)
		return;
	f->next_listens = (f->next_listens + 1) % FILTER_PORTS;
	*p = (struct filter_port){.port = port, .sandbox = st->ref};
}
