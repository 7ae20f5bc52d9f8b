/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "runtime/base/log.h"
#include "runtime/base/own.h"
#include "runtime/cmd/cmd.h"
#include "runtime/cmd/cmd_create.h"
#include "runtime/cmd/foreground.h"
#include "runtime/container/create.h"
#include "runtime/container/lifecycle.h"
#include "runtime/container/self.h"

#define RUN_OPTION(member) offsetof(struct create_options, member)

const struct option_row cmd_run_options[] = {
	{ "bundle", 'b', OPTION_STRING, RUN_OPTION(bundle), "DIR",
	  "folder with config.json (default: this one)" },
	{ "console-socket", 0, OPTION_STRING, RUN_OPTION(console_socket),
	  "PATH", "unix socket that is sent the terminal" },
	{ "detach", 'd', OPTION_FLAG, RUN_OPTION(detach), NULL,
	  "do not wait for the end" },
	{ "keep", 0, OPTION_FLAG, RUN_OPTION(keep), NULL,
	  "do not delete afterwards" },
	{ "pid-file", 0, OPTION_STRING, RUN_OPTION(pid_file), "FILE",
	  "write the init's pid there" },
	{ "no-pivot", 0, OPTION_FLAG, RUN_OPTION(no_pivot), NULL,
	  "move the root instead of pivot_root (ramfs)" },
	{ "no-new-keyring", 0, OPTION_FLAG, RUN_OPTION(no_new_keyring), NULL,
	  "keep the caller's session keyring" },
	{ "no-subreaper", 0, OPTION_IGNORED_FLAG, 0, NULL,
	  "accepted for runc's clients: nothing here reaps others" },
	{ "preserve-fds", 0, OPTION_U32, RUN_OPTION(preserve_fds), "N",
	  "give N descriptors beyond 0 to 2 to the program" },
	{ .name = NULL },
};

static int run_foreground(struct cmd_global *g, const char *id,
			  struct foreground *f, struct create_args *args,
			  bool keep)
{
	struct create_result result = { .pidfd = -EBADF };
	struct err err, later;
	int status;

	if (create_container(g->arena, args, &result, &err) < 0)
		return cmd_fail(&err);
	f->pid = result.pid;
	f->pidfd = result.pidfd;
	f->console[1] = close_fd(f->console[1]);
	status = container_start(g->arena, g->root, id, log_warning, &err);
	if (status == 0)
		status = foreground_wait(f,
					 result.terminal &&
						 !args->console_socket,
					 &err);
	if (status < 0)
		cmd_fail(&err);
	close_fd(result.pidfd);
	if (!keep && container_delete(g->arena, g->root, id, true, log_warning,
				      &later) < 0) {
		cmd_fail(&later);
		return 1;
	}
	return status < 0 ? 1 : status;
}

static int run_detached(struct cmd_global *g, const char *id,
			struct create_args *args)
{
	struct create_result result = { .pidfd = -EBADF };
	struct err err, later;

	if (create_container(g->arena, args, &result, &err) < 0)
		return cmd_fail(&err);
	close_fd(result.pidfd);
	if (container_start(g->arena, g->root, id, log_warning, &err) == 0)
		return 0;
	if (container_delete(g->arena, g->root, id, true, log_warning,
			     &later) < 0)
		cmd_fail(&later);
	return cmd_fail(&err);
}

int cmd_run(struct cmd_global *g, int argc, char **argv)
{
	struct foreground f = FOREGROUND_INIT;
	struct create_options o = { 0 };
	struct create_args args;
	struct err err;
	int i = cmd_parse(g, "run", argc, argv, &o, 1, 1), status;

	if (i < 0)
		return 1;
	if (self_protect(g->argv, &err) < 0)
		return cmd_fail(&err);
	cmd_create_fill(g, &o, argv[i], &args);
	if (o.detach)
		return run_detached(g, argv[i], &args);
	if (foreground_begin(&f, &err) < 0)
		return cmd_fail(&err);
	if (!o.console_socket)
		args.console_fd = f.console[1];
	status = run_foreground(g, argv[i], &f, &args, o.keep);
	foreground_done(&f);
	return status;
}
