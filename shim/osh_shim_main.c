/* SPDX-License-Identifier: Apache-2.0 */
/*
 * osh-shim: answers the seccomp notifications of the containers that share a
 * network namespace, owns the namespace's nftables table, writes the decision
 * logs. It parses nothing that an agent or the world sends; that is what
 * osh-resolver is for. Started by create with the descriptors of
 * runtime/policy/shim_proto.h, it gives up the rest in stages:
 *
 *	sandbox's network namespace	entered, every socket opened, left for
 *					an empty one
 *	mounts				an empty root; /proc, the socket's
 *					folder and the logs' by descriptor
 *	maker				forked: makes sockets and resolvers for
 *					it later
 *	capabilities			CAP_NET_ADMIN (marks, the table) and
 *					CAP_SYS_PTRACE (memory, descriptors and
 *					executables of the callers) are left
 *	limits, system calls		the tables below
 *
 * What fails on the way is told to the create that waits: as the answer to its
 * first request.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/packet.h"
#include "shim/dns/confine.h"
#include "shim/maker.h"
#include "shim/notify/compat.h"
#include "shim/privilege.h"
#include "shim/server.h"

#define CAPABILITIES                                                           \
	(UINT64_C(1) << CAP_NET_ADMIN | UINT64_C(1) << CAP_SYS_PTRACE)

static const struct confine_limit limits[] = {
	{ RLIMIT_CORE, 0 },
	{ RLIMIT_MEMLOCK, 0 },
	/* containers, each with listeners, policies and pinned binaries */
	{ RLIMIT_NOFILE, 8192 },
	{ RLIMIT_NPROC, 0 },
};

/* The low half of an ioctl's number is all of it. */
#define IOCTL(nr_)                                                             \
	{                                                                      \
		.nr = SYS_ioctl, .arg = { { 2, (uint32_t)(nr_) } }             \
	}

static const struct confine_call calls[] = {
	/* the loop */
#ifdef SYS_epoll_wait
	{ .nr = SYS_epoll_wait },
#endif
#ifdef SYS_poll
	{ .nr = SYS_poll },
#endif
	{ .nr = SYS_ppoll },
	{ .nr = SYS_epoll_pwait },
	{ .nr = SYS_epoll_ctl },
	{ .nr = SYS_epoll_create1 },
	{ .nr = SYS_timerfd_create },
	{ .nr = SYS_timerfd_settime },
	{ .nr = SYS_clock_gettime }, /* where the vDSO has none */
	{ .nr = SYS_restart_syscall },
	/* notifications */
	{ .nr = SYS_seccomp, .arg = { { 1, SECCOMP_GET_NOTIF_SIZES } } },
	IOCTL(SECCOMP_IOCTL_NOTIF_RECV),
	IOCTL(SECCOMP_IOCTL_NOTIF_SEND),
	IOCTL(SECCOMP_IOCTL_NOTIF_ID_VALID),
	IOCTL(SECCOMP_IOCTL_NOTIF_ADDFD),
	IOCTL(SECCOMP_IOCTL_NOTIF_SET_FLAGS),
	{ .nr = SYS_process_vm_readv },
	{ .nr = SYS_pidfd_open },
	{ .nr = SYS_pidfd_getfd },
	{ .nr = SYS_getsockopt },
	{ .nr = SYS_setsockopt,
	  .arg = { { 2, SOL_SOCKET }, { 3, SO_MARK } } },
	{ .nr = SYS_getsockname },
	{ .nr = SYS_connect }, /* the probes, in the sandbox's namespace */
	/* /proc, the logs */
	{ .nr = SYS_openat },
	{ .nr = SYS_newfstatat },
	{ .nr = SYS_fstat },
	{ .nr = SYS_readlinkat },
	{ .nr = SYS_read },
	{ .nr = SYS_pread64 },
	{ .nr = SYS_write },
	{ .nr = SYS_ftruncate },
	{ .nr = SYS_renameat },
	{ .nr = SYS_close },
	/* netlink, create, the resolver, the maker */
	{ .nr = SYS_sendto },
	{ .nr = SYS_sendmsg },
	{ .nr = SYS_recvfrom },
	{ .nr = SYS_recvmsg },
	{ .nr = SYS_accept4 },
	{ .nr = SYS_listen },
	{ .nr = SYS_geteuid }, /* the peer must be ours */
	{ .nr = SYS_socketpair, .arg = { { 1, AF_UNIX } } },
	/* policies come and go */
	{ .nr = SYS_mmap,
	  .arg = { { 3, PROT_READ | PROT_WRITE },
		   { 4, MAP_PRIVATE | MAP_ANONYMOUS } } },
	{ .nr = SYS_mprotect, .arg = { { 3, PROT_READ } } },
	{ .nr = SYS_munmap },
	{ .nr = SYS_brk },
	{ .nr = SYS_getrandom },
	/* the end */
	{ .nr = SYS_shutdown },
	{ .nr = SYS_flock },
	{ .nr = SYS_unlinkat },
	{ .nr = SYS_exit_group },
};

