/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/net.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "shim/notify/compat.h"
#include "shim/notify/task.h"

#if defined(__x86_64__)
#define ARCH_NATIVE AUDIT_ARCH_X86_64
#define ARCH_COMPAT AUDIT_ARCH_I386
#elif defined(__aarch64__)
#define ARCH_NATIVE AUDIT_ARCH_AARCH64
#define ARCH_COMPAT AUDIT_ARCH_ARM
#else
#error "the egress filter knows x86-64 and aarch64"
#endif

struct call_row {
	uint32_t arch;
	int nr;
	enum call_op op;
};

/* Notified calls; arch/x86/entry/syscalls/syscall_32.tbl for i386. */
static const struct call_row calls[] = {
	{ ARCH_NATIVE, SYS_connect, CALL_CONNECT },
	{ ARCH_NATIVE, SYS_bind, CALL_BIND },
	{ ARCH_NATIVE, SYS_listen, CALL_LISTEN },
	{ ARCH_NATIVE, SYS_sendto, CALL_SENDTO },
	{ AUDIT_ARCH_I386, 361, CALL_BIND },
	{ AUDIT_ARCH_I386, 362, CALL_CONNECT },
	{ AUDIT_ARCH_I386, 363, CALL_LISTEN },
	{ AUDIT_ARCH_I386, 369, CALL_SENDTO },
	{ AUDIT_ARCH_ARM, 282, CALL_BIND },
	{ AUDIT_ARCH_ARM, 283, CALL_CONNECT },
	{ AUDIT_ARCH_ARM, 284, CALL_LISTEN },
	{ AUDIT_ARCH_ARM, 290, CALL_SENDTO },
};

enum { I386_SOCKETCALL = 102 };

struct socketcall_row {
	uint64_t number;
	enum call_op op;
	unsigned int n_args;
};

/* linux/net.h */
static const struct socketcall_row socketcalls[] = {
	{ SYS_SOCKET, CALL_SOCKET, 3 },	  { SYS_BIND, CALL_BIND, 3 },
	{ SYS_CONNECT, CALL_CONNECT, 3 }, { SYS_LISTEN, CALL_LISTEN, 2 },
	{ SYS_SENDTO, CALL_SENDTO, 6 },
};

static int read_memory(int tid, uint64_t at, void *ret, size_t n)
{
	struct iovec local = { .iov_base = ret, .iov_len = n };
	struct iovec remote = { .iov_base = (void *)(uintptr_t)at,
				.iov_len = n };
	ssize_t r = process_vm_readv(tid, &local, 1, &remote, 1, 0);

	if (r < 0)
		return -errno;
	return (size_t)r == n ? 0 : -EFAULT;
}

static void decode(enum call_op op, const uint64_t *arg, struct call *ret)
{
	*ret = (struct call){ .op = op, .fd = (int)arg[0] };
	switch (op) {
	case CALL_CONNECT:
	case CALL_BIND:
		ret->addr = arg[1];
		ret->addr_len = (uint32_t)arg[2];
		break;
	case CALL_SENDTO:
		ret->flags = (uint32_t)arg[3];
		ret->addr = arg[4];
		ret->addr_len = (uint32_t)arg[5];
		break;
	case CALL_SOCKET:
		ret->domain = (int)arg[0];
		ret->type = (int)arg[1];
		ret->protocol = (int)arg[2];
		break;
	case CALL_LISTEN:
	case CALL_OTHER:
	case CALL_OP_N:
		break;
	}
}

static int decode_socketcall(const struct seccomp_notif *n, struct call *ret)
{
	uint64_t arg[6] = { 0 };
	uint32_t raw[6];

	for (size_t i = 0; i < N_ELEMENTS(socketcalls); i++) {
		const struct socketcall_row *row = &socketcalls[i];
		int r;

		if (n->data.args[0] != row->number)
			continue;
		r = read_memory((int)n->pid, n->data.args[1], raw,
				row->n_args * sizeof(raw[0]));
		if (r < 0)
			return r;
		for (unsigned int k = 0; k < row->n_args; k++)
			arg[k] = raw[k];
		decode(row->op, arg, ret);
		return 0;
	}
	*ret = (struct call){ .op = CALL_OTHER };
	return 0;
}

int task_call(const struct seccomp_notif *n, struct call *ret)
{
	uint64_t arg[6];

	for (unsigned int i = 0; i < 6; i++)
		arg[i] = n->data.args[i];
	for (size_t i = 0; i < N_ELEMENTS(calls); i++)
		if (calls[i].arch == n->data.arch &&
		    calls[i].nr == n->data.nr) {
			decode(calls[i].op, arg, ret);
			return 0;
		}
	if (n->data.arch == AUDIT_ARCH_I386 && n->data.nr == I386_SOCKETCALL)
		return decode_socketcall(n, ret);
	*ret = (struct call){ .op = CALL_OTHER };
	return 0;
}

