/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TCP Fast Open: a connection that no connect(2) makes, with data in its SYN.
 */
#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

static char request[] = "GET / HTTP/1.0\r\n\r\n";

static struct msghdr message(const struct scene *s, struct iovec *iov)
{
	iov->iov_base = request;
	iov->iov_len = sizeof(request) - 1;
	return (struct msghdr){
		.msg_name = (char *)(uintptr_t)&s->target4,
		.msg_namelen = sizeof(s->target4),
		.msg_iov = iov,
		.msg_iovlen = 1,
	};
}

static enum verdict outcome(int fd, ssize_t sent, const char *how)
{
	char answer[512];
	ssize_t n, len = 0;

	if (sent < 0)
		return failed(how);
	while (len < 511 &&
	       (n = recv(fd, answer + len, 511 - (size_t)len, 0)) > 0)
		len += n;
	answer[len] = '\0';
	return strstr(answer, "evil here") ? say(THROUGH, "%s: answered", how)
					   : say(REFUSED, "%s: no answer", how);
}

static enum verdict by_sendto(const struct scene *s)
{
	int fd = new_socket(AF_INET, SOCK_STREAM, 0);

	return outcome(fd,
		       sendto(fd, request, sizeof(request) - 1, MSG_FASTOPEN,
			      (const void *)&s->target4, sizeof(s->target4)),
		       "sendto");
}

static enum verdict by_sendmsg(const struct scene *s)
{
	int fd = new_socket(AF_INET, SOCK_STREAM, 0);
	struct iovec iov;
	struct msghdr msg = message(s, &iov);

	return outcome(fd, sendmsg(fd, &msg, MSG_FASTOPEN), "sendmsg");
}

static enum verdict by_sendmmsg(const struct scene *s)
{
	int fd = new_socket(AF_INET, SOCK_STREAM, 0);
	struct iovec iov;
	struct mmsghdr msg = {.msg_hdr = message(s, &iov)};

	return outcome(fd, sendmmsg(fd, &msg, 1, MSG_FASTOPEN), "sendmmsg");
}

/* The connect succeeds at once, the first write is what connects. */
static enum verdict deferred(const struct scene *s)
{
	int fd = new_socket(AF_INET, SOCK_STREAM, 0);
	const int on = 1;

	if (setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &on, sizeof(on)))
		return failed("TCP_FASTOPEN_CONNECT");
	if (connect(fd, (const void *)&s->target4, sizeof(s->target4)) != 0)
		return failed("connect");
	return outcome(fd, send(fd, request, sizeof(request) - 1, 0), "send");
}

/* On a socket that has been allowed to go somewhere else. */
static enum verdict marked(const struct scene *s)
{
	const struct sockaddr nobody = {.sa_family = AF_UNSPEC};
	int fd = new_socket(AF_INET, SOCK_STREAM, 0);
	struct iovec iov;
	struct msghdr msg = message(s, &iov);

	if (connect(fd, (const void *)&s->allowed4, sizeof(s->allowed4)) != 0)
		return say(UNTRIED, "the allowed connection failed");
	if (connect(fd, &nobody, sizeof(nobody)) != 0)
		return failed("connect(AF_UNSPEC)");
	return outcome(fd, sendmsg(fd, &msg, MSG_FASTOPEN), "sendmsg");
}

/*
 * On a socket whose allowed connection was refused by that host: it is closed
 * again, without another connect(2), and keeps what it was allowed.
 */
static enum verdict refused_first(const struct scene *s)
{
	int fd = new_socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in closed = s->allowed4;
	struct iovec iov;
	struct msghdr msg = message(s, &iov);

	closed.sin_port = s->closed_port;
	if (connect(fd, (const void *)&closed, sizeof(closed)) == 0 ||
	    errno != ECONNREFUSED)
		return say(UNTRIED, "the allowed connection was not made");
	hold_until(s->halfway);
	return outcome(fd, sendmsg(fd, &msg, MSG_FASTOPEN), "sendmsg");
}

const struct attack attack_fastopen = {
	"fastopen",
	(const struct mode[]){{"sendto", by_sendto},
			      {"sendmsg", by_sendmsg},
			      {"sendmmsg", by_sendmmsg},
			      {"deferred", deferred},
			      {"marked", marked},
			      {"refused-first", refused_first},
			      {0}},
};