static struct server server;

static void ignore_signals(void)
{
	/* what tells a session or a machine to end must not open a hole: it
	 * ends with its containers */
	static const int ignored[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM,
				       SIGPIPE };

	for (size_t i = 0; i < N_ELEMENTS(ignored); i++)
		signal(ignored[i], SIG_IGN);
}

static int check_descriptors(struct err *err)
{
	for (int fd = 0; fd <= SHIM_FD_RESOLVER; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			return err_errno(err, errno, "find descriptor %d",
					 fd);
		if (fd > 2 && fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
			return err_errno(err, errno, "keep descriptor %d", fd);
	}
	if (close_range(SHIM_FD_RESOLVER + 1, ~0U, 0) < 0)
		return err_errno(err, errno, "close what is not needed");
	return 0;
}

/*
 * A lock belongs to an open file, and create's is the one that was inherited:
 * keeping it would keep create's lock.
 */
static int reopen_folder(struct err *err)
{
	int fd = openat(SHIM_FD_DIR, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_errno(err, errno, "open the socket's folder");
	close_fd(SHIM_FD_DIR);
	return fd;
}

/* Before the file system goes; -EBADF where nobody listens. */
static int open_syslog(void)
{
	static const struct sockaddr_un sa = { .sun_family = AF_UNIX,
					       .sun_path = "/dev/log" };
	own_close int fd =
		socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 ||
	    connect(fd, (const struct sockaddr *)&sa, sizeof(sa)) < 0)
		return -EBADF;
	return take_fd(&fd);
}

static int isolate(struct err *err)
{
	int r = netns_open(&server.netns, SHIM_FD_NETNS, SHIM_FD_PROC, err);

	close_fd(SHIM_FD_NETNS);
	if (r == 0)
		r = privilege_empty_root(err);
	/* it stays in the sandbox's network namespace */
	if (r == 0)
		r = maker_start(SHIM_FD_PROC, &server.filter.maker_fd, err);
	if (r < 0)
		return r;
	if (unshare(CLONE_NEWNET) < 0)
		return err_errno(err, errno, "leave the network namespace");
	r = confine_limits(limits, N_ELEMENTS(limits), err);
	if (r == 0)
		r = privilege_keep(CAPABILITIES, err);
	if (r == 0)
		r = confine_calls(calls, N_ELEMENTS(calls), err);
	return r;
}

static int run(struct err *err)
{
	int r;

	ignore_signals();
	if (sodium_init() < 0)
		return err_set(err, EIO, "start libsodium");
	r = check_descriptors(err);
	if (r < 0)
		return r;
	server.listen_fd = SHIM_FD_LISTEN;
	server.filter.proc_fd = SHIM_FD_PROC;
	server.syslog_fd = open_syslog();
	server.dir_fd = reopen_folder(err);
	if (server.dir_fd < 0)
		return server.dir_fd;
	r = isolate(err);
	return r < 0 ? r : server_run(&server, SHIM_FD_RESOLVER, err);
}

/* The create that waits gets the reason as its answer. */
static void tell(const struct err *err)
{
	own_close int fd = accept4(SHIM_FD_LISTEN, NULL, NULL, SOCK_CLOEXEC);
	struct shim_reply reply = { .op = SHIM_OP_ATTACH, .err = *err };
	struct shim_attach attach;
	int fds[SHIM_FDS_MAX];
	size_t n_fds;

	if (fd < 0)
		return;
	if (packet_recv(fd, &attach, sizeof(attach), fds, SHIM_FDS_MAX, &n_fds,
			0) <= 0)
		return;
	packet_close(fds, n_fds);
	(void)packet_send(fd, &reply, sizeof(reply), NULL, 0);
}

int main(void)
{
	static const struct timeval wait = { .tv_sec = 5 };
	struct err err = ERR_INIT;

	/* for tell(): a create that died does not come */
	(void)setsockopt(SHIM_FD_LISTEN, SOL_SOCKET, SO_RCVTIMEO, &wait,
			 sizeof(wait));
	if (run(&err) == 0)
		return 0;
	if (server.started_ms == 0 || sandboxes_count(&server.sandboxes) == 0)
		tell(&err);
	return 1;
}
