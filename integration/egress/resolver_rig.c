/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sandbox's DNS without a sandbox: osh-resolver as the shim starts it, with
 * this program as the shim, and an upstream on loopback.
 *
 *	resolver_rig serve RESOLVER HOST...	until standard input ends
 *	resolver_rig ask PORT NAME [TYPE [tcp]]	one query, by glibc's resolver
 *
 * `serve` prints "port N", "resolver PID", then a line for each message of the
 * resolver, and "end STATUS" (as a shell has it). Lines on its standard input:
 * "nonsense" sends what is no message, "remove" takes the policy away.
 *
 * The upstream answers 93.184.216.34 (AAAA: nothing), and what the name's
 * first label says: "private" 10.0.0.1; "big" TC by UDP and 40 addresses by
 * TCP, "nx" NXDOMAIN, "dead" nothing.
 */
#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <resolv.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/own.h"
#include "runtime/base/packet.h"
#include "runtime/base/strbuf.h"
#include "runtime/policy/build.h"
#include "runtime/policy/reason.h"
#include "shim/ipc/resolver_proto.h"

static void die(const char *what)
{
	perror(what);
	exit(3);
}

static int bound(int type, uint16_t *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons(*port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(a);
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, n) < 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &n) < 0 ||
	    (type == SOCK_STREAM && listen(fd, 16) < 0))
		die("listen");
	*port = ntohs(a.sin_port);
	return fd;
}

/* ------------------------------------------------------------- upstream */

/* Make the reply of a query in place. Returns its length, 0 for none. */
static size_t upstream_reply(uint8_t *b, int tcp)
{
	size_t at = 12, label = b[12], n = 1;
	int big = !memcmp(b + 13, "big", 3) && label == 3;
	unsigned int type;

	while (b[at])
		at += b[at] + 1u;
	type = (unsigned int)(b[at + 1] << 8 | b[at + 2]);
	at += 5;
	memset(b + 6, 0, 6);
	b[2] = 0x81;
	b[3] = 0x80;
	if (label == 4 && !memcmp(b + 13, "dead", 4))
		return 0;
	if (label == 2 && !memcmp(b + 13, "nx", 2)) {
		b[3] |= ns_r_nxdomain;
		return at;
	}
	if (big && !tcp) {
		b[2] |= 2;
		return at;
	}
	if (type != ns_t_a)
		return at;
	for (n = 0; n < (big ? 40 : 1); n++) {
		uint8_t rr[] = { 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4,
				 93, 184, 216, (uint8_t)(34 + n) };

		if (label == 7 && !memcmp(b + 13, "private", 7))
			memcpy(rr + 12, "\12\0\0\1", 4);
		memcpy(b + at, rr, sizeof(rr));
		at += sizeof(rr);
	}
	b[7] = (uint8_t)n;
	return at;
}

static void upstream_tcp(int listen_fd)
{
	uint8_t b[4096];
	int fd = accept(listen_fd, NULL, NULL);
	size_t n;

	if (recv(fd, b, sizeof(b), 0) > 2 && (n = upstream_reply(b + 2, 1))) {
		b[0] = (uint8_t)(n >> 8);
		b[1] = (uint8_t)n;
		send(fd, b, n + 2, MSG_NOSIGNAL);
	}
	close(fd);
}

static void upstream_udp(int fd)
{
	struct sockaddr_in from;
	socklen_t n_from = sizeof(from);
	uint8_t b[4096];
	size_t n;

	if (recvfrom(fd, b, sizeof(b), 0, (struct sockaddr *)&from,
		     &n_from) > 12 && (n = upstream_reply(b, 0)))
		sendto(fd, b, n, 0, (struct sockaddr *)&from, n_from);
}

/* ----------------------------------------------------------------- shim */

static void give_sockets(int channel, uint32_t kind, int type, uint32_t n)
{
	struct resolver_sockets m = { .op = RESOLVER_OP_SOCKETS,
				      .kind = kind,
				      .n = n };
	int fd[RESOLVER_SOCKETS_MAX];

	for (uint32_t i = 0; i < n; i++)
		fd[i] = socket(AF_INET, type | SOCK_CLOEXEC, 0);
	if (packet_send(channel, &m, sizeof(m), fd, n) < 0)
		die("send SOCKETS");
	packet_close(fd, n);
}

