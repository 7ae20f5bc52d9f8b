/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The container's init, from clone to execve.
 *
 * It is a fork of the runtime: its memory holds the launch, its program file
 * is the sealed copy (self.h). The steps below run in order; the numbers are
 * those of the life of a sandbox (design: create 4 to 12). A step that fails
 * sends one struct err to the parent and exits. Where the table says so, the
 * init then waits until the parent has done its part.
 *
 *	4	join, cgroups	-> NAMESPACES, parent: id maps before, hooks,
 *				   shim, table
 *	9	rootfs ... pivot
 *	10	Landlock	-> ROOT, parent: binaries resolved
 *	11	enter_confine	-> LISTENER, parent: shim has it
 *	12	-> CREATED, waits at the FIFO, startContainer hooks, execve
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/fds.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/base/path.h"
#include "runtime/base/strbuf.h"
#include "runtime/container/init_root.h"
#include "runtime/container/launch.h"
#include "runtime/container/launch_mounts.h"
#include "runtime/container/sync.h"
#include "runtime/linux/scheduler.h"
#include "runtime/oci/spec_linux.h"

struct init {
	struct launch *l;
	struct init_root root;
	char program[4096];
};

/* -------------------------------------------------------- 4 namespaces */

/* Until the parent has written the id maps we have no ids at all. */
static int step_wait_for_maps(struct init *i, struct err *err)
{
	struct sync_message m;

	return sync_wait(i->l->sync_fd, SYNC_GO, "osh-runtime", &m, NULL, err);
}

static int step_join(struct init *i, struct err *err)
{
	return ns_set_join(&i->l->ns, err);
}

static int step_cgroup(struct init *i, struct err *err)
{
	bool v2_done = i->l->join.v2_dir_fd >= 0;
	int r = cgroup_join_self(&i->l->join, v2_done, err);

	/* the host's files, writable: not a moment longer than needed */
	cgroup_join_close(&i->l->join);
	if (r == 0)
		r = init_root_cgroups(&i->root, i->l, err);
	if (r == 0 && (i->l->ns.new_flags & CLONE_NEWCGROUP) &&
	    unshare(CLONE_NEWCGROUP) < 0)
		r = err_errno(err, errno, "create cgroup namespace");
	/* the mask that the client happened to have is not the container's */
	if (r == 0)
		r = scheduler_reset_affinity(err);
	return r;
}

