/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments in, verdict out: see attack.h. */
#define _GNU_SOURCE
#include "attack.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct attack *const attacks[] = {
	&attack_plain,	  &attack_swap,	 &attack_dup2,	    &attack_reconnect,
	&attack_fastopen, &attack_udp,	 &attack_dns,	    &attack_freebind,
	&attack_mark,	  &attack_raw,	 &attack_packet,    &attack_family,
	&attack_netlink,  &attack_ipv6,	 &attack_multicast, &attack_route,
	&attack_uring,	  &attack_i386,	 &attack_x32,	    &attack_namespace,
	&attack_identity, &attack_trace, &attack_device,    &attack_inbound,
	&attack_kernel,
};
enum { N_ATTACKS = sizeof(attacks) / sizeof(attacks[0]) };

/* One key: exactly one of the setters is what its value becomes. */
struct key {
	const char *name;
	size_t offset;
	int kind; /* AF_INET, AF_INET6, or one of the others */
};
enum { TEXT = 1000, NUMBER, PORT };

static const struct key keys[] = {
	{"target", offsetof(struct scene, target4), AF_INET},
	{"target6", offsetof(struct scene, target6), AF_INET6},
	{"allowed", offsetof(struct scene, allowed4), AF_INET},
	{"allowed6", offsetof(struct scene, allowed6), AF_INET6},
	{"link6", offsetof(struct scene, link6), AF_INET6},
	{"own", offsetof(struct scene, own4), AF_INET},
	{"own6", offsetof(struct scene, own6), AF_INET6},
	{"port", offsetof(struct scene, target4.sin_port), PORT},
	{"aport", offsetof(struct scene, allowed4.sin_port), PORT},
	{"closed", offsetof(struct scene, closed_port), PORT},
	{"name", offsetof(struct scene, name), TEXT},
	{"bait", offsetof(struct scene, bait), TEXT},
	{"secret", offsetof(struct scene, secret), TEXT},
	{"permitted", offsetof(struct scene, permitted), TEXT},
	{"after", offsetof(struct scene, after), TEXT},
	{"halfway", offsetof(struct scene, halfway), TEXT},
	{"tries", offsetof(struct scene, tries), NUMBER},
};
enum { N_KEYS = sizeof(keys) / sizeof(keys[0]) };

static bool set_key(struct scene *scene, const struct key *key, char *value)
{
	char *at = (char *)scene + key->offset;
	in_port_t port;
	unsigned long number = strtoul(value, NULL, 10);
	unsigned int count = (unsigned int)number;

	switch (key->kind) {
	case AF_INET:
		return inet_pton(AF_INET, value,
				 &((struct sockaddr_in *)(void *)at)->sin_addr);
	case AF_INET6:
		return inet_pton(
			AF_INET6, value,
			&((struct sockaddr_in6 *)(void *)at)->sin6_addr);
	case PORT:
		port = htons((uint16_t)number);
		memcpy(at, &port, sizeof(port));
		return number > 0 && number < 65536;
	case NUMBER:
		memcpy(at, &count, sizeof(count));
		return number > 0;
	default:
		memcpy(at, &value, sizeof(value));
		return true;
	}
}

/* ask=NAME: as a program that means to connect to it would. */
static bool ask(const char *name)
{
	static const int types[] = {1, 28}; /* A, AAAA */
	struct sockaddr_in server;
	uint8_t buf[512];
	bool answered = dns_server(&server);

	for (int i = 0; i < 2 && answered; i++) {
		size_t len = dns_message(buf, sizeof(buf), 1, name, NULL);
		int fd = new_socket(AF_INET, SOCK_DGRAM, 0);

		buf[len - 3] = (uint8_t)types[i];
		answered = connect(fd, (const void *)&server, sizeof(server)) ==
				   0 &&
			   send(fd, buf, len, 0) == (ssize_t)len &&
			   recv(fd, buf, sizeof(buf), 0) > 12 &&
			   (buf[3] & 15) == 0;
		close(fd);
	}
	return answered;
}

static bool set(struct scene *scene, char *argument)
{
	char *value = strchr(argument, '=');

	if (!value)
		return false;
	*value++ = '\0';
	if (strcmp(argument, "ask") == 0)
		return ask(value);
	for (size_t i = 0; i < N_KEYS; i++)
		if (strcmp(argument, keys[i].name) == 0)
			return set_key(scene, &keys[i], value);
	return false;
}

static int usage(void)
{
	puts("attack CLASS MODE [KEY=VALUE...]; the classes and their modes:");
	for (size_t i = 0; i < N_ATTACKS; i++)
		for (const struct mode *m = attacks[i]->modes; m->name; m++)
			printf("%s %s\n", attacks[i]->name, m->name);
	return UNTRIED;
}

static const struct mode *find(const char *name, const char *mode)
{
	for (size_t i = 0; i < N_ATTACKS; i++) {
		if (strcmp(attacks[i]->name, name) != 0)
			continue;
		for (const struct mode *m = attacks[i]->modes; m->name; m++)
			if (strcmp(m->name, mode) == 0)
				return m;
	}
	return NULL;
}

static void complete(struct scene *scene)
{
	scene->target4.sin_family = AF_INET;
	scene->allowed4.sin_family = AF_INET;
	scene->own4.sin_family = AF_INET;
	scene->target6.sin6_family = AF_INET6;
	scene->allowed6.sin6_family = AF_INET6;
	scene->own6.sin6_family = AF_INET6;
	scene->link6.sin6_family = AF_INET6;
	scene->target6.sin6_port = scene->target4.sin_port;
	scene->link6.sin6_port = scene->target4.sin_port;
	scene->allowed6.sin6_port = scene->allowed4.sin_port;
	scene->link6.sin6_scope_id = interface_index();
}

int main(int argc, char **argv)
{
	struct scene scene = {
		.name = "api.github.com",
		.bait = "metadata.example.org",
		.secret = "canary",
		.permitted = "/usr/bin/permitted",
		.tries = 100000,
	};
	const struct mode *mode;

	if (argc < 3)
		return usage();
	mode = find(argv[1], argv[2]);
	if (!mode)
		return usage();
	for (int i = 3; i < argc; i++)
		if (!set(&scene, argv[i]))
			return (int)say(UNTRIED, "argument: %s", argv[i]);
	complete(&scene);
	signal(SIGPIPE, SIG_IGN);
	/* whatever blocks for ever was not let through */
	alarm(120);
	hold_until(scene.after);
	return (int)mode->run(&scene);
}
