/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages over SOCK_SEQPACKET unix sockets: one struct, exactly of its size,
 * with exactly its descriptors (SCM_RIGHTS). A message that is cut, or that
 * carries other ancillary data, is an error and leaves no descriptor behind.
 */
#ifndef OSH_BASE_PACKET_H
#define OSH_BASE_PACKET_H

#include <stddef.h>
#include <sys/types.h>

enum { PACKET_FDS_MAX = 64 };

/*
 * Send @n bytes with @n_fds borrowed descriptors. Returns 0 or a negative
 * errno; SIGPIPE is not raised.
 */
int packet_send(int sock_fd, const void *data, size_t n, const int *fds,
		size_t n_fds);

/*
 * Receive one message of at most @size bytes and @max_fds descriptors
 * (O_CLOEXEC; the caller owns them; entries of @ret_fds beyond *ret_n_fds are
 * -EBADF). @flags are recvmsg's. Returns its length, 0 at the end of the
 * connection, or a negative errno: -EMSGSIZE for a message that is longer or
 * has more descriptors.
 */
ssize_t packet_recv(int sock_fd, void *buf, size_t size, int *ret_fds,
		    size_t max_fds, size_t *ret_n_fds, int flags);

/* Close all of @fds and set them to -EBADF. */
void packet_close(int *fds, size_t n_fds);

#endif
