/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The foreground of a terminal: two pipes between three descriptors.
 *
 *	in_fd --> .to --> master --> .from --> out_fd
 *
 * Only the master is non-blocking: the flags of in_fd and out_fd belong to
 * whoever started us. They are used when poll says so, one call at a time, and
 * written to in pieces for which a ready pipe or terminal has room.
 *
 * The end: the child is gone, the master says EAGAIN or EIO (the kernel hands
 * over what is in flight before it says either: n_tty_read), and all is
 * written. A hang-up alone does not end it while the child lives, for it may
 * open its terminal again.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/linux/terminal.h"

enum {
	BUFFER_BYTES = 16384,
	/* below PIPE_BUF, and below what a ready terminal takes at once */
	PIECE_BYTES = 1024,
	/* how often a hung up master is looked at while the child lives */
	HANGUP_POLL_MS = 200,
};

struct buffer {
	size_t start;
	size_t end;
	char b[BUFFER_BYTES];
};

enum { SLOT_IN, SLOT_OUT, SLOT_MASTER, SLOT_CHILD, SLOT_SIGNAL, SLOT_N };

struct state {
	const struct terminal_proxy *p;
	struct buffer to;
	struct buffer from;
	bool in_ended;
	bool out_ended; /* nobody reads: what comes is thrown away */
	bool hung_up;
	bool child_ended;
	bool drained; /* the master has nothing, after the child's end */
};

static bool is_empty(const struct buffer *b)
{
	return b->start == b->end;
}

static bool has_room(const struct buffer *b)
{
	return b->end - b->start < BUFFER_BYTES;
}

/* Read once. Returns what read did, as a negative errno; 0 at the end. */
static ssize_t fill(struct buffer *b, int fd)
{
	ssize_t n;

	if (b->end == BUFFER_BYTES) {
		memmove(b->b, b->b + b->start, b->end - b->start);
		b->end -= b->start;
		b->start = 0;
	}
	n = read(fd, b->b + b->end, BUFFER_BYTES - b->end);
	if (n < 0)
		return -errno;
	b->end += (size_t)n;
	return n;
}

static ssize_t flush(struct buffer *b, int fd, size_t max)
{
	size_t n = b->end - b->start;
	ssize_t w = write(fd, b->b + b->start, n < max ? n : max);

	if (w < 0)
		return -errno;
	b->start += (size_t)w;
	if (is_empty(b))
		b->start = b->end = 0;
	return w;
}

static bool is_transient(ssize_t r)
{
	return r == -EINTR || r == -EAGAIN;
}

static void discard(struct buffer *b)
{
	b->start = b->end = 0;
}

static void copy_size(const struct terminal_proxy *p)
{
	struct winsize size;

	/* not a terminal: it has no size, the container's keeps its own */
	if (ioctl(p->in_fd, TIOCGWINSZ, &size) == 0)
		(void)ioctl(p->master_fd, TIOCSWINSZ, &size);
}

static void on_signals(const struct terminal_proxy *p)
{
	struct signalfd_siginfo si;

	if (read(p->signal_fd, &si, sizeof(si)) != sizeof(si))
		return;
	if (si.ssi_signo == SIGWINCH)
		copy_size(p);
	else if (p->on_signal)
		p->on_signal(p->arg, &si);
}

static void prepare(const struct state *s, struct pollfd v[SLOT_N])
{
	const struct terminal_proxy *p = s->p;
	bool read_in = !s->in_ended && !s->child_ended && has_room(&s->to);
	bool master_out = !is_empty(&s->to);
	bool write_out = !is_empty(&s->from);

	v[SLOT_IN] = (struct pollfd){.fd = read_in ? p->in_fd : -1,
				     .events = POLLIN};
	v[SLOT_OUT] = (struct pollfd){.fd = write_out ? p->out_fd : -1,
				      .events = POLLOUT};
	v[SLOT_MASTER] = (struct pollfd){.fd = p->master_fd};
	if (has_room(&s->from))
		v[SLOT_MASTER].events |= POLLIN;
	if (master_out)
		v[SLOT_MASTER].events |= POLLOUT;
	/* a hang-up is reported whether or not it was asked for */
	if (s->hung_up || s->drained || !v[SLOT_MASTER].events)
		v[SLOT_MASTER].fd = -1;
	v[SLOT_CHILD] = (struct pollfd){
		.fd = s->child_ended ? -1 : p->child_pidfd, .events = POLLIN};
	v[SLOT_SIGNAL] = (struct pollfd){.fd = p->signal_fd, .events = POLLIN};
}

