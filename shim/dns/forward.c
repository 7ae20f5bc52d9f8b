/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state	event			next
 * FREE		forward_start()		a try
 * a try	upstream by UDP		UDP
 *		upstream by TCP only	CONNECT
 *		that fails at once	the next try
 *		none is left		HELD, no answer
 * UDP		an answer		HELD
 *		truncated		CONNECT, the same upstream
 *		not to this question	UDP; after FORWARD_MISSES_MAX: CONNECT
 *		refused, senseless	the next try
 * CONNECT	connected, query sent	READ
 * READ		an answer		HELD
 *		anything else		the next try
 * any of these	FORWARD_TRY_MS passed	the next try
 * HELD		FORWARD_ACK_MS passed	HELD, no answer
 *		forward_free()		FREE
 *
 * The tries go round the upstreams, the second round without EDNS: there are
 * servers that don't answer to what they don't know.
 */
#include <arpa/nameser.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "runtime/base/clock.h"
#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "shim/dns/forward.h"
#include "shim/dns/names.h"

enum {
	LENGTH_BYTES = 2,
	/* Datagrams read before others have their turn. */
	UDP_BATCH = 8,
	/* More than a socket's default buffer holds. */
	DRAIN_MAX = 1024,
};

static loop_fn on_job;

/* -------------------------------------------------------------- sockets */

void forward_init(struct forward *f, struct loop *loop, forward_fn *fn,
		  void *ctx)
{
	f->loop = loop;
	f->now_ms = clock_now_ms;
	f->fn = fn;
	f->ctx = ctx;
	for (size_t i = 0; i < RESOLVER_SOCKET_N; i++)
		f->pool[i].n = f->pool[i].n_free = 0;
	for (size_t i = 0; i < FORWARD_JOBS_MAX; i++) {
		f->job[i].state = FORWARD_FREE;
		f->job[i].fd = -EBADF;
	}
}

/* What came for an exchange that is over. False: it does not end. */
static bool drain(int fd)
{
	uint8_t byte;

	for (int i = 0; i < DRAIN_MAX; i++)
		if (recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN)
			return true;
	return false;
}

/*
 * Make @fd as if it were new, without a peer and a port: the kernel picks the
 * next port at the next connect. Returns false for one that refuses.
 */
static bool reset(enum resolver_socket_kind kind, int fd)
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };
	bool udp = kind == RESOLVER_SOCKET_UDP4 || kind == RESOLVER_SOCKET_UDP6;

	return connect(fd, &none, sizeof(none)) == 0 && (!udp || drain(fd));
}

int forward_add_socket(struct forward *f, enum resolver_socket_kind kind,
		       int fd, struct err *err)
{
	struct forward_pool *pool = &f->pool[kind];
	own_close int owned = fd;
	int flags = fcntl(fd, F_GETFL);

	if (pool->n == RESOLVER_SOCKETS_MAX)
		return err_set(err, EPROTO, "add a socket: too many");
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return err_errno(err, errno, "add a socket");
	/* a resolver before this one may have died in mid-exchange */
	if (!reset(kind, fd))
		return err_errno(err, errno, "reset a socket");
	pool->fd[pool->n_free++] = take_fd(&owned);
	pool->n++;
	return 0;
}

/* Give the job's socket back. One that can't be reset is lost. */
static void release(struct forward *f, struct forward_job *job)
{
	struct forward_pool *pool = &f->pool[job->kind];

	if (job->fd < 0)
		return;
	loop_remove(f->loop, job->ref);
	if (reset(job->kind, job->fd)) {
		pool->fd[pool->n_free++] = take_fd(&job->fd);
	} else {
		job->fd = close_fd(job->fd);
		pool->n--;
	}
}

void forward_done(struct forward *f)
{
	for (size_t i = 0; i < FORWARD_JOBS_MAX; i++)
		release(f, &f->job[i]);
	for (size_t i = 0; i < RESOLVER_SOCKET_N; i++)
		while (f->pool[i].n_free)
			close_fd(f->pool[i].fd[--f->pool[i].n_free]);
}

