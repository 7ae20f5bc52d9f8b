/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/container/create_clone.h"
#include "runtime/container/create_state.h"
#include "runtime/container/launch.h"
#include "runtime/container/launch_mounts.h"
#include "runtime/container/sync.h"
#include "runtime/linux/namespaces.h"
#include "runtime/linux/process.h"

/*
 * A user namespace that is joined has to be entered before the rest is made,
 * and a pid namespace that is joined holds only children: a middle process
 * does both, clones the init as our child (CLONE_PARENT), and ends.
 */
static bool needs_middle(const struct launch *l)
{
	return l->ns.fd[NS_USER] >= 0 || l->ns.fd[NS_PID] >= 0;
}

/* The cgroup namespace is made by the init, within its cgroups, the time
 * namespace by begin_time, with its offsets. */
static unsigned int clone_flags(const struct launch *l)
{
	return l->ns.new_flags &
	       ~(unsigned int)(CLONE_NEWCGROUP | CLONE_NEWTIME);
}

/* The next child's time namespace; *ret_old_fd (owned) leads back. */
static int begin_time(const struct launch *l, int *ret_old_fd, struct err *err)
{
	if (!(l->ns.new_flags & CLONE_NEWTIME))
		return 0;
	return ns_time_begin(l->time_offsets, l->n_time_offsets, ret_old_fd,
			     err);
}

static __attribute__((noreturn)) void middle_main(struct create *c)
{
	struct launch *l = &c->launch;
	own_close int time_fd = -EBADF;
	struct err err;
	pid_t pid;
	int r = ns_set_join(&l->ns, &err);

	/* joined here, once: the init has nothing left to join */
	ns_set_done(&l->ns);
	if (r == 0)
		r = begin_time(l, &time_fd, &err);
	pid = r < 0 ? r :
		      ns_clone_sibling(clone_flags(l), l->join.v2_dir_fd,
				       &err);
	if (pid < 0) {
		sync_fail(l->sync_fd, &err);
		_exit(1);
	}
	if (pid == 0)
		init_main(l);
	if (sync_send(l->sync_fd, SYNC_PID, (uint64_t)pid, NULL, 0, &err) < 0)
		_exit(1);
	_exit(0);
}

static int clone_middle(struct create *c, struct err *err)
{
	struct sync_message m;
	int status, r;
	pid_t middle = fork();

	if (middle < 0)
		return err_errno(err, errno, "fork");
	if (middle == 0) {
		c->sync_fd = close_fd(c->sync_fd);
		middle_main(c);
	}
	r = sync_wait(c->sync_fd, SYNC_PID, INIT_WHO, &m, NULL, err);
	while (waitpid(middle, &status, 0) < 0 && errno == EINTR)
		;
	if (r < 0)
		return r;
	c->pid = (pid_t)m.value;
	return process_open(c->pid, 0, &c->pidfd, err);
}

static int clone_directly(struct create *c, int other_fd, struct err *err)
{
	struct launch *l = &c->launch;
	own_close int time_fd = -EBADF;
	int r = begin_time(l, &time_fd, err);
	pid_t pid;

	if (r < 0)
		return r;
	pid = ns_clone(clone_flags(l), l->join.v2_dir_fd, &c->pidfd, err);
	if (pid == 0) {
		close(other_fd);
		init_main(l);
	}
	c->pid = pid;
	r = pid < 0 ? (int)pid : 0;
	if (r == 0 && time_fd >= 0)
		r = ns_time_end(time_fd, err);
	return r;
}

int create_clone(struct create *c, struct err *err)
{
	struct launch *l = &c->launch;
	int sync[2];
	int r = launch_mounts_open(l, c->b.plan->spec, err);

	if (r == 0)
		r = sync_pair(sync, err);
	if (r < 0)
		return r;
	c->sync_fd = sync[0];
	l->sync_fd = l->enter.sync_fd = sync[1];
	r = needs_middle(l) ? clone_middle(c, err) :
			      clone_directly(c, sync[0], err);
	l->sync_fd = l->enter.sync_fd = close_fd(sync[1]);
	return r;
}