static void read_master(struct state *s)
{
	ssize_t n = fill(&s->from, s->p->master_fd);

	if (n == -EAGAIN || n == -EINTR) {
		s->drained = s->child_ended && n == -EAGAIN;
		return;
	}
	/* EIO: nobody has the slave open */
	s->hung_up = n <= 0;
	if (n <= 0 && (s->child_ended || s->p->child_pidfd < 0))
		s->drained = true;
}

static void move_out(struct state *s)
{
	ssize_t n = flush(&s->from, s->p->out_fd, PIECE_BYTES);

	if (n < 0 && !is_transient(n))
		s->out_ended = true;
}

static void move_in(struct state *s)
{
	ssize_t n = fill(&s->to, s->p->in_fd);

	if (n == 0 || (n < 0 && !is_transient(n)))
		s->in_ended = true;
}

static void write_master(struct state *s)
{
	ssize_t n = flush(&s->to, s->p->master_fd, BUFFER_BYTES);

	if (n < 0 && !is_transient(n))
		discard(&s->to);
}

static int step(struct state *s, struct err *err)
{
	struct pollfd v[SLOT_N];
	int timeout_ms = s->hung_up && !s->drained ? HANGUP_POLL_MS : -1;
	int r;

	/* nothing to wait for: the rest is to be read or written now */
	if (s->child_ended && !s->drained && has_room(&s->from))
		timeout_ms = 0;
	prepare(s, v);
	r = poll(v, SLOT_N, timeout_ms);
	if (r < 0 && errno != EINTR)
		return err_errno(err, errno, "poll");
	if (r < 0)
		return 0;
	if (v[SLOT_SIGNAL].revents & POLLIN)
		on_signals(s->p);
	if (v[SLOT_CHILD].revents) {
		s->child_ended = true;
		s->hung_up = false;
	}
	if (v[SLOT_OUT].revents)
		move_out(s);
	if (s->out_ended)
		discard(&s->from);
	if (v[SLOT_MASTER].revents & POLLOUT)
		write_master(s);
	if (v[SLOT_MASTER].revents & ~POLLOUT || s->hung_up ||
	    (s->child_ended && !s->drained)) {
		if (has_room(&s->from))
			read_master(s);
	}
	if (v[SLOT_IN].revents)
		move_in(s);
	return 0;
}

static int loop(const struct terminal_proxy *p, struct err *err)
{
	struct state *s = calloc(1, sizeof(*s));
	int r = 0;

	assert(s);
	s->p = p;
	while (r == 0 && !(s->drained && is_empty(&s->from)))
		r = step(s, err);
	free(s);
	return r;
}

int terminal_serve(const struct terminal_proxy *p, struct err *err)
{
	struct termios saved;
	struct termios raw;
	/* a reader of out_fd that went away is no reason to leave it raw */
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction old;
	bool is_tty = tcgetattr(p->in_fd, &saved) == 0;
	int flags = fcntl(p->master_fd, F_GETFL);
	int r;

	if (flags < 0 || fcntl(p->master_fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return err_errno(err, errno, "terminal");
	if (is_tty) {
		raw = saved;
		cfmakeraw(&raw);
		if (tcsetattr(p->in_fd, TCSANOW, &raw) < 0)
			return err_errno(err, errno, "make the terminal raw");
		copy_size(p);
	}
	sigaction(SIGPIPE, &ignore, &old);
	r = loop(p, err);
	sigaction(SIGPIPE, &old, NULL);
	if (is_tty)
		(void)tcsetattr(p->in_fd, TCSANOW, &saved);
	return r;
}
