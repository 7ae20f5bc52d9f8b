/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run inside the container and outside: connect latency and bulk throughput.
 *
 *	netbench serve PORT			accept; 'c': close, 'b': send
 *	netbench connect ADDRESS PORT N		median and p99, microseconds
 *	netbench bulk ADDRESS PORT MEGABYTES	gigabits per second
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static double now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static int serve(unsigned short port)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_port = htons(port) };
	static char block[256 << 10];
	int s = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_IGN);
	if (bind(s, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    listen(s, 1024) < 0)
		return fail("listen");
	for (;;) {
		int c = accept(s, NULL, NULL);
		char want;

		if (c < 0)
			return fail("accept");
		/* a connect test sends nothing and closes at once */
		if (fork() == 0) {
			if (read(c, &want, 1) == 1 && want == 'b')
				while (write(c, block, sizeof(block)) > 0)
					;
			_exit(0);
		}
		close(c);
	}
}

static int dial(const struct sockaddr_in *sa)
{
	int s = socket(AF_INET, SOCK_STREAM, 0);

	if (s >= 0 && connect(s, (const struct sockaddr *)sa, sizeof(*sa)) < 0)
		return -1;
	return s;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int connects(const struct sockaddr_in *sa, int n)
{
	double *t = calloc((size_t)n, sizeof(*t));
	struct linger hard = { 1, 0 };

	for (int i = -20; i < n; i++) {
		double start = now_us();
		int s = dial(sa);

		if (s < 0)
			return fail("connect");
		if (i >= 0)
			t[i] = now_us() - start;
		setsockopt(s, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
		close(s);
	}
	qsort(t, (size_t)n, sizeof(*t), by_value);
	printf("%.1f %.1f\n", t[n / 2], t[n * 99 / 100]);
	return 0;
}

static int bulk(const struct sockaddr_in *sa, int megabytes)
{
	static char block[256 << 10];
	long long left = (long long)megabytes << 20, got = 0;
	int s = dial(sa);
	double start;

	if (s < 0 || write(s, "b", 1) != 1)
		return fail("connect");
	start = now_us();
	while (got < left) {
		ssize_t n = read(s, block, sizeof(block));

		if (n <= 0)
			return fail("read");
		got += n;
	}
	printf("%.2f\n", (double)got * 8 / (now_us() - start) / 1e3);
	return 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_in sa = { .sin_family = AF_INET };

	if (argc == 3 && !strcmp(argv[1], "serve"))
		return serve((unsigned short)strtoul(argv[2], NULL, 10));
	if (argc != 5)
		return 2;
	inet_pton(AF_INET, argv[2], &sa.sin_addr);
	sa.sin_port = htons((unsigned short)strtoul(argv[3], NULL, 10));
	if (!strcmp(argv[1], "connect"))
		return connects(&sa, (int)strtol(argv[4], NULL, 10));
	return bulk(&sa, (int)strtol(argv[4], NULL, 10));
}
