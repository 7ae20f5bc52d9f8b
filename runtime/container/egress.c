/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/container/egress.h"
#include "runtime/container/egress_cgroup.h"
#include "runtime/container/self.h"
#include "runtime/container/store.h"
#include "runtime/linux/cgroup_procs.h"
#include "runtime/linux/namespaces.h"

/* More than a shim gives its resolver to take a policy (ATTACH). */
enum { ANSWER_WAIT_S = 30 };

/* ------------------------------------------------------------- messages */

union control {
	char room[CMSG_SPACE(sizeof(int) * SHIM_FDS_MAX)];
	struct cmsghdr align;
};

static int send_bytes(int fd, const void *data, size_t size, const int *fds,
		      uint32_t n_fds, struct err *err)
{
	struct iovec iov = { .iov_base = (void *)(uintptr_t)data,
			     .iov_len = size };
	union control control = { .room = { 0 } };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n;

	if (n_fds) {
		struct cmsghdr *c;

		h.msg_control = control.room;
		h.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
		c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * n_fds);
	}
	do {
		n = sendmsg(fd, &h, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_errno(err, errno, "send to osh-shim");
	return 0;
}

/* Takes at most SHIM_FDS_MAX descriptors into @ret_fds. */
static int receive_reply(int fd, enum shim_op op, struct shim_reply *ret,
			 int ret_fds[SHIM_FDS_MAX], uint32_t *ret_n,
			 struct err *err)
{
	struct iovec iov = { .iov_base = ret, .iov_len = sizeof(*ret) };
	union control control = { .room = { 0 } };
	struct msghdr h = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = control.room,
			    .msg_controllen = sizeof(control.room) };
	uint32_t n_fds = 0;
	ssize_t n;

	do {
		n = recvmsg(fd, &h, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return err_set(err, ETIMEDOUT,
			       "hear from osh-shim: no answer within %d s",
			       ANSWER_WAIT_S);
	/* reset: it ended without having read all that we said */
	if (n < 0 && errno != ECONNRESET)
		return err_errno(err, errno, "hear from osh-shim");
	if (n <= 0)
		return err_set(err, ECONNRESET,
			       "hear from osh-shim: it ended unexpectedly");
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&h); c; c = CMSG_NXTHDR(&h, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n_fds = (uint32_t)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(ret_fds, CMSG_DATA(c), n_fds * sizeof(int));
	}
	if (n != (ssize_t)sizeof(*ret) || ret->op != (uint32_t)op ||
	    ret->n_fds != n_fds) {
		for (uint32_t i = 0; i < n_fds; i++)
			close(ret_fds[i]);
		return err_set(err, EPROTO,
			       "hear from osh-shim: unexpected message");
	}
	*ret_n = n_fds;
	if (ret->err.code > 0) {
		*err = ret->err;
		err->text[sizeof(err->text) - 1] = '\0';
		return -err->code;
	}
	return 0;
}

/* A request whose reply carries no descriptor. */
static int exchange(struct egress *e, enum shim_op op, const void *data,
		    size_t size, const int *fds, uint32_t n_fds,
		    struct shim_reply *ret, struct err *err)
{
	int came[SHIM_FDS_MAX];
	uint32_t n = 0;
	int r = send_bytes(e->conn_fd, data, size, fds, n_fds, err);

	if (r == 0)
		r = receive_reply(e->conn_fd, op, ret, came, &n, err);
	for (uint32_t i = 0; r == 0 && i < n; i++)
		close(came[i]);
	return r;
}

/* ---------------------------------------------------- finding the shim */

static void cookie_name(uint64_t cookie, char name[17])
{
	snprintf(name, 17, "%016llx", (unsigned long long)cookie);
}

static int socket_address(int folder_fd, struct sockaddr_un *ret)
{
	struct strbuf sb = { .s = ret->sun_path,
			     .size = sizeof(ret->sun_path) };

	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	strbuf_addf(&sb, "/proc/self/fd/%d/sock", folder_fd);
	return sb.cut ? -ENAMETOOLONG : 0;
}

static int try_connect(struct egress *e, struct err *err)
{
	static const struct timeval wait = { .tv_sec = ANSWER_WAIT_S };
	own_close int fd = -EBADF;
	struct sockaddr_un sa;

	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_errno(err, errno, "create socket");
	socket_address(e->folder_fd, &sa);
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0) {
		int code = errno;

		/* no socket, or one whose shim is dead */
		if (code == ENOENT || code == ECONNREFUSED)
			return err_set(err, ESRCH,
				       "connect to osh-shim: it is not "
				       "running");
		return err_errno(err, code, "connect to osh-shim");
	}
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) < 0)
		return err_errno(err, errno, "limit the wait for osh-shim");
	e->conn_fd = take_fd(&fd);
	return 0;
}

