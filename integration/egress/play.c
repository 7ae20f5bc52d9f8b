/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plays osh-runtime's part with osh-shim, without a container: what the shim
 * and the resolver do can be tested alone.
 *
 *	play BUILD WORK NETNS ID POLICY UPSTREAM [OPTION...] -- PROGRAM [ARG...]
 *
 * Starts the shim for network namespace NETNS (a path), or joins the one that
 * serves it from WORK/shim, attaches ID with the compiled policy, runs PROGRAM
 * in the namespace under the policy's filter, and ends with its status.
 * UPSTREAM is an IPv4 address, or "-". Options:
 *	inbound=none	no new flows from outside
 *	uid=N		run the program as that user
 *	abandon		end before COMMIT
 *	keep=FILE	stay until FILE is gone
 * The logs are in WORK/log; the shim's pid is written to WORK/shim.pid.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/packet.h"
#include "runtime/base/strbuf.h"
#include "runtime/policy/policy.h"
#include "runtime/policy/shim_proto.h"

static const char *build, *work, *netns, *id, *policy_path;
static struct shim_attach attach;
static bool abandon;
static const char *keep;
static unsigned int uid;
static struct policy policy;

static int open_at(const char *folder, const char *name, int flags)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, flags | O_CLOEXEC, 0600);
	if (fd < 0)
		err(99, "open %s", path);
	return fd;
}

static void make_folder(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", work, name);
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		err(99, "mkdir %s", path);
}

/* The folder must be named after the cookie: the shim removes it. */
static uint64_t cookie_of(int netns_fd)
{
	uint64_t cookie = 0;
	socklen_t n = sizeof(cookie);
	int pipe_fd[2], status, s;
	pid_t pid;

	if (pipe(pipe_fd) < 0)
		err(99, "pipe");
	pid = fork();
	if (pid == 0) {
		if (setns(netns_fd, CLONE_NEWNET) < 0)
			_exit(1);
		s = socket(AF_INET, SOCK_DGRAM, 0);
		if (getsockopt(s, SOL_SOCKET, 71, &cookie, &n) < 0)
			_exit(1);
		_exit(write(pipe_fd[1], &cookie, 8) == 8 ? 0 : 1);
	}
	if (waitpid(pid, &status, 0) != pid || status ||
	    read(pipe_fd[0], &cookie, 8) != 8)
		errx(99, "no cookie of %s", netns);
	close(pipe_fd[0]);
	close(pipe_fd[1]);
	return cookie;
}

static void address_of(int folder_fd, struct sockaddr_un *sa)
{
	*sa = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(sa->sun_path, sizeof(sa->sun_path), "/proc/self/fd/%d/sock",
		 folder_fd);
}

static int try_connect(int folder_fd)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un sa;

	address_of(folder_fd, &sa);
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0)
		return fd;
	close(fd);
	return -1;
}

static void write_pid(pid_t pid)
{
	int out = open_at(work, "shim.pid", O_WRONLY | O_CREAT | O_TRUNC);

	dprintf(out, "%d\n", pid);
	close(out);
}

static void become_shim(int shim, const int fds[5])
{
	static char program[] = "osh-shim";
	static char *const argv[] = { program, NULL };
	static char *const env[] = { NULL };
	int null_fd = open("/dev/null", O_RDWR), high[6];

	setsid();
	for (int i = 0; i < 5; i++)
		high[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 64);
	high[5] = fcntl(shim, F_DUPFD_CLOEXEC, 64);
	for (int i = 0; i < 3; i++)
		dup2(null_fd, i);
	for (int i = 0; i < 5; i++)
		dup2(high[i], 3 + i);
	fexecve(high[5], argv, env);
	_exit(127);
}

