/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Theory of operation. A middle process joins the container's namespaces at
 * once (setns with a pidfd), its cgroups, and clones the final process as our
 * child (CLONE_PARENT), since a pid namespace holds only later children. The
 * final process goes through enter_confine like an init. No memory is shared;
 * both are forks of a single-threaded parent.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/fds.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/container/create_egress.h"
#include "runtime/container/create_launch.h"
#include "runtime/container/egress.h"
#include "runtime/container/enter.h"
#include "runtime/container/exec.h"
#include "runtime/container/lifecycle.h"
#include "runtime/container/seccomp_agent.h"
#include "runtime/container/sync.h"
#include "runtime/doc/errors.h"
#include "runtime/linux/cgroup_procs.h"
#include "runtime/linux/namespaces.h"
#include "runtime/linux/process.h"
#include "runtime/linux/scheduler.h"
#include "runtime/linux/terminal.h"
#include "runtime/oci/spec_linux.h"

enum { PROCESS_FILE_MAX = 1 << 20 };

static const char exec_who[] = "the container's new process";

struct exec {
	struct arena *arena;
	const struct exec_args *args;
	struct container c;
	struct blueprint b;
	struct oci_process *process;
	struct enter enter;
	struct cgroup_join join;
	struct egress egress;
	int init_pidfd;
	int sync_fd;
	int console_fd;
	unsigned int ns_flags;
	pid_t pid;
	int pidfd;
};

/* ------------------------------------------------------------ what to run */

static int read_process_file(struct exec *x, struct oci_process **ret,
			     struct err *err)
{
	const char *file = x->args->process_file;
	struct doc_errors errors;
	char *text;
	size_t len;
	int r = io_read_file(x->arena, AT_FDCWD, file, PROCESS_FILE_MAX, &text,
			     &len, err);

	if (r < 0)
		return r;
	doc_errors_init(&errors, x->arena, file);
	r = oci_process_parse(x->arena, text, len, ret, &errors);
	return r < 0 ? doc_errors_err(&errors, err) : 0;
}

/* The config as create kept it, the policies as create compiled them: what
 * the operator or the image changed since does not matter. */
static int load_blueprint(struct exec *x, struct err *err)
{
	const struct oci_state *s = x->c.record.state;
	int dir_fd = x->c.entry.dir_fd;
	struct doc_errors errors;
	int r = blueprint_host(&x->b, x->args->host_config, err);

	if (r == 0)
		r = io_read_file(x->arena, dir_fd, "config.json", 16 << 20,
				 &x->b.config_text, &x->b.config_len, err);
	if (r < 0)
		return r;
	x->b.bundle = s->bundle;
	x->b.rootfs = s->rootfs;
	doc_errors_init(&errors, x->arena, "config.json");
	r = oci_spec_parse(x->arena, x->b.config_text, x->b.config_len,
			   &x->b.spec, &errors);
	if (r < 0)
		return doc_errors_err(&errors, err);
	if (!s->policy || s->policy->egress == OCI_EGRESS_PLAIN) {
		x->b.source.kind = PLAN_SOURCE_PLAIN;
		x->b.source.label = s->policy ? s->policy->source : "none";
		return 0;
	}
	r = policy_file_load(x->arena, dir_fd, "policy", &x->b.policy, err);
	x->b.has_policy = r == 0;
	if (r == 0 && s->policy->has_ceiling) {
		r = policy_file_load(x->arena, dir_fd, "ceiling",
				     &x->b.ceiling, err);
		x->b.has_ceiling = r == 0;
	}
	x->b.source.kind = s->policy->egress == OCI_EGRESS_DENY_ALL ?
				   PLAN_SOURCE_DENY :
				   PLAN_SOURCE_ANNOTATION;
	x->b.source.label = s->policy->source;
	return r;
}

static int find_process(struct exec *x, struct err *err)
{
	struct oci_process *asked = NULL;
	struct plan_input in;
	int r;

	if (x->args->process_file) {
		r = read_process_file(x, &asked, err);
		if (r < 0)
			return r;
	} else {
		asked = x->args->amend(x->arena, x->args->amend_arg,
				       x->b.spec->process, err);
		if (!asked)
			return -err->code;
	}
	blueprint_plan_input(&x->b, &x->c.store, &in);
	r = plan_make(x->arena, &in, &x->b.plan, err);
	if (r == 0)
		r = plan_exec(x->arena, &in, asked, &x->process, err);
	return r;
}

