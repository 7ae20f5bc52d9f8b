/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/json.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/container/record.h"
#include "runtime/container/seccomp_agent.h"
#include "runtime/linux/process.h"
#include "runtime/oci/spec.h"
#include "runtime/oci/spec_seccomp.h"

static int dial(const char *path, int *ret_fd, struct err *err)
{
	own_close int fd = -EBADF;
	struct sockaddr_un sa = { .sun_family = AF_UNIX };

	if (!str_copy(sa.sun_path, sizeof(sa.sun_path), path))
		return err_errno(err, ENAMETOOLONG,
				 "connect to seccomp agent %s", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_errno(err, errno, "create socket");
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		return err_errno(err, errno, "connect to seccomp agent %s",
				 path);
	*ret_fd = take_fd(&fd);
	return 0;
}

static void write_state(struct strbuf *sb, struct arena *a,
			const struct oci_seccomp *sec,
			const struct oci_state *state, pid_t pid)
{
	struct json j = json_to(sb, false);

	json_object(&j, NULL);
	json_str(&j, "ociVersion", OCI_VERSION);
	json_array(&j, "fds");
	json_str(&j, NULL, "seccompFd");
	json_end(&j);
	json_i64(&j, "pid", pid);
	if (sec->listener_metadata)
		json_str(&j, "metadata", sec->listener_metadata);
	json_raw(&j, "state",
		 record_hook_state(a, state,
				   state->pid == pid ? OCI_CREATING :
						       OCI_RUNNING));
	json_end(&j);
}

static int send_state(int to_fd, const struct strbuf *sb, int listener_fd,
		      const char *path, struct err *err)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { .room = { 0 } };
	struct iovec iov = { .iov_base = sb->s, .iov_len = sb->len };
	struct msghdr h = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = control.room,
			    .msg_controllen = sizeof(control.room) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &listener_fd, sizeof(int));
	/* a state is far below a socket's buffer: one piece */
	if (sendmsg(to_fd, &h, MSG_NOSIGNAL) != (ssize_t)sb->len)
		return err_errno(err, errno ? errno : EIO,
				 "send to seccomp agent %s", path);
	return 0;
}

int seccomp_agent_send(struct arena *a, const struct oci_seccomp *sec,
		       const struct oci_state *state, pid_t pid, int pidfd,
		       int number, struct err *err)
{
	own_strbuf struct strbuf sb = STRBUF_HEAP;
	own_close int to_fd = -EBADF;
	own_close int listener_fd = -EBADF;
	int r;

	r = dial(sec->listener_path, &to_fd, err);
	if (r == 0)
		r = process_take_fd(pidfd, number, &listener_fd, err);
	if (r < 0)
		return r;
	write_state(&sb, a, sec, state, pid);
	return send_state(to_fd, &sb, listener_fd, sec->listener_path, err);
}
