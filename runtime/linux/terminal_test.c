/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <termios.h>

#include "runtime/base/strbuf.h"
#include "runtime/linux/device.h"
#include "runtime/linux/terminal.h"
#include "runtime/linux/test_root.h"

static void mount_devpts(const struct test_root *t)
{
	mkdirat(t->root_fd, "dev", 0755);
	mkdirat(t->root_fd, "dev/pts", 0755);
	assert_int_equal(mount("devpts", TEST_DIR "/root/dev/pts", "devpts", 0,
			       "newinstance,ptmxmode=0666,mode=0620,gid=5"),
			 0);
}

static void opened_from_the_containers_devpts(void **state)
{
	const struct test_root *t = *state;
	own_terminal struct terminal term = TERMINAL_INIT;
	struct err err = ERR_INIT;
	struct winsize size;
	struct stat a;
	struct stat b;

	NEEDS_ROOT(state);
	mount_devpts(t);
	assert_ok(terminal_open(t->root_fd, 33, 99, &term, &err), &err);
	assert_int_equal(term.number, 0);
	assert_int_equal(ioctl(term.slave_fd, TIOCGWINSZ, &size), 0);
	assert_int_equal(size.ws_row, 33);
	assert_int_equal(size.ws_col, 99);
	assert_ok(terminal_chown(&term, 1234, &err), &err);
	assert_int_equal(fstat(term.slave_fd, &a), 0);
	assert_int_equal(a.st_uid, 1234);
	assert_int_equal(a.st_gid, 5);

	assert_ok(device_console(t->root_fd, term.slave_fd, &err), &err);
	assert_int_equal(fstatat(t->root_fd, "dev/console", &b, 0), 0);
	assert_int_equal(a.st_rdev, b.st_rdev);
	assert_int_equal(a.st_dev, b.st_dev);
}

static void not_a_devpts(void **state)
{
	const struct test_root *t = *state;
	own_terminal struct terminal term = TERMINAL_INIT;
	struct err err = ERR_INIT;

	NEEDS_ROOT(state);
	assert_int_equal(terminal_open(t->root_fd, 0, 0, &term, &err), -ENOENT);
	mkdirat(t->root_fd, "dev", 0755);
	mkdirat(t->root_fd, "dev/pts", 0755);
	test_write(t->root_fd, "dev/pts/ptmx", "");
	assert_int_equal(terminal_open(t->root_fd, 0, 0, &term, &err), -EINVAL);
	assert_int_equal(unlinkat(t->root_fd, "dev/pts/ptmx", 0), 0);
	assert_int_equal(symlinkat("/etc/shadow", t->root_fd, "dev/pts/ptmx"),
			 0);
	assert_int_equal(terminal_open(t->root_fd, 0, 0, &term, &err), -ELOOP);
}

