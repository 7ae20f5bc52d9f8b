/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The 32-bit system calls of an x86-64 kernel, by int 0x80: other numbers, the
 * audit architecture of i386, and socketcall(2), whose arguments are in memory.
 * A 64-bit program may make them as long as its pointers have 32 bits, so that
 * no 32-bit C library is needed.
 */
#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <linux/net.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __x86_64__

enum { /* arch/x86/entry/syscalls/syscall_32.tbl */
       I386_PTRACE = 26,
       I386_SOCKETCALL = 102,
       I386_UNSHARE = 310,
       I386_SOCKET = 359,
       I386_CONNECT = 362,
       I386_SENDTO = 369,
       I386_SENDMSG = 370,
       I386_IO_URING_SETUP = 425,
};

/* The page that both worlds can point to. */
struct low {
	struct sockaddr_in target;
	uint32_t args[6];
	uint32_t iov[2];
	uint32_t msg[7]; /* name, namelen, iov, iovlen, control, len, flags */
	char secret[64];
};
static struct low *low;

static uint32_t ptr(const void *p)
{
	return (uint32_t)(uintptr_t)p;
}

static long i386(long nr, long a, long b, long c, long d, long e, long f)
{
	long ret;

	/* the sixth argument is in ebp, which the compiler needs itself */
	__asm__ volatile("push %%rbp\n\t"
			 "mov %[f], %%rbp\n\t"
			 "int $0x80\n\t"
			 "pop %%rbp"
			 : "=a"(ret)
			 : "0"(nr), "b"(a), "c"(b), "d"(c), "S"(d),
			   "D"(e), [f] "r"(f)
			 : "memory", "r8", "r9", "r10", "r11");
	if (ret < 0 && ret > -4096) {
		errno = (int)-ret;
		return -1;
	}
	return ret;
}

static bool prepare(const struct scene *s)
{
	low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	if (low == MAP_FAILED)
		return false;
	low->target = s->target4;
	strncat(low->secret, s->secret, sizeof(low->secret) - 1);
	low->iov[0] = ptr(low->secret);
	low->iov[1] = (uint32_t)strlen(low->secret);
	low->msg[0] = ptr(&low->target);
	low->msg[1] = sizeof(low->target);
	low->msg[2] = ptr(low->iov);
	low->msg[3] = 1;
	return true;
}

/* socketcall(call, args) */
static long socketcall(int call, const uint32_t *args, size_t n)
{
	memset(low->args, 0, sizeof(low->args));
	memcpy(low->args, args, n * sizeof(*args));
	return i386(I386_SOCKETCALL, call, ptr(low->args), 0, 0, 0, 0);
}

static enum verdict stream(int fd, long result, const char *what)
{
	if (result < 0)
		return failed(what);
	return stream_reaches(fd, "evil here") ? say(THROUGH, "answered")
					       : say(REFUSED, "not answered");
}

static enum verdict datagram(const struct scene *s, int fd, long result,
			     const char *what)
{
	if (result < 0)
		return failed(what);
	return datagram_echoes(s, fd) ? say(THROUGH, "echoed")
				      : say(REFUSED, "not echoed");
}

static enum verdict by_connect(const struct scene *s)
{
	int fd = new_socket(AF_INET, SOCK_STREAM, 0);

	if (!prepare(s))
		return failed("mmap");
	return stream(fd,
		      i386(I386_CONNECT, fd, ptr(&low->target),
			   sizeof(low->target), 0, 0, 0),
		      "connect");
}

static enum verdict by_sendto(const struct scene *s)
{
	int fd = new_socket(AF_INET, SOCK_DGRAM, 0);

	if (!prepare(s))
		return failed("mmap");
	return datagram(s, fd,
			i386(I386_SENDTO, fd, ptr(low->secret),
			     (long)strlen(low->secret), 0, ptr(&low->target),
			     sizeof(low->target)),
			"sendto");
}

static enum verdict by_sendmsg(const struct scene *s)
{
	int fd = new_socket(AF_INET, SOCK_DGRAM, 0);

