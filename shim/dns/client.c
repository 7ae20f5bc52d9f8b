/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "runtime/base/clock.h"
#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "shim/dns/client.h"
#include "shim/ipc/resolver_proto.h"

/*
 * state	waits for	then
 * READ		EPOLLIN		a whole query: WAIT, and the callback
 * WAIT		nothing		clients_reply(): WRITE
 * WRITE	EPOLLOUT	all written: READ
 *
 * The peer's end, an error, a query that is too long and the deadline (in READ
 * and WRITE) end the connection. In WAIT, the query's own deadlines apply.
 */

enum {
	LENGTH_BYTES = 2,
	/* Loopback carries it whole; beyond that TCP is the better way. */
	UDP_REPLY_MAX = 4096,
};

static void conn_end(struct clients *c, struct client_conn *conn)
{
	loop_remove(c->loop, conn->ref);
	conn->fd = close_fd(conn->fd);
	conn->state = CLIENT_FREE;
	conn->generation++;
}

static void conn_expect_query(struct clients *c, struct client_conn *conn)
{
	conn->state = CLIENT_READ;
	conn->at = 0;
	conn->n = LENGTH_BYTES;
	conn->deadline_ms = c->now_ms() + CLIENT_TCP_MS;
	loop_set_events(c->loop, conn->ref, EPOLLIN);
}

static void conn_query(struct clients *c, struct client_conn *conn)
{
	struct client from = {
		.addr = conn->addr,
		.n_addr = conn->n_addr,
		.tcp = true,
		.index = (uint32_t)(conn - c->conn),
		.generation = conn->generation,
	};

	conn->state = CLIENT_WAIT;
	loop_set_events(c->loop, conn->ref, 0);
	c->fn(c->ctx, &from, conn->buf + LENGTH_BYTES, conn->n - LENGTH_BYTES);
}

/* Returns false when the connection has ended. */
static bool conn_fill(struct clients *c, struct client_conn *conn)
{
	ssize_t n = recv(conn->fd, conn->buf + conn->at, conn->n - conn->at,
			 MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n > 0)
		conn->at += (size_t)n;
	if (n > 0 && conn->at >= LENGTH_BYTES)
		conn->n = LENGTH_BYTES +
			  (size_t)(conn->buf[0] << 8 | conn->buf[1]);
	if (n > 0 && conn->n <= LENGTH_BYTES + DNS_QUERY_BYTES)
		return true;
	conn_end(c, conn);
	return false;
}

static void conn_read(struct clients *c, struct client_conn *conn)
{
	/* twice: the length, and the query that it announces */
	for (int i = 0; i < 2 && conn->at < conn->n; i++)
		if (!conn_fill(c, conn))
			return;
	if (conn->at < conn->n)
		return;
	if (conn->n > LENGTH_BYTES)
		conn_query(c, conn);
	else
		conn_end(c, conn); /* a query of no bytes */
}

static void conn_write(struct clients *c, struct client_conn *conn)
{
	ssize_t n = send(conn->fd, conn->buf + conn->at, conn->n - conn->at,
			 MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		conn_end(c, conn);
		return;
	}
	if (n > 0)
		conn->at += (size_t)n;
	if (conn->at == conn->n)
		conn_expect_query(c, conn);
	else
		loop_set_events(c->loop, conn->ref, EPOLLOUT);
}

static void on_conn(struct loop *loop, struct loop_ref ref, uint32_t events,
		    void *ctx, uint64_t arg)
{
	struct clients *c = ctx;
	struct client_conn *conn = &c->conn[arg];

	(void)loop;
	(void)ref;
	switch (conn->state) {
	case CLIENT_FREE:
		break;
	case CLIENT_READ:
		conn_read(c, conn);
		break;
	case CLIENT_WAIT:
		if (events & (EPOLLHUP | EPOLLERR))
			conn_end(c, conn);
		break;
	case CLIENT_WRITE:
		conn_write(c, conn);
		break;
	}
}

/* A free connection; if need be, the longest idle one's. */
static struct client_conn *conn_new(struct clients *c)
{
	struct client_conn *idle = NULL;

	for (size_t i = 0; i < CLIENT_TCP_MAX; i++) {
		struct client_conn *conn = &c->conn[i];

		if (conn->state == CLIENT_FREE)
			return conn;
		if (conn->state == CLIENT_READ &&
		    (!idle || conn->deadline_ms < idle->deadline_ms))
			idle = conn;
	}
	if (idle)
		conn_end(c, idle);
	return idle;
}

static void on_accept(struct loop *loop, struct loop_ref ref, uint32_t events,
		      void *ctx, uint64_t arg)
{
	struct clients *c = ctx;
	union client_addr addr = { .sa.sa_family = AF_UNSPEC };
	socklen_t n_addr = sizeof(addr);
	struct client_conn *conn;
	struct err err;
	own_close int fd = accept4(c->tcp_fd[arg], &addr.sa, &n_addr,
				   SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)ref;
	(void)events;
	if (fd < 0)
		return;
	conn = conn_new(c);
	if (!conn)
		return;
	if (loop_add(loop, fd, EPOLLIN, on_conn, c,
		     (uint64_t)(conn - c->conn), &conn->ref, &err) < 0)
		return;
	conn->fd = take_fd(&fd);
	conn->addr = addr;
	conn->n_addr = n_addr;
	conn_expect_query(c, conn);
}

