/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an i386 C library does for a connection: socketcall(2), through the
 * 32-bit entry, from a 64-bit program so that no 32-bit library is needed.
 *	socketcall ADDRESS PORT [DOMAIN]
 * Prints what came, or the errno of the step that failed.
 */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SOCKETCALL = 102, CALL_SOCKET = 1, CALL_CONNECT = 3 };

static uint32_t *low; /* memory below 4 GiB */

static int call(uint32_t number)
{
	int r;

	__asm__ volatile("int $0x80"
			 : "=a"(r)
			 : "a"(SOCKETCALL), "b"(number),
			   "c"((uint32_t)(uintptr_t)low)
			 : "memory", "r8", "r9", "r10", "r11");
	return r;
}

int main(int argc, char **argv)
{
	struct sockaddr_in *sa;
	char buf[100];
	ssize_t n;
	int fd, r;

	if (argc < 3)
		return 2;
	low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	if (low == MAP_FAILED)
		return 2;
	low[0] = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : AF_INET;
	low[1] = SOCK_STREAM;
	low[2] = 0;
	fd = call(CALL_SOCKET);
	if (fd < 0) {
		printf("socket: %d\n", -fd);
		return 1;
	}
	sa = (struct sockaddr_in *)(low + 64);
	sa->sin_family = AF_INET;
	sa->sin_port = htons((uint16_t)strtoul(argv[2], NULL, 10));
	if (inet_pton(AF_INET, argv[1], &sa->sin_addr) != 1)
		return 2;
	low[0] = (uint32_t)fd;
	low[1] = (uint32_t)(uintptr_t)sa;
	low[2] = sizeof(*sa);
	r = call(CALL_CONNECT);
	if (r < 0) {
		printf("connect: %d\n", -r);
		return 1;
	}
	if (write(fd, "GET / HTTP/1.0\r\n\r\n", 18) != 18)
		return 1;
	n = read(fd, buf, sizeof(buf));
	printf("read: %.12s\n", n > 12 ? buf : "nothing");
	return 0;
}
