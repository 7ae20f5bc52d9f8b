/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Theory of operation: create.h. `steps` is the life of a sandbox; each row
 * says what is done and how it is undone. Undo functions run in reverse order,
 * for every row that was begun, and cope with a row that was only half done.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/fds.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/container/convert.h"
#include "runtime/container/create.h"
#include "runtime/container/create_clone.h"
#include "runtime/container/create_egress.h"
#include "runtime/container/create_launch.h"
#include "runtime/container/create_netdevice.h"
#include "runtime/container/create_shared.h"
#include "runtime/container/create_state.h"
#include "runtime/container/fault.h"
#include "runtime/container/hook.h"
#include "runtime/container/launch.h"
#include "runtime/container/launch_mounts.h"
#include "runtime/container/record.h"
#include "runtime/container/seccomp_agent.h"
#include "runtime/container/store.h"
#include "runtime/container/sync.h"
#include "runtime/linux/cgroup_procs.h"
#include "runtime/linux/cgroup_resources.h"
#include "runtime/linux/process.h"
#include "runtime/linux/terminal.h"
#include "runtime/oci/spec_linux.h"

/* ------------------------------------------------------- 1 read the config */

static int step_config(struct create *c, struct err *err)
{
	const struct create_args *a = c->args;
	int r = fds_check_handed((uint64_t)a->listen_fds + a->preserve_fds,
				 err);

	if (r == 0)
		r = blueprint_host(&c->b, a->host_config, err);
	if (r == 0)
		r = blueprint_config(&c->b, a->bundle, true, a->note, err);
	if (r == 0)
		r = store_open(c->arena, a->root, true, &c->store, err);
	if (r == 0)
		r = store_take(c->arena, &c->store, a->id, &c->entry, err);
	if (r < 0)
		return r;
	c->taken = true;
	r = io_replace_file(c->entry.dir_fd, "config.json", c->b.config_text,
			    c->b.config_len, err);
	if (r == 0)
		r = create_state_init(c, err);
	return r;
}

static void undo_config(struct create *c)
{
	struct err err;

	if (c->taken && store_remove(&c->store, &c->entry, &err) < 0)
		c->args->note("undo create: %s", err.text);
	store_entry_done(&c->entry);
	store_done(&c->store);
}

/* -------------------------------------------------------- 2, 3 policy, plan */

static int step_policy(struct create *c, struct err *err)
{
	int r = blueprint_policy(&c->b, NULL, c->args->note, err);

	if (r == 0 && c->b.has_policy)
		r = policy_file_save(&c->b.policy, c->entry.dir_fd, "policy",
				     err);
	if (r == 0 && c->b.has_ceiling)
		r = policy_file_save(&c->b.ceiling, c->entry.dir_fd, "ceiling",
				     err);
	return r;
}

static int check_terminal(const struct create *c, struct err *err)
{
	bool wants = c->b.plan->spec->process->terminal;
	bool has = c->args->console_socket || c->args->console_fd >= 0;

	if (wants && !has)
		return err_set(err, EINVAL,
			       "check process.terminal: a terminal needs "
			       "--console-socket");
	if (!wants && c->args->console_socket)
		return err_set(err, EINVAL,
			       "check --console-socket: the config has no "
			       "process.terminal");
	return 0;
}

/*
 * A namespace that is joined by path and turns out to be our own is the host's:
 * the policy's rules would filter the host, or nothing.
 */
static int check_namespaces(const struct create *c, struct err *err)
{
	const struct pair_list *checks = &c->b.plan->ns_checks;

	for (size_t i = 0; i < checks->n; i++) {
		const char *path = checks->v[i].value;
		enum ns kind = ns_by_name(checks->v[i].key);
		struct stat theirs, ours;
		char own[64];

		snprintf(own, sizeof(own), "/proc/self/ns/%s",
			 ns_table[kind].proc);
		if (stat(path, &theirs) < 0)
			return err_errno(err, errno, "open namespace %s", path);
		if (stat(own, &ours) < 0)
			return err_errno(err, errno, "open namespace %s", own);
		if (theirs.st_dev == ours.st_dev &&
		    theirs.st_ino == ours.st_ino)
			return err_set(err, EINVAL,
				       "check %s namespace %s: it is the "
				       "host's; give the container one of its "
				       "own",
				       checks->v[i].key, path);
	}
	return 0;
}

