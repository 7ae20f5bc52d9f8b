/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/container/hook.h"
#include "runtime/oci/spec.h"

enum { HOOK_STDERR_BYTES = 4096 };

/* The state, in a file that the hook reads from the start: no pipe, so nobody
 * has to write while the hook doesn't read. */
static int state_file(const char *json, size_t len, int *ret_fd,
		      struct err *err)
{
	own_close int fd = memfd_create("state", MFD_CLOEXEC);
	int r;

	if (fd < 0)
		return err_errno(err, errno, "create memory file");
	r = io_write_all(fd, json, len);
	if (r < 0)
		return err_errno(err, -r, "write state");
	if (lseek(fd, 0, SEEK_SET) < 0)
		return err_errno(err, errno, "rewind state");
	*ret_fd = take_fd(&fd);
	return 0;
}

static __attribute__((noreturn)) void
become_hook(const struct oci_hook *h, int state_fd, int stderr_fd)
{
	static char *empty[] = { NULL };
	char *bare[] = { (char *)(uintptr_t)h->path, NULL };
	char *const *argv = h->args.n ? (char *const *)(uintptr_t)h->args.v :
					bare;
	char *const *env = h->env.n ? (char *const *)(uintptr_t)h->env.v :
				      empty;
	sigset_t none;

	/* a group of its own: a timeout ends all that the hook started */
	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (dup2(state_fd, STDIN_FILENO) < 0 ||
	    dup2(stderr_fd, STDERR_FILENO) < 0)
		_exit(126);
	close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
	execve(h->path, argv, env);
	dprintf(STDERR_FILENO, "%s\n", err_text(errno));
	_exit(127);
}

/* Wait for the end of the hook; take what it says on stderr meanwhile. */
static int wait_for(pid_t pid, int pidfd, int out_fd, int64_t deadline_ms,
		    struct strbuf *said, int *ret_status)
{
	bool open = true;

	for (;;) {
		struct pollfd p[2] = { { .fd = pidfd, .events = POLLIN },
				       { .fd = open ? out_fd : -1,
					 .events = POLLIN } };
		int timeout = -1;
		char chunk[512];
		ssize_t n;

		if (deadline_ms > 0) {
			int64_t left_ms = deadline_ms - (int64_t)clock_now_ms();

			if (left_ms <= 0)
				return -ETIMEDOUT;
			timeout = left_ms < INT_MAX ? (int)left_ms : INT_MAX;
		}
		if (poll(p, 2, timeout) < 0 && errno != EINTR)
			return -errno;
		if (open && p[1].revents) {
			n = read(out_fd, chunk, sizeof(chunk));
			if (n > 0)
				strbuf_add(said, chunk, (size_t)n);
			else if (n == 0 || errno != EINTR)
				open = false;
			continue;
		}
		if (p[0].revents)
			break;
	}
	if (waitpid(pid, ret_status, 0) < 0)
		return -errno;
	return 0;
}

static int judge(int status, const char *said, struct err *err)
{
	char line[200];
	const char *sep = "";

	str_copy(line, sizeof(line), said);
	line[strcspn(line, "\n")] = '\0';
	if (line[0])
		sep = ": ";
	if (WIFSIGNALED(status))
		return err_set(err, ECANCELED, "killed by signal %d%s%s",
			       WTERMSIG(status), sep, line);
	if (WEXITSTATUS(status) != 0)
		return err_set(err, ECANCELED, "exit status %d%s%s",
			       WEXITSTATUS(status), sep, line);
	return 0;
}

static int run_one(const struct oci_hook *h, const char *json, size_t len,
		   struct err *err)
{
	own_close int state_fd = -EBADF;
	own_close int out_fd = -EBADF;
	own_close int pidfd = -EBADF;
	char room[HOOK_STDERR_BYTES];
	struct strbuf said = STRBUF_FIXED(room);
	int64_t deadline = 0;
	int pipe_fd[2], status = 0, r;
	pid_t pid;

	r = state_file(json, len, &state_fd, err);
	if (r < 0)
		return r;
	if (pipe2(pipe_fd, O_CLOEXEC) < 0)
		return err_errno(err, errno, "create pipe");
	out_fd = pipe_fd[0];
	pid = fork();
	if (pid == 0)
		become_hook(h, state_fd, pipe_fd[1]);
	close(pipe_fd[1]);
	if (pid < 0)
		return err_errno(err, errno, "fork");
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	/* a bound that no multiplication passes; it is 68 years */
	if (h->timeout_s.set)
		deadline = (int64_t)clock_now_ms() +
			   (h->timeout_s.v < INT32_MAX ? h->timeout_s.v
						       : INT32_MAX) * 1000;

	r = pidfd < 0 ? -errno :
			wait_for(pid, pidfd, out_fd, deadline, &said, &status);
	if (r < 0) {
		kill(-pid, SIGKILL);
		kill(pid, SIGKILL); /* it had no time for a group */
		waitpid(pid, &status, 0);
		if (r == -ETIMEDOUT)
			return err_set(err, ETIMEDOUT,
				       "still running after its timeout of "
				       "%lld s",
				       (long long)h->timeout_s.v);
		return err_errno(err, -r, "wait");
	}
	return judge(status, said.s, err);
}

int hook_run(const struct oci_hook_list *list, const char *kind,
	     const char *state_json, size_t state_len, struct err *err)
{
	for (size_t i = 0; i < list->n; i++) {
		int r = run_one(&list->v[i], state_json, state_len, err);

		if (r < 0)
			return err_wrap(err, "run %s hook %zu %s", kind, i,
					list->v[i].path);
	}
	return 0;
}

void hook_run_all(const struct oci_hook_list *list, const char *kind,
		  const char *state_json, size_t state_len,
		  void (*warn)(const char *fmt, ...))
{
	for (size_t i = 0; i < list->n; i++) {
		struct err err;

		if (run_one(&list->v[i], state_json, state_len, &err) < 0)
			warn("run %s hook %zu %s: %s", kind, i,
			     list->v[i].path, err.text);
	}
}
