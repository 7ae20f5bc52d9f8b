/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/num.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/container/user.h"

/* -1 is no id: to setresuid(2) it means to stay who one is, that is root. */
#define ID_MAX (UINT32_MAX - 1)

enum {
	USER_FILE_MAX = 4 << 20, /* a directory service dumped to a file */
	USER_FIELDS = 7,
};

/* The next field of @line up to ':', in place; NULL at the end. */
static char *next_field(char **line)
{
	char *start = *line, *colon;

	if (!start)
		return NULL;
	colon = strchr(start, ':');
	if (colon)
		*colon++ = '\0';
	*line = colon;
	return start;
}

static char *next_line(char **text)
{
	char *start = *text, *end;

	if (!start || !*start)
		return NULL;
	end = strchr(start, '\n');
	if (end)
		*end++ = '\0';
	*text = end;
	return start;
}

static unsigned int split(char *line, char *field[USER_FIELDS])
{
	unsigned int n = 0;
	char *f;

	while (n < USER_FIELDS && (f = next_field(&line)))
		field[n++] = f;
	return n;
}

bool user_find_in(char *text, const char *name, uid_t uid,
		  struct user_entry *ret)
{
	char *line;

	while ((line = next_line(&text))) {
		char *f[USER_FIELDS];
		uint32_t u, g;

		/* name:passwd:uid:gid:gecos:home:shell */
		if (split(line, f) < 6 || num_parse_u32(f[2], ID_MAX, &u) ||
		    num_parse_u32(f[3], ID_MAX, &g))
			continue;
		if (name ? !str_eq(f[0], name) : u != uid)
			continue;
		ret->uid = u;
		ret->gid = g;
		/* a home that does not fit is none: never a cut path */
		if (!str_copy(ret->home, sizeof(ret->home), f[5]))
			ret->home[0] = '\0';
		return true;
	}
	return false;
}

static int read_text(struct arena *a, const char *path, char **ret_text,
		     struct err *err)
{
	own_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK |
					      O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return err_errno(err, errno, "open %s", path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return err_set(err, EINVAL, "open %s: not a regular file",
			       path);
	return io_read_all(a, fd, USER_FILE_MAX, path, ret_text, NULL, err);
}

int user_find(const char *name, uid_t uid, struct user_entry *ret,
	      struct err *err)
{
	own_arena struct arena a = ARENA_INIT;
	char *text;
	int r = read_text(&a, "/etc/passwd", &text, err);

	if (r < 0)
		return r;
	if (user_find_in(text, name, uid, ret))
		return 0;
	if (name)
		return err_set(err, ENOENT,
			       "find user '%s': it is not in the container's "
			       "/etc/passwd",
			       name);
	return err_set(err, ENOENT,
		       "find user %u: it is not in the container's "
		       "/etc/passwd",
		       uid);
}

int user_find_group(const char *name, gid_t *ret_gid, struct err *err)
{
	own_arena struct arena a = ARENA_INIT;
	char *text, *line;
	int r = read_text(&a, "/etc/group", &text, err);

	if (r < 0)
		return r;
	while ((line = next_line(&text))) {
		char *f[USER_FIELDS];
		uint32_t g;

		/* name:passwd:gid:members */
		if (split(line, f) < 3 || num_parse_u32(f[2], ID_MAX, &g))
			continue;
		if (!str_eq(f[0], name))
			continue;
		*ret_gid = g;
		return 0;
	}
	return err_set(err, ENOENT,
		       "find group '%s': it is not in the container's "
		       "/etc/group",
		       name);
}

/* 0, or why not: only regular files that this user may execute count */
static int check_program(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0)
		return -errno;
	/* root may read everything, but execute only what has an x */
	if (!(st.st_mode & 0111))
		return -EACCES;
	return 0;
}

int user_find_program(const char *name, const char *path, char *ret,
		      size_t size, struct err *err)
{
	bool denied = false;
	int r;

	if (!*name)
		return err_set(err, ENOENT, "exec: \"\": executable file not "
					    "found in $PATH");
	if (strchr(name, '/')) {
		r = check_program(name);
		if (r < 0)
			return err_set(err, -r == EISDIR ? EACCES : -r,
				       "exec: \"%s\": %s", name, err_text(-r));
		if (!str_copy(ret, size, name))
			return err_errno(err, ENAMETOOLONG, "exec: \"%s\"",
					 name);
		return 0;
	}
	while (path && *path) {
		size_t n = strcspn(path, ":");
		struct strbuf sb = { .s = ret, .size = size };

		ret[0] = '\0';
		strbuf_add(&sb, path, n);
		strbuf_addf(&sb, "%s%s", n ? "/" : "./", name);
		r = sb.cut ? -ENAMETOOLONG : check_program(ret);
		if (r == 0)
			return 0;
		if (r == -EACCES)
			denied = true;
		path += n;
		if (*path == ':')
			path++;
	}
	if (denied)
		return err_set(err, EACCES, "exec: \"%s\": permission denied",
			       name);
	return err_set(err, ENOENT,
		       "exec: \"%s\": executable file not found in $PATH",
		       name);
}