/* ------------------------------------------------------------ the filter */

static int join_filter(struct exec *x, struct err *err)
{
	const struct oci_state_policy *p = x->c.record.state->policy;
	int fds[SHIM_FDS_MAX];
	uint32_t n = 0;
	int r;

	if (!p || p->egress == OCI_EGRESS_PLAIN)
		return 0;
	r = egress_connect(&x->egress, x->args->id, p->netns_cookie, err);
	if (r < 0)
		return err_wrap(err, "exec in container %s: its policy could "
				     "not be enforced",
				x->args->id);
	r = egress_get_rulesets(&x->egress, fds, &n, err);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < n; i++) {
		if (i < ENTER_LAYERS_MAX)
			x->enter.landlock_fd[i] = fds[i];
		else
			close(fds[i]);
	}
	if (p->has_landlock && n == 0)
		return err_set(err, EPROTO,
			       "exec in container %s: osh-shim has lost its "
			       "Landlock rulesets",
			       x->args->id);
	return 0;
}

/* ----------------------------------------------------------- the children */

static int make_terminal(struct exec *x, int *ret_slave_fd, struct err *err)
{
	own_terminal struct terminal t = TERMINAL_INIT;
	own_close int root_fd = -EBADF;
	uint16_t rows = 0, columns = 0;
	int r;

	if (!x->process->terminal)
		return 0;
	if (x->process->console_size) {
		rows = (uint16_t)x->process->console_size->height;
		columns = (uint16_t)x->process->console_size->width;
	} else {
		/* in the foreground: right before the program looks */
		terminal_size(STDIN_FILENO, &rows, &columns);
	}
	root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0)
		return err_errno(err, errno, "open /");
	r = terminal_open(root_fd, rows, columns, &t, err);
	if (r == 0)
		r = terminal_chown(&t, x->process->user.uid, err);
	if (r == 0)
		r = terminal_send(&t, x->console_fd, err);
	if (r == 0)
		*ret_slave_fd = take_fd(&t.slave_fd);
	return r;
}