static bool is_v4(const struct shim_upstream *u)
{
	return IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)u->addr);
}

static socklen_t upstream_addr(const struct shim_upstream *u,
			       union client_addr *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (is_v4(u)) {
		ret->in4.sin_family = AF_INET;
		ret->in4.sin_port = htons(u->port);
		memcpy(&ret->in4.sin_addr, u->addr + 12, 4);
		return sizeof(ret->in4);
	}
	ret->in6.sin6_family = AF_INET6;
	ret->in6.sin6_port = htons(u->port);
	memcpy(&ret->in6.sin6_addr, u->addr, 16);
	ret->in6.sin6_scope_id = u->scope_id;
	return sizeof(ret->in6);
}

/*
 * Take a socket and connect it to the job's upstream; @udp or TCP. On failure
 * the job has none.
 */
static bool take_socket(struct forward *f, struct forward_job *job, bool udp)
{
	const struct shim_upstream *at = &job->upstream->at;
	struct forward_pool *pool;
	union client_addr addr;
	socklen_t n = upstream_addr(at, &addr);
	struct err err;

	if (udp)
		job->kind = is_v4(at) ? RESOLVER_SOCKET_UDP4 :
					RESOLVER_SOCKET_UDP6;
	else
		job->kind = is_v4(at) ? RESOLVER_SOCKET_TCP4 :
					RESOLVER_SOCKET_TCP6;
	pool = &f->pool[job->kind];
	if (!pool->n_free)
		return false;
	job->fd = pool->fd[--pool->n_free];
	job->ref = (struct loop_ref){ .index = 0 };
	return (connect(job->fd, &addr.sa, n) == 0 ||
		(!udp && errno == EINPROGRESS)) &&
	       loop_add(f->loop, job->fd, udp ? EPOLLIN : EPOLLOUT, on_job, f,
			(uint64_t)(job - f->job), &job->ref, &err) == 0;
}

/* ---------------------------------------------------------------- tries */

static bool tcp_only(const struct forward *f, const struct names_upstream *u)
{
	return u->tcp_until_ms > f->now_ms();
}

static bool ask_udp(struct forward *f, struct forward_job *job)
{
	uint8_t msg[DNS_UDP_BYTES];
	size_t n;

	if (!take_socket(f, job, true))
		return false;
	job->state = FORWARD_UDP;
	n = dns_write_query(msg, sizeof(msg), &job->query, job->id, job->edns);
	return send(job->fd, msg, n, MSG_DONTWAIT | MSG_NOSIGNAL) ==
	       (ssize_t)n;
}

/* Returns false when it failed at once; what it took is next_try()'s. */
static bool ask(struct forward *f, struct forward_job *job, bool udp)
{
	release(f, job);
	job->deadline_ms = f->now_ms() + FORWARD_TRY_MS;
	if (getrandom(&job->id, sizeof(job->id), 0) != sizeof(job->id))
		return false;
	if (udp)
		return ask_udp(f, job);
	job->state = FORWARD_CONNECT;
	return take_socket(f, job, false);
}

static void finish(struct forward *f, struct forward_job *job,
		   const struct dns_answer *answer)
{
	release(f, job);
	job->state = FORWARD_HELD;
	job->deadline_ms = f->now_ms() + FORWARD_ACK_MS;
	f->fn(f->ctx, job, answer);
}

static void next_try(struct forward *f, struct forward_job *job)
{
	unsigned int n = job->slot->n_upstreams;

	while (job->n_tries < 2 * n && job->n_tries < FORWARD_TRIES_MAX) {
		job->upstream = &job->slot->upstream[job->n_tries % n];
		job->edns = job->n_tries < n && !job->upstream->no_edns;
		job->n_tries++;
		if (ask(f, job, !tcp_only(f, job->upstream)))
			return;
	}
	finish(f, job, NULL);
}

