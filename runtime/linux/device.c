/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/path.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/compat.h"
#include "runtime/linux/device.h"
#include "runtime/linux/mountfd.h"

/* Numbers: Documentation/admin-guide/devices.txt. */
const struct device device_defaults[] = {
	{"/dev/null", 'c', 1, 3, 0666, 0, 0},
	{"/dev/zero", 'c', 1, 5, 0666, 0, 0},
	{"/dev/full", 'c', 1, 7, 0666, 0, 0},
	{"/dev/random", 'c', 1, 8, 0666, 0, 0},
	{"/dev/urandom", 'c', 1, 9, 0666, 0, 0},
	{"/dev/tty", 'c', 5, 0, 0666, 0, 0},
};
const size_t device_n_defaults = N_ELEMENTS(device_defaults);

static const struct {
	const char *name; /* in /dev */
	const char *target;
	const char *needs; /* below the root, or NULL */
	bool replace;
} links[] = {
	{"fd", "/proc/self/fd", NULL, false},
	{"stdin", "/proc/self/fd/0", NULL, false},
	{"stdout", "/proc/self/fd/1", NULL, false},
	{"stderr", "/proc/self/fd/2", NULL, false},
	{"core", "/proc/kcore", "/proc/kcore", false},
	/* an image's own ptmx would be the host's */
	{"ptmx", "pts/ptmx", NULL, true},
};

static mode_t file_type(char type)
{
	switch (type) {
	case 'b':
		return S_IFBLK;
	case 'p':
		return S_IFIFO;
	default:
		return S_IFCHR;
	}
}

/* Whether @st is @d. */
static bool is_same(const struct device *d, const struct stat *st)
{
	mode_t type = file_type(d->type);

	if ((st->st_mode & S_IFMT) != type)
		return false;
	return type == S_IFIFO || st->st_rdev == makedev(d->major, d->minor);
}

static int check_same(const struct device *d, int fd, struct stat *ret,
		      struct err *err)
{
	if (fstat(fd, ret) < 0)
		return err_errno(err, errno, "stat %s", d->path);
	if (!is_same(d, ret))
		return err_set(err, EEXIST, "%s is there and not %c %u:%u",
			       d->path, d->type, d->major, d->minor);
	return 0;
}

/*
 * Owner and mode through the descriptor of what was made, by its name in
 * /proc: an O_PATH descriptor takes neither fchmod nor fchown, and the name in
 * the directory may be something else by now.
 */
static int set_owner(const struct device *d, int fd, const struct stat *st,
		     struct err *err)
{
	mode_t mode = d->mode & 07777;
	char name[PATH_FD_NAME];

	if ((st->st_uid != d->uid || st->st_gid != d->gid) &&
	    fchownat(fd, "", d->uid, d->gid, AT_EMPTY_PATH) < 0)
		return err_errno(err, errno, "chown %s", d->path);
	if ((st->st_mode & 07777) != mode &&
	    chmod(path_fd_name(fd, name), mode) < 0)
		return err_errno(err, errno, "chmod %s", d->path);
	return 0;
}

static int make_node(const struct device *d, int dir_fd, const char *name,
		     struct err *err)
{
	own_close int fd = -EBADF;
	struct stat st;
	int r;

	if (mknodat(dir_fd, name, file_type(d->type) | (d->mode & 07777),
		    makedev(d->major, d->minor)) < 0 &&
	    errno != EEXIST)
		return err_errno(err, errno, "mknod %s", d->path);
	r = path_open_plain_in(dir_fd, name, O_PATH | O_NOFOLLOW, &fd, err);
	if (r < 0)
		return r;
	r = check_same(d, fd, &st, err);
	if (r < 0)
		return r;
	return set_owner(d, fd, &st, err);
}

/* The host's node of the same name, after a look at its number. */
static int bind_node(const struct device *d, int dir_fd, const char *name,
		     struct err *err)
{
	own_close int source_fd = -EBADF;
	own_close int target_fd = -EBADF;
	struct stat st;
	int r = mountfd_clone(AT_FDCWD, d->path, false, d->path, &source_fd,
			      err);

