/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/path.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/sysctl.h"

enum { KEY_MAX = 256 };

/* Which namespace holds which key; a name that ends in '/' is a prefix. */
static const struct {
	const char *key; /* as a path */
	unsigned int ns;
	const char *ns_name;
} rows[] = {
	{"kernel/msgmax", SYSCTL_NS_IPC, "ipc"},
	{"kernel/msgmnb", SYSCTL_NS_IPC, "ipc"},
	{"kernel/msgmni", SYSCTL_NS_IPC, "ipc"},
	{"kernel/sem", SYSCTL_NS_IPC, "ipc"},
	{"kernel/shmall", SYSCTL_NS_IPC, "ipc"},
	{"kernel/shmmax", SYSCTL_NS_IPC, "ipc"},
	{"kernel/shmmni", SYSCTL_NS_IPC, "ipc"},
	{"kernel/shm_rmid_forced", SYSCTL_NS_IPC, "ipc"},
	{"fs/mqueue/", SYSCTL_NS_IPC, "ipc"},
	{"net/", SYSCTL_NS_NET, "network"},
	{"kernel/domainname", SYSCTL_NS_UTS, "uts"},
	{"user/", SYSCTL_NS_USER, "user"},
};

/*
 * The path below /proc/sys: with the first separator a dot, dots and slashes
 * change places. No empty, "." or ".." component.
 */
static int key_path(const char *key, struct strbuf *ret, struct err *err)
{
	size_t first = strcspn(key, "./");
	bool dots = key[first] == '.';

	for (const char *p = key; *p; p++) {
		char c = *p;

		if (dots && (c == '.' || c == '/'))
			c = c == '.' ? '/' : '.';
		strbuf_addc(ret, c);
	}
	if (ret->cut)
		return err_set(err, ENAMETOOLONG, "sysctl %.64s...: too long",
			       key);
	for (const char *p = ret->s;; p++) {
		size_t n = strcspn(p, "/");

		if (n == 0 || (n <= 2 && strspn(p, ".") >= n))
			return err_set(err, EINVAL, "sysctl %s: not a key",
				       key);
		p += n;
		if (*p == '\0')
			return 0;
	}
}

static bool row_matches(const char *row, const char *path)
{
	size_t n = strlen(row);

	if (row[n - 1] == '/')
		return strncmp(path, row, n) == 0;
	return str_eq(path, row);
}

int sysctl_check(const char *key, unsigned int own_ns, struct err *err)
{
	char room[KEY_MAX];
	struct strbuf path = STRBUF_FIXED(room);
	int r = key_path(key, &path, err);

	if (r < 0)
		return r;
	if (str_eq(path.s, "kernel/hostname"))
		return err_set(err, EINVAL,
			       "sysctl %s: set the config's hostname instead",
			       key);
	for (size_t i = 0; i < N_ELEMENTS(rows); i++) {
		if (!row_matches(rows[i].key, path.s))
			continue;
		if (own_ns & rows[i].ns)
			return 0;
		return err_set(err, EINVAL,
			       "sysctl %s: the container has no %s namespace "
			       "of its own",
			       key, rows[i].ns_name);
	}
	return err_set(err, EINVAL,
		       "sysctl %s: not in a namespace of the container", key);
}

int sysctl_write(int proc_fd, const char *key, const char *value,
		 struct err *err)
{
	char room[KEY_MAX + sizeof("sys/")];
	struct strbuf path = STRBUF_FIXED(room);
	own_close int fd = -EBADF;
	size_t n = strlen(value);
	ssize_t w;
	int r;

	strbuf_adds(&path, "sys/");
	r = key_path(key, &path, err);
	if (r < 0)
		return r;
	r = path_open_proc(proc_fd, path.s, O_WRONLY, &fd, err);
	if (r < 0)
		return err_wrap(err, "sysctl %s", key);
	do {
		w = write(fd, value, n);
	} while (w < 0 && errno == EINTR);
	if (w < 0 || (size_t)w != n)
		return err_errno(err, w < 0 ? errno : EIO,
				 "write sysctl %s = %s", key, value);
	return 0;
}
