/* SPDX-License-Identifier: Apache-2.0 */
/* Whole reads and writes on descriptors, bounded, resumed after EINTR. */
#ifndef OSH_BASE_IO_H
#define OSH_BASE_IO_H

#include <stddef.h>
#include <sys/types.h>

struct arena;
struct err;

/* Write all of @data. Returns 0 or a negative errno. */
int io_write_all(int fd, const void *data, size_t n);

/*
 * Read to the end of file into @a (a NUL is added). More than @max_bytes is
 * an error (EFBIG). @what names the object in the error text.
 */
int io_read_all(struct arena *a, int fd, size_t max_bytes, const char *what,
		char **ret_data, size_t *ret_len, struct err *err);

/* Open (read-only, dirfd AT_FDCWD allowed), io_read_all, close. */
int io_read_file(struct arena *a, int dir_fd, const char *path,
		 size_t max_bytes, char **ret_data, size_t *ret_len,
		 struct err *err);

/*
 * Open @path for writing (it must exist unless @flags has O_CREAT; mode 0600)
 * and write @data with one write(2): for /proc, /sys and cgroup files.
 * Not for untrusted trees. Returns 0 or a negative errno, without text,
 * because callers know better what the file is for.
 */
int io_write_file(int dir_fd, const char *path, int flags, const void *data,
		  size_t n);
int io_write_str(int dir_fd, const char *path, const char *s);

/*
 * Read a small file into @buf, NUL-terminated, trailing newline removed.
 * Returns its length or a negative errno (-EFBIG when it does not fit).
 */
ssize_t io_read_str(int dir_fd, const char *path, char *buf, size_t size);

/*
 * Replace @path atomically: write a temporary file beside it, fsync is not
 * done (state below /run), rename. Mode 0600. What is there and is no regular
 * file (/dev/null, a link, a folder) is refused: -EINVAL.
 */
int io_replace_file(int dir_fd, const char *path, const void *data, size_t n,
		    struct err *err);

#endif