union sockaddrs {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_storage storage;
};

static int parse_addr(const union sockaddrs *sa, size_t n,
		      struct task_addr *ret)
{
	*ret = (struct task_addr){ .family = FAMILY_OTHER };
	switch (sa->any.sa_family) {
	case AF_UNSPEC:
	case AF_INET:
		ret->family = sa->any.sa_family == AF_INET ? FAMILY_INET :
							     FAMILY_UNSPEC;
		if (n < sizeof(sa->in))
			return ret->family == FAMILY_INET ? -EINVAL : 0;
		ret->ip = match_ip_v4((const uint8_t *)&sa->in.sin_addr);
		ret->port = ntohs(sa->in.sin_port);
		return 0;
	case AF_INET6:
		ret->family = FAMILY_INET;
		/* RFC 2133's shorter form, without scope, is taken too */
		if (n < offsetof(struct sockaddr_in6, sin6_scope_id))
			return -EINVAL;
		ret->ip = match_ip_v6(sa->in6.sin6_addr.s6_addr);
		ret->port = ntohs(sa->in6.sin6_port);
		return 0;
	}
	return 0;
}

int task_read_addr(int tid, const struct call *c, struct task_addr *ret)
{
	union sockaddrs sa;
	int r;

	memset(&sa, 0, sizeof(sa));
	if (c->addr_len < sizeof(sa.any.sa_family) ||
	    c->addr_len > sizeof(sa.storage))
		return -EINVAL;
	r = read_memory(tid, c->addr, &sa, c->addr_len);
	if (r < 0)
		return r;
	return parse_addr(&sa, c->addr_len, ret);
}

/* ------------------------------------------------------------ sockets */

/* The thread group of @tid, or a negative errno. */
static int leader_of(int proc_fd, int tid)
{
	char path[32], buf[4096];
	const char *at;
	ssize_t n;
	int tgid;

	snprintf(path, sizeof(path), "%d/status", tid);
	n = io_read_str(proc_fd, path, buf, sizeof(buf));
	if (n < 0)
		return (int)n;
	at = strstr(buf, "\nTgid:");
	if (!at || sscanf(at, "\nTgid: %d", &tgid) != 1)
		return -ESRCH;
	return tgid;
}

/*
 * Linux 6.9 knows PIDFD_THREAD. Before, only leaders can be had: a thread
 * with a table of descriptors of its own is then looked up in its leader's,
 * and at worst the wrong socket gets the mark, which lets no more out.
 */
static int open_pidfd(int proc_fd, int tid)
{
	int fd = (int)syscall(SYS_pidfd_open, tid, PIDFD_THREAD);

	if (fd < 0 && errno == EINVAL) {
		int tgid = leader_of(proc_fd, tid);

		if (tgid < 0)
			return tgid;
		fd = (int)syscall(SYS_pidfd_open, tgid, 0);
	}
	return fd < 0 ? -errno : fd;
}

static int get_int(int fd, int opt, int *ret)
{
	socklen_t n = sizeof(*ret);

	return getsockopt(fd, SOL_SOCKET, opt, ret, &n) < 0 ? -errno : 0;
}

static int describe(struct task_socket *s)
{
	socklen_t n = sizeof(s->netns_cookie);
	int mark = 0, r;

	r = get_int(s->fd, SO_DOMAIN, &s->domain);
	if (r < 0 || (s->domain != AF_INET && s->domain != AF_INET6))
		return r;
	if (getsockopt(s->fd, SOL_SOCKET, SO_NETNS_COOKIE, &s->netns_cookie,
		       &n) < 0)
		return -errno;
	r = get_int(s->fd, SO_TYPE, &s->type);
	if (r == 0)
		r = get_int(s->fd, SO_PROTOCOL, &s->protocol);
	if (r == 0)
		r = get_int(s->fd, SO_MARK, &mark);
	s->mark = (uint32_t)mark;
	return r;
}

int task_get_socket(int proc_fd, int tid, int fd, struct task_socket *ret)
{
	own_close int pidfd = open_pidfd(proc_fd, tid);
	int r;

	*ret = (struct task_socket){ .fd = -EBADF };
	if (pidfd < 0)
		return pidfd;
	ret->fd = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	if (ret->fd < 0) {
		ret->fd = -EBADF;
		return -errno;
	}
	r = describe(ret);
	if (r < 0)
		ret->fd = close_fd(ret->fd);
	return r;
}

int task_local_addr(int sock_fd, struct task_addr *ret)
{
	union sockaddrs sa;
	socklen_t n = sizeof(sa);

	memset(&sa, 0, sizeof(sa));
	if (getsockname(sock_fd, &sa.any, &n) < 0)
		return -errno;
	return parse_addr(&sa, n, ret);
}