	if (r < 0)
		return r;
	r = check_same(d, source_fd, &st, err);
	if (r < 0)
		return r;
	r = path_target_in(dir_fd, name, false, &target_fd, NULL, err);
	if (r < 0)
		return r;
	return mountfd_attach(source_fd, target_fd, d->path, err);
}

/* Devices stand together, mostly in /dev: keep the last one's directory. */
struct parent {
	int fd; /* owned */
	const char *path; /* of the device that it was opened for */
	size_t len; /* of the directory's part of it */
};

/* The directory of @path; *ret_name is what follows it. */
static int open_parent(struct parent *p, int root_fd, const char *path,
		       const char **ret_name, struct err *err)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;
	int fd;
	int r;

	if (p->fd >= 0 && len == p->len && !strncmp(path, p->path, len)) {
		*ret_name = path + len + 1;
		return 0;
	}
	r = path_parent_in(root_fd, path, &fd, ret_name, err);
	if (r < 0)
		return r;
	close_fd(p->fd);
	*p = (struct parent){.fd = fd, .path = path, .len = len};
	return 0;
}

static int create(struct parent *p, int root_fd, const struct device *d,
		  bool bind, struct err *err)
{
	const char *name;
	int r = open_parent(p, root_fd, d->path, &name, err);

	if (r < 0)
		return r;
	/* pipes are not devices: a user namespace may make them */
	if (bind && file_type(d->type) != S_IFIFO)
		return bind_node(d, p->fd, name, err);
	return make_node(d, p->fd, name, err);
}

int device_create(int root_fd, const struct device *devices, size_t n,
		  bool bind, struct err *err)
{
	struct parent p = {.fd = -EBADF};
	mode_t old = umask(0);
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++)
		r = create(&p, root_fd, &devices[i], bind, err);
	umask(old);
	close_fd(p.fd);
	return r < 0 ? err_wrap(err, "create device") : 0;
}

int device_links(int root_fd, struct err *err)
{
	own_close int dev_fd = -EBADF;
	int r = path_mkdirs_in(root_fd, "/dev", 0755, &dev_fd, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < N_ELEMENTS(links); i++) {
		if (links[i].needs) {
			own_close int fd =
				path_try_in(root_fd, links[i].needs, O_PATH);

			if (fd < 0)
				continue;
		}
		if (symlinkat(links[i].target, dev_fd, links[i].name) == 0)
			continue;
		if (errno == EEXIST && !links[i].replace)
			continue;
		if (errno == EEXIST &&
		    (unlinkat(dev_fd, links[i].name, 0) == 0 ||
		     errno == ENOENT) &&
		    symlinkat(links[i].target, dev_fd, links[i].name) == 0)
			continue;
		return err_errno(err, errno, "link /dev/%s to %s",
				 links[i].name, links[i].target);
	}
	return 0;
}

int device_console(int root_fd, int slave_fd, struct err *err)
{
	own_close int dir_fd = -EBADF;
	own_close int target_fd = -EBADF;
	const char *name;
	struct stat st;
	int r = path_check_fs(slave_fd, DEVPTS_SUPER_MAGIC, "console", err);

	if (r < 0)
		return r;
	/* majors 136 to 143: UNIX98 slaves */
	if (fstat(slave_fd, &st) < 0)
		return err_errno(err, errno, "stat the console");
	if (!S_ISCHR(st.st_mode) || major(st.st_rdev) < 136 ||
	    major(st.st_rdev) > 143)
		return err_set(err, EINVAL,
			       "console: not a pseudoterminal's slave");
	r = path_parent_in(root_fd, "/dev/console", &dir_fd, &name, err);
	if (r < 0)
		return r;
	r = path_target_in(dir_fd, name, false, &target_fd, NULL, err);
	if (r < 0)
		return r;
	return mountfd_bind(slave_fd, target_fd, "/dev/console", err);
}
