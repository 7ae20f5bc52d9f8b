/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "runtime/base/log.h"
#include "runtime/base/strbuf.h"
#include "runtime/cmd/cmd.h"

static const struct option_row no_options[] = { { .name = NULL } };

const struct cmd cmd_table[] = {
	{ "create", "[options] ID", "create a container", cmd_create,
	  cmd_create_options },
	{ "delete", "[options] ID", "remove what create made", cmd_delete,
	  cmd_delete_options },
	{ "exec", "[options] ID COMMAND [ARG...]",
	  "run another process in a container", cmd_exec, cmd_exec_options },
	{ "features", "", "print what this runtime supports, as JSON",
	  cmd_features, no_options },
	{ "kill", "[options] ID [SIGNAL]", "signal a container's process",
	  cmd_kill, cmd_kill_options },
	{ "list", "[options]", "list the containers of this root", cmd_list,
	  cmd_list_options },
	{ "log", "[options] ID", "print a container's decision log", cmd_log,
	  cmd_log_options },
	{ "pause", "ID", "freeze all processes of a container", cmd_pause,
	  no_options },
	{ "plan", "[options]", "print what create would do, without doing it",
	  cmd_plan, cmd_plan_options },
	{ "ps", "[options] ID [PS-OPTION...]", "list a container's processes",
	  cmd_ps, cmd_ps_options },
	{ "resume", "ID", "thaw what pause froze", cmd_resume,
	  no_options },
	{ "run", "[options] ID", "create, start, wait and delete", cmd_run,
	  cmd_run_options },
	{ "spec", "[options]", "write a config.json to start from", cmd_spec,
	  cmd_spec_options },
	{ "start", "ID", "run the program of a created container", cmd_start,
	  no_options },
	{ "state", "ID", "print a container's state, as JSON", cmd_state,
	  no_options },
	{ "update", "[options] ID", "change resource limits", cmd_update,
	  cmd_update_options },
	{ .name = NULL },
};

int cmd_fail(const struct err *err)
{
	log_error("%s", err->text);
	return 1;
}

static const struct cmd *find(const char *name)
{
	for (const struct cmd *c = cmd_table; c->name; c++)
		if (str_eq(c->name, name))
			return c;
	return NULL;
}

int cmd_usage(const char *name, const char *why)
{
	log_error("%s: %s (usage: osh-runtime %s %s)", name, why, name,
		  find(name)->usage);
	return 1;
}

int cmd_parse(struct cmd_global *g, const char *name, int argc, char **argv,
	      void *ret, int min, int max)
{
	struct err err;
	int i = options_parse(g->arena, find(name)->options, argc, argv, ret,
			      &err);

	if (i < 0) {
		cmd_fail(&err);
		return -1;
	}
	if (argc - i < min) {
		cmd_usage(name, "an argument is missing");
		return -1;
	}
	if (max >= 0 && argc - i > max) {
		const char *word = argv[i + max];

		cmd_usage(name, arena_printf(g->arena,
					     word[0] == '-' ?
						     "'%s' is an option, which "
						     "has to come earlier" :
						     "'%s' is one argument too "
						     "many",
					     word));
		return -1;
	}
	return i;
}
