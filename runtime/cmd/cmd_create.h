/* SPDX-License-Identifier: Apache-2.0 */
/* Options that create and run share. */
#ifndef OSH_CMD_CMD_CREATE_H
#define OSH_CMD_CMD_CREATE_H

#include <stdbool.h>

struct cmd_global;
struct create_args;

struct create_options {
	const char *bundle, *console_socket, *pid_file;
	unsigned int preserve_fds;
	bool no_pivot, no_new_keyring;
	bool detach, keep; /* run only */
};

void cmd_create_fill(struct cmd_global *g, const struct create_options *o,
		     const char *id, struct create_args *ret);

#endif
