/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/num.h"
#include "runtime/base/own.h"
#include "runtime/base/path.h"
#include "runtime/base/strbuf.h"
#include "runtime/container/enter.h"
#include "runtime/container/enter_attr.h"
#include "runtime/container/sync.h"
#include "runtime/container/user.h"
#include "runtime/linux/keyring.h"
#include "runtime/linux/landlock.h"
#include "runtime/linux/namespaces.h"
#include "runtime/linux/process.h"
#include "runtime/linux/rlimit.h"
#include "runtime/linux/seccomp_load.h"
#include "runtime/linux/terminal.h"
#include "runtime/oci/spec.h"

/* Who the process becomes, resolved while files can still be read. */
struct identity {
	uid_t uid;
	gid_t gid;
	bool clear_groups; /* the policy names the user: no other groups */
	char home[256];	   /* "": the user has none */
};

static const char *env_value(const struct oci_process *p, const char *name)
{
	size_t n = strlen(name);

	/* the last one wins, as it does for getenv after putenv */
	for (size_t i = p->env.n; i-- > 0;)
		if (!strncmp(p->env.v[i], name, n) && p->env.v[i][n] == '=')
			return p->env.v[i] + n + 1;
	return NULL;
}

/* ------------------------------------------------------- 1 attributes */

static int set_rlimits(const struct oci_process *p, struct err *err)
{
	for (size_t i = 0; i < p->rlimits.n; i++) {
		const struct oci_rlimit *l = &p->rlimits.v[i];
		int r = rlimit_set((int)l->type, l->soft, l->hard, err);

		if (r < 0)
			return r;
	}
	return 0;
}

static int set_keyring(const struct enter *e, struct err *err)
{
	int32_t id;
	int r;

	if (!e->own_keyring)
		return 0;
	r = keyring_join(e->keyring_name, &id, err);
	/* a kernel without keys has none to protect */
	return r == -ENOSYS ? 0 : r;
}

/* ----------------------------------------------------- 2 what is needed */

static int find_policy_user(const char *name, struct identity *id,
			    struct err *err)
{
	struct user_entry u;
	uint32_t number;
	int r;

	if (num_parse_u32(name, UINT32_MAX - 1, &number) == 0) {
		id->uid = number;
		r = user_find(NULL, number, &u, err);
		if (r == 0) {
			id->gid = u.gid;
			str_copy(id->home, sizeof(id->home), u.home);
		}
		return r == -ENOENT ? 0 : r;
	}
	r = user_find(name, 0, &u, err);
	if (r < 0)
		return err_wrap(err, "resolve the policy's run_as_user");
	id->uid = u.uid;
	id->gid = u.gid;
	str_copy(id->home, sizeof(id->home), u.home);
	return 0;
}

static int find_policy_group(const char *name, struct identity *id,
			     struct err *err)
{
	uint32_t number;
	gid_t gid;
	int r;

	if (num_parse_u32(name, UINT32_MAX - 1, &number) == 0) {
		id->gid = number;
		return 0;
	}
	r = user_find_group(name, &gid, err);
	if (r < 0)
		return err_wrap(err, "resolve the policy's run_as_group");
	id->gid = gid;
	return 0;
}

static int find_identity(const struct enter *e, struct identity *id,
			 struct err *err)
{
	const struct oci_user *u = &e->process->user;
	struct user_entry entry;
	struct err ignored;
	int r;

	*id = (struct identity){ .uid = u->uid, .gid = u->gid };
	if (e->policy_user) {
		id->clear_groups = true;
		r = find_policy_user(e->policy_user, id, err);
		if (r < 0)
			return r;
	} else if (!env_value(e->process, "HOME") &&
		   user_find(NULL, u->uid, &entry, &ignored) == 0) {
		/* an unreadable passwd only costs HOME */
		str_copy(id->home, sizeof(id->home), entry.home);
	}
	if (e->policy_group) {
		id->clear_groups = true;
		r = find_policy_group(e->policy_group, id, err);
		if (r < 0)
			return r;
	}
	if ((e->policy_user || e->policy_group) &&
	    (id->uid == 0 || id->gid == 0))
		return err_set(err, EPERM,
			       "resolve the policy's process section: it "
			       "leads to user %u, group %u; neither may be "
			       "root",
			       id->uid, id->gid);
	return 0;
}

/* runc's order: as root where that works, else as the user (rootless homes
 * on network file systems) */
static int change_folder(const char *cwd, struct err *err)
{
	if (chdir(cwd) < 0)
		return err_errno(err, errno, "chdir to cwd (\"%s\")", cwd);
	return path_check_cwd(err);
}

