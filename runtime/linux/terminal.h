/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pseudoterminals: made from the container's own devpts, handed to the client
 * over its console socket, or served in the foreground.
 *
 * No name in /dev/pts is ever looked up: the slave is opened through its
 * master (TIOCGPTPEER, ioctl_tty(2)), so it cannot be swapped
 * (CVE-2025-52565).
 */
#ifndef OSH_LINUX_TERMINAL_H
#define OSH_LINUX_TERMINAL_H

#include <errno.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct signalfd_siginfo;

struct terminal {
	int master_fd; /* owned */
	int slave_fd; /* owned */
	unsigned int number;
};

#define TERMINAL_INIT                                   \
	{                                               \
		.master_fd = -EBADF, .slave_fd = -EBADF \
	}
#define own_terminal __attribute__((cleanup(terminal_done)))

void terminal_done(struct terminal *t);

/* The size of the terminal behind @fd; 0 and 0 when it is none. */
void terminal_size(int fd, uint16_t *ret_rows, uint16_t *ret_columns);

/*
 * A new pair from /dev/pts beneath @root_fd, which must be a devpts. Does not
 * become the controlling terminal. @rows and @columns may be 0: unchanged.
 */
int terminal_open(int root_fd, uint16_t rows, uint16_t columns,
		  struct terminal *ret, struct err *err);

/* Give the slave to @uid. An id that is not mapped is fine (runc#4679). */
int terminal_chown(const struct terminal *t, uid_t uid, struct err *err);

/*
 * Send the master over the connected socket @socket_fd, with its name as the
 * data, as clients expect it from runc.
 */
int terminal_send(const struct terminal *t, int socket_fd, struct err *err);
/* Connect to the console socket at @path. */
int terminal_connect(const char *path, int *ret_fd, struct err *err);
/* The other side of terminal_send. */
int terminal_receive(int socket_fd, int *ret_master_fd, struct err *err);

/*
 * A new session with the slave as its controlling terminal and as descriptors
 * 0, 1 and 2. setsid is done here; already being a session's leader is fine.
 */
int terminal_attach(int slave_fd, struct err *err);

/*
 * Serve @master_fd in the foreground: @in_fd to it, it to @out_fd, the window
 * size of @in_fd too, until the child behind @child_pidfd has ended and all
 * that it wrote is out, or nobody has the slave open any more. When @in_fd is
 * a terminal it is raw meanwhile, and as before afterwards.
 *
 * @signal_fd: a signalfd of the caller's, or -EBADF. SIGWINCH is handled here,
 * every other signal is given to @on_signal.
 */
struct terminal_proxy {
	int master_fd; /* borrowed, all of them */
	int in_fd;
	int out_fd;
	int child_pidfd;
	int signal_fd;
	void (*on_signal)(void *arg, const struct signalfd_siginfo *si);
	void *arg;
};

int terminal_serve(const struct terminal_proxy *p, struct err *err);

#endif
