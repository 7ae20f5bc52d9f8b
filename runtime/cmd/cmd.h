/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subcommands: one file each, one row each in cmd_table.
 *
 * A subcommand gets its own argv (argv[0] is its name), parses it with
 * options.h, calls the layer below and returns the exit status; an error goes
 * to the log once, here (cmd_fail).
 */
#ifndef OSH_CMD_CMD_H
#define OSH_CMD_CMD_H

#include <stdbool.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/options.h"

/* The options before the subcommand: runc's, and --host-config. */
struct cmd_global {
	struct arena *arena; /* borrowed: lives until the program ends */
	const char *root;
	const char *log, *log_format;
	const char *host_config;
	const char *cgroup_manager;
	const char *fault; /* STEP[:kill], for tests: see hack/HACKING.md */
	const char *rootless;
	bool debug; /* changes nothing */
	bool systemd_cgroup, help, version;
	char **argv; /* the whole command line, for self_protect */
};

struct cmd {
	const char *name;
	const char *usage; /* what follows the name */
	const char *summary;
	int (*run)(struct cmd_global *g, int argc, char **argv);
	const struct option_row *options; /* for the help, or NULL */
};

extern const struct cmd cmd_table[]; /* ends with a row without name */

/* Log the error; returns 1, the exit status. */
int cmd_fail(const struct err *err);
/* Log "usage: osh-runtime NAME ..." and why; returns 1. */
int cmd_usage(const char *name, const char *why);

/*
 * Parse options and count the words that follow; -1 after an error (logged),
 * otherwise the index of the first word. @max -1: any number.
 */
int cmd_parse(struct cmd_global *g, const char *name, int argc, char **argv,
	      void *ret, int min, int max);

#define CMD(name) int cmd_##name(struct cmd_global *g, int argc, char **argv)
CMD(create);
CMD(delete);
CMD(exec);
CMD(features);
CMD(kill);
CMD(list);
CMD(log);
CMD(pause);
CMD(plan);
CMD(ps);
CMD(resume);
CMD(run);
CMD(spec);
CMD(start);
CMD(state);
CMD(update);

#define CMD_OPTIONS(name) extern const struct option_row cmd_##name##_options[]
CMD_OPTIONS(create);
CMD_OPTIONS(delete);
CMD_OPTIONS(exec);
CMD_OPTIONS(kill);
CMD_OPTIONS(list);
CMD_OPTIONS(log);
CMD_OPTIONS(none);
CMD_OPTIONS(plan);
CMD_OPTIONS(ps);
CMD_OPTIONS(run);
CMD_OPTIONS(spec);
CMD_OPTIONS(update);

#endif
