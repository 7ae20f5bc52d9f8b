/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The target begins: it connects to the sandbox, over and over, from its port
 * (the harness makes it). Whoever is let in is talked to both ways.
 */
#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { PORT = 7000 };

static int own_port(const struct scene *s, int type)
{
	const int on = 1;
	struct sockaddr_in own = s->own4;
	int fd = new_socket(AF_INET, type, 0);

	own.sin_port = htons(PORT);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (const void *)&own, sizeof(own)) != 0)
		return -1;
	return fd;
}

/* A server of the agent's; for policies that close the sandbox to callers. */
static enum verdict listening(const struct scene *s)
{
	int fd = own_port(s, SOCK_STREAM);
	struct pollfd pfd = {.fd = fd, .events = POLLIN};

	if (fd < 0)
		return failed("bind");
	if (listen(fd, 8) != 0)
		return failed("listen");
	return poll(&pfd, 1, 3000) == 1 ? say(THROUGH, "called")
					: say(REFUSED, "nobody called");
}

/* A datagram that came in opens the way back. */
static enum verdict datagram(const struct scene *s)
{
	int fd = own_port(s, SOCK_DGRAM);
	struct pollfd pfd = {.fd = fd, .events = POLLIN};

	if (fd < 0)
		return failed("bind");
	return poll(&pfd, 1, 3000) == 1 ? say(THROUGH, "called")
					: say(REFUSED, "nobody called");
}

static struct sockaddr_in swapped;
static const struct scene *scene;
static atomic_bool stop;

static void *swapper(void *unused)
{
	volatile in_addr_t *at = &swapped.sin_addr.s_addr;

	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		for (int i = 0; i < 64; i++) {
			*at = scene->allowed4.sin_addr.s_addr;
			*at = scene->target4.sin_addr.s_addr;
		}
	}
	return unused;
}

/*
 * Simultaneous open (RFC 9293, 3.5): both ends send a SYN. Ours is dropped,
 * but theirs may find a socket that waits for it. The address is swapped, so
 * that the connect itself gets past the check.
 */
static enum verdict simultaneous(const struct scene *s)
{
	const struct linger reset = {.l_onoff = 1};
	int64_t end = now_us() + 15 * 1000000;
	pthread_t thread;
	unsigned int i;
	bool won = false;

	scene = s;
	swapped = s->target4;
	if (pthread_create(&thread, NULL, swapper, NULL) != 0)
		return say(UNTRIED, "no second thread");
	for (i = 0; i < s->tries && !won && now_us() < end; i++) {
		int fd = own_port(s, SOCK_STREAM | SOCK_NONBLOCK);
		struct pollfd pfd = {.fd = fd, .events = POLLOUT};

		setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		if (fd >= 0 &&
		    connect(fd, (const void *)&swapped, sizeof(swapped)) != 0 &&
		    errno == EINPROGRESS && poll(&pfd, 1, 20) == 1 &&
		    !(pfd.revents & (POLLERR | POLLHUP)))
			won = same_peer(fd, &s->target4);
		close(fd);
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	return say(won ? THROUGH : REFUSED, "%u tries", i);
}

const struct attack attack_inbound = {
	"inbound",
	(const struct mode[]){{"listening", listening},
			      {"datagram", datagram},
			      {"simultaneous", simultaneous},
			      {0}},
};