static void ask_by_tcp(struct forward *f, struct forward_job *job)
{
	if (!ask(f, job, false))
		next_try(f, job);
}

/* -------------------------------------------------------------- replies */

/* A reply to the question: what it says. */
static void on_answer(struct forward *f, struct forward_job *job)
{
	const struct dns_answer *a = &f->answer;
	bool refused = a->rcode == ns_r_formerr || a->rcode == ns_r_notimpl;

	if (a->tc && job->state == FORWARD_UDP) {
		ask_by_tcp(f, job);
	} else if (refused && job->edns) {
		job->upstream->no_edns = true;
		job->n_tries--; /* the same one again, once */
		next_try(f, job);
	} else if (!a->tc && (a->rcode == ns_r_noerror ||
			      a->rcode == ns_r_nxdomain)) {
		finish(f, job, a);
	} else {
		next_try(f, job);
	}
}

static void on_miss(struct forward *f, struct forward_job *job)
{
	if (++job->n_misses < FORWARD_MISSES_MAX)
		return;
	job->guessed = true;
	job->upstream->tcp_until_ms = f->now_ms() + FORWARD_TCP_ONLY_MS;
	ask_by_tcp(f, job);
}

/* Returns true to read the next datagram. */
static bool on_datagram(struct forward *f, struct forward_job *job)
{
	ssize_t n = recv(job->fd, job->buf, DNS_MSG_BYTES,
			 MSG_DONTWAIT | MSG_TRUNC);
	int r;

	if (n < 0 && errno == EAGAIN)
		return false;
	if (n < 0 && errno == EINTR)
		return true;
	if (n < 0) { /* ECONNREFUSED and the like: nobody is there */
		next_try(f, job);
		return false;
	}
	r = n > DNS_MSG_BYTES ? -ENOMSG :
				dns_read_reply(&f->answer, &job->query,
					       job->id, job->buf, (size_t)n);
	if (r == -ENOMSG) {
		on_miss(f, job);
		return job->state == FORWARD_UDP;
	}
	job->too_long = r == -E2BIG;
	if (r < 0)
		next_try(f, job);
	else
		on_answer(f, job);
	return false;
}

static void on_connected(struct forward *f, struct forward_job *job)
{
	uint8_t msg[LENGTH_BYTES + DNS_UDP_BYTES];
	size_t n = dns_write_query(msg + LENGTH_BYTES, DNS_UDP_BYTES,
				   &job->query, job->id, job->edns);

	msg[0] = (uint8_t)(n >> 8);
	msg[1] = (uint8_t)n;
	n += LENGTH_BYTES;
	/* a connection that failed says so here, a new one takes it whole */
	if (send(job->fd, msg, n, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)n) {
		next_try(f, job);
		return;
	}
	job->state = FORWARD_READ;
	job->at = 0;
	job->n = LENGTH_BYTES;
	loop_set_events(f->loop, job->ref, EPOLLIN);
}

static void on_bytes(struct forward *f, struct forward_job *job)
{
	ssize_t n = recv(job->fd, job->buf + job->at, job->n - job->at,
			 MSG_DONTWAIT);
	int r;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		job->at += (size_t)n;
	if (n > 0 && job->at >= LENGTH_BYTES)
		job->n = LENGTH_BYTES + (size_t)(job->buf[0] << 8 |
						 job->buf[1]);
	if (n <= 0 || job->n > sizeof(job->buf)) {
		next_try(f, job);
		return;
	}
	if (job->at < job->n)
		return;
	r = dns_read_reply(&f->answer, &job->query, job->id,
			   job->buf + LENGTH_BYTES, job->n - LENGTH_BYTES);
	job->too_long = r == -E2BIG;
	if (r < 0)
		next_try(f, job);
	else
		on_answer(f, job);
}