static int step_plan(struct create *c, struct err *err)
{
	int r = blueprint_plan(&c->b, &c->store, err);

	for (size_t i = 0; r == 0 && i < c->b.plan->warnings.n; i++)
		c->args->note("plan: %s (%s)",
			      c->b.plan->warnings.v[i].text,
			      c->b.plan->warnings.v[i].cause);
	if (r == 0)
		r = check_namespaces(c, err);
	if (r == 0)
		r = check_terminal(c, err);
	return r == 0 ? create_state_plan(c, err) : r;
}

/* --------------------------------------------------------- 4 cgroup, clone */

static int make_cgroup(struct create *c, struct err *err)
{
	const struct oci_linux *l = c->b.plan->spec->linux_;
	struct cgroup_resources res;
	unsigned int flags = geteuid() != 0 || process_in_userns() ?
				     CGROUP_OPTIONAL :
				     0;
	int r;

	if (c->args->no_cgroup)
		return 0;
	convert_resources(c->arena, l->resources, true, &res);
	res.no_devices = process_in_userns();
	r = cgroup_plan(c->cgroup, l->cgroups_path, c->args->id, flags, err);
	/* what will be made is on record before it is made */
	if (r == 0)
		r = record_save_cgroup(&c->entry, "cgroup", c->cgroup, err);
	if (r == 0)
		r = cgroup_make(c->cgroup, &res, err);
	if (r < 0)
		return r;
	c->cgroup_made = true;
	r = record_save_cgroup(&c->entry, "cgroup", c->cgroup, err);
	if (r == 0)
		r = cgroup_apply(c->cgroup, &res, err);
	if (r == 0)
		r = cgroup_join_open(&c->launch.join, c->cgroup, 0, err);
	return r;
}

static int make_fifo(struct create *c, struct err *err)
{
	if (mkfifoat(c->entry.dir_fd, "start", 0600) < 0)
		return err_errno(err, errno, "create FIFO %s/start",
				 c->entry.path);
	c->launch.start_fd =
		openat(c->entry.dir_fd, "start", O_RDWR | O_CLOEXEC);
	if (c->launch.start_fd < 0)
		return err_errno(err, errno, "open FIFO %s/start",
				 c->entry.path);
	return 0;
}

static int prepare_launch(struct create *c, struct err *err)
{
	const struct create_args *a = c->args;
	struct launch *l = &c->launch;
	int r;

	r = launch_process(&c->b, c->b.plan->spec->process, a->note, &l->enter,
			   err);
	if (r == 0)
		r = launch_container(&c->b, l, err);
	if (r < 0)
		return r;
	l->enter.preserve_fds = a->listen_fds + a->preserve_fds;
	l->enter.listen_fds = a->listen_fds;
	l->enter.own_keyring = !a->no_new_keyring;
	l->enter.keyring_name = arena_printf(c->arena, "_ses.%s", a->id);
	if (!(l->ns.new_flags & CLONE_NEWNS) && l->ns.fd[NS_MOUNT] < 0)
		return err_set(err, EINVAL,
			       "check linux.namespaces: a container without a "
			       "mount namespace is not supported");
	l->root_switch = a->no_pivot ? ROOTFS_MOVE : ROOTFS_PIVOT;
	l->console_fd = a->console_fd;
	if (a->console_socket) {
		r = terminal_connect(a->console_socket, &c->console_fd, err);
		l->console_fd = c->console_fd;
	}
	return r;
}

static int step_clone(struct create *c, struct err *err)
{
	struct process_stat st;
	int r = prepare_launch(c, err);

	if (r == 0)
		r = make_cgroup(c, err);
	if (r == 0)
		r = make_fifo(c, err);
	if (r < 0)
		return r;
	c->launch.state = c->state;
	r = create_clone(c, err);
	if (r < 0)
		return r;
	r = process_stat(c->pid, &st);
	if (r < 0)
		return err_errno(err, -r, "find %s", INIT_WHO);
	c->state->pid = c->pid;
	c->state->pid_start = st.start_time;
	return record_save_state(&c->entry, c->state, err);
}

