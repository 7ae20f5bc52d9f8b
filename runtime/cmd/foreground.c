/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/cmd/foreground.h"
#include "runtime/linux/process.h"
#include "runtime/linux/terminal.h"

int foreground_begin(struct foreground *f, struct err *err)
{
	sigset_t all;

	/* what a program does to itself can't be passed on */
	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	sigdelset(&all, SIGABRT);
	sigdelset(&all, SIGSYS);
	sigdelset(&all, SIGTRAP);
	if (sigprocmask(SIG_BLOCK, &all, NULL) < 0)
		return err_errno(err, errno, "block signals");
	f->signal_fd = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
	if (f->signal_fd < 0)
		return err_errno(err, errno, "create signal descriptor");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, f->console) < 0)
		return err_errno(err, errno, "create socket pair");
	return 0;
}

static void pass_on(void *arg, const struct signalfd_siginfo *si)
{
	const struct foreground *f = arg;
	int sig = (int)si->ssi_signo;

	/* our own affairs */
	if (sig == SIGCHLD || sig == SIGURG || sig == SIGPIPE)
		return;
	process_signal(f->pidfd, sig);
}

static int serve_signals(struct foreground *f, struct err *err)
{
	struct pollfd p[2] = { { .fd = f->pidfd, .events = POLLIN },
			       { .fd = f->signal_fd, .events = POLLIN } };

	for (;;) {
		struct signalfd_siginfo si;

		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return err_errno(err, errno, "wait for the process");
		while (p[1].revents &&
		       read(f->signal_fd, &si, sizeof(si)) == sizeof(si))
			pass_on(f, &si);
		if (p[0].revents)
			return 0;
	}
}

static int serve_terminal(struct foreground *f, struct err *err)
{
	own_close int master_fd = -EBADF;
	struct terminal_proxy p = {
		.in_fd = STDIN_FILENO,
		.out_fd = STDOUT_FILENO,
		.child_pidfd = f->pidfd,
		.signal_fd = f->signal_fd,
		.on_signal = pass_on,
		.arg = f,
	};
	int r = terminal_receive(f->console[0], &master_fd, err);

	if (r < 0)
		return r;
	p.master_fd = master_fd;
	return terminal_serve(&p, err);
}

int foreground_wait(struct foreground *f, int terminal, struct err *err)
{
	int status, r;

	r = terminal ? serve_terminal(f, err) : serve_signals(f, err);
	/* the terminal may be hung up while the process lives on */
	if (r == 0)
		r = serve_signals(f, err);
	if (r < 0)
		return r;
	while (waitpid(f->pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_errno(err, errno, "wait for the process");
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
				     WEXITSTATUS(status);
}

void foreground_done(struct foreground *f)
{
	f->signal_fd = close_fd(f->signal_fd);
	f->console[0] = close_fd(f->console[0]);
	f->console[1] = close_fd(f->console[1]);
}
