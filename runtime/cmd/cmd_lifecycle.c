/* SPDX-License-Identifier: Apache-2.0 */
/* start, kill, delete, pause, resume: a line each of the layer below. */
#include <signal.h>

#include "runtime/base/log.h"
#include "runtime/base/strbuf.h"
#include "runtime/cmd/cmd.h"
#include "runtime/container/lifecycle.h"
#include "runtime/linux/signal.h"

struct none_options {
	char unused;
};

int cmd_start(struct cmd_global *g, int argc, char **argv)
{
	struct none_options o;
	struct err err;
	int i = cmd_parse(g, "start", argc, argv, &o, 1, 1);

	if (i < 0)
		return 1;
	if (container_start(g->arena, g->root, argv[i], log_warning, &err) < 0)
		return cmd_fail(&err);
	return 0;
}

struct kill_options {
	bool all;
};

const struct option_row cmd_kill_options[] = {
	{ "all", 'a', OPTION_FLAG, offsetof(struct kill_options, all), NULL,
	  "signal every process of the container" },
	{ .name = NULL },
};

int cmd_kill(struct cmd_global *g, int argc, char **argv)
{
	struct kill_options o = { 0 };
	struct err err;
	int i = cmd_parse(g, "kill", argc, argv, &o, 1, 2);
	int sig = SIGTERM;

	if (i < 0)
		return 1;
	if (i + 1 < argc)
		sig = signal_by_name(argv[i + 1]);
	if (sig < 0) {
		log_error("kill container %s: there is no signal '%s'",
			  argv[i], argv[i + 1]);
		return 1;
	}
	if (container_kill(g->arena, g->root, argv[i], sig, o.all, &err) < 0)
		return cmd_fail(&err);
	return 0;
}

struct delete_options {
	bool force;
};

const struct option_row cmd_delete_options[] = {
	{ "force", 'f', OPTION_FLAG, offsetof(struct delete_options, force),
	  NULL, "kill it first; one that is not there is no error" },
	{ .name = NULL },
};

int cmd_delete(struct cmd_global *g, int argc, char **argv)
{
	struct delete_options o = { 0 };
	struct err err;
	int i = cmd_parse(g, "delete", argc, argv, &o, 1, 1);

	if (i < 0)
		return 1;
	if (container_delete(g->arena, g->root, argv[i], o.force, log_warning,
			     &err) < 0)
		return cmd_fail(&err);
	return 0;
}

static int freeze(struct cmd_global *g, int argc, char **argv, bool pause)
{
	struct none_options o;
	struct err err;
	int i = cmd_parse(g, argv[0], argc, argv, &o, 1, 1);

	if (i < 0)
		return 1;
	if (container_pause(g->arena, g->root, argv[i], pause, &err) < 0)
		return cmd_fail(&err);
	return 0;
}

int cmd_pause(struct cmd_global *g, int argc, char **argv)
{
	return freeze(g, argc, argv, true);
}

int cmd_resume(struct cmd_global *g, int argc, char **argv)
{
	return freeze(g, argc, argv, false);
}
