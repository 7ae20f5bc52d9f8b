/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other processes, held so that a pid that came back is never mistaken: by
 * pidfd, or by pid and start time.
 *
 * Source: proc_pid_stat(5), pidfd_open(2).
 */
#ifndef OSH_LINUX_PROCESS_H
#define OSH_LINUX_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

struct process_stat {
	char state; /* 'R', 'S', 'Z', 'X', ... */
	pid_t ppid;
	uint64_t start_time; /* clock ticks since boot */
};

/* Returns 0, -ESRCH when there is none, or another negative errno. */
int process_stat(pid_t pid, struct process_stat *ret);
/* Is it alive (neither zombie nor dead) and did it start at @start_time? */
bool process_is_alive(pid_t pid, uint64_t start_time);

/*
 * A pidfd for @pid, verified to be the process that started at @start_time (0:
 * not verified). -ESRCH when it is gone. The caller owns it; close-on-exec.
 */
int process_open(pid_t pid, uint64_t start_time, int *ret_pidfd,
		 struct err *err);
/* Returns 0 or a negative errno (-ESRCH: it has ended and was reaped). */
int process_signal(int pidfd, int sig);
/*
 * Wait for the end of a process that need not be a child. Returns 0, or
 * -ETIMEDOUT. @timeout_ms -1 waits for ever.
 */
int process_wait_end(int pidfd, int timeout_ms);
/* A duplicate of @fd of that process (pidfd_getfd); close-on-exec. */
int process_take_fd(int pidfd, int fd, int *ret_fd, struct err *err);

/*
 * Are we in a user namespace other than the machine's first? Root in it is
 * not the machine's: cgroups of others and device rules are out of reach.
 */
bool process_in_userns(void);

/* The thread's kernel flag that makes further execs gain nothing. */
int process_no_new_privs(struct err *err);
/*
 * oom_score_adj of the calling process, -1000 to 1000. @proc_fd from
 * path_proc_fd(), or -EBADF.
 */
int process_set_oom_score(int proc_fd, int score, struct err *err);

#endif