/* The folder of this namespace's shim, made and locked. */
static int take_folder(struct egress *e, struct err *err)
{
	own_close int shims_fd = -EBADF;
	char name[17];
	int r;

	r = store_open_shims(&shims_fd, err);
	if (r < 0)
		return r;
	cookie_name(e->cookie, name);
	for (int tries = 0; tries < 100; tries++) {
		own_close int fd = -EBADF;
		struct stat there, mine;

		if (mkdirat(shims_fd, name, 0700) < 0 && errno != EEXIST)
			return err_errno(err, errno, "create folder .shims/%s",
					 name);
		fd = openat(shims_fd, name,
			    O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (fd < 0 && errno == ENOENT)
			continue;
		if (fd < 0 || flock(fd, LOCK_EX) < 0)
			return err_errno(err, errno, "lock folder .shims/%s",
					 name);
		/* a shim that ended has removed it meanwhile */
		if (fstatat(shims_fd, name, &there, AT_SYMLINK_NOFOLLOW) < 0 ||
		    fstat(fd, &mine) < 0 || there.st_ino != mine.st_ino)
			continue;
		e->folder_fd = take_fd(&fd);
		return 0;
	}
	return err_set(err, EBUSY, "lock folder .shims/%s: too many tries",
		       name);
}

/* Remove the folder that we hold the lock of: no shim lives there. */
static void drop_folder(struct egress *e)
{
	own_close int shims_fd = -EBADF;
	struct err ignored;
	char name[17];

	if (store_open_shims(&shims_fd, &ignored) < 0)
		return;
	cookie_name(e->cookie, name);
	unlinkat(e->folder_fd, "sock", 0);
	unlinkat(shims_fd, name, AT_REMOVEDIR);
}

/* All of it under the lock: another create may be about to start a shim. */
int egress_forget(struct arena *a, uint64_t cookie, struct err *err)
{
	struct egress e = EGRESS_INIT;
	struct err ignored;
	int r;

	e.cookie = cookie;
	r = take_folder(&e, err);
	if (r < 0)
		return r;
	if (try_connect(&e, &ignored) == -ESRCH) {
		r = egress_cgroup_remove(a, cookie, err);
		drop_folder(&e);
	}
	egress_done(&e);
	return r;
}

/* ------------------------------------------------------------- starting */

static int listen_socket(int folder_fd, int *ret_fd, struct err *err)
{
	own_close int fd = -EBADF;
	struct sockaddr_un sa;

	/* what a dead shim left */
	if (unlinkat(folder_fd, "sock", 0) < 0 && errno != ENOENT)
		return err_errno(err, errno, "remove socket of a dead shim");
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_errno(err, errno, "create socket");
	socket_address(folder_fd, &sa);
	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		return err_errno(err, errno, "bind socket of osh-shim");
	if (listen(fd, 64) < 0)
		return err_errno(err, errno, "listen for osh-shim");
	*ret_fd = take_fd(&fd);
	return 0;
}

/* In the grandchild: the descriptors go to their numbers, then the program. */
static __attribute__((noreturn)) void
become_shim(int shim_fd, const int fds[5], const struct cgroup_join *join)
{
	static char name[] = "osh-shim";
	static char *const argv[] = { name, NULL };
	static char *const env[] = { NULL };
	int high[5], program, null_fd;
	sigset_t none;
	struct err ignored;

	if (cgroup_join_self(join, join->v2_dir_fd >= 0, &ignored) < 0)
		_exit(127);
	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	umask(0077);
	if (chdir("/") < 0)
		_exit(127);
	/* out of the way of 0 to 7 first */
	for (int i = 0; i < 5; i++) {
		high[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 64);
		if (high[i] < 0)
			_exit(127);
	}
	program = fcntl(shim_fd, F_DUPFD_CLOEXEC, 64);
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (program < 0 || null_fd < 0)
		_exit(127);
	for (int i = 0; i < 3; i++)
		if (dup2(null_fd, i) < 0)
			_exit(127);
	for (int i = 0; i < 5; i++)
		if (dup2(high[i], SHIM_FD_LISTEN + i) < 0)
			_exit(127);
	/* dup2 clears close-on-exec; what is not for the shim goes */
	if (close_range(SHIM_FD_RESOLVER + 1, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
		_exit(127);
	fexecve(program, argv, env);
	_exit(127);
}

static int start_shim(struct egress *e, const struct egress_start *start,
		      struct err *err)
{
	own_cgroup_join struct cgroup_join join = CGROUP_JOIN_INIT;
	own_close int shim_fd = -EBADF;
	own_close int resolver_fd = -EBADF;
	own_close int proc_fd = -EBADF;
	own_close int listen_fd = -EBADF;
	pid_t pid;
	int r, status;

	r = self_open_program("osh-shim", &shim_fd, err);
	if (r == 0)
		r = self_open_program("osh-resolver", &resolver_fd, err);
	if (r == 0)
		r = listen_socket(e->folder_fd, &listen_fd, err);
	if (r == 0 && start->own_cgroup)
		r = egress_cgroup_make(start->arena, e->cookie,
				       start->cgroups_path, &join, err);
	if (r < 0)
		return r;
	proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc_fd < 0)
		return err_errno(err, errno, "open /proc");

	pid = fork();
	if (pid < 0)
		return err_errno(err, errno, "start osh-shim");
	if (pid == 0) {
		const int fds[5] = { listen_fd, start->netns_fd, proc_fd,
				     e->folder_fd, resolver_fd };

		if (ns_clone(0, join.v2_dir_fd, NULL, err) == 0)
			become_shim(shim_fd, fds, &join);
		_exit(0);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_errno(err, errno, "start osh-shim");
	return 0;
}

int egress_attach(struct egress *e, const char *id, uint64_t cookie,
		  const struct egress_start *start, struct err *err)
{
	struct shim_attach attach = *start->attach;
	struct shim_reply reply;
	int fds[3] = { start->policy_fd, start->log_dir_fd,
		       start->ceiling_fd };
	int r;

	*e = (struct egress)EGRESS_INIT;
	e->cookie = cookie;
	str_copy(e->id, sizeof(e->id), id);
	attach.op = SHIM_OP_ATTACH;
	attach.version = SHIM_PROTO_VERSION;
	str_copy(attach.id, sizeof(attach.id), id);

	r = take_folder(e, err);
	if (r < 0)
		return r;
	r = try_connect(e, err);
	if (r == -ESRCH) {
		r = start_shim(e, start, err);
		if (r == 0)
			r = try_connect(e, err);
	}
	if (r == 0)
		r = exchange(e, SHIM_OP_ATTACH, &attach, sizeof(attach), fds,
			     start->ceiling_fd >= 0 ? 3 : 2, &reply, err);
	e->folder_fd = close_fd(e->folder_fd);
	if (r < 0)
		egress_done(e);
	return r;
}

int egress_connect(struct egress *e, const char *id, uint64_t cookie,
		   struct err *err)
{
	own_close int shims_fd = -EBADF;
	char name[17];
	int r;

	*e = (struct egress)EGRESS_INIT;
	e->cookie = cookie;
	str_copy(e->id, sizeof(e->id), id);
	r = store_open_shims(&shims_fd, err);
	if (r < 0)
		return r;
	cookie_name(cookie, name);
	e->folder_fd = openat(shims_fd, name,
			      O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (e->folder_fd < 0)
		return err_set(err, ESRCH,
			       "connect to osh-shim: it is not running");
	r = try_connect(e, err);
	e->folder_fd = close_fd(e->folder_fd);
	return r;
}

int egress_binaries(struct egress *e, pid_t init_pid,
		    const struct shim_binary *rows, uint32_t n,
		    struct err *err)
{
	struct shim_binaries head = { .op = SHIM_OP_BINARIES,
				      .n = n,
				      .init_pid = init_pid };
	struct shim_reply reply;
	int came[SHIM_FDS_MAX];
	uint32_t n_came;
	int r;

	str_copy(head.id, sizeof(head.id), e->id);
	if (n == 0)
		return exchange(e, SHIM_OP_BINARIES, &head, sizeof(head), NULL,
				0, &reply, err);
	r = send_bytes(e->conn_fd, &head, sizeof(head), NULL, 0, err);
	for (uint32_t i = 0; r == 0 && i < n; i++) {
		struct shim_binary row = rows[i];

		row.op = SHIM_OP_BINARY;
		r = send_bytes(e->conn_fd, &row, sizeof(row), NULL, 0, err);
	}
	if (r == 0)
		r = receive_reply(e->conn_fd, SHIM_OP_BINARIES, &reply, came,
				  &n_came, err);
	return r;
}

static void fill_request(const struct egress *e, enum shim_op op, pid_t pid,
			 struct shim_request *ret)
{
	*ret = (struct shim_request){ .op = op, .pid = pid };
	str_copy(ret->id, sizeof(ret->id), e->id);
}

int egress_request(struct egress *e, enum shim_op op, pid_t pid,
		   const int *fds, uint32_t n_fds, struct err *err)
{
	struct shim_request rq;
	struct shim_reply reply;

	fill_request(e, op, pid, &rq);
	return exchange(e, op, &rq, sizeof(rq), fds, n_fds, &reply, err);
}

int egress_get_rulesets(struct egress *e, int ret_fds[SHIM_FDS_MAX],
			uint32_t *ret_n, struct err *err)
{
	struct shim_request rq;
	struct shim_reply reply;
	int r;

	fill_request(e, SHIM_OP_GET_RULESETS, 0, &rq);
	r = send_bytes(e->conn_fd, &rq, sizeof(rq), NULL, 0, err);
	if (r < 0)
		return r;
	return receive_reply(e->conn_fd, SHIM_OP_GET_RULESETS, &reply, ret_fds,
			     ret_n, err);
}

int egress_detach(struct egress *e, uint32_t *ret_left, struct err *err)
{
	struct shim_request rq;
	struct shim_reply reply;
	int r;

	fill_request(e, SHIM_OP_DETACH, 0, &rq);
	r = exchange(e, SHIM_OP_DETACH, &rq, sizeof(rq), NULL, 0, &reply, err);
	*ret_left = r == 0 ? reply.n_listeners : 0;
	return r;
}

int egress_status(struct egress *e, struct shim_reply *ret, struct err *err)
{
	struct shim_request rq;

	fill_request(e, SHIM_OP_STATUS, 0, &rq);
	return exchange(e, SHIM_OP_STATUS, &rq, sizeof(rq), NULL, 0, ret, err);
}

int egress_pidfd(const struct egress *e)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);
	int fd;

	if (getsockopt(e->conn_fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return -errno;
	fd = (int)syscall(SYS_pidfd_open, peer.pid, 0);
	return fd < 0 ? -errno : fd;
}

void egress_done(struct egress *e)
{
	e->conn_fd = close_fd(e->conn_fd);
	e->folder_fd = close_fd(e->folder_fd);
}
