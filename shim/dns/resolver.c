/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A query is looked at in this order; the first row that fits is its fate.
 *
 *	cannot be read			FORMERR		dns-limit, dns-type
 *	not of class IN			NOTIMP		dns-type
 *	not a host's name		NXDOMAIN	name-not-allowed
 *	localhost, *.localhost		loopback	- (RFC 6761 6.3)
 *	PTR of an address given out	that name	allowed
 *	PTR of another address		NXDOMAIN	name-not-allowed
 *	no policy covers the name	NXDOMAIN	name-not-allowed, ceiling
 *	not one of answered_types	empty		dns-type
 *	too often, too many		SERVFAIL	dns-limit
 *	otherwise			the upstreams are asked
 *
 * NXDOMAIN, because REFUSED makes musl wait and glibc speak of a temporary
 * failure. Of an upstream's answer:
 *
 *	none, or senseless		SERVFAIL	allowed, dns-limit
 *	no address, other records	as it is	allowed
 *	no address that may be told	empty		private-, blocked-address
 *	addresses			ANSWER to the shim, and after its ACK
 *					to the client; SERVFAIL when it refuses
 *
 * Empty and not NXDOMAIN where only the addresses are refused: a name that
 * has no A but an AAAA record exists, and musl takes one NXDOMAIN for both.
 */
#include <arpa/nameser.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>

#include "runtime/base/clock.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "shim/dns/resolver.h"

const struct limit_rate limit_queries = { .burst = 1000,
					  .per_1000_s = 300 * 1000 };
const struct limit_rate limit_fresh = { .burst = 64, .per_1000_s = 1000 };
const struct limit_rate limit_records = { .burst = 200,
					  .per_1000_s = 50 * 1000 };

static const uint16_t answered_types[] = { ns_t_a,	  ns_t_aaaa,
					   ns_t_cname,	  ns_t_srv,
					   DNS_TYPE_SVCB, DNS_TYPE_HTTPS };

/* ---------------------------------------------------------- the channel */

static void broken(struct resolver *r, const struct err *err)
{
	if (!r->broken.code)
		r->broken = *err;
	loop_stop(&r->loop);
}

static void watch_link(struct resolver *r)
{
	loop_set_events(&r->loop, r->link_ref,
			EPOLLIN | (link_pending(&r->link) ? EPOLLOUT : 0u));
}

static void tell(struct resolver *r, const union link_msg *msg)
{
	struct err err;

	if (link_send(&r->link, msg, &err) < 0)
		broken(r, &err);
	watch_link(r);
}

static void record(struct resolver *r, const struct client *from,
		   const struct dns_query *q, const struct names_slot *slot,
		   enum reason reason)
{
	struct resolver_query m = {
		.slot = names_ref(&r->names, slot),
		.qtype = q->type,
		.allow = reason == REASON_ALLOWED,
		.reason = reason,
	};
	struct err err;

	client_show(from, &m.client);
	if (q->host[0])
		str_copy(m.name, sizeof(m.name), q->host);
	else if (q->qname.n)
		dns_show(&q->qname, m.name);
	if (report_add(&r->report, &r->link, &m, r->now_ms(), &err) < 0)
		broken(r, &err);
	watch_link(r);
}

static void on_sockets(struct resolver *r, struct link_in *in)
{
	const struct resolver_sockets *m = &in->msg.sockets;
	struct err err = ERR_INIT;
	int ret = 0;

	if (m->kind >= RESOLVER_SOCKET_N || m->n != in->n_fds)
		ret = err_set(&err, EPROTO, "SOCKETS: %u of kind %u", m->n,
			      m->kind);
	for (size_t i = 0; ret == 0 && i < in->n_fds; i++)
		ret = forward_add_socket(&r->forward, m->kind,
					 take_fd(&in->fd[i]), &err);
	if (ret < 0)
		broken(r, &err);
}

static void on_policy_add(struct resolver *r, struct link_in *in)
{
	const struct resolver_policy_add *m = &in->msg.policy_add;
	union link_msg done = { .policy_done = {
					.op = RESOLVER_OP_POLICY_DONE,
					.slot = m->slot } };
	struct err *err = &done.policy_done.err;
	int ret;

	if (in->n_fds != (m->has_ceiling ? 2u : 1u)) {
		err_set(err, EPROTO, "POLICY_ADD: %zu descriptors", in->n_fds);
		broken(r, err);
		return;
	}
	ret = names_add(&r->names, m, in->fd[0],
			m->has_ceiling ? in->fd[1] : -EBADF, r->now_ms(),
			err);
	if (ret == -EPROTO)
		broken(r, err);
	else
		tell(r, &done);
}