	if (!prepare(s))
		return failed("mmap");
	return datagram(s, fd,
			i386(I386_SENDMSG, fd, ptr(low->msg), 0, 0, 0, 0),
			"sendmsg");
}

static enum verdict call_connect(const struct scene *s)
{
	int fd = new_socket(AF_INET, SOCK_STREAM, 0);

	if (!prepare(s))
		return failed("mmap");
	return stream(
		fd,
		socketcall(SYS_CONNECT,
			   (const uint32_t[]){(uint32_t)fd, ptr(&low->target),
					      sizeof(low->target)},
			   3),
		"socketcall connect");
}

static enum verdict call_sendto(const struct scene *s)
{
	int fd = new_socket(AF_INET, SOCK_DGRAM, 0);

	if (!prepare(s))
		return failed("mmap");
	return datagram(
		s, fd,
		socketcall(SYS_SENDTO,
			   (const uint32_t[]){(uint32_t)fd, ptr(low->secret),
					      (uint32_t)strlen(low->secret), 0,
					      ptr(&low->target),
					      sizeof(low->target)},
			   6),
		"socketcall sendto");
}

static enum verdict call_sendmsg(const struct scene *s)
{
	int fd = new_socket(AF_INET, SOCK_DGRAM, 0);

	if (!prepare(s))
		return failed("mmap");
	return datagram(
		s, fd,
		socketcall(SYS_SENDMSG,
			   (const uint32_t[]){(uint32_t)fd, ptr(low->msg), 0},
			   3),
		"socketcall sendmsg");
}

/* A socket of a refused kind. */
static enum verdict by_socket(const struct scene *s)
{
	(void)s;
	if (i386(I386_SOCKET, AF_VSOCK, SOCK_STREAM, 0, 0, 0, 0) < 0)
		return failed("socket");
	return say(THROUGH, "the socket is open");
}

static enum verdict call_socket(const struct scene *s)
{
	if (!prepare(s))
		return failed("mmap");
	if (socketcall(SYS_SOCKET, (const uint32_t[]){AF_VSOCK, SOCK_STREAM, 0},
		       3) < 0)
		return failed("socketcall socket");
	return say(THROUGH, "the socket is open");
}

static enum verdict unshare_user(const struct scene *s)
{
	(void)s;
	if (i386(I386_UNSHARE, CLONE_NEWUSER, 0, 0, 0, 0, 0) < 0)
		return failed("unshare");
	return say(THROUGH, "a user namespace of its own");
}

static enum verdict uring(const struct scene *s)
{
	if (!prepare(s))
		return failed("mmap");
	memset(low, 0, sizeof(*low));
	if (i386(I386_IO_URING_SETUP, 4, ptr(low), 0, 0, 0, 0) < 0)
		return failed("io_uring_setup");
	return say(THROUGH, "a ring");
}

static enum verdict trace(const struct scene *s)
{
	(void)s;
	if (i386(I386_PTRACE, 0, 0, 0, 0, 0, 0) < 0)
		return failed("ptrace(PTRACE_TRACEME)");
	return say(THROUGH, "traced");
}

#else

static enum verdict absent(const struct scene *s)
{
	(void)s;
	return say(UNTRIED, "no 32-bit calls on this architecture");
}
#define by_connect   absent
#define by_sendto    absent
#define by_sendmsg   absent
#define call_connect absent
#define call_sendto  absent
#define call_sendmsg absent
#define by_socket    absent
#define call_socket  absent
#define unshare_user absent
#define uring	     absent
#define trace	     absent

#endif

const struct attack attack_i386 = {
	"i386",
	(const struct mode[]){{"connect", by_connect},
			      {"sendto", by_sendto},
			      {"sendmsg", by_sendmsg},
			      {"call-connect", call_connect},
			      {"call-sendto", call_sendto},
			      {"call-sendmsg", call_sendmsg},
			      {"socket", by_socket},
			      {"call-socket", call_socket},
			      {"unshare", unshare_user},
			      {"uring", uring},
			      {"ptrace", trace},
			      {0}},
};
