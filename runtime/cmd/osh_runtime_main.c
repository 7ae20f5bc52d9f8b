/* SPDX-License-Identifier: Apache-2.0 */
/*
 * osh-runtime: an OCI container runtime that an agent's sandbox policy is part
 * of. The command line is runc's.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "runtime/base/log.h"
#include "runtime/base/strbuf.h"
#include "runtime/cmd/cmd.h"
#include "runtime/oci/spec.h"

#define GLOBAL(member) offsetof(struct cmd_global, member)

static const struct option_row options[] = {
	{ "root", 0, OPTION_STRING, GLOBAL(root), "DIR",
	  "where containers are remembered (default /run/osh-runtime)" },
	{ "log", 0, OPTION_STRING, GLOBAL(log), "FILE",
	  "write messages there, too" },
	{ "log-format", 0, OPTION_STRING, GLOBAL(log_format), "text|json",
	  "their format (default text)" },
	{ "debug", 0, OPTION_FLAG, GLOBAL(debug), NULL,
	  "accepted for runc's clients: there is no more to say" },
	{ "host-config", 0, OPTION_STRING, GLOBAL(host_config), "FILE",
	  "the operator's file (default /etc/osh-runtime/config.yaml)" },
	{ "cgroup-manager", 0, OPTION_STRING, GLOBAL(cgroup_manager),
	  "cgroupfs|disabled", "who makes cgroups (default cgroupfs)" },
	{ "systemd-cgroup", 0, OPTION_FLAG, GLOBAL(systemd_cgroup), NULL,
	  "systemd makes cgroups: refused in this version" },
	{ "rootless", 0, OPTION_STRING, GLOBAL(rootless), "true|false|auto",
	  "accepted for runc's clients: always found out here" },
	{ "fault", 0, OPTION_STRING, GLOBAL(fault), "STEP[:kill]",
	  "for tests: fail, or die, at that step of create" },
	{ "help", 'h', OPTION_FLAG, GLOBAL(help), NULL, "this text" },
	{ "version", 'v', OPTION_FLAG, GLOBAL(version), NULL,
	  "print the version" },
	{ .name = NULL },
};

static int print_version(void)
{
	printf("osh-runtime version %s\nspec: %s\n", OSH_VERSION,
	       OCI_VERSION);
	return 0;
}

static int print_help(void)
{
	printf("osh-runtime: run containers under a sandbox policy\n\n"
	       "usage: osh-runtime [options] COMMAND [options] [ARG...]\n\n"
	       "commands:\n");
	for (const struct cmd *c = cmd_table; c->name; c++)
		printf("   %-10s %s\n", c->name, c->summary);
	printf("\noptions:\n");
	options_help(options);
	printf("\n`osh-runtime COMMAND --help` explains a command; see also "
	       "osh-runtime(8), osh-policy.yaml(5)\n");
	return 0;
}

static int print_command_help(const struct cmd *c)
{
	printf("osh-runtime %s: %s\n\nusage: osh-runtime %s%s%s\n", c->name,
	       c->summary, c->name, *c->usage ? " " : "", c->usage);
	if (c->options[0].name) {
		printf("\noptions:\n");
		options_help(c->options);
	}
	return 0;
}

static int run_command(struct cmd_global *g, int argc, char **argv)
{
	for (const struct cmd *c = cmd_table; c->name; c++) {
		if (!str_eq(c->name, argv[0]))
			continue;
		if (argc > 1 &&
		    (str_eq(argv[1], "--help") || str_eq(argv[1], "-h")))
			return print_command_help(c);
		return c->run(g, argc, argv);
	}
	log_error("find command: there is no '%s' (osh-runtime --help lists "
		  "them)",
		  argv[0]);
	return 1;
}

static int check_globals(const struct cmd_global *g)
{
	if (g->log_format && !str_eq(g->log_format, "json") &&
	    !str_eq(g->log_format, "text")) {
		log_error("parse option --log-format: '%s' is neither text "
			  "nor json",
			  g->log_format);
		return 1;
	}
	if (g->systemd_cgroup ||
	    (g->cgroup_manager && str_eq(g->cgroup_manager, "systemd"))) {
		log_error("choose cgroup manager: systemd is not supported by "
			  "this version; use cgroupfs");
		return 1;
	}
	if (g->cgroup_manager && !str_eq(g->cgroup_manager, "cgroupfs") &&
	    !str_eq(g->cgroup_manager, "disabled")) {
		log_error("choose cgroup manager: there is no '%s'",
			  g->cgroup_manager);
		return 1;
	}
	return 0;
}

/* What did not arrive in full is no success. */
static int check_output(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	log_error("write output: %s", err_text(errno));
	return status ? status : 1;
}

int main(int argc, char **argv)
{
	struct arena arena = ARENA_INIT;
	struct cmd_global g = { .arena = &arena, .argv = argv };
	struct err err;
	int i = options_parse(&arena, options, argc, argv, &g, &err);

	if (i < 0)
		return cmd_fail(&err);
	if (g.version)
		return check_output(print_version());
	if (g.help || i >= argc)
		return check_output(print_help());
	if (check_globals(&g))
		return 1;
	if (log_open(g.log, g.log_format && str_eq(g.log_format, "json"),
		     &err) < 0)
		return cmd_fail(&err);
	/* a client that is gone must not end us in the middle of a step */
	signal(SIGPIPE, SIG_IGN);
	return check_output(run_command(&g, argc - i, argv + i));
}
