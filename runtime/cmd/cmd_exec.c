/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>

#include "runtime/base/log.h"
#include "runtime/base/num.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/cmd/cmd.h"
#include "runtime/cmd/foreground.h"
#include "runtime/container/exec.h"
#include "runtime/container/self.h"
#include "runtime/linux/capability.h"
#include "runtime/oci/spec.h"

struct exec_options {
	const char *process, *cwd, *user, *pid_file, *console_socket;
	const char *apparmor, *process_label, *cgroup;
	struct option_list env, caps, groups;
	unsigned int preserve_fds;
	bool tty, detach, no_new_privs, ignore_paused;
	/* what follows the id */
	int argc;
	char **argv;
};

#define EXEC_OPTION(member) offsetof(struct exec_options, member)

const struct option_row cmd_exec_options[] = {
	{ "process", 'p', OPTION_STRING, EXEC_OPTION(process), "FILE",
	  "the process as JSON (config.json's process)" },
	{ "cwd", 0, OPTION_STRING, EXEC_OPTION(cwd), "DIR",
	  "working directory" },
	{ "env", 'e', OPTION_LIST, EXEC_OPTION(env), "NAME=VALUE",
	  "add to the environment; may be repeated" },
	{ "tty", 't', OPTION_FLAG, EXEC_OPTION(tty), NULL,
	  "give it a terminal" },
	{ "user", 'u', OPTION_STRING, EXEC_OPTION(user), "UID[:GID]",
	  "run as that user" },
	{ "additional-gids", 'g', OPTION_LIST, EXEC_OPTION(groups), "GID",
	  "add a group; may be repeated" },
	{ "cap", 'c', OPTION_LIST, EXEC_OPTION(caps), "CAP_NAME",
	  "add a capability; may be repeated" },
	{ "no-new-privs", 0, OPTION_FLAG, EXEC_OPTION(no_new_privs), NULL,
	  "set no_new_privs" },
	{ "apparmor", 0, OPTION_STRING, EXEC_OPTION(apparmor), "PROFILE",
	  "AppArmor profile" },
	{ "process-label", 0, OPTION_STRING, EXEC_OPTION(process_label),
	  "LABEL", "SELinux label" },
	{ "detach", 'd', OPTION_FLAG, EXEC_OPTION(detach), NULL,
	  "do not wait for the end" },
	{ "pid-file", 0, OPTION_STRING, EXEC_OPTION(pid_file), "FILE",
	  "write its pid there" },
	{ "console-socket", 0, OPTION_STRING, EXEC_OPTION(console_socket),
	  "PATH", "unix socket that is sent the terminal" },
	{ "preserve-fds", 0, OPTION_U32, EXEC_OPTION(preserve_fds), "N",
	  "give it N descriptors beyond 0 to 2" },
	{ "ignore-paused", 0, OPTION_FLAG, EXEC_OPTION(ignore_paused), NULL,
	  "also in a paused container" },
	{ .name = NULL },
};

/* "1", "1:2"; never a name, never empty: a misread user is not root
 * (CVE-2026-30892). */
static int parse_user(const char *text, struct oci_user *ret, struct err *err)
{
	char room[32];
	char *colon;
	uint32_t uid, gid = ret->gid;

	if (!str_copy(room, sizeof(room), text))
		goto bad;
	colon = strchr(room, ':');
	if (colon)
		*colon++ = '\0';
	if (num_parse_u32(room, UINT32_MAX - 1, &uid) < 0 ||
	    (colon && num_parse_u32(colon, UINT32_MAX - 1, &gid) < 0))
		goto bad;
	ret->uid = uid;
	ret->gid = gid;
	return 0;
bad:
	return err_set(err, EINVAL,
		       "parse option --user: '%s' is not UID or UID:GID",
		       text);
}

static int add_groups(struct arena *a, const struct option_list *list,
		      struct oci_user *ret, struct err *err)
{
	uint32_t *v = arena_array(a, uint32_t,
				  ret->additional_gids.n + list->n);
	size_t n = ret->additional_gids.n;

	if (n)
		memcpy(v, ret->additional_gids.v, n * sizeof(*v));
	for (size_t i = 0; i < list->n; i++)
		if (num_parse_u32(list->v[i], UINT32_MAX - 1, &v[n++]) < 0)
			return err_set(err, EINVAL,
				       "parse option --additional-gids: '%s' "
				       "is not a number",
				       list->v[i]);
	ret->additional_gids.v = v;
	ret->additional_gids.n = n;
	return 0;
}

