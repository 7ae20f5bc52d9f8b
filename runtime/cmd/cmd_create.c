/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/base/log.h"
#include "runtime/base/num.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/cmd/cmd.h"
#include "runtime/cmd/cmd_create.h"
#include "runtime/container/create.h"
#include "runtime/container/self.h"

enum { LISTEN_FDS_MAX = 1024 };

#define CREATE_OPTION(member) offsetof(struct create_options, member)

const struct option_row cmd_create_options[] = {
	{ "bundle", 'b', OPTION_STRING, CREATE_OPTION(bundle), "DIR",
	  "folder with config.json (default: this one)" },
	{ "console-socket", 0, OPTION_STRING, CREATE_OPTION(console_socket),
	  "PATH", "unix socket that is sent the terminal" },
	{ "pid-file", 0, OPTION_STRING, CREATE_OPTION(pid_file), "FILE",
	  "write the init's pid there" },
	{ "no-pivot", 0, OPTION_FLAG, CREATE_OPTION(no_pivot), NULL,
	  "move the root instead of pivot_root (ramfs)" },
	{ "no-new-keyring", 0, OPTION_FLAG, CREATE_OPTION(no_new_keyring), NULL,
	  "keep the caller's session keyring" },
	{ "preserve-fds", 0, OPTION_U32, CREATE_OPTION(preserve_fds), "N",
	  "give N descriptors beyond 0 to 2 to the program" },
	{ .name = NULL },
};

/* sd_listen_fds(3): sockets that were handed to us are the container's. */
static unsigned int listen_fds(void)
{
	const char *pid = getenv("LISTEN_PID"), *n = getenv("LISTEN_FDS");
	uint32_t for_pid, count;

	if (!pid || !n || num_parse_u32(pid, UINT32_MAX, &for_pid) < 0 ||
	    for_pid != (uint32_t)getpid() ||
	    num_parse_u32(n, LISTEN_FDS_MAX, &count) < 0)
		return 0;
	return count;
}

void cmd_create_fill(struct cmd_global *g, const struct create_options *o,
		     const char *id, struct create_args *ret)
{
	*ret = (struct create_args){
		.root = g->root,
		.host_config = g->host_config,
		.id = id,
		.bundle = o->bundle ? o->bundle : ".",
		.pid_file = o->pid_file,
		.console_socket = o->console_socket,
		.preserve_fds = o->preserve_fds,
		.listen_fds = listen_fds(),
		.no_pivot = o->no_pivot,
		.no_new_keyring = o->no_new_keyring,
		.no_cgroup = g->cgroup_manager &&
			     str_eq(g->cgroup_manager, "disabled"),
		.fault = g->fault,
		.console_fd = -EBADF,
		.note = log_warning,
	};
}

int cmd_create(struct cmd_global *g, int argc, char **argv)
{
	struct create_options o = { 0 };
	struct create_result result;
	struct create_args args;
	struct err err;
	int i = cmd_parse(g, "create", argc, argv, &o, 1, 1);

	if (i < 0)
		return 1;
	if (self_protect(g->argv, &err) < 0)
		return cmd_fail(&err);
	cmd_create_fill(g, &o, argv[i], &args);
	if (create_container(g->arena, &args, &result, &err) < 0)
		return cmd_fail(&err);
	close_fd(result.pidfd);
	return 0;
}
