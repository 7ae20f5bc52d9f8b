/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/container/store.h"

static const char *const entry_files[] = {
	"state.json", "config.json", "start",	    "policy",
	"ceiling",    "cgroup",	     "shim-cgroup",
};

/* /run/osh-runtime, or what the user's session manager made for them */
static int default_root(char *buf, size_t size, struct err *err)
{
	const char *dir = "/run";
	struct strbuf sb = { .s = buf, .size = size };

	if (geteuid() != 0) {
		dir = getenv("XDG_RUNTIME_DIR");
		if (!dir || dir[0] != '/')
			return err_set(err, EINVAL,
				       "find state folder: XDG_RUNTIME_DIR is "
				       "not set and --root is not given");
	}
	strbuf_addf(&sb, "%s/osh-runtime", dir);
	return sb.cut ? err_errno(err, ENAMETOOLONG, "find state folder") : 0;
}

/* mkdir -p for an operator's path; every part that is missing gets @mode */
static int make_folders(const char *path, mode_t mode)
{
	char room[4096];
	char *p;

	if (!str_copy(room, sizeof(room), path))
		return -ENAMETOOLONG;
	for (p = room + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(room, mode) < 0 && errno != EEXIST)
			return -errno;
		*p = '/';
	}
	if (mkdir(room, mode) < 0 && errno != EEXIST)
		return -errno;
	return 0;
}

static int open_folder(const char *path, bool make, mode_t mode, int *ret_fd,
		       struct err *err)
{
	int r;

	if (make) {
		r = make_folders(path, mode);
		if (r < 0)
			return err_errno(err, -r, "create folder %s", path);
	}
	*ret_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*ret_fd < 0 && (make || errno != ENOENT))
		return err_errno(err, errno, "open folder %s", path);
	return 0;
}

int store_open(struct arena *a, const char *root, bool make,
	       struct store *ret, struct err *err)
{
	char room[4096];
	int r;

	if (!root) {
		r = default_root(room, sizeof(room), err);
		if (r < 0)
			return r;
		root = room;
	}
	ret->root = arena_strdup(a, root);
	return open_folder(ret->root, make, 0711, &ret->root_fd, err);
}

void store_done(struct store *s)
{
	s->root_fd = close_fd(s->root_fd);
}

static bool id_char(char c, bool first)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '+' || c == '-' ||
	       (c == '.' && !first);
}

int store_check_id(const char *id, struct err *err)
{
	size_t n = strlen(id);

	if (n == 0)
		return err_set(err, EINVAL, "check container id: it is empty");
	if (n > STORE_ID_MAX)
		return err_set(err, EINVAL,
			       "check container id: longer than %d characters",
			       STORE_ID_MAX);
	for (size_t i = 0; i < n; i++)
		if (!id_char(id[i], i == 0))
			return err_set(err, EINVAL,
				       "check container id '%s': invalid "
				       "character at position %zu",
				       id, i + 1);
	return 0;
}

static void fill_entry(struct arena *a, const struct store *s, const char *id,
		       struct store_entry *ret)
{
	ret->id = arena_strdup(a, id);
	ret->path = arena_printf(a, "%s/%s", s->root, id);
}

/* Deleted, and perhaps made anew, while we waited for its lock. */
static bool is_replaced(const struct store *s, const struct store_entry *e)
{
	struct stat there, mine;

	return fstatat(s->root_fd, e->id, &there, AT_SYMLINK_NOFOLLOW) < 0 ||
	       fstat(e->dir_fd, &mine) < 0 || there.st_ino != mine.st_ino;
}

static int open_and_lock(const struct store *s, struct store_entry *e,
			 struct err *err)
{
	e->dir_fd = openat(s->root_fd, e->id,
			   O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (e->dir_fd < 0)
		return err_errno(err, errno, "open folder %s", e->path);
	if (flock(e->dir_fd, LOCK_EX) < 0)
		return err_errno(err, errno, "lock folder %s", e->path);
	return 0;
}

int store_take(struct arena *a, const struct store *s, const char *id,
	       struct store_entry *ret, struct err *err)
{
	int r = store_check_id(id, err);