static void give_policy(int channel, char **hosts, uint16_t port)
{
	struct resolver_policy_add m = {
		.op = RESOLVER_OP_POLICY_ADD,
		.slot = { 0, 1 },
		.n_upstreams = 1,
		.upstream[0] = { .addr = { [10] = 0xff, 0xff, 127, [15] = 1 },
				 .port = port },
	};
	own_arena struct arena a = ARENA_INIT;
	int fd = memfd_create("policy", MFD_CLOEXEC);
	struct policy_build b;
	struct err err;
	size_t n;
	void *data;

	policy_build_init(&b, &a);
	policy_build_entry(&b, "k", "k", 1, POLICY_ENTRY_ANY_BINARY);
	for (; *hosts; hosts++) {
		policy_build_endpoint(&b,
				      **hosts == '*' ? POLICY_HOST_GLOB :
						       POLICY_HOST_EXACT,
				      *hosts, 1, 1);
		policy_build_port(&b, 443);
	}
	if (policy_build_finish(&b, &data, &n, &err) < 0 ||
	    write(fd, data, n) != (ssize_t)n ||
	    packet_send(channel, &m, sizeof(m), &fd, 1) < 0)
		die("send POLICY_ADD");
	close(fd);
}

/*
 * The resolver on fds 3, 4 and 6, pid 1 of namespaces of its own. A process
 * between waits for it and passes its status on.
 */
static pid_t start(const char *path, const int channel[2], int udp, int tcp)
{
	const char *const argv[] = { "osh-resolver", NULL };
	const char *const envp[] = { NULL };
	pid_t pid = fork();
	int status;

	if (pid)
		return pid;
	close(channel[0]); /* its end must be seen */
	if (unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET |
		    CLONE_NEWNS) < 0)
		die("unshare");
	pid = fork();
	if (pid) {
		close(channel[1]);
		waitpid(pid, &status, 0);
		_exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
					    WEXITSTATUS(status));
	}
	if (dup2(channel[1], 13) < 0 || dup2(udp, 14) < 0 || dup2(tcp, 16) < 0 ||
	    dup2(13, RESOLVER_FD_CHANNEL) < 0 ||
	    dup2(14, RESOLVER_FD_UDP4) < 0 ||
	    dup2(16, RESOLVER_FD_TCP4) < 0)
		die("dup2");
	close(RESOLVER_FD_UDP6);
	close_range(RESOLVER_FD_TCP6, ~0U, 0);
	execve(path, (char **)(uintptr_t)argv, (char **)(uintptr_t)envp);
	die(path);
	return 0;
}

static void on_answer(int channel, const struct resolver_answer *m)
{
	struct resolver_answer_ack ack = { .op = RESOLVER_OP_ANSWER_ACK,
					   .seq = m->seq };

	printf("answer %s %u addresses ttl %u\n", m->name, m->n_addrs,
	       m->ttl_s);
	packet_send(channel, &ack, sizeof(ack), NULL, 0);
}

/* Returns 0 when the resolver has gone. */
static int on_message(int channel)
{
	union {
		uint32_t op;
		struct resolver_answer answer;
		struct resolver_query query;
		struct resolver_policy_done done;
	} m;
	size_t n_fds;
	int fd;

	if (packet_recv(channel, &m, sizeof(m), &fd, 0, &n_fds, 0) <= 0)
		return 0;
	if (m.op == RESOLVER_OP_READY)
		printf("ready\n");
	else if (m.op == RESOLVER_OP_POLICY_DONE)
		printf("policy %s\n", m.done.err.code ? m.done.err.text : "ok");
	else if (m.op == RESOLVER_OP_ANSWER)
		on_answer(channel, &m.answer);
	else
		printf("query %s type %u %s\n", m.query.name, m.query.qtype,
		       reason_name(m.query.reason));
	return 1;
}