/* As runc: into every set but the inheritable one (CVE-2022-29162). */
static int add_capabilities(struct arena *a, const struct option_list *list,
			    struct oci_process *p, struct err *err)
{
	struct oci_capabilities *caps = arena_new(a, struct oci_capabilities);

	if (!list->n)
		return 0;
	if (p->capabilities)
		*caps = *p->capabilities;
	for (size_t i = 0; i < list->n; i++) {
		int cap = capability_by_name(list->v[i]);
		uint64_t bit;

		if (cap < 0)
			return err_set(err, EINVAL,
				       "parse option --cap: there is no "
				       "capability '%s'",
				       list->v[i]);
		bit = UINT64_C(1) << cap;
		caps->bounding |= bit;
		caps->effective |= bit;
		caps->permitted |= bit;
	}
	p->capabilities = caps;
	return 0;
}

static void set_strings(struct arena *a, struct oci_process *p,
			const struct exec_options *o)
{
	const char **args = arena_array(a, const char *,
					(size_t)o->argc + 1);
	const char **env = arena_array(a, const char *,
				       p->env.n + o->env.n + 1);

	for (int i = 0; i < o->argc; i++)
		args[i] = o->argv[i];
	p->args.v = args;
	p->args.n = (size_t)o->argc;
	for (size_t i = 0; i < p->env.n; i++)
		env[i] = p->env.v[i];
	for (size_t i = 0; i < o->env.n; i++)
		env[p->env.n + i] = o->env.v[i];
	p->env.v = env;
	p->env.n += o->env.n;
}

static struct oci_process *amend(struct arena *a, void *arg,
				 const struct oci_process *of_config,
				 struct err *err)
{
	const struct exec_options *o = arg;
	struct oci_process *p = arena_new(a, struct oci_process);
	int r = 0;

	*p = *of_config;
	p->terminal = o->tty;
	p->console_size = NULL;
	set_strings(a, p, o);
	if (o->cwd)
		p->cwd = o->cwd;
	if (o->no_new_privs)
		p->no_new_privileges = true;
	if (o->apparmor)
		p->apparmor_profile = o->apparmor;
	if (o->process_label)
		p->selinux_label = o->process_label;
	if (o->user)
		r = parse_user(o->user, &p->user, err);
	if (r == 0)
		r = add_groups(a, &o->groups, &p->user, err);
	if (r == 0)
		r = add_capabilities(a, &o->caps, p, err);
	return r == 0 ? p : NULL;
}

static int exec_foreground(struct cmd_global *g, struct exec_args *args)
{
	struct foreground f = FOREGROUND_INIT;
	struct exec_result result = { .pidfd = -EBADF };
	struct err err;
	int status;

	if (foreground_begin(&f, &err) < 0)
		return cmd_fail(&err);
	if (!args->console_socket)
		args->console_fd = f.console[1];
	if (exec_container(g->arena, args, &result, &err) < 0) {
		foreground_done(&f);
		cmd_fail(&err);
		return 255; /* as runc: the program did not run */
	}
	f.pid = result.pid;
	f.pidfd = result.pidfd;
	f.console[1] = close_fd(f.console[1]);
	status = foreground_wait(&f, result.terminal && !args->console_socket,
				 &err);
	if (status < 0)
		cmd_fail(&err);
	close_fd(result.pidfd);
	foreground_done(&f);
	return status < 0 ? 255 : status;
}

int cmd_exec(struct cmd_global *g, int argc, char **argv)
{
	struct exec_options o = { 0 };
	struct exec_result result = { .pidfd = -EBADF };
	struct exec_args args;
	struct err err;
	int i = cmd_parse(g, "exec", argc, argv, &o, 1, -1);

	if (i < 0)
		return 1;
	o.argc = argc - i - 1;
	o.argv = argv + i + 1;
	if (!o.process && o.argc == 0)
		return cmd_usage("exec", "the command is missing");
	if (self_protect(g->argv, &err) < 0)
		return cmd_fail(&err);
	args = (struct exec_args){
		.root = g->root,
		.host_config = g->host_config,
		.id = argv[i],
		.process_file = o.process,
		.amend = amend,
		.amend_arg = &o,
		.pid_file = o.pid_file,
		.console_socket = o.console_socket,
		.console_fd = -EBADF,
		.preserve_fds = o.preserve_fds,
		.ignore_paused = o.ignore_paused,
		.note = log_warning,
	};
	if (!o.detach)
		return exec_foreground(g, &args);
	if (exec_container(g->arena, &args, &result, &err) < 0) {
		cmd_fail(&err);
		return 255;
	}
	close_fd(result.pidfd);
	return 0;
}
