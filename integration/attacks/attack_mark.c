/* SPDX-License-Identifier: Apache-2.0 */
/* Marks that the agent puts on its own packets and sockets. */
#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static enum verdict by_setsockopt(const struct scene *s)
{
	static const uint32_t likely[] = {0x80000000, 0x7fffffff, 0xffffffff,
					  0x40000000, 0xfffffffe};
	bool set = false;
	int fd = new_socket(AF_INET, SOCK_DGRAM, 0);

	for (uint32_t i = 1; i < 1024 + sizeof(likely) / sizeof(likely[0]);
	     i++) {
		uint32_t mark = i < 1024 ? i : likely[i - 1024];

		if (setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark)))
			continue;
		set = true;
		sendto(fd, s->secret, strlen(s->secret), 0,
		       (const void *)&s->target4, sizeof(s->target4));
	}
	if (!set)
		return failed("SO_MARK");
	return datagram_echoes(s, fd) ? say(THROUGH, "marked and echoed")
				      : say(REFUSED, "marked, no echo");
}

static enum verdict by_cmsg(const struct scene *s)
{
	union {
		char bytes[CMSG_SPACE(sizeof(uint32_t))];
		struct cmsghdr align;
	} control = {0};
	struct iovec iov = {(char *)(uintptr_t)s->secret, strlen(s->secret)};
	struct msghdr msg = {.msg_name = (char *)(uintptr_t)&s->target4,
			     .msg_namelen = sizeof(s->target4),
			     .msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control.bytes,
			     .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
	int fd = new_socket(AF_INET, SOCK_DGRAM, 0);
	bool sent = false;

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SO_MARK;
	cmsg->cmsg_len = CMSG_LEN(sizeof(uint32_t));
	for (uint32_t mark = 1; mark < 1024; mark++) {
		memcpy(CMSG_DATA(cmsg), &mark, sizeof(mark));
		sent |= sendmsg(fd, &msg, 0) >= 0;
	}
	if (!sent)
		return failed("sendmsg with a mark");
	return datagram_echoes(s, fd) ? say(THROUGH, "marked and echoed")
				      : say(REFUSED, "marked, no echo");
}

const struct attack attack_mark = {
	"mark",
	(const struct mode[]){
		{"setsockopt", by_setsockopt}, {"cmsg", by_cmsg}, {0}},
};
