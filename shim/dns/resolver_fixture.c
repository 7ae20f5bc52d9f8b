/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/clock.h"
#include "runtime/base/own.h"
#include "runtime/base/packet.h"
#include "runtime/policy/build.h"
#include "shim/dns/resolver_fixture.h"

struct resolver r;
uint64_t skew_ms;
int shim_fd, client_fd, tcp_fd;
int up_udp[N_UPSTREAMS], up_tcp[N_UPSTREAMS];
struct sockaddr_in udp_addr, tcp_addr;
uint16_t last_id;
struct err err;

static int udp_fd;
static struct sockaddr_in up_addr[N_UPSTREAMS];

static uint64_t now_ms(void)
{
	return clock_now_ms() + skew_ms;
}

/* ------------------------------------------------------------- fixture */

static int bound(int type, struct sockaddr_in *addr, uint16_t port)
{
	int fd = socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t n = sizeof(*addr);

	*addr = (struct sockaddr_in){ .sin_family = AF_INET,
				      .sin_port = port,
				      .sin_addr.s_addr =
					      htonl(INADDR_LOOPBACK) };
	assert_true(fd >= 0);
	if (bind(fd, (struct sockaddr *)addr, sizeof(*addr)) < 0)
		return close_fd(fd);
	getsockname(fd, (struct sockaddr *)addr, &n);
	if (type == SOCK_STREAM)
		assert_int_equal(listen(fd, 64), 0);
	return fd;
}

/* An upstream: one port for UDP and TCP. */
static void upstream_open(int i)
{
	struct sockaddr_in same;

	for (int tries = 0; tries < ROUNDS; tries++) {
		up_tcp[i] = bound(SOCK_STREAM, &up_addr[i], 0);
		up_udp[i] = bound(SOCK_DGRAM, &same, up_addr[i].sin_port);
		if (up_udp[i] >= 0)
			return;
		close_fd(up_tcp[i]);
	}
	fail();
}

static void give_sockets(uint32_t kind, int type, int n)
{
	struct resolver_sockets m = { .op = RESOLVER_OP_SOCKETS,
				      .kind = kind,
				      .n = (uint32_t)n };
	int fd[RESOLVER_SOCKETS_MAX];

	for (int i = 0; i < n; i++)
		fd[i] = socket(AF_INET, type | SOCK_CLOEXEC, 0);
	/* the last, which is used first, as a resolver that died left it */
	assert_int_equal(connect(fd[n - 1], (struct sockaddr *)&up_addr[1],
				 sizeof(up_addr[1])), 0);
	assert_int_equal(packet_send(shim_fd, &m, sizeof(m), fd, (size_t)n),
			 0);
	packet_close(fd, (size_t)n);
}

int policy_fd(const void *data, size_t n)
{
	int fd = memfd_create("policy", MFD_CLOEXEC);

	assert_int_equal(write(fd, data, n), (ssize_t)n);
	return fd;
}

static const char *const main_policy[] = { "api.x.org", "*.wild.org",
					   "_s._tcp.x.org", "both.org", NULL };

static int build(const char *const *hosts)
{
	own_arena struct arena a = ARENA_INIT;
	struct policy_build b;
	size_t n;
	void *data;

	policy_build_init(&b, &a);
	policy_build_entry(&b, "k", "k", 1, POLICY_ENTRY_ANY_BINARY);
	for (; *hosts; hosts++) {
		policy_build_endpoint(&b,
				      strchr(*hosts, '*') ? POLICY_HOST_GLOB :
							    POLICY_HOST_EXACT,
				      *hosts, 1, 1);
		policy_build_port(&b, 443);
	}
	assert_int_equal(policy_build_finish(&b, &data, &n, &err), 0);
	return policy_fd(data, n);
}

void pump(void)
{
	assert_int_equal(resolver_once(&r, 0, &err), 0);
}

/* Until @fd has something to read. */
void pump_for(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	for (int i = 0; i < ROUNDS; i++) {
		if (poll(&p, 1, 0) > 0)
			return;
		assert_int_equal(resolver_once(&r, 20, &err), 0);
	}
	fail_msg("nothing came");
}