static void on_job(struct loop *loop, struct loop_ref ref, uint32_t events,
		   void *ctx, uint64_t arg)
{
	struct forward *f = ctx;
	struct forward_job *job = &f->job[arg];

	(void)loop;
	(void)ref;
	(void)events;
	switch (job->state) {
	case FORWARD_FREE:
	case FORWARD_HELD:
		break;
	case FORWARD_UDP:
		for (int i = 0; i < UDP_BATCH && on_datagram(f, job); i++)
			;
		break;
	case FORWARD_CONNECT:
		on_connected(f, job);
		break;
	case FORWARD_READ:
		on_bytes(f, job);
		break;
	}
}

/* ----------------------------------------------------------------- jobs */

/* Is there a socket for some upstream of the slot? */
static bool has_socket(const struct forward *f, const struct names_slot *slot)
{
	for (unsigned int i = 0; i < slot->n_upstreams; i++) {
		bool v4 = is_v4(&slot->upstream[i].at);

		if (f->pool[v4 ? RESOLVER_SOCKET_UDP4 : RESOLVER_SOCKET_UDP6]
			    .n_free)
			return true;
	}
	return slot->n_upstreams == 0; /* then there is nobody to ask */
}

bool forward_start(struct forward *f, const struct client *client,
		   const struct dns_query *query, struct names_slot *slot)
{
	struct forward_job *job = NULL;

	for (size_t i = 0; i < FORWARD_JOBS_MAX && !job; i++)
		if (f->job[i].state == FORWARD_FREE)
			job = &f->job[i];
	if (!job || !has_socket(f, slot))
		return false;
	job->client = *client;
	job->query = *query;
	job->slot = slot;
	job->upstream = NULL;
	job->n_tries = job->n_misses = job->n_addrs = 0;
	job->edns = job->too_long = job->guessed = false;
	job->seq = 0;
	next_try(f, job);
	return true;
}

bool forward_has(const struct forward *f, const struct client *client,
		 const struct dns_query *query)
{
	for (size_t i = 0; i < FORWARD_JOBS_MAX; i++) {
		const struct forward_job *job = &f->job[i];

		if (job->state != FORWARD_FREE &&
		    job->query.id == query->id &&
		    job->query.type == query->type &&
		    client_same(&job->client, client) &&
		    strcmp(job->query.host, query->host) == 0)
			return true;
	}
	return false;
}

struct forward_job *forward_held(struct forward *f, uint32_t seq)
{
	for (size_t i = 0; i < FORWARD_JOBS_MAX; i++)
		if (f->job[i].state == FORWARD_HELD && f->job[i].seq == seq)
			return &f->job[i];
	return NULL;
}

void forward_free(struct forward *f, struct forward_job *job)
{
	(void)f;
	assert(job->state == FORWARD_HELD);
	job->state = FORWARD_FREE;
	job->seq = 0;
}

void forward_end_slot(struct forward *f, const struct names_slot *slot)
{
	for (size_t i = 0; i < FORWARD_JOBS_MAX; i++)
		if (f->job[i].state != FORWARD_FREE && f->job[i].slot == slot)
			finish(f, &f->job[i], NULL);
}

void forward_tick(struct forward *f)
{
	uint64_t now_ms = f->now_ms();

	for (size_t i = 0; i < FORWARD_JOBS_MAX; i++) {
		struct forward_job *job = &f->job[i];

		if (job->state == FORWARD_FREE || job->deadline_ms > now_ms)
			continue;
		if (job->state == FORWARD_HELD)
			finish(f, job, NULL);
		else
			next_try(f, job);
	}
}

uint64_t forward_deadline(const struct forward *f)
{
	uint64_t at_ms = UINT64_MAX;

	for (size_t i = 0; i < FORWARD_JOBS_MAX; i++)
		if (f->job[i].state != FORWARD_FREE &&
		    f->job[i].deadline_ms < at_ms)
			at_ms = f->job[i].deadline_ms;
	return at_ms;
}
