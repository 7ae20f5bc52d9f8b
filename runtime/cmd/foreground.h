/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standing in front of a process that we started: `run` and `exec` without
 * --detach. Signals go on to it, the terminal is served, and its exit status
 * becomes ours (128 + N after signal N).
 */
#ifndef OSH_CMD_FOREGROUND_H
#define OSH_CMD_FOREGROUND_H

#include <errno.h>
#include <sys/types.h>

struct err;

struct foreground {
	int signal_fd;	  /* owned */
	int console[2];	  /* owned: a socket pair for the terminal, or -1 */
	pid_t pid;	  /* our child */
	int pidfd;	  /* borrowed */
};

#define FOREGROUND_INIT                                                        \
	{                                                                      \
		.signal_fd = -EBADF, .console = { -EBADF, -EBADF },            \
		.pidfd = -EBADF                                                \
	}

/*
 * Before the process is made: block the signals, so that none is lost. The
 * process is given console[1] as its console socket when it has a terminal.
 */
int foreground_begin(struct foreground *f, struct err *err);
/* Serve until it ends. Returns its exit status, or a negative errno. */
int foreground_wait(struct foreground *f, int terminal, struct err *err);
void foreground_done(struct foreground *f);

#endif
