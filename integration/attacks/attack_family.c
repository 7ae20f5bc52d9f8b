/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets of other families and transports than the filter mediates: some
 * leave the namespace, some have paths of their own through the kernel.
 */
#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#ifndef AF_SMC
#define AF_SMC 43
#endif
#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

/* The socket alone is the hole: what it could reach is not this machine's. */
static enum verdict opens(int family, int type, int protocol)
{
	if (new_socket(family, type, protocol) < 0)
		return failed("socket");
	return say(THROUGH, "the socket is open");
}

static enum verdict vsock(const struct scene *s)
{
	(void)s;
	return opens(AF_VSOCK, SOCK_STREAM, 0);
}

static enum verdict alg(const struct scene *s)
{
	(void)s;
	return opens(AF_ALG, SOCK_SEQPACKET, 0);
}

static enum verdict smc(const struct scene *s)
{
	(void)s;
	return opens(AF_SMC, SOCK_STREAM, 0);
}

static enum verdict xdp(const struct scene *s)
{
	(void)s;
	return opens(AF_XDP, SOCK_RAW, 0);
}

static enum verdict reach(const struct scene *s, int type, int protocol)
{
	int fd = new_socket(AF_INET, type, protocol);

	if (fd < 0)
		return failed("socket");
	if (connect(fd, (const void *)&s->target4, sizeof(s->target4)) != 0)
		return failed("connect");
	if (send(fd, s->secret, strlen(s->secret), MSG_NOSIGNAL) < 0)
		return failed("send");
	return say(THROUGH, "sent");
}

static enum verdict mptcp(const struct scene *s)
{
	int fd = new_socket(AF_INET, SOCK_STREAM, IPPROTO_MPTCP);

	if (fd < 0)
		return failed("socket");
	return connect_to(s, fd, &s->target4, sizeof(s->target4));
}

static enum verdict sctp(const struct scene *s)
{
	return reach(s, SOCK_STREAM, IPPROTO_SCTP);
}

static enum verdict sctp_many(const struct scene *s)
{
	int fd = new_socket(AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP);

	if (fd < 0)
		return failed("socket");
	if (sendto(fd, s->secret, strlen(s->secret), 0,
		   (const void *)&s->target4, sizeof(s->target4)) < 0)
		return failed("sendto");
	return say(THROUGH, "sent");
}

static enum verdict udplite(const struct scene *s)
{
	return reach(s, SOCK_DGRAM, IPPROTO_UDPLITE);
}

static enum verdict dccp(const struct scene *s)
{
	return reach(s, 6, IPPROTO_DCCP);
}

static enum verdict l2tp(const struct scene *s)
{
	return reach(s, SOCK_DGRAM, 115);
}

/* socketpair() is another way to a socket. */
static enum verdict pair(const struct scene *s)
{
	int fds[2];

	(void)s;
	if (socketpair(AF_TIPC, SOCK_STREAM, 0, fds) != 0)
		return failed("socketpair");
	return say(THROUGH, "the sockets are open");
}

const struct attack attack_family = {
	"family",
	(const struct mode[]){{"vsock", vsock},
			      {"alg", alg},
			      {"smc", smc},
			      {"xdp", xdp},
			      {"mptcp", mptcp},
			      {"sctp", sctp},
			      {"sctp-many", sctp_many},
			      {"udplite", udplite},
			      {"dccp", dccp},
			      {"l2tp", l2tp},
			      {"tipc-pair", pair},
			      {0}},
};