static void sent_over_a_socket(void **state)
{
	const struct test_root *t = *state;
	own_terminal struct terminal term = TERMINAL_INIT;
	struct err err = ERR_INIT;
	own_close int a = -EBADF;
	own_close int b = -EBADF;
	own_close int got = -EBADF;
	struct stat sent;
	struct stat received;
	int pair[2];

	NEEDS_ROOT(state);
	mount_devpts(t);
	assert_int_equal(
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	a = pair[0];
	b = pair[1];
	assert_ok(terminal_open(t->root_fd, 0, 0, &term, &err), &err);
	assert_ok(terminal_send(&term, a, &err), &err);
	assert_ok(terminal_receive(b, &got, &err), &err);
	assert_int_equal(fstat(term.master_fd, &sent), 0);
	assert_int_equal(fstat(got, &received), 0);
	assert_int_equal(sent.st_ino, received.st_ino);
	assert_int_equal(fcntl(got, F_GETFD), FD_CLOEXEC);
	/* a message without a descriptor, and the end */
	assert_int_equal(write(a, "x", 1), 1);
	assert_int_equal(terminal_receive(b, &got, &err), -EPROTO);
	a = close_fd(a);
	assert_int_equal(terminal_receive(b, &got, &err), -EPROTO);
}

static void long_socket_paths(void **state)
{
	char path[256] = TEST_DIR "/host/";
	struct err err = ERR_INIT;
	int fd = -EBADF;

	NEEDS_ROOT(state);
	memset(path + strlen(path), 'd', 120);
	assert_int_equal(terminal_connect(path, &fd, &err), -ENAMETOOLONG);
	assert_int_equal(mkdir(path, 0755), 0);
	memcpy(path + strlen(path), "/socket", 8);
	assert_int_equal(terminal_connect(path, &fd, &err), -ENOENT);
}

/* ------------------------------------------------------------------ serving */

/* What the child behind the terminal does: 1 MB, then it ends. */
enum { LINES = 20000, LINE_BYTES = 52 };

static int child_attach(int slave_fd)
{
	struct err err = ERR_INIT;

	if (terminal_attach(slave_fd, &err) < 0)
		return __LINE__;
	/* it is the controlling terminal */
	return tcgetpgrp(0) == getpgrp() && isatty(2) ? 0 : __LINE__;
}

static int child_lines(int slave_fd)
{
	int r = child_attach(slave_fd);

	for (int i = 0; r == 0 && i < LINES; i++)
		if (dprintf(1, "%050d\n", i) != LINE_BYTES - 1)
			r = __LINE__;
	return r;
}

static int child_echo(int slave_fd)
{
	char line[32];
	int r = child_attach(slave_fd);

	if (r)
		return r;
	if (read(0, line, sizeof(line)) != 6 || memcmp(line, "hello\n", 6) != 0)
		return __LINE__;
	return dprintf(1, "bye") == 3 ? 0 : __LINE__;
}

struct served {
	int out_fd;
	size_t n;
	char *data;
};

static void *reader(void *arg)
{
	struct served *s = arg;
	size_t room = (size_t)LINES * LINE_BYTES * 2;

	s->data = malloc(room);
	for (;;) {
		ssize_t n = read(s->out_fd, s->data + s->n, room - s->n);

		if (n <= 0)
			return NULL;
		s->n += (size_t)n;
	}
}

/* Serve @child with @input; its output into @ret. Returns its exit status. */
static int serve(const struct test_root *t, int (*child)(int),
		 const char *input, bool keep_slave, struct served *ret)
{
	own_terminal struct terminal term = TERMINAL_INIT;
	own_close int pidfd = -EBADF;
	own_close int in_fd = -EBADF;
	own_close int read_fd = -EBADF;
	int write_fd;
	struct err err = ERR_INIT;
	pthread_t thread;
	int status = -1;
	int p[2];
	pid_t pid;

	assert_ok(terminal_open(t->root_fd, 0, 0, &term, &err), &err);
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	in_fd = p[0];
	assert_int_equal(write(p[1], input, strlen(input)), strlen(input));
	close(p[1]);
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	read_fd = p[0];
	write_fd = p[1];
	pid = fork();
	if (pid == 0)
		_exit(child(term.slave_fd));
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (!keep_slave)
		term.slave_fd = close_fd(term.slave_fd);
	ret->out_fd = read_fd;
	assert_int_equal(pthread_create(&thread, NULL, reader, ret), 0);
	assert_ok(terminal_serve(
			  &(struct terminal_proxy){
				  .master_fd = term.master_fd,
				  .in_fd = in_fd,
				  .out_fd = write_fd,
				  .child_pidfd = pidfd,
				  .signal_fd = -EBADF,
			  },
			  &err),
		  &err);
	close(write_fd);
	pthread_join(thread, NULL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void no_byte_is_lost(void **state)
{
	const struct test_root *t = *state;

	NEEDS_ROOT(state);
	mount_devpts(t);
	/* with nobody left on the slave, and with somebody */
	for (int keep = 0; keep < 2; keep++) {
		struct served s = {.n = 0};

		assert_int_equal(serve(t, child_lines, "", keep, &s), 0);
		/* "\n" comes out as "\r\n" */
		assert_int_equal(s.n, (size_t)LINES * LINE_BYTES);
		for (int i = 0; i < LINES; i++) {
			char line[LINE_BYTES + 1];

			snprintf(line, sizeof(line), "%050d\r\n", i);
			assert_memory_equal(s.data + (size_t)i * LINE_BYTES,
					    line, LINE_BYTES);
		}
		free(s.data);
	}
}

static void input_arrives(void **state)
{
	const struct test_root *t = *state;
	struct served s = {.n = 0};

	NEEDS_ROOT(state);
	mount_devpts(t);
	assert_int_equal(serve(t, child_echo, "hello\n", false, &s), 0);
	assert_int_equal(s.n, strlen("hello\r\nbye"));
	assert_memory_equal(s.data, "hello\r\nbye", s.n);
	free(s.data);
}

/* Whoever reads may go away first: the child is waited for all the same. */
static void reader_gone(void **state)
{
	const struct test_root *t = *state;
	own_terminal struct terminal term = TERMINAL_INIT;
	own_close int pidfd = -EBADF;
	own_close int in_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct err err = ERR_INIT;
	int status = -1;
	int p[2];
	pid_t pid;

	NEEDS_ROOT(state);
	mount_devpts(t);
	assert_ok(terminal_open(t->root_fd, 0, 0, &term, &err), &err);
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	close(p[0]);
	pid = fork();
	if (pid == 0)
		_exit(child_lines(term.slave_fd));
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	assert_ok(terminal_serve(
			  &(struct terminal_proxy){
				  .master_fd = term.master_fd,
				  .in_fd = in_fd,
				  .out_fd = p[1],
				  .child_pidfd = pidfd,
				  .signal_fd = -EBADF,
			  },
			  &err),
		  &err);
	close(p[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ------------------------------------------------------------------ signals */

static bool has_new_size(void)
{
	struct winsize size;

	return ioctl(0, TIOCGWINSZ, &size) == 0 && size.ws_row == 11 &&
	       size.ws_col == 22;
}

static int child_size(int slave_fd)
{
	sigset_t set;
	int sig;
	int r;

	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	sigprocmask(SIG_BLOCK, &set, NULL);
	r = child_attach(slave_fd);
	if (r)
		return r;
	/* it may have come before we had the terminal */
	if (has_new_size())
		return 0;
	if (sigwait(&set, &sig) != 0)
		return __LINE__;
	return has_new_size() ? 0 : __LINE__;
}

struct outer {
	struct terminal *term;
	int n_signals;
};

static void on_signal(void *arg, const struct signalfd_siginfo *si)
{
	struct outer *o = arg;
	const struct winsize size = {.ws_row = 11, .ws_col = 22};

	/* SIGUSR1 is ours: change the outer size, announce it */
	if (si->ssi_signo != SIGUSR1)
		return;
	o->n_signals++;
	(void)ioctl(o->term->slave_fd, TIOCSWINSZ, &size);
	kill(getpid(), SIGWINCH);
}

static void window_size_follows(void **state)
{
	const struct test_root *t = *state;
	own_terminal struct terminal outer = TERMINAL_INIT;
	own_terminal struct terminal inner = TERMINAL_INIT;
	struct outer o = {.term = &outer};
	own_close int signal_fd = -EBADF;
	own_close int pidfd = -EBADF;
	struct err err = ERR_INIT;
	struct termios before;
	struct termios after;
	int status = -1;
	sigset_t set;
	sigset_t old;
	pid_t pid;

	NEEDS_ROOT(state);
	mount_devpts(t);
	assert_ok(terminal_open(t->root_fd, 5, 6, &outer, &err), &err);
	assert_ok(terminal_open(t->root_fd, 0, 0, &inner, &err), &err);
	assert_int_equal(tcgetattr(outer.slave_fd, &before), 0);
	pid = fork();
	if (pid == 0)
		_exit(child_size(inner.slave_fd));
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	inner.slave_fd = close_fd(inner.slave_fd);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGWINCH);
	sigprocmask(SIG_BLOCK, &set, &old);
	signal_fd = signalfd(-1, &set, SFD_CLOEXEC);
	kill(getpid(), SIGUSR1);
	assert_ok(terminal_serve(
			  &(struct terminal_proxy){
				  .master_fd = inner.master_fd,
				  .in_fd = outer.slave_fd,
				  .out_fd = outer.slave_fd,
				  .child_pidfd = pidfd,
				  .signal_fd = signal_fd,
				  .on_signal = on_signal,
				  .arg = &o,
			  },
			  &err),
		  &err);
	sigprocmask(SIG_SETMASK, &old, NULL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(o.n_signals, 1);
	/* raw meanwhile, and as before now */
	assert_int_equal(tcgetattr(outer.slave_fd, &after), 0);
	assert_int_equal(before.c_lflag, after.c_lflag);
	assert_int_equal(before.c_oflag, after.c_oflag);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TEST_ROOT(opened_from_the_containers_devpts),
		IN_TEST_ROOT(not_a_devpts),
		IN_TEST_ROOT(sent_over_a_socket),
		IN_TEST_ROOT(long_socket_paths),
		IN_TEST_ROOT(no_byte_is_lost),
		IN_TEST_ROOT(input_arrives),
		IN_TEST_ROOT(reader_gone),
		IN_TEST_ROOT(window_size_follows),
	};

	return cmocka_run_group_tests_name("terminal", tests, test_root_enter,
					   test_root_leave);
}