/* ------------------------------------------------------------ 4 filters */

static int hand_over_listener(const struct enter *e, int listener_fd,
			      struct err *err)
{
	struct sync_message m;
	int r = sync_send(e->sync_fd, SYNC_LISTENER, (uint64_t)listener_fd,
			  NULL, 0, err);

	if (r == 0)
		r = sync_wait(e->sync_fd, SYNC_GO, "osh-runtime", &m, NULL,
			      err);
	/* the shim's, or the agent's, copy is the only one that stays */
	close(listener_fd);
	return r;
}

/*
 * The policy's first: the ceiling's would refuse it its listener, as it
 * refuses everybody's. Nobody answers that listener before both are in force.
 */
static int load_policy_filters(const struct enter *e, struct err *err)
{
	int listener_fd = -EBADF;

	for (int i = 0; i < ENTER_LAYERS_MAX; i++) {
		const struct seccomp_prog *p = &e->policy_seccomp[i];
		int r;

		if (!p->n_insns)
			continue;
		r = seccomp_load_filter(p->insns, p->n_insns,
					p->notifies ? e->listener_flags : 0,
					p->notifies ? &listener_fd : NULL, err);
		if (r < 0)
			return err_wrap(err, "install the policy's filter");
	}
	return listener_fd >= 0 ? hand_over_listener(e, listener_fd, err) : 0;
}

static int load_config_filter(const struct enter *e, struct err *err)
{
	int listener_fd = -EBADF;
	int r;

	if (!e->seccomp.n_insns)
		return 0;
	r = seccomp_load_filter(e->seccomp.insns, e->seccomp.n_insns,
				e->seccomp_flags,
				e->seccomp.notifies ? &listener_fd : NULL, err);
	if (r < 0)
		return err_wrap(err, "install linux.seccomp");
	return listener_fd >= 0 ? hand_over_listener(e, listener_fd, err) : 0;
}

static int restrict_files(const struct enter *e, struct err *err)
{
	for (int i = 0; i < ENTER_LAYERS_MAX; i++) {
		int r;

		if (e->landlock_fd[i] < 0)
			continue;
		r = landlock_restrict(e->landlock_fd[i], err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --------------------------------------------------------------- 6 user */

/* An unprivileged user namespace: there is nothing that could be dropped. */
static bool setgroups_denied(int proc_fd)
{
	own_close int fd = -EBADF;
	struct err ignored;
	char text[8] = "";

	if (path_open_proc(proc_fd, "self/setgroups", O_RDONLY, &fd,
			   &ignored) < 0)
		return false;
	return read(fd, text, sizeof(text) - 1) > 0 &&
	       !strncmp(text, "deny", 4);
}

static int set_groups(const struct enter *e, const struct identity *id,
		      struct err *err)
{
	const struct oci_user *u = &e->process->user;
	size_t n = id->clear_groups ? 0 : u->additional_gids.n;

	if (setgroups(n, u->additional_gids.v) == 0)
		return 0;
	if (errno == EPERM && !n && !id->clear_groups &&
	    setgroups_denied(e->proc_fd))
		return 0;
	return err_errno(err, errno, "set additional groups");
}

static int become_user(const struct enter *e, const struct identity *id,
		       struct err *err)
{
	int r = capability_drop_bounding(e->caps.bounding, err);

	if (r == 0)
		r = capability_keep(true, err);
	if (r == 0)
		r = set_groups(e, id, err);
	if (r < 0)
		return r;
	if (syscall(SYS_setresgid, id->gid, id->gid, id->gid) < 0)
		return err_errno(err, errno, "set gid %u", id->gid);
	if (syscall(SYS_setresuid, id->uid, id->uid, id->uid) < 0)
		return err_errno(err, errno, "set uid %u", id->uid);
	return capability_apply(&e->caps, err);
}

static int set_listen_fds(unsigned int n)
{
	char text[16];

	if (!n)
		return 0;
	snprintf(text, sizeof(text), "%u", n);
	if (setenv("LISTEN_FDS", text, 1) < 0)
		return -1;
	snprintf(text, sizeof(text), "%d", (int)getpid());
	return setenv("LISTEN_PID", text, 1);
}

static int set_environment(const struct enter *e, const struct identity *id,
			   struct err *err)
{
	const struct oci_process *p = e->process;

	clearenv();
	for (size_t i = 0; i < p->env.n; i++)
		if (putenv((char *)(uintptr_t)p->env.v[i]) != 0)
			return err_errno(err, errno, "set environment");
	if ((!getenv("HOME") &&
	     setenv("HOME", id->home[0] ? id->home : "/", 1) < 0) ||
	    set_listen_fds(e->listen_fds) < 0)
		return err_errno(err, errno, "set environment");
	return 0;
}

/* ------------------------------------------------- inherited descriptors */

static bool is_filtered(const struct enter *e)
{
	for (int i = 0; i < ENTER_LAYERS_MAX; i++)
		if (e->policy_seccomp[i].n_insns)
			return true;
	return false;
}

/* UNIX sockets aside: of this network namespace, whose table sees them? */
static bool is_foreign_socket(int fd, uint64_t own_cookie)
{
	uint64_t cookie;
	socklen_t n = sizeof(int), cookie_len = sizeof(cookie);
	int domain;

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &n) < 0 ||
	    domain == AF_UNIX)
		return false;
	return getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie,
			  &cookie_len) < 0 ||
	       cookie != own_cookie;
}

