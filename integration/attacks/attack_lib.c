/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "attack.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum verdict say(enum verdict verdict, const char *format, ...)
{
	static const char *const names[] = {"through", "refused", "untried"};
	va_list ap;

	printf("%s: ", names[verdict]);
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
	return verdict;
}

enum verdict failed(const char *action)
{
	switch (errno) {
	case EAFNOSUPPORT:
	case EPROTONOSUPPORT:
	case ESOCKTNOSUPPORT:
	case ENOPROTOOPT:
		return say(UNTRIED, "%s: %s", action, strerror(errno));
	default:
		return say(REFUSED, "%s: %s", action, strerror(errno));
	}
}

int new_socket(int family, int type, int protocol)
{
	const struct timeval second = {.tv_sec = 1};
	int fd = socket(family, type | SOCK_CLOEXEC, protocol);

	if (fd >= 0) {
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &second,
			   sizeof(second));
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &second,
			   sizeof(second));
	}
	return fd;
}

bool stream_reaches(int fd, const char *whose)
{
	static const char request[] = "GET / HTTP/1.0\r\n\r\n";
	char answer[512];
	size_t len = 0;
	ssize_t n;

	/* a connection made by Fast Open has sent its own request already */
	if (send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) < 0)
		return false;
	while (len < sizeof(answer) - 1 &&
	       (n = recv(fd, answer + len, sizeof(answer) - 1 - len, 0)) > 0)
		len += (size_t)n;
	answer[len] = '\0';
	return strstr(answer, whose) != NULL;
}

bool datagram_echoes(const struct scene *scene, int fd)
{
	char answer[64];
	size_t len = strlen(scene->secret);

	return recv(fd, answer, sizeof(answer), 0) == (ssize_t)len &&
	       memcmp(answer, scene->secret, len) == 0;
}

enum verdict connect_to(const struct scene *scene, int fd, const void *addr,
			socklen_t len)
{
	int type = SOCK_STREAM;
	socklen_t size = sizeof(type);

	if (connect(fd, addr, len) != 0)
		return failed("connect");
	getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size);
	if (type == SOCK_STREAM)
		return stream_reaches(fd, "evil here")
			       ? say(THROUGH, "connected and answered")
			       : say(REFUSED, "connected, not answered");
	if (send(fd, scene->secret, strlen(scene->secret), 0) < 0)
		return failed("send");
	return datagram_echoes(scene, fd) ? say(THROUGH, "echoed")
					  : say(REFUSED, "sent, not echoed");
}

void hold_until(const char *path)
{
	if (!path)
		return;
	puts("waiting");
	fflush(stdout);
	for (int i = 0; i < 3000 && access(path, F_OK) != 0; i++)
		usleep(10000);
}

bool same_peer(int fd, const struct sockaddr_in *addr)
{
	struct sockaddr_in peer;
	socklen_t len = sizeof(peer);

	return getpeername(fd, (struct sockaddr *)&peer, &len) == 0 &&
	       peer.sin_family == AF_INET &&
	       peer.sin_addr.s_addr == addr->sin_addr.s_addr;
}

unsigned int interface_index(void)
{
	return if_nametoindex("eth0");
}

int64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

/* ------------------------------------------------------------- names */

static size_t put16(uint8_t *at, unsigned int value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
	return 2;
}

static size_t put_name(uint8_t *at, const char *name)
{
	uint8_t *start = at;

	while (*name) {
		size_t len = strcspn(name, ".");

		*at++ = (uint8_t)len;
		memcpy(at, name, len);
		at += len;
		name += len + (name[len] == '.');
	}
	*at++ = 0;
	return (size_t)(at - start);
}

size_t dns_message(uint8_t *buf, size_t size, uint16_t id, const char *name,
		   const struct in_addr *addr)
{
	size_t at = 0;

	if (size < 64 + 2 * strlen(name))
		return 0;
	memset(buf, 0, 12);
	put16(buf, id);
	put16(buf + 2, addr ? 0x8180 : 0x0100);
	put16(buf + 4, 1);
	put16(buf + 6, addr ? 1 : 0);
	at = 12;
	at += put_name(buf + at, name);
	at += put16(buf + at, 1);
	at += put16(buf + at, 1);
	if (addr) {
		at += put_name(buf + at, name);
		at += put16(buf + at, 1);
		at += put16(buf + at, 1);
		at += put16(buf + at, 0);
		at += put16(buf + at, 300);
		at += put16(buf + at, 4);
		memcpy(buf + at, addr, 4);
		at += 4;
	}
	return at;
}

/* The first A record behind the question, names being skipped. */
static void first_address(const uint8_t *msg, size_t len, struct in_addr *ret)
{
	size_t at = 12;
	unsigned int n = (unsigned int)(msg[6] << 8 | msg[7]);

	while (at < len && msg[at])
		at += 1U + msg[at];
	at += 5;
	while (n-- && at + 12 < len) {
		size_t size;

		while (at < len && msg[at] && msg[at] < 0xc0)
			at += 1U + msg[at];
		at += at < len && msg[at] ? 2 : 1;
		if (at + 10 > len)
			return;
		size = (size_t)(msg[at + 8] << 8 | msg[at + 9]);
		if (msg[at + 1] == 1 && size == 4 && at + 14 <= len) {
			memcpy(ret, msg + at + 10, 4);
			return;
		}
		at += 10 + size;
	}
}

int dns_ask(const struct sockaddr_in *server, int type, const char *name,
	    struct in_addr *ret_addr)
{
	uint8_t buf[514];
	ssize_t n;
	size_t len = dns_message(buf + 2, sizeof(buf) - 2, 0x4f53, name, NULL);
	size_t skip = type == SOCK_STREAM ? 0 : 2;
	int fd = new_socket(AF_INET, type, 0);

	ret_addr->s_addr = INADDR_ANY;
	put16(buf, (unsigned int)len);
	if (fd < 0 || connect(fd, (const void *)server, sizeof(*server)) != 0 ||
	    send(fd, buf + skip, len + 2 - skip, 0) < 0)
		n = -1;
	else
		n = recv(fd, buf + skip, sizeof(buf) - skip, 0);
	if (fd >= 0)
		close(fd);
	n -= 2 - (ssize_t)skip;
	if (n < 12)
		return -1;
	first_address(buf + 2, (size_t)n, ret_addr);
	return buf[2 + 3] & 15;
}

bool dns_server(struct sockaddr_in *ret_addr)
{
	FILE *file = fopen("/etc/resolv.conf", "re");
	char line[256], text[64];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = sscanf(line, "nameserver %63s", text) == 1 &&
			inet_pton(AF_INET, text, &ret_addr->sin_addr) == 1;
	if (file)
		fclose(file);
	ret_addr->sin_family = AF_INET;
	ret_addr->sin_port = htons(53);
	return found;
}