static void reset_signals(void)
{
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		if (sig != SIGKILL && sig != SIGSTOP)
			signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* runtime-spec config.md, execCPUAffinity.final: after the process is in the
 * container's cgroup. Otherwise every CPU of the cpuset. */
static int set_affinity(const struct oci_cpu_affinity *a, struct err *err)
{
	return a && a->final ? scheduler_set_affinity(a->final, err) :
			       scheduler_reset_affinity(err);
}

/* The container chooses what its program's name leads to: /proc/self/fd/N/..
 * must lead nowhere (CVE-2024-21626). */
static void close_folders(struct exec *x)
{
	cgroup_join_close(&x->join);
	x->enter.proc_fd = close_fd(x->enter.proc_fd);
	for (int k = 0; k < ENTER_LAYERS_MAX; k++)
		x->enter.landlock_fd[k] = close_fd(x->enter.landlock_fd[k]);
}

static __attribute__((noreturn)) void final_main(struct exec *x)
{
	char program[4096];
	struct sync_message m;
	struct err err;
	int r = 0;

	if (setsid() < 0)
		r = err_errno(&err, errno, "create session");
	reset_signals();
	/* the parent holds our pidfd before it has to fetch a listener */
	if (r == 0)
		r = sync_wait(x->sync_fd, SYNC_GO, "osh-runtime", &m, NULL,
			      &err);
	if (r == 0)
		r = set_affinity(x->process->exec_cpu_affinity, &err);
	if (r == 0)
		r = make_terminal(x, &x->enter.slave_fd, &err);
	if (r == 0)
		r = enter_confine(&x->enter, program, sizeof(program), &err);
	close_folders(x);
	if (r == 0)
		r = sync_send(x->sync_fd, SYNC_CREATED, 0, NULL, 0, &err);
	if (r < 0) {
		sync_fail(x->sync_fd, &err);
		_exit(255);
	}
	_exit(enter_execute(&x->enter, program));
}

static void close_others(const struct exec *x)
{
	struct fds keep = { .n = 0 };

	fds_add(&keep, x->sync_fd);
	fds_add(&keep, x->init_pidfd);
	fds_add(&keep, x->console_fd);
	fds_add(&keep, x->enter.proc_fd);
	for (int k = 0; k < ENTER_LAYERS_MAX; k++)
		fds_add(&keep, x->enter.landlock_fd[k]);
	for (uint32_t k = 0; k < x->join.n_task_fds; k++)
		fds_add(&keep, x->join.task_fd[k]);
	fds_add(&keep, x->join.v2_dir_fd);
	fds_add(&keep, x->join.v2_procs_fd);
	fds_close_others(&keep, 3 + x->enter.preserve_fds);
}

static __attribute__((noreturn)) void middle_main(struct exec *x)
{
	struct err err;
	pid_t pid = -1;
	bool userns = (x->ns_flags & CLONE_NEWUSER) != 0;
	int r = 0;

	close_others(x);
	/* the container's processes must not reach into us (ptrace,
	 * /proc/PID/fd) before the program runs; a change of user namespace
	 * does the same */
	if (!userns && prctl(PR_SET_DUMPABLE, 0) < 0)
		_exit(1);
	if (x->process->exec_cpu_affinity &&
	    x->process->exec_cpu_affinity->initial)
		r = scheduler_set_affinity(
			x->process->exec_cpu_affinity->initial, &err);
	/* cgroups first: their files are the host's */
	if (r == 0)
		r = cgroup_join_self(&x->join, x->join.v2_dir_fd >= 0, &err);
	if (r == 0)
		r = ns_join_process(x->init_pidfd, x->ns_flags, &err);
	if (r == 0 && userns && (setresgid(0, 0, 0) < 0 ||
				 setresuid(0, 0, 0) < 0))
		r = err_errno(&err, errno,
			      "become root of the user namespace");
	if (r == 0) {
		pid = ns_clone_sibling(0, -EBADF, &err);
		r = pid < 0 ? (int)pid : 0;
	}
	if (r < 0) {
		sync_fail(x->sync_fd, &err);
		_exit(1);
	}
	if (pid == 0)
		final_main(x);
	_exit(sync_send(x->sync_fd, SYNC_PID, (uint64_t)pid, NULL, 0, &err) <
	      0);
}

static int give_listener(struct exec *x, int number, struct err *err)
{
	if (x->b.plan->egress == OCI_EGRESS_PLAIN)
		return seccomp_agent_send(x->arena,
					  x->b.plan->spec->linux_->seccomp,
					  x->c.record.state, x->pid, x->pidfd,
					  number, err);
	return create_egress_listener(&x->egress, x->pidfd, x->pid, number,
				      err);
}

static int follow(struct exec *x, struct err *err)
{
	struct sync_message m;
	int r = sync_send(x->sync_fd, SYNC_GO, 0, NULL, 0, err);

	if (r == 0 && enter_has_listener(&x->enter)) {
		r = sync_wait(x->sync_fd, SYNC_LISTENER, exec_who, &m, NULL,
			      err);
		if (r == 0)
			r = give_listener(x, (int)m.value, err);
		if (r == 0)
			r = sync_send(x->sync_fd, SYNC_GO, 0, NULL, 0, err);
	}
	if (r == 0)
		r = sync_wait(x->sync_fd, SYNC_CREATED, exec_who, &m, NULL,
			      err);
	return r;
}

static int spawn(struct exec *x, struct err *err)
{
	struct sync_message m;
	int sync[2], status, r;
	pid_t middle;

	r = sync_pair(sync, err);
	if (r < 0)
		return r;
	/* cloned into its v2 cgroup: to be moved there would wait for RCU */
	middle = ns_clone(0, x->join.v2_dir_fd, NULL, err);
	if (middle == 0) {
		close(sync[0]);
		x->sync_fd = x->enter.sync_fd = sync[1];
		middle_main(x);
	}
	close(sync[1]);
	x->sync_fd = sync[0];
	if (middle < 0)
		return (int)middle;
	r = sync_wait(x->sync_fd, SYNC_PID, exec_who, &m, NULL, err);
	while (waitpid(middle, &status, 0) < 0 && errno == EINTR)
		;
	if (r < 0)
		return r;
	x->pid = (pid_t)m.value;
	r = process_open(x->pid, 0, &x->pidfd, err);
	if (r == 0)
		r = follow(x, err);
	return r;
}

static void end_child(struct exec *x)
{
	int status;

	if (x->pid <= 0)
		return;
	if (x->pidfd >= 0)
		process_signal(x->pidfd, SIGKILL);
	x->sync_fd = close_fd(x->sync_fd);
	while (waitpid(x->pid, &status, 0) < 0 && errno == EINTR)
		;
}

/* -------------------------------------------------------------- together */

static int check_container(struct exec *x, struct err *err)
{
	enum oci_status status = record_status(&x->c.entry, &x->c.record);

	if (status == OCI_STOPPED || status == OCI_CREATING)
		return err_set(err, EINVAL,
			       "exec in container %s: cannot exec in a stopped "
			       "container (container not running)",
			       x->args->id);
	if (status == OCI_PAUSED && !x->args->ignore_paused)
		return err_set(err, EINVAL,
			       "exec in container %s: cannot exec in a paused "
			       "container (use --ignore-paused to override)",
			       x->args->id);
	return record_open_init(&x->c.record, &x->init_pidfd, err);
}

static int prepare(struct exec *x, struct err *err)
{
	const struct exec_args *a = x->args;
	unsigned int all = CLONE_NEWUSER | CLONE_NEWIPC | CLONE_NEWUTS |
			   CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWNS |
			   CLONE_NEWCGROUP | CLONE_NEWTIME;
	bool terminal;
	int r = check_container(x, err);

	if (r == 0)
		r = load_blueprint(x, err);
	if (r == 0)
		r = find_process(x, err);
	if (r < 0)
		return r;
	terminal = x->process->terminal;
	if (terminal && !a->console_socket && a->console_fd < 0)
		return err_set(err, EINVAL,
			       "exec in container %s: a terminal needs "
			       "--console-socket",
			       a->id);
	if (!terminal && a->console_socket)
		return err_set(err, EINVAL,
			       "exec in container %s: --console-socket, but "
			       "the process has no terminal",
			       a->id);
	r = launch_process(&x->b, x->process, a->note, &x->enter, err);
	if (r == 0)
		r = join_filter(x, err);
	if (r == 0)
		r = ns_differ(x->c.record.state->pid, all, &x->ns_flags, err);
	if (r == 0 && x->c.record.cgroup->n_dirs)
		r = cgroup_join_open(&x->join, x->c.record.cgroup,
				     x->c.record.state->pid, err);
	x->enter.preserve_fds = a->preserve_fds;
	x->console_fd = a->console_fd;
	if (r == 0 && a->console_socket)
		r = terminal_connect(a->console_socket, &x->console_fd, err);
	return r;
}

static int write_pid_file(const struct exec *x, struct err *err)
{
	char text[16];

	if (!x->args->pid_file)
		return 0;
	snprintf(text, sizeof(text), "%d", (int)x->pid);
	return io_replace_file(AT_FDCWD, x->args->pid_file, text, strlen(text),
			       err);
}

static void done(struct exec *x)
{
	if (x->console_fd != x->args->console_fd)
		close_fd(x->console_fd);
	close_fd(x->sync_fd);
	close_fd(x->init_pidfd);
	close_fd(x->pidfd);
	close_fd(x->enter.proc_fd);
	for (int i = 0; i < ENTER_LAYERS_MAX; i++)
		close_fd(x->enter.landlock_fd[i]);
	cgroup_join_close(&x->join);
	egress_done(&x->egress);
	blueprint_done(&x->b);
	container_done(&x->c);
}

int exec_container(struct arena *a, const struct exec_args *args,
		   struct exec_result *ret, struct err *err)
{
	struct exec x = {
		.arena = a,
		.args = args,
		.c = CONTAINER_INIT,
		.b = BLUEPRINT_INIT(a),
		.enter = { .proc_fd = -EBADF,
			   .landlock_fd = { -EBADF, -EBADF } },
		.join = CGROUP_JOIN_INIT,
		.egress = EGRESS_INIT,
		.init_pidfd = -EBADF,
		.sync_fd = -EBADF,
		.console_fd = -EBADF,
		.pidfd = -EBADF,
	};
	int r = fds_check_handed(args->preserve_fds, err);

	if (r == 0)
		r = container_open(a, args->root, args->id, false, &x.c, err);
	if (r == 0)
		r = prepare(&x, err);
	if (r == 0)
		r = spawn(&x, err);
	if (r == 0)
		r = write_pid_file(&x, err);
	if (r < 0) {
		end_child(&x);
	} else {
		ret->pid = x.pid;
		ret->pidfd = take_fd(&x.pidfd);
		ret->terminal = x.process->terminal;
	}
	done(&x);
	return r;
}