/* Returns 0 at the end of standard input. */
static int on_command(int channel)
{
	const struct resolver_policy_remove gone = {
		.op = RESOLVER_OP_POLICY_REMOVE, .slot = { 0, 1 }
	};
	char line[64];
	ssize_t n = read(STDIN_FILENO, line, sizeof(line));

	if (n > 0 && line[0] == 'n')
		packet_send(channel, "nonsense", 8, NULL, 0);
	else if (n > 0 && line[0] == 'r')
		packet_send(channel, &gone, sizeof(gone), NULL, 0);
	return n > 0;
}

static void serve(const char *resolver, char **hosts)
{
	uint16_t port = 0, up_port = 0;
	int udp = bound(SOCK_DGRAM, &port), tcp = bound(SOCK_STREAM, &port);
	int up_udp = bound(SOCK_DGRAM, &up_port);
	int up_tcp = bound(SOCK_STREAM, &up_port);
	int channel[2], status;
	pid_t pid;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel) < 0)
		die("socketpair");
	pid = start(resolver, channel, udp, tcp);
	close(channel[1]);
	printf("port %u\nresolver %d\n", port, pid);
	give_sockets(channel[0], RESOLVER_SOCKET_UDP4, SOCK_DGRAM,
		     RESOLVER_UDP_SOCKETS);
	give_sockets(channel[0], RESOLVER_SOCKET_TCP4, SOCK_STREAM,
		     RESOLVER_TCP_SOCKETS);
	give_policy(channel[0], hosts, up_port);
	for (;;) {
		struct pollfd p[] = { { .fd = channel[0], .events = POLLIN },
				      { .fd = STDIN_FILENO, .events = POLLIN },
				      { .fd = up_udp, .events = POLLIN },
				      { .fd = up_tcp, .events = POLLIN } };

		poll(p, N_ELEMENTS(p), -1);
		if ((p[0].revents && !on_message(channel[0])) ||
		    (p[1].revents && !on_command(channel[0])))
			break;
		if (p[2].revents)
			upstream_udp(up_udp);
		if (p[3].revents)
			upstream_tcp(up_tcp);
	}
	close(channel[0]);
	waitpid(pid, &status, 0);
	printf("end %d\n", WEXITSTATUS(status));
}

/* --------------------------------------------------------------- client */

static void show(const uint8_t *b, int n)
{
	ns_msg h;
	ns_rr rr;

	if (ns_initparse(b, n, &h) < 0)
		die("parse the reply");
	printf("rcode %d answers %d\n", ns_msg_getflag(h, ns_f_rcode),
	       ns_msg_count(h, ns_s_an));
	for (int i = 0; i < ns_msg_count(h, ns_s_an); i++) {
		char text[INET6_ADDRSTRLEN];

		if (ns_parserr(&h, ns_s_an, i, &rr) == 0 && rr.type == ns_t_a)
			printf("%s %u %s\n", rr.name, rr.ttl,
			       inet_ntop(AF_INET, rr.rdata, text,
					 sizeof(text)));
	}
}

static void ask(char **argv)
{
	struct __res_state s = { .options = 0 };
	uint8_t query[512], reply[8192];
	int n, type = ns_t_a;

	if (argv[2] && !strcmp(argv[2], "txt"))
		type = ns_t_txt;
	if (argv[2] && !strcmp(argv[2], "aaaa"))
		type = ns_t_aaaa;
	if (res_ninit(&s) < 0)
		die("res_ninit");
	s.nscount = 1;
	s.nsaddr_list[0] = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)strtoul(argv[0], NULL, 10)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	s.retrans = 15;
	s.retry = 1;
	if (argv[2] && argv[3])
		s.options |= RES_USEVC;
	n = res_nmkquery(&s, QUERY, argv[1], C_IN, type, NULL, 0, NULL, query,
			 sizeof(query));
	n = res_nsend(&s, query, n, reply, sizeof(reply));
	if (n < 0)
		die("no reply");
	show(reply, n);
	res_nclose(&s);
}

int main(int argc, char **argv)
{
	if (argc > 3 && str_eq(argv[1], "serve"))
		serve(argv[2], argv + 3);
	else if (argc > 3 && str_eq(argv[1], "ask"))
		ask(argv + 2);
	else
		return 2;
	return 0;
}
