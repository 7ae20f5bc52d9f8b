/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>

#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "shim/limits.h"
#include "shim/netns.h"
#include "shim/nft/nflog.h"
#include "shim/nft/ruleset.h"
#include "shim/notify/compat.h"

struct kind_row {
	int domain, type;
	uint32_t n_upstream;
};

static const struct kind_row kinds[] = {
	[RESOLVER_SOCKET_UDP4] = { AF_INET, SOCK_DGRAM, RESOLVER_UDP_SOCKETS },
	[RESOLVER_SOCKET_UDP6] = { AF_INET6, SOCK_DGRAM, RESOLVER_UDP_SOCKETS },
	[RESOLVER_SOCKET_TCP4] = { AF_INET, SOCK_STREAM, RESOLVER_TCP_SOCKETS },
	[RESOLVER_SOCKET_TCP6] = { AF_INET6, SOCK_STREAM,
				   RESOLVER_TCP_SOCKETS },
};
static_assert(N_ELEMENTS(kinds) == RESOLVER_SOCKET_N, "a row for each kind");

enum { PORT_TRIES = 64, BACKLOG = 64 };

/* A socket, or -EBADF where the kernel has no such family. */
static int open_socket(int domain, int type, int *ret_fd, struct err *err)
{
	*ret_fd = socket(domain, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*ret_fd >= 0)
		return 0;
	*ret_fd = -EBADF;
	if (errno == EAFNOSUPPORT && domain == AF_INET6)
		return 0;
	return err_errno(err, errno, "create a socket in the sandbox's "
				     "network namespace");
}

static int read_cookie(struct netns *n, struct err *err)
{
	socklen_t len = sizeof(n->cookie);

	if (getsockopt(n->probe4_fd, SOL_SOCKET, SO_NETNS_COOKIE, &n->cookie,
		       &len) < 0)
		return err_errno(err, errno,
				 "read the network namespace's cookie");
	return 0;
}

/* ------------------------------------------------------------ listening */

/*
 * Bind to the loopback address, which need not be there yet: a client may
 * bring the interface up after create.
 */
static int bind_loopback(int fd, int domain, uint16_t port)
{
	const struct sockaddr_in four = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	const struct sockaddr_in6 six = { .sin6_family = AF_INET6,
					  .sin6_port = htons(port),
					  .sin6_addr =
						  IN6ADDR_LOOPBACK_INIT };
	bool v6 = domain == AF_INET6;
	int on = 1;

	if (setsockopt(fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP,
		       v6 ? IPV6_FREEBIND : IP_FREEBIND, &on, sizeof(on)) < 0)
		return -errno;
	if (bind(fd, v6 ? (const struct sockaddr *)&six :
			  (const struct sockaddr *)&four,
		 v6 ? sizeof(six) : sizeof(four)) < 0)
		return -errno;
	return 0;
}

static int port_of(int fd, uint16_t *ret)
{
	struct sockaddr_in sa;
	socklen_t len = sizeof(sa);

	if (getsockname(fd, (struct sockaddr *)&sa, &len) < 0)
		return -errno;
	*ret = ntohs(sa.sin_port);
	return 0;
}

void netns_close_listening(struct netns *n)
{
	for (unsigned int i = 0; i < RESOLVER_SOCKET_N; i++)
		n->listen_fd[i] = close_fd(n->listen_fd[i]);
}

/* All four on one port that the kernel picks; -EADDRINUSE: try another. */
static int try_listening(struct netns *n, struct err *err)
{
	uint16_t port = 0;

	for (unsigned int i = 0; i < RESOLVER_SOCKET_N; i++) {
		int *fd = &n->listen_fd[i];
		int r = open_socket(kinds[i].domain, kinds[i].type, fd, err);

		if (r < 0)
			return r;
		if (*fd < 0)
			continue;
		r = bind_loopback(*fd, kinds[i].domain, port);
		if (r == 0 && i == 0)
			r = port_of(*fd, &port);
		if (r == 0 && kinds[i].type == SOCK_STREAM &&
		    listen(*fd, BACKLOG) < 0)
			r = -errno;
		if (r < 0)
			return err_errno(err, -r,
					 "bind the resolver's sockets");
	}
	n->port = port;
	return 0;
}

static int open_listening(struct netns *n, struct err *err)
{
	int r = -EADDRINUSE;

	for (unsigned int i = 0; r == -EADDRINUSE && i < PORT_TRIES; i++) {
		netns_close_listening(n);
		r = try_listening(n, err);
	}
	return r;
}

/* ------------------------------------------------------------ upstream */

static int open_upstream(struct netns *n, unsigned int kind, struct err *err)
{
	const int mark = MARK_RESOLVER;

	for (uint32_t i = 0; i < kinds[kind].n_upstream; i++) {
		int *fd = &n->upstream_fd[kind][i];
		int r = open_socket(kinds[kind].domain, kinds[kind].type, fd,
				    err);

		if (r < 0 || *fd < 0)
			return r;
		if (setsockopt(*fd, SOL_SOCKET, SO_MARK, &mark,
			       sizeof(mark)) < 0)
			return err_errno(err, errno, "mark the resolver's "
						     "sockets");
		n->n_upstream[kind]++;
	}
	return 0;
}

static int open_netlink(struct netns *n, struct err *err)
{
	int r = netlink_open(&n->nft, NETLINK_NETFILTER, err);

	if (r == 0)
		r = nflog_open(&n->packets, RULESET_LOG_GROUP, err);
	if (r == 0)
		r = netlink_open(&n->diag, NETLINK_SOCK_DIAG, err);
	return r;
}

int netns_open(struct netns *n, int netns_fd, int proc_fd, struct err *err)
{
	int r;

	memset(n, 0, sizeof(*n));
	for (unsigned int i = 0; i < RESOLVER_SOCKET_N; i++)
		n->listen_fd[i] = -EBADF;
	if (setns(netns_fd, CLONE_NEWNET) < 0)
		return err_errno(err, errno,
				 "enter the sandbox's network namespace");
	/* /proc/sys/net is the namespace's of who opens it. A table that
	 * grants nothing to a Fast Open needs no such help; what reads the
	 * first bytes of a flow will. */
	n->fast_open_off = io_write_str(proc_fd, "sys/net/ipv4/tcp_fastopen",
					"0") == 0;
	r = open_socket(AF_INET, SOCK_DGRAM, &n->probe4_fd, err);
	if (r == 0)
		r = open_socket(AF_INET6, SOCK_DGRAM, &n->probe6_fd, err);
	if (r == 0)
		r = read_cookie(n, err);
	if (r == 0)
		r = open_netlink(n, err);
	if (r == 0)
		r = open_listening(n, err);
	for (unsigned int i = 0; r == 0 && i < RESOLVER_SOCKET_N; i++)
		r = open_upstream(n, i, err);
	return r;
}
