/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/path.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/compat.h"
#include "runtime/linux/terminal.h"

void terminal_done(struct terminal *t)
{
	t->master_fd = close_fd(t->master_fd);
	t->slave_fd = close_fd(t->slave_fd);
}

/* The multiplexer of the container's own devpts, nothing else. */
static int open_ptmx(int root_fd, int *ret_fd, struct err *err)
{
	own_close int fd = -EBADF;
	struct stat st;
	int r = path_open_in(root_fd, "/dev/pts/ptmx", O_RDWR | O_NOFOLLOW, &fd,
			     err);

	if (r < 0)
		return r;
	r = path_check_fs(fd, DEVPTS_SUPER_MAGIC, "/dev/pts/ptmx", err);
	if (r < 0)
		return r;
	if (fstat(fd, &st) < 0)
		return err_errno(err, errno, "stat /dev/pts/ptmx");
	if (!S_ISCHR(st.st_mode) || st.st_rdev != makedev(5, 2))
		return err_set(err, EINVAL,
			       "/dev/pts/ptmx is not a pseudoterminal device");
	*ret_fd = take_fd(&fd);
	return 0;
}

void terminal_size(int fd, uint16_t *ret_rows, uint16_t *ret_columns)
{
	struct winsize size = {0};

	(void)ioctl(fd, TIOCGWINSZ, &size);
	*ret_rows = size.ws_row;
	*ret_columns = size.ws_col;
}

static int set_size(int master_fd, uint16_t rows, uint16_t columns,
		    struct err *err)
{
	const struct winsize size = {.ws_row = rows, .ws_col = columns};

	if (!rows && !columns)
		return 0;
	if (ioctl(master_fd, TIOCSWINSZ, &size) < 0)
		return err_errno(err, errno, "set the size of the terminal");
	return 0;
}

int terminal_open(int root_fd, uint16_t rows, uint16_t columns,
		  struct terminal *ret, struct err *err)
{
	own_terminal struct terminal t = TERMINAL_INIT;
	const int unlocked = 0;
	int r = open_ptmx(root_fd, &t.master_fd, err);

	if (r < 0)
		return r;
	if (ioctl(t.master_fd, TIOCGPTN, &t.number) < 0 ||
	    ioctl(t.master_fd, TIOCSPTLCK, &unlocked) < 0)
		return err_errno(err, errno, "unlock the terminal");
	t.slave_fd =
		ioctl(t.master_fd, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (t.slave_fd < 0)
		return err_errno(err, errno, "open the terminal's slave");
	r = set_size(t.master_fd, rows, columns, err);
	if (r < 0)
		return r;
	ret->master_fd = take_fd(&t.master_fd);
	ret->slave_fd = take_fd(&t.slave_fd);
	ret->number = t.number;
	return 0;
}

int terminal_chown(const struct terminal *t, uid_t uid, struct err *err)
{
	struct stat st;

	if (fstat(t->slave_fd, &st) < 0)
		return err_errno(err, errno, "stat the terminal");
	/* the group is devpts' business: its option "gid" */
	if (st.st_uid == uid || fchown(t->slave_fd, uid, (gid_t)-1) == 0)
		return 0;
	if (errno == EINVAL)
		return 0;
	return err_errno(err, errno, "chown the terminal");
}

int terminal_attach(int slave_fd, struct err *err)
{
	if (setsid() < 0 && errno != EPERM)
		return err_errno(err, errno, "setsid");
	if (ioctl(slave_fd, TIOCSCTTY, 0) < 0)
		return err_errno(err, errno, "set the controlling terminal");
	for (int fd = 0; fd < 3; fd++) {
		/* dup2 onto itself would leave it close-on-exec */
		if (fd == slave_fd ? fcntl(fd, F_SETFD, 0) < 0
				   : dup2(slave_fd, fd) < 0)
			return err_errno(err, errno,
					 "attach the terminal as %d", fd);
	}
	return 0;
}

/* ---------------------------------------------------------- console socket */

/*
 * The address of a socket may be 107 bytes long: a longer path is named
 * through the descriptor of its directory, *ret_dir_fd.
 */
static int socket_address(const char *path, struct sockaddr_un *ret,
			  int *ret_dir_fd, struct err *err)
{
	const char *slash = strrchr(path, '/');
	char fd_name[PATH_FD_NAME];
	own_strbuf struct strbuf dir = STRBUF_HEAP;
	own_strbuf struct strbuf name = STRBUF_HEAP;
	int fd;

	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (str_copy(ret->sun_path, sizeof(ret->sun_path), path))
		return 0;
	if (!slash)
		return err_errno(err, ENAMETOOLONG, "console socket %s", path);
	strbuf_add(&dir, path, (size_t)(slash - path) + 1);
	fd = openat(AT_FDCWD, dir.s, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, errno, "open %s", dir.s);
	*ret_dir_fd = fd;
	strbuf_addf(&name, "%s%s", path_fd_name(fd, fd_name), slash);
	if (!str_copy(ret->sun_path, sizeof(ret->sun_path), name.s))
		return err_errno(err, ENAMETOOLONG, "console socket %s", path);
	return 0;
}

int terminal_connect(const char *path, int *ret_fd, struct err *err)
{
	own_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	own_close int dir_fd = -EBADF;
	struct sockaddr_un addr;
	int r;

	if (fd < 0)
		return err_errno(err, errno, "socket");
	r = socket_address(path, &addr, &dir_fd, err);
	if (r < 0)
		return r;
	if (connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) < 0)
		return err_errno(err, errno, "connect to console socket %s",
				 path);
	*ret_fd = take_fd(&fd);
	return 0;
}

/* Room for one descriptor, aligned for its header. */
union control {
	char buf[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

int terminal_send(const struct terminal *t, int socket_fd, struct err *err)
{
	union control control = {.buf = {0}};
	char name[32];
	struct iovec iov = {.iov_base = name};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.buf,
		.msg_controllen = sizeof(control.buf),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	ssize_t n;

	snprintf(name, sizeof(name), "/dev/pts/%u", t->number);
	iov.iov_len = strlen(name);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &t->master_fd, sizeof(int));
	do {
		n = sendmsg(socket_fd, &msg, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_errno(err, errno,
				 "send the terminal over the console socket");
	return 0;
}

int terminal_receive(int socket_fd, int *ret_master_fd, struct err *err)
{
	union control control;
	char name[4096];
	struct iovec iov = {.iov_base = name, .iov_len = sizeof(name)};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.buf,
		.msg_controllen = sizeof(control.buf),
	};
	struct cmsghdr *c;
	ssize_t n;

	do {
		n = recvmsg(socket_fd, &msg, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_errno(err, errno, "receive the terminal");
	c = CMSG_FIRSTHDR(&msg);
	if (n == 0 || !c || c->cmsg_level != SOL_SOCKET ||
	    c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(sizeof(int)))
		return err_set(err, EPROTO,
			       "receive the terminal: no descriptor came");
	memcpy(ret_master_fd, CMSG_DATA(c), sizeof(int));
	return 0;
}