static void on_policy_remove(struct resolver *r, struct link_in *in)
{
	const struct resolver_slot *ref = &in->msg.policy_remove.slot;
	struct names_slot *slot = names_get(&r->names, ref);
	struct err err;

	if (slot) {
		forward_end_slot(&r->forward, slot);
		names_free(slot);
		return;
	}
	/* the place is free where its POLICY_ADD was answered with an error */
	if (ref->index < RESOLVER_SLOTS_MAX &&
	    !r->names.slot[ref->index].generation)
		return;
	err_set(&err, EPROTO, "POLICY_REMOVE: no such container");
	broken(r, &err);
}

static void on_answer_ack(struct resolver *r, struct link_in *in)
{
	const struct resolver_answer_ack *m = &in->msg.answer_ack;
	/* too late an ACK finds nothing: its client has had its SERVFAIL */
	struct forward_job *job =
		m->seq ? forward_held(&r->forward, m->seq) : NULL;
	size_t n = 0;

	if (!job)
		return;
	if (m->code == 0)
		n = job->n;
	else
		n = dns_write_empty(job->buf, DNS_UDP_BYTES, &job->query,
				    ns_r_servfail);
	for (unsigned int i = 0; m->code == 0 && i < job->n_addrs; i++)
		given_add(&r->given, &job->addr[i], job->query.host,
			  r->now_ms());
	clients_reply(&r->clients, &job->client, job->buf, n);
	forward_free(&r->forward, job);
}

static void dispatch(struct resolver *r, struct link_in *in)
{
	static void (*const handlers[RESOLVER_OP_N])(struct resolver *,
						     struct link_in *) = {
		[RESOLVER_OP_SOCKETS] = on_sockets,
		[RESOLVER_OP_POLICY_ADD] = on_policy_add,
		[RESOLVER_OP_POLICY_REMOVE] = on_policy_remove,
		[RESOLVER_OP_ANSWER_ACK] = on_answer_ack,
	};

	handlers[in->msg.op](r, in); /* link_read() has let no other through */
	for (size_t i = 0; i < in->n_fds; i++)
		close_fd(in->fd[i]);
}

static void on_link(struct loop *loop, struct loop_ref ref, uint32_t events,
		    void *ctx, uint64_t arg)
{
	struct resolver *r = ctx;
	struct err err;
	int ret = 0;

	(void)loop;
	(void)ref;
	(void)arg;
	if (events & EPOLLOUT)
		ret = link_flush(&r->link, &err);
	while (ret == 0 && !r->broken.code &&
	       (ret = link_read(&r->link, &r->in, &err)) > 0) {
		dispatch(r, &r->in);
		ret = 0;
	}
	if (ret < 0)
		broken(r, &err);
	else if (!r->broken.code)
		watch_link(r);
}

/* -------------------------------------------------------------- queries */

/*
 * Answer without addresses, and say why: first the record, then the answer,
 * after which the client may be gone, and its container with it.
 */
static void refuse(struct resolver *r, const struct client *from,
		   const struct dns_query *q, const struct names_slot *slot,
		   unsigned int rcode, enum reason reason)
{
	size_t n = dns_write_empty(r->reply, DNS_UDP_BYTES, q, rcode);

	record(r, from, q, slot, reason);
	clients_reply(&r->clients, from, r->reply, n);
}

static void answer_localhost(struct resolver *r, const struct client *from,
			     const struct dns_query *q)
{
	struct dns_answer *a = &r->forward.answer;
	size_t n;

	a->rcode = ns_r_noerror;
	a->ttl_s = DNS_TTL_MAX_S;
	a->n_chain = a->n_data = 0;
	a->n_addrs = q->type == ns_t_a || q->type == ns_t_aaaa;
	a->addr[0] = (struct dns_addr){ .b = { [15] = 1 } };
	if (q->type == ns_t_a)
		a->addr[0].b[12] = 127;
	n = dns_write_reply(r->reply, DNS_UDP_BYTES, q, a);
	clients_reply(&r->clients, from, r->reply, n);
}

static bool is_localhost(const char *host)
{
	static const char name[] = "localhost";
	size_t n = strlen(host), at = sizeof(name) - 1;

	return n >= at && strcmp(host + n - at, name) == 0 &&
	       (n == at || host[n - at - 1] == '.');
}

static void answer_reverse(struct resolver *r, const struct client *from,
			   const struct dns_query *q,
			   const struct dns_addr *addr)
{
	const char *host = given_find(&r->given, addr, r->now_ms());
	size_t n;

	if (!host) {
		refuse(r, from, q, NULL, ns_r_nxdomain,
		       REASON_NAME_NOT_ALLOWED);
		return;
	}
	n = dns_write_ptr(r->reply, DNS_MSG_BYTES, q, host);
	record(r, from, q, NULL, REASON_ALLOWED);
	clients_reply(&r->clients, from, r->reply, n);
}

