/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parent's side of create: the numbered steps of the life of a sandbox, as
 * a table. When a step fails, or the command dies, everything made so far is
 * undone: by the table's undo column, or by what the kernel does when the
 * command's descriptors close (the init exits at the end of its socket, the
 * shim forgets a container whose connection ends before COMMIT), and by a
 * later `delete --force`, which finds what was made in the state folder.
 */
#ifndef OSH_CONTAINER_CREATE_H
#define OSH_CONTAINER_CREATE_H

#include <stdbool.h>
#include <sys/types.h>

#include "runtime/container/blueprint.h"

struct arena;
struct err;

struct create_args {
	const char *root, *host_config; /* or NULL: the built-in places */
	const char *id;
	const char *bundle;
	const char *pid_file;	    /* or NULL */
	const char *console_socket; /* or NULL */
	unsigned int preserve_fds;
	unsigned int listen_fds; /* sockets of activation, before those */
	bool no_pivot, no_new_keyring, no_cgroup;
	/*
	 * Steps at which to fail ("7") or to die ("7:kill"), for tests; NULL.
	 */
	const char *fault;
	/* `run`: the terminal is served by us over this socket pair's end */
	int console_fd; /* or -EBADF */
	blueprint_note note;
};

struct create_result {
	pid_t pid;
	int pidfd; /* owned */
	bool terminal; /* its master went to the console socket */
};

/*
 * Create @args->id: on return its init waits for `start`. On failure nothing
 * is left, and the hooks that the specification wants have run.
 */
int create_container(struct arena *a, const struct create_args *args,
		     struct create_result *ret, struct err *err);

#endif