void expect_message(void *msg, size_t n, uint32_t op)
{
	pump_for(shim_fd);
	assert_int_equal(recv(shim_fd, msg, n, 0), n);
	assert_int_equal(*(uint32_t *)msg, op);
}

void expect_silence(int fd)
{
	char byte;

	for (int i = 0; i < 4; i++)
		pump();
	assert_int_equal(recv(fd, &byte, 1, MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
}

void add_policy(uint32_t index, const char *const *hosts,
		       const char *const *ceiling)
{
	struct resolver_policy_add m = { .op = RESOLVER_OP_POLICY_ADD,
					 .has_ceiling = ceiling != NULL,
					 .slot = { index, 7 },
					 .n_upstreams = N_UPSTREAMS };
	struct resolver_policy_done done;
	int fd[2] = { build(hosts), ceiling ? build(ceiling) : -1 };

	for (int i = 0; i < N_UPSTREAMS; i++) {
		m.upstream[i].addr[10] = m.upstream[i].addr[11] = 0xff;
		memcpy(m.upstream[i].addr + 12, &up_addr[i].sin_addr, 4);
		m.upstream[i].port = ntohs(up_addr[i].sin_port);
	}
	assert_int_equal(packet_send(shim_fd, &m, sizeof(m), fd,
				     ceiling ? 2 : 1), 0);
	packet_close(fd, ceiling ? 2 : 1);
	expect_message(&done, sizeof(done), RESOLVER_OP_POLICY_DONE);
	assert_int_equal(done.err.code, 0);
	assert_int_equal(done.slot.index, index);
	assert_int_equal(done.slot.generation, 7);
}

int setup(void **state)
{
	struct sockaddr_in any;
	struct resolver_ready ready;
	int pair[2];
	(void)state;

	skew_ms = 0;
	memset(&r, 0, sizeof(r));
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
				    pair), 0);
	shim_fd = pair[0];
	udp_fd = bound(SOCK_DGRAM, &udp_addr, 0);
	tcp_fd = bound(SOCK_STREAM, &tcp_addr, 0);
	client_fd = bound(SOCK_DGRAM, &any, 0);
	for (int i = 0; i < N_UPSTREAMS; i++)
		upstream_open(i);
	assert_int_equal(resolver_init(&r, pair[1],
				       (int[]){ udp_fd, -EBADF },
				       (int[]){ tcp_fd, -EBADF }, &err), 0);
	r.now_ms = r.clients.now_ms = r.forward.now_ms = now_ms;
	assert_int_equal(resolver_ready(&r, &err), 0);
	expect_message(&ready, sizeof(ready), RESOLVER_OP_READY);
	give_sockets(RESOLVER_SOCKET_UDP4, SOCK_DGRAM, RESOLVER_UDP_SOCKETS);
	give_sockets(RESOLVER_SOCKET_TCP4, SOCK_STREAM, RESOLVER_TCP_SOCKETS);
	add_policy(0, main_policy, NULL);
	return 0;
}

int teardown(void **state)
{
	int link_fd = r.link.fd;
	(void)state;

	resolver_done(&r);
	close(link_fd);
	close(shim_fd);
	close(client_fd);
	close(udp_fd);
	close(tcp_fd);
	for (int i = 0; i < N_UPSTREAMS; i++) {
		close_fd(up_udp[i]);
		close_fd(up_tcp[i]);
	}
	return 0;
}

/* ---------------------------------------------------------------- parts */

struct msg query_of(const char *name, unsigned int type, bool edns)
{
	struct msg m = { .n = 0 };
	struct dns_query q = { .type = (uint16_t)type,
			       .rr_class = ns_c_in };

	assert_true(ns_name_pton(name, q.qname.wire, DNS_WIRE_BYTES) >= 0);
	for (q.qname.n = 1; q.qname.wire[q.qname.n - 1];)
		q.qname.n = (uint16_t)(q.qname.n +
				       q.qname.wire[q.qname.n - 1] + 1);
	m.n = dns_write_query(m.b, sizeof(m.b), &q, ++last_id, edns);
	return m;
}

void ask(const char *name, unsigned int type)
{
	struct msg m = query_of(name, type, false);

	assert_int_equal(sendto(client_fd, m.b, m.n, 0,
				(struct sockaddr *)&udp_addr,
				sizeof(udp_addr)), (ssize_t)m.n);
}

