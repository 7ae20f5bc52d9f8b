/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "shim/log/journal.h"
#include "shim/log/journal_file.h"

static_assert((int)SHIM_LOG_FILES_KEPT == (int)DECISION_LOG_KEPT,
	      "reader and writer agree");

/* The line that is being written, or the tail that is read at open. */
static char line_room[DECISION_LOG_LINE_MAX];

static void add_time(struct strbuf *sb, const char *key, uint64_t us)
{
	time_t s = (time_t)(us / 1000000);
	struct tm tm;

	gmtime_r(&s, &tm);
	strbuf_addf(sb, "\"%s\":\"%04d-%02d-%02dT%02d:%02d:%02d.%06uZ\"", key,
		    tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
		    tm.tm_min, tm.tm_sec, (unsigned int)(us % 1000000));
}

static int open_newest(struct journal *j, struct err *err)
{
	char name[DECISION_LOG_NAME_BYTES];
	int fd;

	if (!decision_log_file(j->id, 0, name))
		return err_set(err, EINVAL,
			       "open decision log: id is no file name");
	fd = openat(j->dir_fd, name,
		    O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC |
			    O_NOCTTY,
		    0600);
	if (fd < 0)
		return err_errno(err, errno, "open decision log %s", name);
	return fd;
}

/*
 * ID.jsonl.7 -> .8, ..., ID.jsonl -> .1, and a new ID.jsonl. The oldest is
 * replaced.
 */
static int rotate(struct journal *j, struct err *err)
{
	char from[DECISION_LOG_NAME_BYTES], to[DECISION_LOG_NAME_BYTES];
	int fd;

	for (unsigned int n = SHIM_LOG_FILES_KEPT; n-- > 0;) {
		if (!decision_log_file(j->id, n, from) ||
		    !decision_log_file(j->id, n + 1, to))
			return err_set(err, EINVAL, "rotate decision log");
		if (renameat(j->dir_fd, from, j->dir_fd, to) < 0 &&
		    errno != ENOENT)
			return err_errno(err, errno,
					 "rotate decision log %s", from);
	}
	fd = open_newest(j, err);
	if (fd < 0)
		return fd;
	close_fd(j->fd);
	j->fd = fd;
	j->size = 0;
	return 0;
}

/*
 * The last whole line of @fd, a file of @size bytes, gives number and hash.
 * Returns where that line ends in *ret_end.
 */
static int read_tail(struct journal *j, int fd, uint64_t size,
		     uint64_t *ret_end, struct err *err)
{
	size_t n = size < sizeof(line_room) ? (size_t)size : sizeof(line_room);
	uint64_t start = size - n;
	ssize_t got = pread(fd, line_room, n, (off_t)start);
	char *end, *line;

	if (got < 0 || (size_t)got != n)
		return err_errno(err, got < 0 ? errno : EIO,
				 "read decision log");
	end = memrchr(line_room, '\n', n);
	if (!end && start == 0) {
		*ret_end = 0; /* the very first record was torn */
		return 0;
	}
	if (!end)
		return err_set(err, EINVAL,
			       "read decision log: it ends in no record");
	line = memrchr(line_room, '\n', (size_t)(end - line_room));
	line = line ? line + 1 : line_room;
	digest_of(&j->prev, line, (size_t)(end - line));
	*ret_end = start + (uint64_t)(end - line_room) + 1;
	return decision_log_seq(line, (size_t)(end - line), &j->seq, err);
}

/* An empty newest file: the chain's end is in the one before, if any. */
static int resume_rotated(struct journal *j, struct err *err)
{
	char name[DECISION_LOG_NAME_BYTES];
	own_close int fd = -EBADF;
	struct stat st;
	uint64_t end;

	if (!decision_log_file(j->id, 1, name))
		return err_set(err, EINVAL, "open decision log: long id");
	fd = openat(j->dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(err, errno, "open decision log %s", name);
	return read_tail(j, fd, (uint64_t)st.st_size, &end, err);
}

int journal_file_open(struct journal *j, struct err *err)
{
	struct stat st;
	int r;

	j->fd = open_newest(j, err);
	if (j->fd < 0)
		return j->fd;
	if (fstat(j->fd, &st) < 0)
		return err_errno(err, errno, "stat decision log");
	decision_log_anchor(j->id, &j->prev);
	if (st.st_size == 0)
		return resume_rotated(j, err);
	r = read_tail(j, j->fd, (uint64_t)st.st_size, &j->size, err);
	if (r < 0)
		return r;
	if (ftruncate(j->fd, (off_t)j->size) < 0)
		return err_errno(err, errno, "cut decision log");
	return j->size ? 0 : resume_rotated(j, err);
}

/*
 * RFC 3164 5.4's form, facility authpriv and severity notice, as glibc's
 * syslog(3) writes it, without a time: the daemon knows its own. A daemon that
 * takes nothing now gets the next one.
 */
static void tell_anchor(const struct journal *j)
{
	char room[512], hex[DIGEST_HEX];
	struct strbuf sb = STRBUF_FIXED(room);

	if (j->anchor_fd < 0)
		return;
	digest_hex(&j->prev, hex);
	strbuf_addf(&sb, "<85>osh-shim: sandbox=%s seq=%llu sha256=%s", j->id,
		    (unsigned long long)j->seq, hex);
	(void)send(j->anchor_fd, sb.s, sb.len, MSG_DONTWAIT | MSG_NOSIGNAL);
}

int journal_append(struct journal *j, const char *body, size_t len,
		   uint64_t time_us, uint64_t count, uint64_t until_us,
		   struct err *err)
{
	struct strbuf sb = STRBUF_FIXED(line_room);
	char prev[DIGEST_HEX];
	int r;

	assert(len > 2 && body[0] == '{' && body[len - 1] == '}');
	if (j->size >= j->max_bytes) {
		r = rotate(j, err);
		if (r < 0)
			return r;
	}
	digest_hex(&j->prev, prev);
	strbuf_addf(&sb, "{\"seq\":%llu,", (unsigned long long)j->seq + 1);
	add_time(&sb, "time", time_us);
	strbuf_addf(&sb, ",\"sandbox\":\"%s\",", j->id);
	strbuf_add(&sb, body + 1, len - 2);
	if (count) {
		strbuf_addf(&sb, ",\"count\":%llu,",
			    (unsigned long long)count);
		add_time(&sb, "until", until_us);
	}
	strbuf_addf(&sb, ",\"prev\":\"%s\"}\n", prev);
	if (sb.cut)
		return err_set(err, E2BIG, "write decision log: long record");
	r = io_write_all(j->fd, sb.s, sb.len);
	if (r < 0) {
		/* a part may be there: the chain must not run through it */
		if (ftruncate(j->fd, (off_t)j->size) < 0)
			return err_errno(err, errno, "cut decision log");
		return err_errno(err, -r, "write decision log");
	}
	j->size += sb.len;
	j->seq++;
	digest_of(&j->prev, sb.s, sb.len - 1);
	if (j->seq % JOURNAL_ANCHOR_EACH == 0)
		tell_anchor(j);
	return 0;
}
