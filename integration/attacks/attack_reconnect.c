/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A socket that was allowed once is used again: disconnected with AF_UNSPEC
 * and connected to somebody else.
 */
#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int disconnect(int fd)
{
	const struct sockaddr nobody = {.sa_family = AF_UNSPEC};

	return connect(fd, &nobody, sizeof(nobody));
}

static enum verdict again(const struct scene *s, int type, bool apart)
{
	int fd = new_socket(AF_INET, type, 0);

	if (connect(fd, (const void *)&s->allowed4, sizeof(s->allowed4)) != 0)
		return say(UNTRIED, "the allowed connection failed");
	if (apart && disconnect(fd) != 0)
		return failed("connect(AF_UNSPEC)");
	return connect_to(s, fd, &s->target4, sizeof(s->target4));
}

static enum verdict tcp(const struct scene *s)
{
	return again(s, SOCK_STREAM, true);
}

static enum verdict udp(const struct scene *s)
{
	return again(s, SOCK_DGRAM, true);
}

static enum verdict udp_direct(const struct scene *s)
{
	return again(s, SOCK_DGRAM, false);
}

/* Connected to itself first, so that the kernel knows the flow. */
static enum verdict self(const struct scene *s)
{
	struct sockaddr_in own = s->own4;
	socklen_t len = sizeof(own);
	int fd = new_socket(AF_INET, SOCK_STREAM, 0);

	if (bind(fd, (const void *)&own, len) != 0 ||
	    getsockname(fd, (void *)&own, &len) != 0)
		return failed("bind");
	if (connect(fd, (const void *)&own, len) != 0)
		return failed("connect to itself");
	if (disconnect(fd) != 0)
		return failed("connect(AF_UNSPEC)");
	return connect_to(s, fd, &s->target4, sizeof(s->target4));
}

const struct attack attack_reconnect = {
	"reconnect",
	(const struct mode[]){{"tcp", tcp},
			      {"udp", udp},
			      {"udp-direct", udp_direct},
			      {"self", self},
			      {0}},
};