/*
 * A socket of the host's network that is handed in (--preserve-fds, socket
 * activation, stdio) would send past the filter: sendmsg is not notified, and
 * one that listens can be made to connect. Never carried on with in silence.
 */
static int check_inherited(const struct enter *e, struct err *err)
{
	uint64_t own_cookie;
	int r;

	if (!is_filtered(e))
		return 0;
	r = ns_net_cookie(&own_cookie, err);
	for (unsigned int fd = 0; r == 0 && fd < 3 + e->preserve_fds; fd++)
		if (is_foreign_socket((int)fd, own_cookie))
			r = err_set(err, EPERM,
				    "check descriptor %u: a socket of another "
				    "network namespace, which the egress "
				    "filter can't see",
				    fd);
	return r;
}

/* ------------------------------------------------------------- together */

static int prepare(struct enter *e, struct identity *id, char *ret_path,
		   size_t size, bool *ret_late_chdir, struct err *err)
{
	const struct oci_process *p = e->process;
	int r = check_inherited(e, err);

	if (r == 0)
		r = set_keyring(e, err);
	if (r == 0)
		r = set_rlimits(p, err);
	if (r == 0)
		r = enter_attributes(e, err);
	if (r == 0 && e->slave_fd >= 0)
		r = terminal_attach(e->slave_fd, err);
	if (r == 0)
		r = find_identity(e, id, err);
	if (r < 0)
		return r;
	*ret_late_chdir = false;
	r = change_folder(p->cwd, err);
	if (r == -EACCES || r == -EPERM)
		*ret_late_chdir = true;
	else if (r < 0)
		return r;
	if (!p->args.n)
		return err_set(err, EINVAL, "check process.args: it is empty");
	return user_find_program(p->args.v[0], env_value(p, "PATH"), ret_path,
				 size, err);
}

int enter_confine(struct enter *e, char *ret_path, size_t size,
		  struct err *err)
{
	const struct oci_process *p = e->process;
	bool nnp = p->no_new_privileges, late_chdir;
	struct identity id;
	int r = prepare(e, &id, ret_path, size, &late_chdir, err);

	if (r == 0 && nnp)
		r = process_no_new_privs(err);
	if (r == 0)
		r = restrict_files(e, err);
	if (r == 0)
		r = load_policy_filters(e, err);
	if (r == 0 && !nnp)
		r = load_config_filter(e, err);
	if (r == 0)
		r = become_user(e, &id, err);
	if (r == 0 && late_chdir)
		r = change_folder(p->cwd, err);
	if (r == 0)
		r = set_environment(e, &id, err);
	if (r == 0) {
		umask(p->user.umask.set ? p->user.umask.v : 0022);
		if (close_range(3 + e->preserve_fds, ~0U,
				CLOSE_RANGE_CLOEXEC) < 0)
			r = err_errno(err, errno, "mark descriptors");
	}
	if (r == 0 && nnp)
		r = load_config_filter(e, err);
	return r;
}

bool enter_has_listener(const struct enter *e)
{
	for (int i = 0; i < ENTER_LAYERS_MAX; i++)
		if (e->policy_seccomp[i].n_insns &&
		    e->policy_seccomp[i].notifies)
			return true;
	return e->seccomp.n_insns && e->seccomp.notifies;
}

int enter_execute(const struct enter *e, const char *path)
{
	int code;

	execve(path, (char *const *)(uintptr_t)e->process->args.v, environ);
	code = errno;
	dprintf(STDERR_FILENO, "osh-runtime: exec: \"%s\": %s\n",
		e->process->args.v[0], err_text(code));
	return code == ENOENT || code == ENOTDIR ? 127 : 126;
}
