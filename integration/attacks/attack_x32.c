/* SPDX-License-Identifier: Apache-2.0 */
/* The x32 ABI: x86-64's audit architecture, other numbers. */
#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { X32_BIT = 0x40000000 };

#ifdef __x86_64__
/* ENOSYS is what a kernel without x32 says, and what the filter says. */
static enum verdict outcome(const struct scene *s, int fd, long result,
			    const char *what)
{
	if (result < 0 && errno == ENOSYS)
		return say(UNTRIED, "%s: %s", what, strerror(errno));
	if (result < 0)
		return failed(what);
	return fd < 0 || stream_reaches(fd, "evil here") ||
			       datagram_echoes(s, fd)
		       ? say(THROUGH, "%s: done", what)
		       : say(REFUSED, "%s: not answered", what);
}

static enum verdict by_connect(const struct scene *s)
{
	int fd = new_socket(AF_INET, SOCK_STREAM, 0);

	return outcome(s, fd,
		       syscall(X32_BIT + SYS_connect, fd, &s->target4,
			       sizeof(s->target4)),
		       "connect");
}

static enum verdict by_socket(const struct scene *s)
{
	return outcome(s, -1,
		       syscall(X32_BIT + SYS_socket, AF_VSOCK, SOCK_STREAM, 0),
		       "socket");
}
#else
static enum verdict by_connect(const struct scene *s)
{
	(void)s;
	return say(UNTRIED, "no x32 on this architecture");
}
#define by_socket by_connect
#endif

const struct attack attack_x32 = {
	"x32",
	(const struct mode[]){
		{"connect", by_connect}, {"socket", by_socket}, {0}},
};
