/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Theory of operation
 *
 *	shim				maker
 *	fork
 *					unshare(user namespace)
 *					tell "unshared"
 *	write its uid_map, gid_map
 *	tell "mapped"
 *					become 0 in it (outside: 65534)
 *					serve requests until the channel ends
 *
 * A request RESOLVER clones a child into new pid, mount, network, IPC, UTS and
 * cgroup namespaces, which therefore belong to the maker's user namespace. The
 * child gives up every capability before it executes anything.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/base/packet.h"
#include "shim/ipc/maker_proto.h"
#include "shim/ipc/resolver_proto.h"
#include "shim/maker.h"
#include "shim/privilege.h"

enum {
	CHANNEL_FD = 3, /* in the maker: all that it has open */
	NOBODY = 65534,
};

/* ------------------------------------------------------------ in the maker */

/* Descriptors of a RESOLVER request to their places, 3 to 7. */
static bool place_fds(const int *fds, size_t n_fds)
{
	/* program, channel, UDP4, TCP4[, UDP6, TCP6] */
	static const int place[MAKER_FDS_MAX] = {
		64,		 RESOLVER_FD_CHANNEL, RESOLVER_FD_UDP4,
		RESOLVER_FD_TCP4, RESOLVER_FD_UDP6,    RESOLVER_FD_TCP6,
	};
	int high[MAKER_FDS_MAX];

	for (size_t i = 0; i < n_fds; i++) {
		high[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 128);
		if (high[i] < 0)
			return false;
	}
	if (close_range(3, 127, 0) < 0)
		return false;
	for (size_t i = 0; i < n_fds; i++)
		if (dup3(high[i], place[i], i == 0 ? O_CLOEXEC : 0) < 0)
			return false;
	return close_range(65, ~0U, 0) == 0;
}

static __attribute__((noreturn)) void become_resolver(const int *fds,
						      size_t n_fds)
{
	static char name[] = "osh-resolver";
	static char *const argv[] = { name, NULL };
	static char *const env[] = { NULL };
	struct err err = ERR_INIT;

	signal(SIGCHLD, SIG_DFL);
	if (!place_fds(fds, n_fds) || privilege_keep(0, &err) < 0)
		_exit(126);
	/* after the credentials changed, which clears it */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		_exit(126);
	fexecve(64, argv, env);
	_exit(127);
}

static void make_resolver(const int *fds, size_t n_fds,
			  struct maker_reply *reply)
{
	struct clone_args args = {
		.flags = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET |
			 CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP,
		.exit_signal = SIGCHLD,
	};
	long pid;

	if (n_fds != MAKER_FDS_MAX && n_fds != MAKER_FDS_MAX - 2) {
		reply->code = EINVAL;
		return;
	}
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0)
		become_resolver(fds, n_fds);
	if (pid < 0)
		reply->code = (uint32_t)errno;
	reply->pid = (int32_t)pid;
}

static void serve(void)
{
	struct maker_request rq;
	int fds[MAKER_FDS_MAX];
	size_t n_fds;

	while (packet_recv(CHANNEL_FD, &rq, sizeof(rq), fds, MAKER_FDS_MAX,
			   &n_fds, 0) == (ssize_t)sizeof(rq)) {
		struct maker_reply reply = { .op = rq.op };
		int made = -EBADF;

		if (rq.op == MAKER_OP_SOCKET) {
			made = socket(rq.domain, rq.type | SOCK_CLOEXEC,
				      rq.protocol);
			if (made < 0)
				reply.code = (uint32_t)errno;
		} else if (rq.op == MAKER_OP_RESOLVER) {
			make_resolver(fds, n_fds, &reply);
		} else {
			reply.code = EINVAL;
		}
		packet_close(fds, n_fds);
		if (packet_send(CHANNEL_FD, &reply, sizeof(reply), &made,
				made >= 0) < 0)
			return;
		close_fd(made);
	}
}

/* The parent tells one byte, or is gone. */
static bool wait_for_parent(int fd)
{
	char byte;

	return read(fd, &byte, 1) == 1;
}

static __attribute__((noreturn)) void maker(int channel_fd)
{
	const struct rlimit no_core = { 0, 0 };

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ||
	    unshare(CLONE_NEWUSER) < 0 ||
	    send(channel_fd, "u", 1, MSG_NOSIGNAL) != 1 ||
	    !wait_for_parent(channel_fd))
		_exit(1);
	if (setgroups(0, NULL) < 0 || setresgid(0, 0, 0) < 0 ||
	    setresuid(0, 0, 0) < 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
	    setrlimit(RLIMIT_CORE, &no_core) < 0)
		_exit(1);
	if (dup3(channel_fd, 64, O_CLOEXEC) < 0 ||
	    close_range(3, 63, 0) < 0 || dup3(64, CHANNEL_FD, O_CLOEXEC) < 0 ||
	    close_range(4, ~0U, 0) < 0)
		_exit(1);
	signal(SIGCHLD, SIG_IGN); /* the shim sees the channel end */
	serve();
	_exit(0);
}

/* ------------------------------------------------------------ in the shim */

static int write_map(int proc_fd, int pid, const char *file, unsigned int id)
{
	char path[32], map[32];

	snprintf(path, sizeof(path), "%d/%s", pid, file);
	snprintf(map, sizeof(map), "0 %u 1", id);
	return io_write_str(proc_fd, path, map);
}

/*
 * Nobody's ids; where our own user namespace has none such (rootless with a
 * single id), our own: without a capability over anything of ours.
 */
static int map_ids(int proc_fd, int pid, struct err *err)
{
	int r = write_map(proc_fd, pid, "uid_map", NOBODY);

	if (r == -EPERM)
		r = write_map(proc_fd, pid, "uid_map", geteuid());
	if (r == 0)
		r = write_map(proc_fd, pid, "gid_map", NOBODY);
	if (r == -EPERM)
		r = write_map(proc_fd, pid, "gid_map", getegid());
	if (r < 0)
		return err_errno(err, -r, "map the maker's ids");
	return 0;
}

int maker_start(int proc_fd, int *ret_fd, struct err *err)
{
	own_close int ours = -EBADF, theirs = -EBADF;
	int pair[2], r;
	char byte;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_errno(err, errno, "create the maker's channel");
	ours = pair[0];
	theirs = pair[1];
	pid = fork();
	if (pid < 0)
		return err_errno(err, errno, "start the maker");
	if (pid == 0)
		maker(theirs);
	theirs = close_fd(theirs);
	if (read(ours, &byte, 1) != 1)
		return err_set(err, EPERM, "start the maker: no user "
					   "namespace can be created");
	r = map_ids(proc_fd, pid, err);
	if (r < 0)
		return r;
	if (send(ours, "m", 1, MSG_NOSIGNAL) != 1)
		return err_errno(err, errno, "start the maker");
	*ret_fd = take_fd(&ours);
	return 0;
}
