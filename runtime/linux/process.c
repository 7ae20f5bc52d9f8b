/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/num.h"
#include "runtime/base/own.h"
#include "runtime/base/path.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/process.h"

/* Fields of /proc/PID/stat, counted as proc_pid_stat(5) does. */
enum { FIELD_STATE = 3, FIELD_PPID = 4, FIELD_START = 22 };

static int parse_stat(char *text, struct process_stat *ret)
{
	/* the name may hold blanks and parentheses: the last one closes it */
	char *p = strrchr(text, ')');
	uint64_t ppid;

	if (!p || p[1] != ' ' || p[2] == '\0' || p[3] != ' ')
		return -EPROTO;
	ret->state = p[2];
	p += 4;
	for (int field = FIELD_PPID; field <= FIELD_START; field++) {
		char *end = strchr(p, ' ');

		if (!end)
			return -EPROTO;
		*end = '\0';
		if (field == FIELD_PPID) {
			if (num_parse_u64(p, &ppid) < 0)
				return -EPROTO;
			ret->ppid = (pid_t)ppid;
		}
		if (field == FIELD_START &&
		    num_parse_u64(p, &ret->start_time) < 0)
			return -EPROTO;
		p = end + 1;
	}
	return 0;
}

int process_stat(pid_t pid, struct process_stat *ret)
{
	char room[64], text[1024];
	struct strbuf path = STRBUF_FIXED(room);
	ssize_t n;

	strbuf_addf(&path, "/proc/%d/stat", (int)pid);
	n = io_read_str(AT_FDCWD, path.s, text, sizeof(text));
	if (n == -ENOENT)
		return -ESRCH;
	return n < 0 ? (int)n : parse_stat(text, ret);
}

bool process_is_alive(pid_t pid, uint64_t start_time)
{
	struct process_stat st;

	return pid > 0 && process_stat(pid, &st) == 0 && st.state != 'Z' &&
	       st.state != 'X' && st.state != 'x' &&
	       st.start_time == start_time;
}

int process_open(pid_t pid, uint64_t start_time, int *ret_pidfd,
		 struct err *err)
{
	own_close int fd = -EBADF;
	struct process_stat st;
	int r;

	if (pid <= 0)
		return err_set(err, EINVAL, "open process %d: not a pid",
			       (int)pid);
	fd = (int)syscall(SYS_pidfd_open, pid, 0); /* close-on-exec always */
	if (fd < 0)
		return err_errno(err, errno, "open process %d", (int)pid);
	if (start_time) {
		/* looked at after the pidfd pins it: no other can take over */
		r = process_stat(pid, &st);
		if (r == 0 && st.start_time != start_time)
			r = -ESRCH;
		if (r < 0)
			return err_errno(err, -r, "open process %d", (int)pid);
	}
	*ret_pidfd = take_fd(&fd);
	return 0;
}

int process_signal(int pidfd, int sig)
{
	return syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0) < 0 ? -errno
								       : 0;
}

int process_wait_end(int pidfd, int timeout_ms)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	int r;

	do {
		r = poll(&p, 1, timeout_ms);
	} while (r < 0 && errno == EINTR);
	if (r < 0)
		return -errno;
	return r == 0 ? -ETIMEDOUT : 0;
}

int process_take_fd(int pidfd, int fd, int *ret_fd, struct err *err)
{
	long r = syscall(SYS_pidfd_getfd, pidfd, fd, 0);

	if (r < 0)
		return err_errno(err, errno, "take descriptor %d", fd);
	*ret_fd = (int)r;
	return 0;
}

/* The first namespace maps all ids to themselves: "0 0 4294967295". */
bool process_in_userns(void)
{
	char text[128];
	unsigned long from, to, n;

	if (io_read_str(AT_FDCWD, "/proc/self/uid_map", text, sizeof(text)) < 0)
		return true; /* more lines than the first one has, or no /proc */
	return sscanf(text, "%lu %lu %lu", &from, &to, &n) != 3 || from != 0 ||
	       to != 0 || n != UINT32_MAX;
}

int process_no_new_privs(struct err *err)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_errno(err, errno, "set no_new_privs");
	return 0;
}

int process_set_oom_score(int proc_fd, int score, struct err *err)
{
	char room[16];
	struct strbuf s = STRBUF_FIXED(room);
	own_close int fd = -EBADF;
	int r;

	strbuf_addf(&s, "%d", score);
	r = path_open_proc(proc_fd, "self/oom_score_adj", O_WRONLY, &fd, err);
	if (r < 0)
		return r;
	r = io_write_all(fd, s.s, s.len);
	if (r < 0)
		return err_errno(err, -r, "set oom_score_adj to %d", score);
	return 0;
}