	if (r < 0)
		return r;
	fill_entry(a, s, id, ret);
	if (mkdirat(s->root_fd, id, 0700) < 0) {
		if (errno == EEXIST)
			return err_set(err, EEXIST,
				       "create container %s: container with "
				       "id %s already exists",
				       id, id);
		return err_errno(err, errno, "create folder %s", ret->path);
	}
	r = open_and_lock(s, ret, err);
	if (r < 0) {
		unlinkat(s->root_fd, id, AT_REMOVEDIR);
		return r;
	}
	/* until it had our lock it was free to delete */
	if (is_replaced(s, ret))
		return err_set(err, ECANCELED,
			       "create container %s: it was deleted meanwhile",
			       id);
	return 0;
}

static int no_such(const char *id, struct err *err)
{
	/* containerd and podman match on the last three words */
	return err_set(err, ENOENT, "container %s: container does not exist",
		       id);
}

int store_get(struct arena *a, const struct store *s, const char *id,
	      bool lock, struct store_entry *ret, struct err *err)
{
	int r = store_check_id(id, err);

	if (r < 0)
		return r;
	fill_entry(a, s, id, ret);
	if (s->root_fd < 0)
		return no_such(id, err);
	ret->dir_fd = openat(s->root_fd, id,
			     O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (ret->dir_fd < 0) {
		if (errno == ENOENT || errno == ENOTDIR)
			return no_such(id, err);
		return err_errno(err, errno, "open folder %s", ret->path);
	}
	if (!lock)
		return 0;
	if (flock(ret->dir_fd, LOCK_EX) < 0)
		return err_errno(err, errno, "lock folder %s", ret->path);
	if (is_replaced(s, ret)) {
		ret->dir_fd = close_fd(ret->dir_fd);
		return no_such(id, err);
	}
	return 0;
}

void store_entry_done(struct store_entry *e)
{
	e->dir_fd = close_fd(e->dir_fd);
}

void store_remove_temporaries(int dir_fd, const char *prefix)
{
	own_dir DIR *d = NULL;
	struct dirent *de;
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	d = fdopendir(fd);
	if (!d) {
		close(fd);
		return;
	}
	while ((de = readdir(d)))
		if (str_after(de->d_name, prefix) && strstr(de->d_name, ".tmp"))
			unlinkat(dir_fd, de->d_name, 0);
}

int store_remove(const struct store *s, const struct store_entry *e,
		 struct err *err)
{
	for (size_t i = 0; i < N_ELEMENTS(entry_files); i++)
		if (unlinkat(e->dir_fd, entry_files[i], 0) < 0 &&
		    errno != ENOENT)
			return err_errno(err, errno, "remove %s/%s", e->path,
					 entry_files[i]);
	store_remove_temporaries(e->dir_fd, "");
	if (unlinkat(s->root_fd, e->id, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return err_errno(err, errno, "remove folder %s", e->path);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int store_list(struct arena *a, const struct store *s, char ***ret_ids,
	       unsigned int *ret_n, struct err *err)
{
	own_dir DIR *d = NULL;
	struct dirent *de;
	char **ids = NULL;
	unsigned int n = 0;
	int fd;

	*ret_ids = NULL;
	*ret_n = 0;
	if (s->root_fd < 0)
		return 0;
	fd = openat(s->root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, errno, "open folder %s", s->root);
	d = fdopendir(fd);
	if (!d) {
		close(fd);
		return err_errno(err, errno, "read folder %s", s->root);
	}
	while ((de = readdir(d))) {
		struct err ignored;
		struct stat st;

		if (store_check_id(de->d_name, &ignored) < 0)
			continue;
		if (fstatat(fd, de->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISDIR(st.st_mode))
			continue;
		ids = arena_grow(a, ids, n, sizeof(*ids));
		ids[n++] = arena_strdup(a, de->d_name);
	}
	if (n)
		qsort(ids, n, sizeof(*ids), by_name);
	*ret_ids = ids;
	*ret_n = n;
	return 0;
}

/* ROOT/.NAME: no id begins with a dot */
/* Who may write there could put something else in its place. */
static int check_ours(const char *path, struct err *err)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return err_errno(err, errno, "stat %s", path);
	if ((st.st_uid != geteuid() && st.st_uid != 0) || (st.st_mode & 022))
		return err_set(err, EPERM,
			       "open folder %s: it must belong to us and be "
			       "writable for nobody else",
			       path);
	return 0;
}

static int open_private(const char *name, int *ret_fd, struct err *err)
{
	char room[4096], path[4200];
	struct strbuf sb = STRBUF_FIXED(path);
	struct stat st;
	int r;

	r = default_root(room, sizeof(room), err);
	if (r < 0)
		return r;
	r = make_folders(room, 0711);
	if (r < 0)
		return err_errno(err, -r, "create folder %s", room);
	r = check_ours(room, err);
	if (r < 0)
		return r;
	strbuf_addf(&sb, "%s/%s", room, name);
	r = open_folder(path, true, 0700, ret_fd, err);
	if (r < 0)
		return r;
	if (fstat(*ret_fd, &st) < 0 || st.st_uid != geteuid() ||
	    (st.st_mode & 077)) {
		*ret_fd = close_fd(*ret_fd);
		return err_set(err, EPERM,
			       "open folder %s: it must be ours alone "
			       "(mode 0700)",
			       path);
	}
	return 0;
}

int store_open_shims(int *ret_fd, struct err *err)
{
	return open_private(".shims", ret_fd, err);
}

int store_open_cache(const char *name, int *ret_fd, struct err *err)
{
	char room[256];
	struct strbuf sb = STRBUF_FIXED(room);

	strbuf_addf(&sb, ".cache/%s", name);
	return open_private(room, ret_fd, err);
}