static void start_shim(int folder_fd, int netns_fd)
{
	int fds[5], shim = open_at(build, "osh-shim", O_RDONLY);
	struct sockaddr_un sa;
	pid_t pid;

	unlinkat(folder_fd, "sock", 0);
	fds[0] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	address_of(folder_fd, &sa);
	if (bind(fds[0], (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    listen(fds[0], 16) < 0)
		err(99, "listen");
	fds[1] = netns_fd;
	fds[2] = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	fds[3] = folder_fd;
	fds[4] = open_at(build, "osh-resolver", O_RDONLY);
	pid = fork();
	if (pid == 0) {
		/* nobody's child, as create's shims are */
		pid = fork();
		if (pid) {
			write_pid(pid);
			_exit(0);
		}
		become_shim(shim, fds);
	}
	if (waitpid(pid, NULL, 0) != pid)
		err(99, "start the shim");
	close(shim);
	for (int i = 0; i < 5; i++)
		if (i != 1 && i != 3)
			close(fds[i]);
}

static void exchange(int fd, const void *data, size_t n, const int *fds,
		     size_t n_fds, const char *what)
{
	struct shim_reply reply;
	int none[SHIM_FDS_MAX];
	size_t n_none;

	if (packet_send(fd, data, n, fds, n_fds) < 0)
		errx(99, "%s: send", what);
	if (packet_recv(fd, &reply, sizeof(reply), none, SHIM_FDS_MAX, &n_none,
			0) != (ssize_t)sizeof(reply))
		errx(99, "%s: the shim ended the connection", what);
	packet_close(none, n_none);
	if (reply.err.code)
		errx(98, "%s: %s", what, reply.err.text);
}

static void request(int fd, uint32_t op, pid_t pid, const int *fds,
		    size_t n_fds, const char *what)
{
	struct shim_request rq = { .op = op, .pid = pid };

	str_copy(rq.id, sizeof(rq.id), id);
	exchange(fd, &rq, sizeof(rq), fds, n_fds, what);
}

static int64_t nanoseconds(const struct timespec *t)
{
	return t->tv_sec * 1000000000L + t->tv_nsec;
}

static void send_binaries(int fd, pid_t init)
{
	struct shim_binaries head = { .op = SHIM_OP_BINARIES,
				      .init_pid = init };
	struct shim_binary *row = calloc(policy.n_binaries + 1, sizeof(*row));

	if (!row)
		err(99, "calloc");
	str_copy(head.id, sizeof(head.id), id);
	for (uint32_t i = 0; i < policy.n_binaries; i++) {
		const struct policy_binary *b = &policy.binary[i];
		struct stat st;

		if (b->glob ||
		    stat(policy_text(&policy, b->path), &st) < 0)
			continue;
		row[head.n++] = (struct shim_binary){
			.op = SHIM_OP_BINARY,
			.binary = i,
			.dev = st.st_dev,
			.ino = st.st_ino,
			.size = (uint64_t)st.st_size,
			.mtime_ns = nanoseconds(&st.st_mtim),
			.ctime_ns = nanoseconds(&st.st_ctim),
		};
	}
	if (head.n == 0) {
		exchange(fd, &head, sizeof(head), NULL, 0, "binaries");
		return;
	}
	if (packet_send(fd, &head, sizeof(head), NULL, 0) < 0)
		errx(99, "binaries");
	for (uint32_t i = 0; i + 1 < head.n; i++)
		packet_send(fd, &row[i], sizeof(*row), NULL, 0);
	exchange(fd, &row[head.n - 1], sizeof(*row), NULL, 0, "binary");
}

static int install_filter(void)
{
	const struct policy_program *p =
		policy_find_program(&policy, POLICY_PROGRAM_LISTENER);
	struct sock_fprog prog;

	if (!p)
		errx(99, "the policy has no filter");
	prog.len = (unsigned short)p->n_insns;
	prog.filter = (struct sock_filter *)(uintptr_t)(policy.insn +
							p->first_insn);
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			    SECCOMP_FILTER_FLAG_NEW_LISTENER |
				    SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
			    &prog);
}

/* The sandboxed side. @sync_fd: a byte out with the listener's number, a byte
 * in when everything is in place. */
static void init_process(int sync_fd, int netns_fd, char **argv)
{
	int listener;
	char byte;

	if (unshare(CLONE_NEWNS) < 0 || setns(netns_fd, CLONE_NEWNET) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("sysfs", "/sys", "sysfs", 0, NULL) < 0)
		err(97, "enter %s", netns);
	listener = install_filter();
	if (listener < 0)
		err(97, "install the filter");
	if (write(sync_fd, &listener, sizeof(listener)) < 0 ||
	    read(sync_fd, &byte, 1) != 1)
		_exit(97);
	close(listener);
	/* what create takes out of every set */
	for (int c = 0; c < 64; c++)
		if (c != 7 && c != 6) /* setuid, setgid */
			prctl(PR_CAPBSET_DROP, c, 0, 0, 0);
	if (uid && (setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0))
		err(97, "become %u", uid);
	execvp(argv[0], argv);
	err(97, "%s", argv[0]);
}

static int take_listener(pid_t init, int sync_fd)
{
	int number, pidfd, fd;

	if (read(sync_fd, &number, sizeof(number)) != sizeof(number))
		errx(97, "no filter");
	pidfd = (int)syscall(SYS_pidfd_open, init, 0);
	fd = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
	if (fd < 0)
		err(97, "take the listener");
	close(pidfd);
	return fd;
}

static void load_policy(void)
{
	struct err e = ERR_INIT;
	int fd = open(policy_path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *data;

	if (fd < 0 || fstat(fd, &st) < 0)
		err(99, "open %s", policy_path);
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED ||
	    policy_load(data, (size_t)st.st_size, &policy, &e) < 0)
		errx(99, "%s", e.text);
	close(fd);
}

static void read_option(const char *arg)
{
	const char *v;

	if (str_eq(arg, "inbound=none"))
		attach.inbound = SHIM_INBOUND_NONE;
	else if (str_eq(arg, "abandon"))
		abandon = true;
	else if ((v = str_after(arg, "uid=")))
		uid = (unsigned int)strtoul(v, NULL, 10);
	else if ((v = str_after(arg, "keep=")))
		keep = v;
	else
		errx(99, "unknown option %s", arg);
}

static char **read_arguments(int argc, char **argv)
{
	int i = 7;

	if (argc < 9)
		errx(99, "usage: play BUILD WORK NETNS ID POLICY UPSTREAM "
			 "[OPTION...] -- PROGRAM...");
	build = argv[1];
	work = argv[2];
	netns = argv[3];
	id = argv[4];
	policy_path = argv[5];
	attach.op = SHIM_OP_ATTACH;
	attach.version = SHIM_PROTO_VERSION;
	str_copy(attach.id, sizeof(attach.id), id);
	str_copy(attach.source, sizeof(attach.source), "test");
	if (!str_eq(argv[6], "-")) {
		attach.n_upstreams = 1;
		attach.upstream[0].port = 53;
		attach.upstream[0].addr[10] = 0xff;
		attach.upstream[0].addr[11] = 0xff;
		if (inet_pton(AF_INET, argv[6], attach.upstream[0].addr + 12) !=
		    1)
			errx(99, "%s is no address", argv[6]);
	}
	for (; i < argc && !str_eq(argv[i], "--"); i++)
		read_option(argv[i]);
	return argv + i + 1;
}

static int connect_shim(int netns_fd)
{
	char name[64];
	int folder, conn, fds[2];

	make_folder("shim");
	make_folder("log");
	snprintf(name, sizeof(name), "shim/%016llx",
		 (unsigned long long)cookie_of(netns_fd));
	make_folder(name);
	folder = open_at(work, name, O_RDONLY | O_DIRECTORY);
	conn = try_connect(folder);
	if (conn < 0) {
		start_shim(folder, netns_fd);
		conn = try_connect(folder);
	}
	if (conn < 0)
		err(99, "connect to the shim");
	fds[0] = open(policy_path, O_RDONLY | O_CLOEXEC);
	fds[1] = open_at(work, "log", O_RDONLY | O_DIRECTORY);
	exchange(conn, &attach, sizeof(attach), fds, 2, "attach");
	close(folder);
	close(fds[0]);
	close(fds[1]);
	return conn;
}

int main(int argc, char **argv)
{
	char **program = read_arguments(argc, argv);
	int netns_fd = open(netns, O_RDONLY | O_CLOEXEC);
	int pair[2], conn, listener, status;
	pid_t init;

	if (netns_fd < 0)
		err(99, "open %s", netns);
	load_policy();
	conn = connect_shim(netns_fd);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		err(99, "socketpair");
	init = fork();
	if (init == 0) {
		close(pair[0]);
		close(conn);
		init_process(pair[1], netns_fd, program);
	}
	close(pair[1]);
	listener = take_listener(init, pair[0]);
	send_binaries(conn, init);
	request(conn, SHIM_OP_LISTENER, init, &listener, 1, "listener");
	close(listener);
	if (abandon)
		return 0;
	request(conn, SHIM_OP_COMMIT, 0, NULL, 0, "commit");
	close(conn);
	if (write(pair[0], "", 1) != 1)
		err(99, "start");
	if (waitpid(init, &status, 0) != init)
		err(99, "wait");
	while (keep && access(keep, F_OK) == 0)
		usleep(20000);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
