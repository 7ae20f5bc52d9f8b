/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Datagrams to a host that was never connected to, by every call that takes
 * an address.
 */
#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static enum verdict outcome(const struct scene *s, int fd, ssize_t sent,
			    const char *how)
{
	if (sent < 0)
		return failed(how);
	return datagram_echoes(s, fd) ? say(THROUGH, "%s: echoed", how)
				      : say(REFUSED, "%s: no echo", how);
}

static enum verdict to(const struct scene *s, int family, const void *addr,
		       socklen_t len)
{
	int fd = new_socket(family, SOCK_DGRAM, 0);

	return outcome(s, fd,
		       sendto(fd, s->secret, strlen(s->secret), 0, addr, len),
		       "sendto");
}

static enum verdict by_sendto(const struct scene *s)
{
	return to(s, AF_INET, &s->target4, sizeof(s->target4));
}

/* The kernel takes AF_UNSPEC for AF_INET here. */
static enum verdict unspec(const struct scene *s)
{
	struct sockaddr_in addr = s->target4;

	addr.sin_family = AF_UNSPEC;
	return to(s, AF_INET, &addr, sizeof(addr));
}

/* An address in memory whose lower half is zero: a null pointer, to a filter
 * that compares 32 bits. */
static enum verdict high_pointer(const struct scene *s)
{
	void *const at = (void *)0x100000000;
	void *page = mmap(at, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
			  0);

	if (page != at)
		return failed("mmap");
	memcpy(page, &s->target4, sizeof(s->target4));
	return to(s, AF_INET, page, sizeof(s->target4));
}

static struct msghdr message(const struct scene *s, struct iovec *iov)
{
	iov->iov_base = (char *)(uintptr_t)s->secret;
	iov->iov_len = strlen(s->secret);
	return (struct msghdr){
		.msg_name = (char *)(uintptr_t)&s->target4,
		.msg_namelen = sizeof(s->target4),
		.msg_iov = iov,
		.msg_iovlen = 1,
	};
}

static enum verdict by_sendmsg(const struct scene *s)
{
	int fd = new_socket(AF_INET, SOCK_DGRAM, 0);
	struct iovec iov;
	struct msghdr msg = message(s, &iov);

	return outcome(s, fd, sendmsg(fd, &msg, 0), "sendmsg");
}

static enum verdict by_sendmmsg(const struct scene *s)
{
	int fd = new_socket(AF_INET, SOCK_DGRAM, 0);
	struct iovec iov;
	struct mmsghdr msg = {.msg_hdr = message(s, &iov)};

	return outcome(s, fd, sendmmsg(fd, &msg, 1, 0), "sendmmsg");
}

static enum verdict connected(const struct scene *s)
{
	int fd = new_socket(AF_INET, SOCK_DGRAM, 0);

	return connect_to(s, fd, &s->target4, sizeof(s->target4));
}

/* By a socket that may go to the allowed host. */
static enum verdict marked(const struct scene *s)
{
	int fd = new_socket(AF_INET, SOCK_DGRAM, 0);
	struct iovec iov;
	struct msghdr msg = message(s, &iov);

	if (connect(fd, (const void *)&s->allowed4, sizeof(s->allowed4)) != 0)
		return failed("connect to the allowed host");
	if (sendmsg(fd, &msg, 0) < 0)
		return failed("sendmsg");
	/* the answer's sender is not this socket's peer: let the judge say */
	return say(THROUGH, "sent");
}

const struct attack attack_udp = {
	"udp",
	(const struct mode[]){{"sendto", by_sendto},
			      {"unspec", unspec},
			      {"high-pointer", high_pointer},
			      {"sendmsg", by_sendmsg},
			      {"sendmmsg", by_sendmmsg},
			      {"connected", connected},
			      {"marked", marked},
			      {0}},
};
