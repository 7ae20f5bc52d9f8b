/* SPDX-License-Identifier: Apache-2.0 */
/* The same host by every other way of writing its address. */
#define _GNU_SOURCE
#include "attack.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

static struct sockaddr_in6 mapped(const struct sockaddr_in *addr)
{
	struct sockaddr_in6 to = {.sin6_family = AF_INET6,
				  .sin6_port = addr->sin_port};

	inet_pton(AF_INET6, "::ffff:0.0.0.0", &to.sin6_addr);
	memcpy(&to.sin6_addr.s6_addr[12], &addr->sin_addr, 4);
	return to;
}

static enum verdict reach(const struct scene *s, int type,
			  const struct sockaddr_in6 *to)
{
	return connect_to(s, new_socket(AF_INET6, type, 0), to, sizeof(*to));
}

static enum verdict tcp(const struct scene *s)
{
	return reach(s, SOCK_STREAM, &s->target6);
}

static enum verdict udp(const struct scene *s)
{
	return reach(s, SOCK_DGRAM, &s->target6);
}

static enum verdict mapped_tcp(const struct scene *s)
{
	struct sockaddr_in6 to = mapped(&s->target4);

	return reach(s, SOCK_STREAM, &to);
}

static enum verdict mapped_udp(const struct scene *s)
{
	struct sockaddr_in6 to = mapped(&s->target4);

	return reach(s, SOCK_DGRAM, &to);
}

static enum verdict mapped_sendmsg(const struct scene *s)
{
	struct sockaddr_in6 to = mapped(&s->target4);
	struct iovec iov = {(char *)(uintptr_t)s->secret, strlen(s->secret)};
	struct msghdr msg = {.msg_name = &to,
			     .msg_namelen = sizeof(to),
			     .msg_iov = &iov,
			     .msg_iovlen = 1};
	int fd = new_socket(AF_INET6, SOCK_DGRAM, 0);

	if (sendmsg(fd, &msg, 0) < 0)
		return failed("sendmsg");
	return datagram_echoes(s, fd) ? say(THROUGH, "echoed")
				      : say(REFUSED, "sent, not echoed");
}

/* An IPv6 datagram socket takes an IPv4 address as it is. */
static enum verdict inet_on_inet6(const struct scene *s)
{
	return connect_to(s, new_socket(AF_INET6, SOCK_DGRAM, 0), &s->target4,
			  sizeof(s->target4));
}

static enum verdict link_tcp(const struct scene *s)
{
	return reach(s, SOCK_STREAM, &s->link6);
}

static enum verdict link_udp(const struct scene *s)
{
	return reach(s, SOCK_DGRAM, &s->link6);
}

/* Converted to an IPv4 socket after it was allowed (RFC 3493, ADDRFORM). */
static enum verdict addrform(const struct scene *s)
{
	struct sockaddr_in6 allowed = mapped(&s->allowed4);
	const int family = AF_INET;
	const struct sockaddr nobody = {.sa_family = AF_UNSPEC};
	int fd = new_socket(AF_INET6, SOCK_STREAM, 0);

	if (connect(fd, (const void *)&allowed, sizeof(allowed)) != 0)
		return say(UNTRIED, "the allowed connect failed");
	if (setsockopt(fd, IPPROTO_IPV6, IPV6_ADDRFORM, &family,
		       sizeof(family)) != 0)
		return failed("IPV6_ADDRFORM");
	if (connect(fd, &nobody, sizeof(nobody)) != 0)
		return failed("connect(AF_UNSPEC)");
	return connect_to(s, fd, &s->target4, sizeof(s->target4));
}

const struct attack attack_ipv6 = {
	"ipv6",
	(const struct mode[]){{"tcp", tcp},
			      {"udp", udp},
			      {"mapped-tcp", mapped_tcp},
			      {"mapped-udp", mapped_udp},
			      {"mapped-sendmsg", mapped_sendmsg},
			      {"inet-on-inet6", inet_on_inet6},
			      {"link-tcp", link_tcp},
			      {"link-udp", link_udp},
			      {"addrform", addrform},
			      {0}},
};
