/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a stopped task asked for: its call's arguments, its memory, its socket.
 * All of it is read from outside while the task waits; none of it is believed
 * to be what the kernel will use (another thread may change memory and
 * descriptors), which is why a decision binds a mark to its destination.
 */
#ifndef OSH_SHIM_NOTIFY_TASK_H
#define OSH_SHIM_NOTIFY_TASK_H

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/policy/match.h"

enum call_op {
	CALL_CONNECT,
	CALL_BIND,
	CALL_LISTEN,
	CALL_SENDTO,
	CALL_SOCKET, /* i386 socketcall only */
	CALL_OTHER,  /* nothing that the filter notifies */
	CALL_OP_N
};

struct call {
	enum call_op op;
	int fd;
	uint64_t addr; /* of a sockaddr in the task's memory */
	uint32_t addr_len;
	uint32_t flags;		    /* sendto */
	int domain, type, protocol; /* socket */
};

/*
 * Decode a notification. 0, -EFAULT where socketcall's arguments can't be
 * read, or another negative errno of the reading itself.
 */
int task_call(const struct seccomp_notif *n, struct call *ret);

enum task_family { FAMILY_OTHER, FAMILY_UNSPEC, FAMILY_INET };

struct task_addr {
	enum task_family family;
	struct match_ip ip; /* FAMILY_INET; of AF_UNSPEC what AF_INET says */
	uint16_t port;
};

/* The sockaddr of @c. Errors as task_call(); -EINVAL: shorter than its family
 * needs, which the kernel will refuse. */
int task_read_addr(int tid, const struct call *c, struct task_addr *ret);

struct task_socket {
	int fd; /* owned by the caller of task_get_socket() */
	int domain, type, protocol;
	uint64_t netns_cookie;
	uint32_t mark;
};

/*
 * Duplicate descriptor @fd of thread @tid. -EBADF: it has none of that number;
 * -ENOTSOCK: it is no socket; -ESRCH: the thread is gone; else a failure.
 */
int task_get_socket(int proc_fd, int tid, int fd, struct task_socket *ret);

/* The local address of @sock_fd; the port is 0 when it is not bound. */
int task_local_addr(int sock_fd, struct task_addr *ret);

#endif
