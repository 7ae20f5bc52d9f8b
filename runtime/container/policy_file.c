/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/container/policy_file.h"
#include "runtime/container/self.h"
#include "runtime/container/store.h"
#include "runtime/policy/limits.h"

enum {
	COMPILE_TIMEOUT_S = 20, /* beyond the compiler's own CPU limit */
	MESSAGES_MAX = 64 << 10,
	CACHE_NAME_BYTES = DIGEST_HEX + 32,
};

/* ---------------------------------------------------------------- memory */

/* What the shim and the resolver map must never change under them. */
static int sealed_copy(const void *data, size_t len, int *ret_fd,
		       struct err *err)
{
	own_close int fd = memfd_create("policy",
					MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int r;

	if (fd < 0)
		return err_errno(err, errno, "create memory file");
	r = io_write_all(fd, data, len);
	if (r < 0)
		return err_errno(err, -r, "write memory file");
	if (fcntl(fd, F_ADD_SEALS,
		  F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
		return err_errno(err, errno, "seal memory file");
	*ret_fd = take_fd(&fd);
	return 0;
}

static int load(struct arena *a, const char *data, size_t len,
		struct policy_file *ret, struct err *err)
{
	char *copy = arena_alloc(a, len); /* 16-aligned */
	int r;

	memcpy(copy, data, len);
	r = policy_load(copy, len, &ret->view, err);
	if (r < 0)
		return r;
	ret->data = copy;
	ret->len = len;
	memcpy(ret->digest.b, ret->view.header->document_digest,
	       DIGEST_BYTES);
	return sealed_copy(copy, len, &ret->fd, err);
}

/* ----------------------------------------------------------------- cache */

/* The compiler's version is part of the name: an upgrade compiles anew. */
static void cache_name(const struct digest *d, char name[CACHE_NAME_BYTES])
{
	struct strbuf sb = { .s = name, .size = CACHE_NAME_BYTES };

	name[0] = '\0';
	strbuf_addhex(&sb, d->b, DIGEST_BYTES);
	strbuf_addf(&sb, "-%s", OSH_VERSION);
}

/* Ours, and writable for nobody else: otherwise it is not believed. */
static bool from_cache(struct arena *a, int cache_fd, const struct digest *d,
		       struct policy_file *ret)
{
	own_close int fd = -EBADF;
	char name[CACHE_NAME_BYTES];
	struct err ignored;
	struct stat st;
	char *data;
	size_t len;

	cache_name(d, name);
	fd = openat(cache_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_uid != geteuid() || (st.st_mode & 022))
		return false;
	/* a file that is damaged, or of another version, is compiled anew */
	if (io_read_all(a, fd, POLICY_FILE_BYTES_MAX, "cached policy", &data,
			&len, &ignored) < 0 ||
	    load(a, data, len, ret, &ignored) < 0)
		return false;
	if (memcmp(ret->digest.b, d->b, DIGEST_BYTES) != 0) {
		policy_file_done(ret);
		return false;
	}
	ret->cached = true;
	return true;
}

/* ------------------------------------------------------------- compiling */

struct pipes {
	int in[2], out[2], log[2]; /* [0] is read from */
};

static int open_pipes(struct pipes *p, struct err *err)
{
	*p = (struct pipes){ { -1, -1 }, { -1, -1 }, { -1, -1 } };
	if (pipe2(p->in, O_CLOEXEC) < 0 || pipe2(p->out, O_CLOEXEC) < 0 ||
	    pipe2(p->log, O_CLOEXEC) < 0)
		return err_errno(err, errno, "create pipe");
	return 0;
}

static void close_pipes(struct pipes *p)
{
	for (int i = 0; i < 2; i++) {
		p->in[i] = close_fd(p->in[i]);
		p->out[i] = close_fd(p->out[i]);
		p->log[i] = close_fd(p->log[i]);
	}
}

/* @name_option is --name=NAME: the compiler's lines then begin with NAME. */
static __attribute__((noreturn)) void
become_compiler(int program_fd, const struct pipes *p, char *name_option)
{
	static char name[] = "osh-policy", compile[] = "compile",
		    sandboxed[] = "--sandboxed", from[] = "-";
	char *const argv[] = { name,	    compile, sandboxed,
			       name_option, from,    NULL };
	static char *const env[] = { NULL };
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (dup2(p->in[0], STDIN_FILENO) < 0 ||
	    dup2(p->out[1], STDOUT_FILENO) < 0 ||
	    dup2(p->log[1], STDERR_FILENO) < 0)
		_exit(126);
	close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
	fexecve(program_fd, argv, env);
	_exit(126);
}

/* One step of a pipe that is drained into @sb; false at its end. */
static bool drain(int fd, struct strbuf *sb, size_t max)
{
	char chunk[4096];
	ssize_t n = read(fd, chunk, sizeof(chunk));

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	if (n > 0 && sb->len + (size_t)n <= max)
		strbuf_add(sb, chunk, (size_t)n);
	return n > 0 && sb->len <= max;
}

/* Feed the document, collect result and messages, all at once: neither side
 * may block the other. */
static int converse(struct pipes *p, const char *text, size_t len,
		    struct strbuf *out, struct strbuf *log)
{
	size_t sent = 0;

	fcntl(p->in[1], F_SETFL, O_NONBLOCK);
	while (p->out[0] >= 0 || p->log[0] >= 0) {
		struct pollfd f[3] = {
			{ .fd = p->in[1], .events = POLLOUT },
			{ .fd = p->out[0], .events = POLLIN },
			{ .fd = p->log[0], .events = POLLIN },
		};
		int n = poll(f, 3, COMPILE_TIMEOUT_S * 1000);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			return -ETIMEDOUT;
		if (f[0].revents) {
			ssize_t w = write(p->in[1], text + sent, len - sent);

			if (w > 0)
				sent += (size_t)w;
			if (sent == len || (w < 0 && errno == EPIPE))
				p->in[1] = close_fd(p->in[1]);
		}
		if (f[1].revents && !drain(p->out[0], out,
					   POLICY_FILE_BYTES_MAX))
			p->out[0] = close_fd(p->out[0]);
		if (f[2].revents && !drain(p->log[0], log, MESSAGES_MAX))
			p->log[0] = close_fd(p->log[0]);
	}
	return 0;
}

/* Whether the line is a warning, which is then cut out of it: @note's lines say
 * so themselves. */
static bool take_warning(char *line)
{
	static const char word[] = ": warning: ";
	char *at = strstr(line, word), *rest;

	if (!at)
		return false;
	rest = at + strlen(word);
	memmove(at + 2, rest, strlen(rest) + 1);
	return true;
}

/* The compiler's lines, "NAME:LINE:COL: [warning: ]message": warnings go to
 * @note, the first error and how many follow to *err. */
static void pass_on(char *log, const char *name,
		    void (*note)(const char *fmt, ...), struct err *err)
{
	const char *first = NULL;
	char more[80] = "";
	unsigned int n = 0;

	for (char *line = log, *next; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (take_warning(line)) {
			if (note)
				note("%s", line);
			continue;
		}
		if (n++ == 0)
			first = line;
	}
	if (!first || !err)
		return;
	if (n > 1)
		snprintf(more, sizeof(more),
			 " (and %u more: osh-policy check shows all)", n - 1);
	if (str_after(first, name))
		err_set(err, EINVAL, "compile policy: %s%s", first, more);
	else
		err_set(err, EINVAL, "compile policy %s: %s%s", name, first,
			more);
}

static int run_compiler(const char *text, size_t len, const char *name,
			void (*note)(const char *fmt, ...), struct strbuf *out,
			struct err *err)
{
	own_close int program_fd = -EBADF;
	own_strbuf struct strbuf log = STRBUF_HEAP;
	own_strbuf struct strbuf option = STRBUF_HEAP;
	struct pipes p;
	int status = 0, r;
	pid_t pid;

	r = self_open_program("osh-policy", &program_fd, err);
	if (r == 0)
		r = open_pipes(&p, err);
	if (r < 0)
		return r;
	strbuf_addf(&option, "--name=%s", name);
	pid = fork();
	if (pid == 0)
		become_compiler(program_fd, &p, option.s);
	p.in[0] = close_fd(p.in[0]);
	p.out[1] = close_fd(p.out[1]);
	p.log[1] = close_fd(p.log[1]);
	r = pid < 0 ? -errno : converse(&p, text, len, out, &log);
	close_pipes(&p);
	if (pid > 0) {
		if (r < 0)
			kill(pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	if (r < 0)
		return err_errno(err, -r, "run osh-policy");
	if (status == 0) {
		pass_on(log.s, name, note, NULL);
		return 0;
	}
	err_set(err, EINVAL,
		"compile policy %s: osh-policy failed (%s %d)", name,
		WIFSIGNALED(status) ? "signal" : "exit status",
		WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	pass_on(log.s, name, note, err);
	return -err->code;
}

int policy_file_compile(struct arena *a, const char *text, size_t len,
			const char *name, void (*note)(const char *fmt, ...),
			struct policy_file *ret, struct err *err)
{
	own_close int cache_fd = -EBADF;
	own_strbuf struct strbuf out = STRBUF_HEAP;
	char cached[CACHE_NAME_BYTES];
	struct digest d;
	int r;

	*ret = (struct policy_file)POLICY_FILE_INIT;
	if (len > POLICY_DOCUMENT_BYTES_MAX)
		return err_set(err, EFBIG,
			       "compile policy %s: larger than %d bytes", name,
			       POLICY_DOCUMENT_BYTES_MAX);
	digest_of(&d, text, len);
	r = store_open_cache("policies", &cache_fd, err);
	if (r < 0)
		return r;
	if (from_cache(a, cache_fd, &d, ret))
		return 0;

	r = run_compiler(text, len, name, note, &out, err);
	if (r == 0)
		r = load(a, out.s ? out.s : "", out.len, ret, err);
	if (r < 0)
		return r;
	if (memcmp(ret->digest.b, d.b, DIGEST_BYTES) != 0) {
		policy_file_done(ret);
		return err_set(err, EINVAL,
			       "compile policy %s: the result is of another "
			       "document",
			       name);
	}
	cache_name(&d, cached);
	return io_replace_file(cache_fd, cached, ret->data, ret->len, err);
}

int policy_file_load(struct arena *a, int dir_fd, const char *path,
		     struct policy_file *ret, struct err *err)
{
	char *data;
	size_t len;
	int r;

	*ret = (struct policy_file)POLICY_FILE_INIT;
	r = io_read_file(a, dir_fd, path, POLICY_FILE_BYTES_MAX, &data, &len,
			 err);
	return r < 0 ? r : load(a, data, len, ret, err);
}

int policy_file_save(const struct policy_file *p, int dir_fd, const char *path,
		     struct err *err)
{
	return io_replace_file(dir_fd, path, p->data, p->len, err);
}

void policy_file_done(struct policy_file *p)
{
	p->fd = close_fd(p->fd);
}