static void on_udp(struct loop *loop, struct loop_ref ref, uint32_t events,
		   void *ctx, uint64_t arg)
{
	uint8_t msg[DNS_QUERY_BYTES + 1];
	struct clients *c = ctx;

	(void)loop;
	(void)ref;
	(void)events;
	for (int i = 0; i < CLIENT_UDP_BATCH; i++) {
		struct client from = { .index = (uint32_t)arg };
		ssize_t n;

		from.n_addr = sizeof(from.addr);
		/* one byte more than a query may have tells that it is too
		 * long */
		n = recvfrom(c->udp_fd[arg], msg, sizeof(msg), MSG_DONTWAIT,
			     &from.addr.sa, &from.n_addr);
		if (n < 0 && errno == EAGAIN)
			return;
		if (n >= 0)
			c->fn(c->ctx, &from, msg, (size_t)n);
	}
}

int clients_init(struct clients *c, struct loop *loop, const int udp_fd[2],
		 const int tcp_fd[2], client_fn *fn, void *ctx,
		 struct err *err)
{
	c->loop = loop;
	c->now_ms = clock_now_ms;
	c->fn = fn;
	c->ctx = ctx;
	for (size_t i = 0; i < CLIENT_TCP_MAX; i++) {
		c->conn[i].state = CLIENT_FREE;
		c->conn[i].generation = 1;
		c->conn[i].fd = -EBADF;
	}
	for (size_t i = 0; i < 2; i++) {
		int r = 0;

		c->udp_fd[i] = udp_fd[i];
		c->tcp_fd[i] = tcp_fd[i];
		if (udp_fd[i] >= 0)
			r = loop_add(loop, udp_fd[i], EPOLLIN, on_udp, c, i,
				     NULL, err);
		if (r == 0 && tcp_fd[i] >= 0)
			r = loop_add(loop, tcp_fd[i], EPOLLIN, on_accept, c, i,
				     NULL, err);
		if (r < 0)
			return err_wrap(err, "listen for queries");
	}
	return 0;
}

void clients_done(struct clients *c)
{
	for (size_t i = 0; i < CLIENT_TCP_MAX; i++)
		if (c->conn[i].state != CLIENT_FREE)
			conn_end(c, &c->conn[i]);
}

static struct client_conn *conn_of(struct clients *c, const struct client *to)
{
	struct client_conn *conn = &c->conn[to->index];

	if (conn->generation != to->generation || conn->state != CLIENT_WAIT)
		return NULL;
	return conn;
}

void clients_reply(struct clients *c, const struct client *to,
		   const uint8_t *msg, size_t n)
{
	struct client_conn *conn;

	if (!to->tcp) {
		/* what the kernel doesn't take now, the client asks again */
		(void)sendto(c->udp_fd[to->index], msg, n,
			     MSG_DONTWAIT | MSG_NOSIGNAL, &to->addr.sa,
			     to->n_addr);
		return;
	}
	conn = conn_of(c, to);
	if (!conn)
		return;
	conn->buf[0] = (uint8_t)(n >> 8);
	conn->buf[1] = (uint8_t)n;
	memcpy(conn->buf + LENGTH_BYTES, msg, n);
	conn->state = CLIENT_WRITE;
	conn->at = 0;
	conn->n = LENGTH_BYTES + n;
	conn->deadline_ms = c->now_ms() + CLIENT_TCP_MS;
	conn_write(c, conn);
}

void clients_drop(struct clients *c, const struct client *to)
{
	struct client_conn *conn = to->tcp ? conn_of(c, to) : NULL;

	if (conn)
		conn_end(c, conn);
}

size_t clients_limit(const struct client *to, const struct dns_query *q)
{
	if (to->tcp)
		return DNS_MSG_BYTES;
	return q->udp_bytes < UDP_REPLY_MAX ? q->udp_bytes : UDP_REPLY_MAX;
}

bool client_same(const struct client *a, const struct client *b)
{
	return a->tcp == b->tcp && a->index == b->index &&
	       a->generation == b->generation && a->n_addr == b->n_addr &&
	       memcmp(&a->addr, &b->addr, a->n_addr) == 0;
}

void client_show(const struct client *from, struct resolver_client *ret)
{
	*ret = (struct resolver_client){ .tcp = from->tcp };
	if (from->addr.sa.sa_family == AF_INET6) {
		memcpy(ret->addr, &from->addr.in6.sin6_addr, 16);
		ret->port = ntohs(from->addr.in6.sin6_port);
	} else {
		ret->addr[10] = ret->addr[11] = 0xff;
		memcpy(ret->addr + 12, &from->addr.in4.sin_addr, 4);
		ret->port = ntohs(from->addr.in4.sin_port);
	}
}

static bool conn_timed(const struct client_conn *conn)
{
	return conn->state == CLIENT_READ || conn->state == CLIENT_WRITE;
}

void clients_tick(struct clients *c)
{
	uint64_t now_ms = c->now_ms();

	for (size_t i = 0; i < CLIENT_TCP_MAX; i++)
		if (conn_timed(&c->conn[i]) &&
		    c->conn[i].deadline_ms <= now_ms)
			conn_end(c, &c->conn[i]);
}

uint64_t clients_deadline(const struct clients *c)
{
	uint64_t at_ms = UINT64_MAX;

	for (size_t i = 0; i < CLIENT_TCP_MAX; i++)
		if (conn_timed(&c->conn[i]) && c->conn[i].deadline_ms < at_ms)
			at_ms = c->conn[i].deadline_ms;
	return at_ms;
}
