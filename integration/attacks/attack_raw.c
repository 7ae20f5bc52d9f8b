/* SPDX-License-Identifier: Apache-2.0 */
/* Packets made by hand, beneath the protocols that the filter mediates. */
#define _GNU_SOURCE
#include "attack.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/icmp6.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <netinet/udp.h>
#include <string.h>
#include <unistd.h>

static enum verdict sent(int fd, const void *data, size_t len, const void *to,
			 socklen_t to_len)
{
	if (sendto(fd, data, len, 0, to, to_len) < 0)
		return failed("sendto");
	return say(THROUGH, "sent");
}

/* A whole IPv4 packet, header included. */
static enum verdict header(const struct scene *s)
{
	struct {
		struct iphdr ip;
		struct udphdr udp;
		char text[16];
	} packet = {0};
	int fd = new_socket(AF_INET, SOCK_RAW, IPPROTO_RAW);

	if (fd < 0)
		return failed("socket(SOCK_RAW)");
	packet.ip.version = 4;
	packet.ip.ihl = 5;
	packet.ip.ttl = 64;
	packet.ip.protocol = IPPROTO_UDP;
	packet.ip.tot_len = htons(sizeof(packet));
	packet.ip.daddr = s->target4.sin_addr.s_addr;
	packet.udp.source = htons(4000);
	packet.udp.dest = s->target4.sin_port;
	packet.udp.len = htons(sizeof(packet) - sizeof(packet.ip));
	memcpy(packet.text, s->secret, strnlen(s->secret, 15));
	return sent(fd, &packet, sizeof(packet), &s->target4,
		    sizeof(s->target4));
}

static enum verdict udp4(const struct scene *s)
{
	struct udphdr udp = {.source = htons(4000),
			     .dest = s->target4.sin_port,
			     .len = htons(sizeof(udp))};
	int fd = new_socket(AF_INET, SOCK_RAW, IPPROTO_UDP);

	if (fd < 0)
		return failed("socket(SOCK_RAW)");
	return sent(fd, &udp, sizeof(udp), &s->target4, sizeof(s->target4));
}

/* A protocol number that no rule names. */
static enum verdict unassigned(const struct scene *s)
{
	int fd = new_socket(AF_INET, SOCK_RAW, 253);

	if (fd < 0)
		return failed("socket(SOCK_RAW)");
	return sent(fd, s->secret, strlen(s->secret), &s->target4,
		    sizeof(s->target4));
}

static enum verdict icmp6(const struct scene *s)
{
	struct sockaddr_in6 to = s->target6;
	struct icmp6_hdr icmp = {.icmp6_type = ICMP6_ECHO_REQUEST};
	int fd = new_socket(AF_INET6, SOCK_RAW, IPPROTO_ICMPV6);

	if (fd < 0)
		return failed("socket(SOCK_RAW)");
	to.sin6_port = 0;
	return sent(fd, &icmp, sizeof(icmp), &to, sizeof(to));
}

/* Unprivileged echo requests, where net.ipv4.ping_group_range allows them. */
static enum verdict ping4(const struct scene *s)
{
	struct icmphdr icmp = {.type = ICMP_ECHO};
	char answer[64];
	int fd = new_socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP);

	if (fd < 0)
		return failed("socket(IPPROTO_ICMP)");
	if (sendto(fd, &icmp, sizeof(icmp), 0, (const void *)&s->target4,
		   sizeof(s->target4)) < 0)
		return failed("sendto");
	return recv(fd, answer, sizeof(answer), 0) > 0
		       ? say(THROUGH, "echoed")
		       : say(REFUSED, "sent, not echoed");
}

static enum verdict ping6(const struct scene *s)
{
	struct icmp6_hdr icmp = {.icmp6_type = ICMP6_ECHO_REQUEST};
	char answer[64];
	int fd = new_socket(AF_INET6, SOCK_DGRAM, IPPROTO_ICMPV6);

	if (fd < 0)
		return failed("socket(IPPROTO_ICMPV6)");
	if (sendto(fd, &icmp, sizeof(icmp), 0, (const void *)&s->target6,
		   sizeof(s->target6)) < 0)
		return failed("sendto");
	return recv(fd, answer, sizeof(answer), 0) > 0
		       ? say(THROUGH, "echoed")
		       : say(REFUSED, "sent, not echoed");
}

const struct attack attack_raw = {
	"raw",
	(const struct mode[]){{"header", header},
			      {"udp", udp4},
			      {"unassigned", unassigned},
			      {"icmp6", icmp6},
			      {"ping4", ping4},
			      {"ping6", ping6},
			      {0}},
};
