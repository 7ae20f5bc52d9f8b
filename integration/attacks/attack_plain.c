/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No trick at all: what the policy refuses, asked for politely; and what it
 * allows, for the tests that need to see that the sandbox still works.
 */
#define _GNU_SOURCE
#include "attack.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static enum verdict target(const struct scene *s)
{
	int fd = new_socket(AF_INET, SOCK_STREAM, 0);

	return connect_to(s, fd, &s->target4, sizeof(s->target4));
}

/* The allowed host's other port. */
static enum verdict port(const struct scene *s)
{
	struct sockaddr_in addr = s->allowed4;
	int fd = new_socket(AF_INET, SOCK_STREAM, 0);

	addr.sin_port = htons(8080);
	if (connect(fd, (const void *)&addr, sizeof(addr)) != 0)
		return failed("connect");
	return say(THROUGH, "connected");
}

static enum verdict use(const struct scene *s, const struct in_addr *to)
{
	struct sockaddr_in addr = s->allowed4;
	int fd = new_socket(AF_INET, SOCK_STREAM, 0);

	addr.sin_addr = *to;
	if (connect(fd, (const void *)&addr, sizeof(addr)) != 0)
		return failed("connect");
	return stream_reaches(fd, " here") ? say(THROUGH, "answered")
					   : say(REFUSED, "not answered");
}

/* As resolver libraries do: a datagram that nobody answers is sent again. */
static int ask(const struct sockaddr_in *server, const char *name,
	       struct in_addr *ret_addr)
{
	int rcode = -1;

	for (int i = 0; rcode < 0 && i < 5; i++)
		rcode = dns_ask(server, SOCK_DGRAM, name, ret_addr);
	return rcode;
}

/* What is allowed: ask for the name, as every program does, and connect. */
enum verdict reach_allowed(const struct scene *s)
{
	struct sockaddr_in server;
	struct in_addr addr;

	if (!dns_server(&server))
		return say(UNTRIED, "/etc/resolv.conf: no nameserver");
	if (ask(&server, s->name, &addr) != 0 || !addr.s_addr)
		return say(REFUSED, "no address for %s", s->name);
	return use(s, &addr);
}

/* The same without asking: THROUGH only while an earlier answer holds. */
static enum verdict address(const struct scene *s)
{
	return use(s, &s->allowed4.sin_addr);
}

/* A name that the policy allows, whose answer it must not follow. */
static enum verdict bait(const struct scene *s)
{
	struct sockaddr_in server;
	struct in_addr addr;

	if (!dns_server(&server))
		return say(UNTRIED, "/etc/resolv.conf: no nameserver");
	if (ask(&server, s->bait, &addr) != 0 || !addr.s_addr)
		return say(REFUSED, "no address for %s", s->bait);
	return use(s, &addr);
}

static enum verdict metadata(const struct scene *s)
{
	struct sockaddr_in addr = s->target4;
	int fd = new_socket(AF_INET, SOCK_STREAM, 0);

	inet_pton(AF_INET, "169.254.169.254", &addr.sin_addr);
	return connect_to(s, fd, &addr, sizeof(addr));
}

/* So many tries at once that somebody who decides might lose count. */
static void hammer(const struct scene *s)
{
	int64_t end = now_us() + 2 * 1000000;

	while (now_us() < end) {
		int fd = new_socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

		connect(fd, (const void *)&s->target4, sizeof(s->target4));
		close(fd);
	}
}

static enum verdict flood(const struct scene *s)
{
	enum { CHILDREN = 64 };
	pid_t child[CHILDREN];
	enum verdict verdict;

	for (int i = 0; i < CHILDREN; i++) {
		child[i] = fork();
		if (child[i] == 0) {
			hammer(s);
			_exit(0);
		}
	}
	verdict = target(s);
	for (int i = 0; i < CHILDREN; i++)
		waitpid(child[i], NULL, 0);
	/* what is allowed must be so again */
	if (reach_allowed(s) != THROUGH)
		return say(UNTRIED, "the allowed host is out of reach now");
	return verdict == THROUGH ? verdict : target(s);
}

const struct attack attack_plain = {
	"plain",
	(const struct mode[]){{"target", target},
			      {"port", port},
			      {"allowed", reach_allowed},
			      {"address", address},
			      {"bait", bait},
			      {"metadata", metadata},
			      {"flood", flood},
			      {0}},
};