/* What needs no policy. Returns false when it is not answered yet. */
static bool answer_here(struct resolver *r, const struct client *from,
			const struct dns_query *q)
{
	struct dns_addr addr;

	if (q->rr_class != ns_c_in)
		refuse(r, from, q, NULL, ns_r_notimpl, REASON_DNS_TYPE);
	else if (!q->host[0])
		refuse(r, from, q, NULL, ns_r_nxdomain,
		       REASON_NAME_NOT_ALLOWED);
	else if (is_localhost(q->host))
		answer_localhost(r, from, q);
	else if (q->type == ns_t_ptr && dns_reverse(q->host, &addr))
		answer_reverse(r, from, q, &addr);
	else
		return false;
	return true;
}

static bool is_answered_type(uint16_t type)
{
	for (size_t i = 0; i < N_ELEMENTS(answered_types); i++)
		if (answered_types[i] == type)
			return true;
	return false;
}

/* May the name be asked for once more? */
static bool within_limits(struct resolver *r, struct names_slot *slot,
			  const char *host)
{
	struct resolver_slot ref = names_ref(&r->names, slot);
	uint64_t owner = (uint64_t)ref.generation << 32 | ref.index;
	uint64_t now_ms = r->now_ms();

	if (!limit_take(&slot->queries, &limit_queries, now_ms))
		return false;
	if (names_exact(slot, host) ||
	    recent_has(&r->recent, owner, host, now_ms))
		return true;
	if (!limit_take(&slot->fresh, &limit_fresh, now_ms))
		return false;
	recent_add(&r->recent, owner, host, now_ms);
	return true;
}

static void ask(struct resolver *r, const struct client *from,
		const struct dns_query *q)
{
	enum reason reason;
	struct names_slot *slot = names_find(&r->names, q->host, &reason);

	if (!slot)
		refuse(r, from, q, NULL, ns_r_nxdomain, reason);
	else if (!is_answered_type(q->type))
		refuse(r, from, q, slot, ns_r_noerror, REASON_DNS_TYPE);
	else if (forward_has(&r->forward, from, q))
		clients_drop(&r->clients, from); /* one answer will do */
	else if (!within_limits(r, slot, q->host) ||
		 !forward_start(&r->forward, from, q, slot))
		refuse(r, from, q, slot, ns_r_servfail, REASON_DNS_LIMIT);
}

static void on_query(void *ctx, const struct client *from, const uint8_t *msg,
		     size_t n)
{
	struct resolver *r = ctx;
	struct dns_query q = { .id = 0 };
	int code = dns_read_query(&q, msg, n);

	if (code < 0) {
		clients_drop(&r->clients, from);
	} else if (code > 0) {
		size_t size = dns_write_error(r->reply, DNS_UDP_BYTES, msg,
					      (unsigned int)code);

		record(r, from, &q, NULL,
		       n > DNS_QUERY_BYTES ? REASON_DNS_LIMIT :
					     REASON_DNS_TYPE);
		clients_reply(&r->clients, from, r->reply, size);
	} else if (!answer_here(r, from, &q)) {
		ask(r, from, &q);
	}
}

/* -------------------------------------------------------------- answers */

/* Keep the addresses that may be told. Returns the last refusal's reason. */
static enum reason filter(struct resolver *r, const char *host,
			  struct dns_answer *a)
{
	enum reason refused = REASON_ALLOWED;
	unsigned int kept = 0;

	for (unsigned int i = 0; i < a->n_addrs; i++) {
		enum reason reason = names_answer(&r->names, host,
						  &a->addr[i]);

		if (reason == REASON_ALLOWED)
			a->addr[kept++] = a->addr[i];
		else
			refused = reason;
	}
	a->n_addrs = kept;
	return refused;
}

static void tell_answer(struct resolver *r, struct forward_job *job,
			const struct dns_answer *a)
{
	union link_msg msg = { .answer = {
				       .op = RESOLVER_OP_ANSWER,
				       .slot = names_ref(&r->names, job->slot),
				       .ttl_s = dns_clamp_ttl(a->ttl_s),
				       .qtype = job->query.type,
				       .n_addrs = (uint16_t)a->n_addrs } };

	if (!++r->seq)
		r->seq = 1;
	job->seq = msg.answer.seq = r->seq;
	job->n_addrs = a->n_addrs;
	client_show(&job->client, &msg.answer.client);
	str_copy(msg.answer.name, sizeof(msg.answer.name), job->query.host);
	for (unsigned int i = 0; i < a->n_addrs; i++) {
		job->addr[i] = a->addr[i];
		memcpy(msg.answer.addr[i], a->addr[i].b, 16);
	}
	tell(r, &msg);
}