/* Before any undo: the filter stays as long as there is a task under it. */
static void end_init(struct create *c)
{
	int status;

	if (c->pid > 0) {
		if (c->pidfd >= 0)
			process_signal(c->pidfd, SIGKILL);
		c->sync_fd = close_fd(c->sync_fd);
		while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	c->sync_fd = close_fd(c->sync_fd);
	c->pidfd = close_fd(c->pidfd);
}

static void undo_clone(struct create *c)
{
	struct err err;

	if (c->cgroup_made && cgroup_remove(c->cgroup, &err) < 0)
		c->args->note("undo create: %s", err.text);
}

/* ------------------------------------------------------ 5 id maps, 6 hooks */

static int step_id_maps(struct create *c, struct err *err)
{
	int r = 0;

	if (c->launch.ns.new_flags & CLONE_NEWUSER)
		r = idmap_write(c->pid, &c->launch.idmap, err);
	if (r == 0)
		r = sync_send(c->sync_fd, SYNC_GO, 0, NULL, 0, err);
	return r;
}

static int run_hooks(struct create *c, const struct oci_hook_list *list,
		     const char *kind, struct err *err)
{
	const char *json;

	if (!list->n)
		return 0;
	json = record_hook_state(c->arena, c->state, OCI_CREATING);
	return hook_run(list, kind, json, strlen(json), err);
}

static int step_hooks(struct create *c, struct err *err)
{
	const struct oci_hooks *h = c->b.plan->spec->hooks;
	struct sync_message m;
	int r = sync_wait(c->sync_fd, SYNC_NAMESPACES, INIT_WHO, &m, NULL, err);

	if (r < 0)
		return r;
	c->netns_cookie = m.value;
	r = create_netdevices(c->b.plan->spec, c->pid, err);
	if (r < 0)
		return r;
	c->hooks_begun = true;
	if (!h)
		return 0;
	r = run_hooks(c, &h->prestart, "prestart", err);
	if (r == 0)
		r = run_hooks(c, &h->create_runtime, "createRuntime", err);
	return r;
}

static void undo_hooks(struct create *c)
{
	const struct oci_hooks *h = c->b.plan->spec->hooks;
	const char *json;

	if (!c->hooks_begun || !h || !h->poststop.n)
		return;
	json = record_hook_state(c->arena, c->state, OCI_STOPPED);
	hook_run_all(&h->poststop, "poststop", json, strlen(json),
		     c->args->note);
}

/* -------------------------------------------------- 7 to 12 filter and init */

static int step_filter(struct create *c, struct err *err)
{
	int r = create_check_shared(c, err);

	if (r < 0)
		return r;
	/* on record before there is a shim: delete asks it to forget us */
	c->state->policy->netns_cookie = c->netns_cookie;
	r = record_save_state(&c->entry, c->state, err);
	if (r < 0 || c->b.plan->egress == OCI_EGRESS_PLAIN)
		return r;
	r = create_egress_attach(c, err);
	if (r == 0)
		r = record_save_state(&c->entry, c->state, err);
	return r;
}

static void undo_filter(struct create *c)
{
	create_egress_undo(c);
}

static int step_rootfs(struct create *c, struct err *err)
{
	struct sync_message m;
	int r = sync_send(c->sync_fd, SYNC_GO, 0, NULL, 0, err);

	if (r == 0)
		r = sync_wait(c->sync_fd, SYNC_ROOT, INIT_WHO, &m,
			      c->ruleset_fd, err);
	if (r == 0)
		c->n_rulesets = m.n_fds;
	return r;
}

static void undo_rootfs(struct create *c)
{
	for (uint32_t i = 0; i < c->n_rulesets; i++)
		close(c->ruleset_fd[i]);
	c->n_rulesets = 0;
}

static int step_binaries(struct create *c, struct err *err)
{
	if (c->b.plan->egress == OCI_EGRESS_PLAIN)
		return 0;
	return create_egress_binaries(c, err);
}

static int give_listener(struct create *c, int number, struct err *err)
{
	if (c->b.plan->egress == OCI_EGRESS_PLAIN)
		return seccomp_agent_send(c->arena,
					  c->b.plan->spec->linux_->seccomp,
					  c->state, c->pid, c->pidfd, number,
					  err);
	return create_egress_listener(&c->egress, c->pidfd, c->pid, number,
				      err);
}

static int step_confine(struct create *c, struct err *err)
{
	struct sync_message m;
	int r = sync_send(c->sync_fd, SYNC_GO, 0, NULL, 0, err);

	if (r < 0 || !enter_has_listener(&c->launch.enter))
		return r;
	r = sync_wait(c->sync_fd, SYNC_LISTENER, INIT_WHO, &m, NULL, err);
	if (r == 0)
		r = give_listener(c, (int)m.value, err);
	if (r == 0)
		r = sync_send(c->sync_fd, SYNC_GO, 0, NULL, 0, err);
	return r;
}

static int write_pid_file(const struct create *c, struct err *err)
{
	char text[16];

	if (!c->args->pid_file)
		return 0;
	snprintf(text, sizeof(text), "%d", (int)c->pid);
	return io_replace_file(AT_FDCWD, c->args->pid_file, text, strlen(text),
			       err);
}

static int step_created(struct create *c, struct err *err)
{
	struct sync_message m;
	int r = sync_wait(c->sync_fd, SYNC_CREATED, INIT_WHO, &m, NULL, err);

	if (r == 0 && c->b.plan->egress != OCI_EGRESS_PLAIN)
		r = egress_request(&c->egress, SHIM_OP_COMMIT, 0, NULL, 0, err);
	if (r == 0)
		r = write_pid_file(c, err);
	return r;
}

/* ------------------------------------------------------------------- table */

static const struct step {
	uint32_t number; /* of the design's list */
	const char *name;
	int (*run)(struct create *c, struct err *err);
	void (*undo)(struct create *c);
} steps[] = {
	{ 1, "read config", step_config, undo_config },
	{ 2, "compile policy", step_policy, NULL },
	{ 3, "plan", step_plan, NULL },
	{ 4, "clone init", step_clone, undo_clone },
	{ 5, "write id maps", step_id_maps, NULL },
	{ 6, "run hooks", step_hooks, undo_hooks },
	{ 7, "start filter", step_filter, undo_filter },
	{ 9, "build root", step_rootfs, undo_rootfs },
	{ 10, "resolve binaries", step_binaries, NULL },
	{ 11, "confine", step_confine, NULL },
	{ 12, "report created", step_created, NULL },
};

static int check_fault(const char *text, struct fault *ret, struct err *err)
{
	char room[256];
	struct strbuf list = STRBUF_FIXED(room);
	int r = fault_parse(text, ret);

	for (size_t i = 0; i < N_ELEMENTS(steps); i++) {
		if (r == 0 && (!ret->step || ret->step == steps[i].number))
			return 0;
		strbuf_addf(&list, "%s%u %s", i ? ", " : "", steps[i].number,
			    steps[i].name);
	}
	return err_set(err, EINVAL,
		       "parse option --fault: '%s' is neither a step nor "
		       "STEP:kill (%s)",
		       text, list.s);
}

static void close_all(struct create *c)
{
	undo_rootfs(c);
	c->sync_fd = close_fd(c->sync_fd);
	c->console_fd = close_fd(c->console_fd);
	c->launch.start_fd = close_fd(c->launch.start_fd);
	c->launch.enter.proc_fd = close_fd(c->launch.enter.proc_fd);
	cgroup_join_close(&c->launch.join);
	ns_set_done(&c->launch.ns);
	launch_mounts_close(&c->launch);
	egress_done(&c->egress);
	store_entry_done(&c->entry);
	store_done(&c->store);
	blueprint_done(&c->b);
}

static void undo(struct create *c, size_t n_begun)
{
	end_init(c);
	while (n_begun-- > 0)
		if (steps[n_begun].undo)
			steps[n_begun].undo(c);
}

int create_container(struct arena *a, const struct create_args *args,
		     struct create_result *ret, struct err *err)
{
	struct create c = CREATE_INIT(a, args);
	struct fault fault;
	size_t done = 0;
	int r = check_fault(args->fault, &fault, err);

	ns_set_init(&c.launch.ns);
	sync_set_note(args->note);
	while (r == 0 && done < N_ELEMENTS(steps)) {
		const struct step *s = &steps[done++];

		r = s->run(&c, err);
		if (r == 0)
			r = fault_inject(&fault, s->number, err);
	}
	if (r < 0)
		undo(&c, done);
	if (r == 0) {
		ret->pid = c.pid;
		ret->pidfd = take_fd(&c.pidfd);
		ret->terminal = c.b.plan->spec->process->terminal;
	}
	close_all(&c);
	c.pidfd = close_fd(c.pidfd);
	return r;
}