struct reply parse_reply(struct reply got)
{
	ns_msg h;

	assert_int_equal(ns_initparse(got.b, (int)got.size, &h), 0);
	got.rcode = (unsigned int)ns_msg_getflag(h, ns_f_rcode);
	got.tc = ns_msg_getflag(h, ns_f_tc);
	got.n = ns_msg_count(h, ns_s_an);
	got.id = ns_msg_id(h);
	if (got.n)
		assert_int_equal(ns_parserr(&h, ns_s_an, 0, &got.first), 0);
	return got;
}

struct reply take_reply(void)
{
	static struct reply got;
	ssize_t n;

	pump_for(client_fd);
	n = recv(client_fd, got.b, sizeof(got.b), 0);
	assert_true(n > 0);
	got.size = (size_t)n;
	got = parse_reply(got);
	assert_int_equal(got.id, last_id);
	return got;
}

void expect_reply(unsigned int rcode, unsigned int n)
{
	struct reply got = take_reply();

	assert_int_equal(got.rcode, rcode);
	assert_int_equal(got.n, n);
}

struct resolver_query expect_record(enum reason reason,
					   const char *name)
{
	struct resolver_query q;

	expect_message(&q, sizeof(q), RESOLVER_OP_QUERY);
	assert_string_equal(reason_name(q.reason), reason_name(reason));
	assert_int_equal(q.allow, reason == REASON_ALLOWED);
	assert_string_equal(q.name, name);
	return q;
}

/* The query that upstream @i got. */
struct msg take_query(int i)
{
	struct msg m;
	socklen_t n_from = sizeof(m.from);
	ssize_t n;

	pump_for(up_udp[i]);
	n = recvfrom(up_udp[i], m.b, sizeof(m.b), 0,
		     (struct sockaddr *)&m.from, &n_from);
	assert_true(n > 0);
	m.n = (size_t)n;
	return m;
}

void send_back(int i, const struct msg *m)
{
	assert_int_equal(sendto(up_udp[i], m->b, m->n, 0,
				(const struct sockaddr *)&m->from,
				sizeof(m->from)), (ssize_t)m->n);
}

/* Make a reply of the query @m: @addrs are IPv4, or names with a leading '@'
 * for a CNAME of what was asked for. */
void make_reply(struct msg *m, unsigned int flags,
		       const char *const *addrs)
{
	size_t n_addrs = 0, end = DNS_HEADER_BYTES;

	while (m->b[end])
		end += m->b[end] + 1u;
	m->n = end + 1 + NS_QFIXEDSZ;
	m->b[2] = (uint8_t)(0x81 | flags >> 8);
	m->b[3] = (uint8_t)(0x80 | (flags & 0xf));
	memset(m->b + 6, 0, 6);
	for (; addrs && addrs[n_addrs]; n_addrs++) {
		static const uint8_t head[] = { 0xc0, 12, 0, ns_t_a, 0, 1, 0,
						0, 0x0e, 0x10, 0, 4 };

		memcpy(m->b + m->n, head, sizeof(head));
		m->n += sizeof(head);
		assert_int_equal(inet_pton(AF_INET, addrs[n_addrs],
					   m->b + m->n), 1);
		m->n += 4;
	}
	m->b[7] = (uint8_t)n_addrs;
}

void answer_with(int i, const char *const *addrs)
{
	struct msg m = take_query(i);

	make_reply(&m, 0, addrs);
	send_back(i, &m);
}

struct resolver_answer expect_answer(const char *name, unsigned int n)
{
	struct resolver_answer a;

	expect_message(&a, sizeof(a), RESOLVER_OP_ANSWER);
	assert_string_equal(a.name, name);
	assert_int_equal(a.n_addrs, n);
	assert_int_not_equal(a.seq, 0);
	return a;
}

void acknowledge(uint32_t seq, uint32_t code)
{
	struct resolver_answer_ack m = { .op = RESOLVER_OP_ANSWER_ACK,
					 .seq = seq,
					 .code = code };

	assert_int_equal(packet_send(shim_fd, &m, sizeof(m), NULL, 0), 0);
}
