/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/container/self.h"

enum { SELF_SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE };

/* where the copy's original lies: the copy can't tell by itself */
static const char origin_variable[] = "_OSH_RUNTIME_ORIGIN";

static bool is_sealed(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & SELF_SEALS) == SELF_SEALS;
}

static int make_copy(int from_fd, int *ret_fd, struct err *err)
{
	own_close int fd = -EBADF;
	struct stat st;
	off_t left;

	if (fstat(from_fd, &st) < 0)
		return err_errno(err, errno, "stat own program");
	/* MFD_EXEC is the default where vm.memfd_noexec is 0 */
	fd = memfd_create("osh-runtime", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return err_errno(err, errno, "create memory file");
	for (left = st.st_size; left > 0;) {
		ssize_t n = sendfile(fd, from_fd, NULL, (size_t)left);

		if (n <= 0)
			return err_errno(err, n ? errno : EIO,
					 "copy own program");
		left -= n;
	}
	if (fcntl(fd, F_ADD_SEALS, SELF_SEALS) < 0)
		return err_errno(err, errno, "seal copy of own program");
	*ret_fd = take_fd(&fd);
	return 0;
}

int self_protect(char **argv, struct err *err)
{
	own_close int self_fd = -EBADF;
	own_close int copy_fd = -EBADF;
	char origin[PATH_MAX];
	ssize_t n;
	int r;

	self_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (self_fd < 0)
		return err_errno(err, errno, "open /proc/self/exe");
	if (is_sealed(self_fd))
		return 0;
	n = readlink("/proc/self/exe", origin, sizeof(origin) - 1);
	if (n < 0)
		return err_errno(err, errno, "read link /proc/self/exe");
	origin[n] = '\0';
	r = make_copy(self_fd, &copy_fd, err);
	if (r < 0)
		return r;
	if (setenv(origin_variable, origin, 1) < 0)
		return err_errno(err, errno, "set environment");
	fexecve(copy_fd, argv, environ);
	return err_errno(err, errno, "execute copy of own program");
}

/* The folder of the file that this program was started from. */
static int own_folder(char *buf, size_t size)
{
	char room[PATH_MAX];
	const char *origin = NULL;
	char *slash;
	ssize_t n;
	int self_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	bool copy = self_fd >= 0 && is_sealed(self_fd);

	close_fd(self_fd);
	if (copy)
		origin = getenv(origin_variable);
	if (!origin) {
		n = readlink("/proc/self/exe", room, sizeof(room) - 1);
		if (n < 0)
			return -errno;
		room[n] = '\0';
		origin = room;
	}
	if (!str_copy(buf, size, origin))
		return -ENAMETOOLONG;
	slash = strrchr(buf, '/');
	if (!slash)
		return -ENOENT;
	*slash = '\0';
	return 0;
}

static int open_program(const char *folder, const char *name, int *ret_fd,
			struct err *err)
{
	char path[PATH_MAX];
	struct strbuf sb = STRBUF_FIXED(path);
	own_close int fd = -EBADF;
	struct stat st;

	strbuf_addf(&sb, "%s/%s", folder, name);
	if (sb.cut)
		return err_errno(err, ENAMETOOLONG, "open %s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, errno, "open %s", path);
	if (fstat(fd, &st) < 0)
		return err_errno(err, errno, "stat %s", path);
	if ((st.st_uid != 0 && st.st_uid != geteuid()) || (st.st_mode & 022))
		return err_set(err, EPERM,
			       "open %s: it must belong to root or us and be "
			       "writable for nobody else",
			       path);
	*ret_fd = take_fd(&fd);
	return 0;
}

/* PREFIX/bin/osh-runtime has PREFIX/libexec/osh-runtime/: wherever DESTDIR
 * put the prefix. */
static int open_program_in_prefix(char *folder, const char *name, int *ret_fd,
				  struct err *err)
{
	char libexec[PATH_MAX];
	struct strbuf sb = STRBUF_FIXED(libexec);
	char *slash = strrchr(folder, '/');

	if (!slash || !str_eq(slash, "/bin"))
		return -ENOENT;
	strbuf_add(&sb, folder, (size_t)(slash - folder));
	strbuf_adds(&sb, "/libexec/osh-runtime");
	return sb.cut ? -ENOENT : open_program(libexec, name, ret_fd, err);
}

int self_open_program(const char *name, int *ret_fd, struct err *err)
{
	char folder[PATH_MAX];
	int r = own_folder(folder, sizeof(folder));

	if (r < 0)
		return err_errno(err, -r, "find own program");
	r = open_program(folder, name, ret_fd, err);
	if (r == -ENOENT)
		r = open_program_in_prefix(folder, name, ret_fd, err);
	if (r == -ENOENT)
		r = open_program(OSH_LIBEXECDIR, name, ret_fd, err);
	return r;
}
