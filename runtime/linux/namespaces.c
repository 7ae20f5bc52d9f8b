/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/base/path.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/compat.h"
#include "runtime/linux/namespaces.h"

const struct ns_row ns_table[NS_N] = {
	[NS_USER] = {"user", "user", CLONE_NEWUSER},
	[NS_CGROUP] = {"cgroup", "cgroup", CLONE_NEWCGROUP},
	[NS_IPC] = {"ipc", "ipc", CLONE_NEWIPC},
	[NS_UTS] = {"uts", "uts", CLONE_NEWUTS},
	[NS_NET] = {"network", "net", CLONE_NEWNET},
	[NS_PID] = {"pid", "pid", CLONE_NEWPID},
	[NS_TIME] = {"time", "time", CLONE_NEWTIME},
	[NS_MOUNT] = {"mount", "mnt", CLONE_NEWNS},
};

enum ns ns_by_name(const char *name)
{
	unsigned int i = 0;

	while (i < NS_N && !str_eq(ns_table[i].name, name))
		i++;
	return (enum ns)i;
}

/* ----------------------------------------------------------------- joining */

void ns_set_init(struct ns_set *s)
{
	*s = (struct ns_set){.new_flags = 0};
	for (int i = 0; i < NS_N; i++)
		s->fd[i] = -EBADF;
}

void ns_set_done(struct ns_set *s)
{
	for (int i = 0; i < NS_N; i++)
		s->fd[i] = close_fd(s->fd[i]);
}

int ns_set_open(struct ns_set *s, enum ns kind, const char *path,
		struct err *err)
{
	const struct ns_row *row = &ns_table[kind];
	/* a path of the client's on the host: links are meant here */
	own_close int fd = openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	int type;

	if (fd < 0)
		return err_errno(err, errno, "open %s namespace %s", row->name,
				 path);
	type = ioctl(fd, NS_GET_NSTYPE);
	if (type != row->flag)
		return err_set(err, EINVAL, "open %s namespace %s: it is none",
			       row->name, path);
	close_fd(s->fd[kind]);
	s->fd[kind] = take_fd(&fd);
	return 0;
}

/* Whether @fd is the namespace that we are in. */
static bool is_ours(int fd, const struct ns_row *row)
{
	char path[64];
	struct stat a;
	struct stat b;

	snprintf(path, sizeof(path), "/proc/self/ns/%s", row->proc);
	return fstat(fd, &a) == 0 && stat(path, &b) == 0 &&
	       a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

int ns_set_join(const struct ns_set *s, struct err *err)
{
	for (int i = 0; i < NS_N; i++) {
		if (s->fd[i] < 0)
			continue;
		/* the kernel refuses to enter a user namespace again */
		if (i == NS_USER && is_ours(s->fd[i], &ns_table[i]))
			continue;
		if (setns(s->fd[i], ns_table[i].flag) < 0)
			return err_errno(err, errno, "join the %s namespace",
					 ns_table[i].name);
	}
	return 0;
}

int ns_join_process(int pidfd, unsigned int flags, struct err *err)
{
	if (flags && setns(pidfd, (int)flags) < 0)
		return err_errno(err, errno,
				 "join the namespaces of the container (%#x)",
				 flags);
	return 0;
}

int ns_differ(pid_t pid, unsigned int flags, unsigned int *ret_flags,
	      struct err *err)
{
	unsigned int differ = 0;

	for (int i = 0; i < NS_N; i++) {
		const struct ns_row *row = &ns_table[i];
		char path[64];
		struct stat mine;
		struct stat other;

		if (!(flags & (unsigned int)row->flag))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid,
			 row->proc);
		if (stat(path, &other) < 0)
			return err_errno(err, errno, "stat %s", path);
		snprintf(path, sizeof(path), "/proc/self/ns/%s", row->proc);
		if (stat(path, &mine) < 0)
			return err_errno(err, errno, "stat %s", path);
		if (mine.st_ino != other.st_ino || mine.st_dev != other.st_dev)
			differ |= (unsigned int)row->flag;
	}
	*ret_flags = differ;
	return 0;
}

/* ----------------------------------------------------------------- cloning */

static pid_t clone3(struct clone_args *args, int cgroup_fd, struct err *err)
{
	long pid;

	if (cgroup_fd >= 0) {
		args->flags |= CLONE_INTO_CGROUP;
		args->cgroup = (unsigned int)cgroup_fd;
	}
	pid = syscall(SYS_clone3, args, sizeof(*args));
	if (pid < 0)
		return err_errno(err, errno,
				 "clone into new namespaces (%#llx)",
				 (unsigned long long)args->flags);
	return (pid_t)pid;
}

pid_t ns_clone(unsigned int flags, int cgroup_fd, int *ret_pidfd,
	       struct err *err)
{
	int pidfd = -EBADF;
	struct clone_args args = {
		.flags = flags,
		.exit_signal = SIGCHLD,
	};
	pid_t pid;

	if (ret_pidfd) {
		args.flags |= CLONE_PIDFD;
		args.pidfd = (uintptr_t)&pidfd;
	}
	pid = clone3(&args, cgroup_fd, err);
	if (pid > 0 && ret_pidfd)
		*ret_pidfd = pidfd;
	return pid;
}

pid_t ns_clone_sibling(unsigned int flags, int cgroup_fd, struct err *err)
{
	/* the exit signal is the parent's own: clone(2) */
	struct clone_args args = {.flags = flags | CLONE_PARENT};

	return clone3(&args, cgroup_fd, err);
}

/* ----------------------------------------------------------------- cookies */

int ns_net_cookie(uint64_t *ret, struct err *err)
{
	own_close int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t n = sizeof(*ret);

	if (fd < 0)
		return err_errno(err, errno, "socket");
	if (getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, ret, &n) < 0)
		return err_errno(err, errno,
				 "read the network namespace's cookie");
	return 0;
}

/* -------------------------------------------------------------------- time */

int ns_time_begin(const struct ns_time_offset *offsets, size_t n,
		  int *ret_old_fd, struct err *err)
{
	own_strbuf struct strbuf text = STRBUF_HEAP;
	own_close int fd =
		openat(AT_FDCWD, "/proc/self/ns/time", O_RDONLY | O_CLOEXEC);
	int r = 0;

	if (fd < 0)
		return err_errno(err, errno, "open /proc/self/ns/time");
	if (unshare(CLONE_NEWTIME) < 0)
		return err_errno(err, errno, "make a time namespace");
	for (size_t i = 0; i < n; i++)
		strbuf_addf(&text, "%s %lld %u\n", offsets[i].clock,
			    (long long)offsets[i].secs, offsets[i].nanosecs);
	/* one write: the kernel takes up to two lines at once */
	if (text.len)
		r = io_write_file(AT_FDCWD, "/proc/self/timens_offsets", 0,
				  text.s, text.len);
	if (r < 0) {
		if (setns(fd, CLONE_NEWTIME) < 0)
			return err_errno(err, errno,
					 "leave the time namespace");
		return err_errno(err, -r, "write the time offsets");
	}
	*ret_old_fd = take_fd(&fd);
	return 0;
}

int ns_time_end(int old_fd, struct err *err)
{
	if (setns(old_fd, CLONE_NEWTIME) < 0)
		return err_errno(err, errno, "leave the time namespace");
	return 0;
}
