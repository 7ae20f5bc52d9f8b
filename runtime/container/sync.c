/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/container/sync.h"

union control {
	char room[CMSG_SPACE(sizeof(int) * SYNC_FDS_MAX)];
	struct cmsghdr align;
};

int sync_pair(int ret_fd[2], struct err *err)
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_fd) < 0)
		return err_errno(err, errno, "create socket pair");
	return 0;
}

static int send_message(int fd, const struct sync_message *m, const int *fds)
{
	struct iovec iov = { .iov_base = (void *)(uintptr_t)m,
			     .iov_len = sizeof(*m) };
	union control control = { .room = { 0 } };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n;

	if (m->n_fds) {
		struct cmsghdr *c;

		h.msg_control = control.room;
		h.msg_controllen = CMSG_SPACE(sizeof(int) * m->n_fds);
		c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * m->n_fds);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * m->n_fds);
		n = sendmsg(fd, &h, MSG_NOSIGNAL);
	} else {
		/* after the config's filter: nothing but write(2) */
		n = write(fd, m, sizeof(*m));
	}
	if (n < 0)
		return -errno;
	return n == (ssize_t)sizeof(*m) ? 0 : -EIO;
}

int sync_send(int fd, enum sync_type type, uint64_t value, const int *fds,
	      uint32_t n_fds, struct err *err)
{
	struct sync_message m = { .type = type,
				  .n_fds = n_fds,
				  .value = value };
	int r = send_message(fd, &m, fds);

	if (r == -EPIPE || r == -ECONNRESET)
		return err_set(err, ECONNRESET,
			       "tell the other side: it ended unexpectedly");
	return r < 0 ? err_errno(err, -r, "tell the other side") : 0;
}

void sync_fail(int fd, const struct err *why)
{
	struct sync_message m = { .type = SYNC_FAILED, .err = *why };

	(void)send_message(fd, &m, NULL);
}

static void (*on_note)(const char *fmt, ...);

void sync_set_note(void (*note)(const char *fmt, ...))
{
	on_note = note;
}

void sync_note(int fd, const char *text)
{
	struct sync_message m = { .type = SYNC_NOTE };

	str_copy(m.err.text, sizeof(m.err.text), text);
	(void)send_message(fd, &m, NULL);
}

static void take_fds(struct msghdr *h, int *fds, size_t *n)
{
	*n = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
		size_t got;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		got = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(c), got * sizeof(int));
		*n = got;
	}
}

static int wait_one(int fd, enum sync_type type, const char *who,
		    struct sync_message *ret, int *ret_fds, struct err *err)
{
	struct iovec iov = { .iov_base = ret, .iov_len = sizeof(*ret) };
	union control control;
	struct msghdr h = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = ret_fds ? control.room : NULL,
			    .msg_controllen =
				    ret_fds ? sizeof(control.room) : 0 };
	int fds[SYNC_FDS_MAX];
	size_t n_fds = 0;
	ssize_t n;

	do {
		/* read(2) where no descriptor can come: see send_message */
		n = ret_fds ? recvmsg(fd, &h, MSG_CMSG_CLOEXEC) :
			      read(fd, ret, sizeof(*ret));
	} while (n < 0 && errno == EINTR);
	/* reset: it ended without having read all that we said */
	if (n < 0 && errno != ECONNRESET)
		return err_errno(err, errno, "hear from %s", who);
	if (n <= 0)
		return err_set(err, ECONNRESET, "%s ended unexpectedly", who);
	if (ret_fds)
		take_fds(&h, fds, &n_fds);

	if (n != (ssize_t)sizeof(*ret) || n_fds != ret->n_fds ||
	    (ret->type != (uint32_t)type && ret->type != SYNC_FAILED &&
	     ret->type != SYNC_NOTE)) {
		for (size_t i = 0; i < n_fds; i++)
			close(fds[i]);
		return err_set(err, EPROTO, "hear from %s: unexpected message",
			       who);
	}
	if (ret_fds)
		memcpy(ret_fds, fds, n_fds * sizeof(int));
	if (ret->type == SYNC_FAILED) {
		*err = ret->err;
		err->text[sizeof(err->text) - 1] = '\0';
		if (err->code <= 0)
			err->code = EPROTO;
		return -err->code;
	}
	return 0;
}

int sync_wait(int fd, enum sync_type type, const char *who,
	      struct sync_message *ret, int *ret_fds, struct err *err)
{
	for (;;) {
		int r = wait_one(fd, type, who, ret, ret_fds, err);

		if (r < 0 || ret->type != SYNC_NOTE)
			return r;
		ret->err.text[sizeof(ret->err.text) - 1] = '\0';
		if (on_note)
			on_note("%s", ret->err.text);
	}
}
