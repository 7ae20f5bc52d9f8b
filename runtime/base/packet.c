/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "runtime/base/own.h"
#include "runtime/base/packet.h"

union control {
	struct cmsghdr align;
	char room[CMSG_SPACE(PACKET_FDS_MAX * sizeof(int))];
};

int packet_send(int sock_fd, const void *data, size_t n, const int *fds,
		size_t n_fds)
{
	/* sendmsg(2) does not write through iov_base */
	struct iovec iov = { .iov_base = (void *)(uintptr_t)data,
			     .iov_len = n };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	union control control;
	struct cmsghdr *c;
	ssize_t r;

	assert(n > 0 && n_fds <= PACKET_FDS_MAX);
	if (n_fds) {
		memset(&control, 0, sizeof(control));
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
		memcpy(CMSG_DATA(c), fds, n_fds * sizeof(int));
	}
	do {
		r = sendmsg(sock_fd, &msg, MSG_NOSIGNAL);
	} while (r < 0 && errno == EINTR);
	if (r < 0)
		return -errno;
	return (size_t)r == n ? 0 : -EMSGSIZE;
}

void packet_close(int *fds, size_t n_fds)
{
	for (size_t i = 0; i < n_fds; i++)
		fds[i] = close_fd(fds[i]);
}

/* Take the descriptors of one control message; false when they don't fit. */
static bool take_fds(struct cmsghdr *c, int *ret_fds, size_t max_fds,
		     size_t *n_fds)
{
	size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	bool fit = true;

	for (size_t i = 0; i < n; i++) {
		int fd;

		memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
		if (*n_fds < max_fds) {
			ret_fds[(*n_fds)++] = fd;
		} else {
			close_fd(fd);
			fit = false;
		}
	}
	return fit;
}

ssize_t packet_recv(int sock_fd, void *buf, size_t size, int *ret_fds,
		    size_t max_fds, size_t *ret_n_fds, int flags)
{
	struct iovec iov = { .iov_base = buf, .iov_len = size };
	union control control;
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	bool good = true;
	ssize_t r;

	*ret_n_fds = 0;
	for (size_t i = 0; i < max_fds; i++)
		ret_fds[i] = -EBADF;
	do {
		r = recvmsg(sock_fd, &msg, flags | MSG_CMSG_CLOEXEC);
	} while (r < 0 && errno == EINTR);
	if (r < 0)
		return -errno;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c;
	     c = CMSG_NXTHDR(&msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			good = false;
		else if (!take_fds(c, ret_fds, max_fds, ret_n_fds))
			good = false;
	}
	if (!good || (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
		packet_close(ret_fds, *ret_n_fds);
		*ret_n_fds = 0;
		return -EMSGSIZE;
	}
	return r;
}