static int step_session(struct init *i, struct err *err)
{
	sigset_t none;

	/* who is in a pid namespace that we joined must not reach into us
	 * (ptrace, /proc/PID/fd) before the program runs */
	if (!i->l->in_userns && !i->l->rootless &&
	    prctl(PR_SET_DUMPABLE, 0) < 0)
		return err_errno(err, errno, "become undumpable");
	if (setsid() < 0 && errno != EPERM)
		return err_errno(err, errno, "create session");
	/* what the client ignores or blocks is not the container's */
	for (int sig = 1; sig < NSIG; sig++)
		if (sig != SIGKILL && sig != SIGSTOP)
			signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (i->l->in_userns) {
		if (setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
			return err_errno(err, errno,
					 "become root of the user namespace");
	}
	return 0;
}

static int step_loopback(struct init *i, struct err *err)
{
	struct ifreq ifr = { .ifr_name = "lo" };
	own_close int fd = -EBADF;

	if (!(i->l->ns.new_flags & CLONE_NEWNET))
		return 0;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_errno(err, errno, "create socket");
	if (ioctl(fd, SIOCGIFFLAGS, &ifr) < 0)
		return err_errno(err, errno, "read flags of lo");
	ifr.ifr_flags |= IFF_UP;
	if (ioctl(fd, SIOCSIFFLAGS, &ifr) < 0)
		return err_errno(err, errno, "set lo up");
	return 0;
}

static int step_tell_namespaces(struct init *i, struct err *err)
{
	struct sync_message m;
	uint64_t cookie;
	int r = ns_net_cookie(&cookie, err);

	if (r == 0)
		r = sync_send(i->l->sync_fd, SYNC_NAMESPACES, cookie, NULL, 0,
			      err);
	if (r == 0)
		r = sync_wait(i->l->sync_fd, SYNC_GO, "osh-runtime", &m, NULL,
			      err);
	return r;
}

/* -------------------------------------------------------- 9, 10 rootfs */

static int step_rootfs(struct init *i, struct err *err)
{
	return init_root_build(&i->root, i->l, err);
}

static int step_switch_root(struct init *i, struct err *err)
{
	return init_root_switch(&i->root, i->l, err);
}

static int step_tell_root(struct init *i, struct err *err)
{
	struct launch *l = i->l;
	int fds[ENTER_LAYERS_MAX];
	struct sync_message m;
	uint32_t n = 0;
	int r = init_root_landlock(l, err);

	if (r < 0)
		return r;
	for (int k = 0; k < ENTER_LAYERS_MAX; k++)
		if (l->enter.landlock_fd[k] >= 0)
			fds[n++] = l->enter.landlock_fd[k];
	r = sync_send(l->sync_fd, SYNC_ROOT, 0, fds, n, err);
	if (r == 0)
		r = sync_wait(l->sync_fd, SYNC_GO, "osh-runtime", &m, NULL,
			      err);
	return r;
}

/* ------------------------------------------------------- 11, 12 program */

static int step_confine(struct init *i, struct err *err)
{
	struct enter *e = &i->l->enter;
	int r;

	e->slave_fd = i->root.slave_fd;
	r = enter_confine(e, i->program, sizeof(i->program), err);
	/* who waits for start holds nothing of the host (CVE-2024-21626) */
	e->proc_fd = close_fd(e->proc_fd);
	i->l->console_fd = close_fd(i->l->console_fd);
	for (int k = 0; k < ENTER_LAYERS_MAX; k++)
		e->landlock_fd[k] = close_fd(e->landlock_fd[k]);
	return r;
}

static int step_tell_created(struct init *i, struct err *err)
{
	return sync_send(i->l->sync_fd, SYNC_CREATED, 0, NULL, 0, err);
}

static const struct step {
	const char *name;
	int (*run)(struct init *i, struct err *err);
} steps[] = {
	{ "wait for id maps", step_wait_for_maps },
	{ "join namespaces", step_join },
	{ "join cgroups", step_cgroup },
	{ "create session", step_session },
	{ "set loopback up", step_loopback },
	{ "report namespaces", step_tell_namespaces },
	{ "build root filesystem", step_rootfs },
	{ "switch root", step_switch_root },
	{ "report root", step_tell_root },
	{ "confine", step_confine },
	{ "report created", step_tell_created },
};

/* Wait for start: one byte. The config's filter may be in force already, so
 * this is read(2) on a descriptor that has been open all along. */
static void wait_for_start(const struct launch *l)
{
	char byte;
	ssize_t n;

	do {
		n = read(l->start_fd, &byte, 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(1);
}

/* A byte that is left in the FIFO tells `start` that the program never ran:
 * it sees our end closed by execve or exit, and looks (lifecycle.c). */
static void run_start_hooks(const struct launch *l)
{
	struct err err;

	if (!l->spec->hooks)
		return;
	if (init_root_hooks(l, &l->spec->hooks->start_container,
			    "startContainer", OCI_CREATED, &err) < 0) {
		dprintf(STDERR_FILENO, "%s\n", err.text);
		io_write_all(l->start_fd, "x", 1);
		_exit(1);
	}
}

/* The parent's other descriptors stay behind: the lock on the container's
 * folder among them, which would otherwise be held as long as we live. */
static void close_others(const struct launch *l)
{
	struct fds keep = { .n = 0 };

	fds_add(&keep, l->start_fd);
	fds_add(&keep, l->console_fd);
	fds_add(&keep, l->sync_fd);
	fds_add(&keep, l->enter.proc_fd);
	for (uint32_t k = 0; k < l->join.n_task_fds; k++)
		fds_add(&keep, l->join.task_fd[k]);
	fds_add(&keep, l->join.v2_dir_fd);
	fds_add(&keep, l->join.v2_procs_fd);
	for (int k = 0; k < NS_N; k++)
		fds_add(&keep, l->ns.fd[k]);
	launch_mounts_keep(l, &keep);
	fds_close_others(&keep, 3 + l->enter.preserve_fds);
}

void init_main(struct launch *l)
{
	struct init i = { .l = l, .root = INIT_ROOT_INIT };
	struct err err;

	close_others(l);
	for (size_t k = 0; k < N_ELEMENTS(steps); k++) {
		if (steps[k].run(&i, &err) < 0) {
			sync_fail(l->sync_fd, &err);
			_exit(1);
		}
	}
	wait_for_start(l);
	run_start_hooks(l);
	_exit(enter_execute(&l->enter, i.program));
}
