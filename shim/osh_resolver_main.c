/* SPDX-License-Identifier: Apache-2.0 */
/*
 * osh-resolver: DNS for a sandbox. It reads what the agent and the world's
 * nameservers send, so it holds nothing else: the shim starts it in empty
 * namespaces with the sockets it needs (shim/ipc/resolver_proto.h), and before
 * it reads the first byte it gives up the rest, in stages:
 *
 *	descriptors	nothing but the protocol's
 *	privileges	no capabilities, no_new_privs, not dumpable
 *	files		Landlock: no path at all
 *	limits		no processes, no files written, bounded memory
 *	system calls	the table below
 *
 * Where the kernel has no Landlock, the table is what is left of the third
 * stage: none of its calls takes a path. Said on standard error.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "shim/dns/confine.h"
#include "shim/dns/resolver.h"

enum {
	/* Libraries and stack are 12 MiB; the rest is for policies, of which
	 * the largest allowed has 16 MiB and a usual one some KiB. */
	MEMORY_BYTES = 192 << 20,
};

static const struct confine_limit limits[] = {
	{ RLIMIT_AS, MEMORY_BYTES },
	{ RLIMIT_CORE, 0 },
	{ RLIMIT_FSIZE, 0 },
	{ RLIMIT_MEMLOCK, 0 },
	{ RLIMIT_NOFILE, RESOLVER_FILES },
	{ RLIMIT_NPROC, 0 },
};

static const struct confine_call calls[] = {
	/* the loop */
#ifdef SYS_epoll_wait
	{ .nr = SYS_epoll_wait },
#endif
	{ .nr = SYS_epoll_pwait },
	{ .nr = SYS_epoll_ctl },
	{ .nr = SYS_clock_gettime }, /* where the vDSO has none */
	{ .nr = SYS_restart_syscall },
	/* clients, upstreams, the shim */
	{ .nr = SYS_recvfrom },
	{ .nr = SYS_recvmsg },
	{ .nr = SYS_sendto },
	{ .nr = SYS_connect },
	{ .nr = SYS_accept4 },
	{ .nr = SYS_close },
	{ .nr = SYS_getrandom },
	/* sockets that the shim hands over are made non-blocking */
	{ .nr = SYS_fcntl, .arg = { { 2, F_GETFL } } },
	{ .nr = SYS_fcntl, .arg = { { 2, F_SETFL } } },
	/* policies come and go */
	{ .nr = SYS_lseek },
	{ .nr = SYS_pread64 },
	{ .nr = SYS_mmap,
	  .arg = { { 3, PROT_READ | PROT_WRITE },
		   { 4, MAP_PRIVATE | MAP_ANONYMOUS } } },
	{ .nr = SYS_munmap },
	/* the end */
	{ .nr = SYS_write, .arg = { { 1, STDERR_FILENO } } },
	{ .nr = SYS_exit_group },
};

static struct resolver resolver;

/* @fd, or -EBADF where the namespace has no IPv6. */
static int present(int fd)
{
	return fcntl(fd, F_GETFD) < 0 ? -EBADF : fd;
}

/* Not stdio: it would ask for memory and for what kind of file this is. */
static void say(const struct err *err)
{
	char room[sizeof(err->text) + 16];
	struct strbuf sb = STRBUF_FIXED(room);
	ssize_t r;

	strbuf_addf(&sb, "osh-resolver: %s\n", err->text);
	r = write(STDERR_FILENO, sb.s, sb.len);
	(void)r; /* there is nobody else to tell */
}

static int confine(struct err *err)
{
	int r = confine_privileges(err);

	if (r < 0)
		return r;
	r = confine_files(err);
	if (r == -ENOSYS || r == -EOPNOTSUPP)
		say(err);
	else if (r < 0)
		return r;
	r = confine_limits(limits, N_ELEMENTS(limits), err);
	return r < 0 ? r : confine_calls(calls, N_ELEMENTS(calls), err);
}

static int run(struct err *err)
{
	const int udp_fd[2] = { present(RESOLVER_FD_UDP4),
				present(RESOLVER_FD_UDP6) };
	const int tcp_fd[2] = { present(RESOLVER_FD_TCP4),
				present(RESOLVER_FD_TCP6) };
	int r;

	if (close_range(RESOLVER_FD_TCP6 + 1, ~0U, 0) < 0)
		return err_errno(err, errno, "close what is not needed");
	r = resolver_init(&resolver, RESOLVER_FD_CHANNEL, udp_fd, tcp_fd, err);
	if (r == 0)
		r = confine(err);
	if (r == 0)
		r = resolver_ready(&resolver, err);
	return r < 0 ? r : resolver_run(&resolver, err);
}

/* Before the channel is closed: the shim waits for that (shim/dnslink.h). */
static void end_clients(void)
{
	static const int listening[] = { RESOLVER_FD_UDP4, RESOLVER_FD_UDP6,
					 RESOLVER_FD_TCP4, RESOLVER_FD_TCP6 };

	clients_done(&resolver.clients);
	for (size_t i = 0; i < N_ELEMENTS(listening); i++)
		(void)close(listening[i]);
}

int main(void)
{
	struct err err = ERR_INIT;
	int r = run(&err);

	if (r == -EPIPE) { /* the shim has ended, and so does this */
		end_clients();
		return 0;
	}
	say(&err);
	return 1;
}
