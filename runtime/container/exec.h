/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Another process in a running container: in its namespaces and cgroups, under
 * the same policy as its init, with a listener of its own at the same shim.
 *
 * A container that has a policy whose shim is dead gets no new process: what
 * it would do could not be decided (ESRCH).
 */
#ifndef OSH_CONTAINER_EXEC_H
#define OSH_CONTAINER_EXEC_H

#include <errno.h>
#include <stdbool.h>
#include <sys/types.h>

#include "runtime/container/blueprint.h"

struct arena;
struct err;
struct oci_process;

struct exec_args {
	const char *root, *host_config;
	const char *id;
	const char *process_file; /* or NULL: @amend changes the config's */
	/* the command line's process; NULL with process_file. Called with the
	 * config's process, gives the one to run. */
	struct oci_process *(*amend)(struct arena *a, void *arg,
				     const struct oci_process *of_config,
				     struct err *err);
	void *amend_arg;
	const char *pid_file, *console_socket;
	int console_fd; /* or -EBADF */
	unsigned int preserve_fds;
	bool ignore_paused;
	blueprint_note note;
};

struct exec_result {
	pid_t pid;  /* our child */
	int pidfd;  /* owned */
	bool terminal;
};

/* On return the process runs its program. */
int exec_container(struct arena *a, const struct exec_args *args,
		   struct exec_result *ret, struct err *err);

#endif