static void answer(struct resolver *r, struct forward_job *job)
{
	const struct dns_query *q = &job->query;
	struct dns_answer *a = &r->forward.answer;
	enum reason refused = filter(r, q->host, a);

	job->n = dns_write_reply(job->buf, clients_limit(&job->client, q), q,
				 a);
	if (refused != REASON_ALLOWED)
		record(r, &job->client, q, job->slot, refused);
	if (a->n_addrs) {
		tell_answer(r, job, a);
		return;
	}
	if (refused == REASON_ALLOWED)
		record(r, &job->client, q, job->slot, REASON_ALLOWED);
	clients_reply(&r->clients, &job->client, job->buf, job->n);
	forward_free(&r->forward, job);
}

static void on_forwarded(void *ctx, struct forward_job *job,
			 const struct dns_answer *a)
{
	struct resolver *r = ctx;
	bool limit = job->too_long || job->guessed;

	if (job->guessed)
		record(r, &job->client, &job->query, job->slot,
		       REASON_DNS_LIMIT);
	if (a) {
		answer(r, job);
		return;
	}
	if (!job->guessed)
		record(r, &job->client, &job->query, job->slot,
		       limit ? REASON_DNS_LIMIT : REASON_ALLOWED);
	job->n = dns_write_empty(job->buf, DNS_UDP_BYTES, &job->query,
				 ns_r_servfail);
	clients_reply(&r->clients, &job->client, job->buf, job->n);
	forward_free(&r->forward, job);
}

/* --------------------------------------------------------- the program */

int resolver_init(struct resolver *r, int channel_fd, const int udp_fd[2],
		  const int tcp_fd[2], struct err *err)
{
	uint8_t key[RECENT_KEY_BYTES];
	int ret;

	r->broken.code = 0;
	r->seq = 0;
	r->now_ms = clock_now_ms;
	if (getrandom(key, sizeof(key), 0) != sizeof(key))
		return err_errno(err, errno, "get random bytes");
	recent_init(&r->recent, key);
	ret = loop_init(&r->loop, r->source, N_ELEMENTS(r->source), err);
	if (ret < 0)
		return ret;
	link_init(&r->link, channel_fd);
	report_init(&r->report, r->now_ms());
	forward_init(&r->forward, &r->loop, on_forwarded, r);
	ret = loop_add(&r->loop, channel_fd, EPOLLIN, on_link, r, 0,
		       &r->link_ref, err);
	return ret < 0 ? ret :
			 clients_init(&r->clients, &r->loop, udp_fd, tcp_fd,
				      on_query, r, err);
}

int resolver_ready(struct resolver *r, struct err *err)
{
	const union link_msg msg = { .op = RESOLVER_OP_READY };

	return link_send(&r->link, &msg, err);
}

/* How long nothing has to be done, at most @max_ms (negative: for ever). */
static int wait_ms(const struct resolver *r, int max_ms)
{
	uint64_t now_ms = r->now_ms(), at_ms = r->report.flush_ms, ms;
	uint64_t clients_ms = clients_deadline(&r->clients);
	uint64_t forward_ms = forward_deadline(&r->forward);

	if (clients_ms < at_ms)
		at_ms = clients_ms;
	if (forward_ms < at_ms)
		at_ms = forward_ms;
	if (at_ms == UINT64_MAX)
		return max_ms;
	ms = at_ms > now_ms ? at_ms - now_ms : 0;
	return max_ms >= 0 && ms > (uint64_t)max_ms ? max_ms : (int)ms;
}

int resolver_once(struct resolver *r, int max_ms, struct err *err)
{
	int ret = loop_once(&r->loop, wait_ms(r, max_ms), err);

	if (ret < 0)
		return ret;
	clients_tick(&r->clients);
	forward_tick(&r->forward);
	ret = report_tick(&r->report, &r->link, r->now_ms(), err);
	if (ret < 0)
		return ret;
	watch_link(r);
	if (r->broken.code) {
		*err = r->broken;
		return -err->code;
	}
	return 0;
}

int resolver_run(struct resolver *r, struct err *err)
{
	int ret;

	do
		ret = resolver_once(r, -1, err);
	while (ret == 0);
	return ret;
}

void resolver_done(struct resolver *r)
{
	clients_done(&r->clients);
	forward_done(&r->forward);
	for (size_t i = 0; i < RESOLVER_SLOTS_MAX; i++)
		names_free(&r->names.slot[i]);
	loop_done(&r->loop);
}
