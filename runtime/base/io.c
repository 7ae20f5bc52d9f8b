/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"

int io_write_all(int fd, const void *data, size_t n)
{
	const char *p = data;

	while (n) {
		ssize_t w = write(fd, p, n);

		if (w < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		p += w;
		n -= (size_t)w;
	}
	return 0;
}

int io_read_all(struct arena *a, int fd, size_t max_bytes, const char *what,
		char **ret_data, size_t *ret_len, struct err *err)
{
	own_strbuf struct strbuf sb = STRBUF_HEAP;
	char chunk[4096];

	for (;;) {
		ssize_t n = read(fd, chunk, sizeof(chunk));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(err, errno, "read %s", what);
		if (n == 0)
			break;
		if (sb.len + (size_t)n > max_bytes)
			return err_set(err, EFBIG,
				       "read %s: larger than %zu bytes", what,
				       max_bytes);
		strbuf_add(&sb, chunk, (size_t)n);
	}
	*ret_data = arena_strndup(a, sb.s ? sb.s : "", sb.len);
	if (ret_len)
		*ret_len = sb.len;
	return 0;
}

int io_read_file(struct arena *a, int dir_fd, const char *path,
		 size_t max_bytes, char **ret_data, size_t *ret_len,
		 struct err *err)
{
	own_close int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return err_errno(err, errno, "open %s", path);
	return io_read_all(a, fd, max_bytes, path, ret_data, ret_len, err);
}

int io_write_file(int dir_fd, const char *path, int flags, const void *data,
		  size_t n)
{
	own_close int fd =
		openat(dir_fd, path, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags,
		       0600);
	ssize_t w;

	if (fd < 0)
		return -errno;
	do {
		w = write(fd, data, n);
	} while (w < 0 && errno == EINTR);
	if (w < 0)
		return -errno;
	return (size_t)w == n ? 0 : -EIO;
}

int io_write_str(int dir_fd, const char *path, const char *s)
{
	return io_write_file(dir_fd, path, 0, s, strlen(s));
}

ssize_t io_read_str(int dir_fd, const char *path, char *buf, size_t size)
{
	own_close int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	size_t len = 0;

	if (fd < 0)
		return -errno;
	for (;;) {
		ssize_t n = read(fd, buf + len, size - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		len += (size_t)n;
		if (len == size)
			return -EFBIG;
	}
	if (len && buf[len - 1] == '\n')
		len--;
	buf[len] = '\0';
	return (ssize_t)len;
}

int io_replace_file(int dir_fd, const char *path, const void *data, size_t n,
		    struct err *err)
{
	char room[512];
	struct strbuf tmp = STRBUF_FIXED(room);
	own_close int fd = -EBADF;
	struct stat st;
	int r;

	/* rename would make a file of a device, or of a link to one */
	if (fstatat(dir_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    !S_ISREG(st.st_mode))
		return err_set(err, EINVAL, "write %s: not a regular file",
			       path);
	strbuf_addf(&tmp, "%s.%d.tmp", path, (int)getpid());
	if (tmp.cut)
		return err_errno(err, ENAMETOOLONG, "write %s", path);
	fd = openat(dir_fd, tmp.s,
		    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return err_errno(err, errno, "write %s", path);
	r = io_write_all(fd, data, n);
	if (r == 0 && renameat(dir_fd, tmp.s, dir_fd, path) < 0)
		r = -errno;
	if (r < 0) {
		unlinkat(dir_fd, tmp.s, 0);
		return err_errno(err, -r, "write %s", path);
	}
	return 0;
}
