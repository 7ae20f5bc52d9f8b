/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running hooks (OCI runtime specification, config.md "POSIX-platform Hooks"):
 * in order, the container's state on standard input; a hook that fails or
 * outlives its timeout ends the operation.
 */
#ifndef OSH_CONTAINER_HOOK_H
#define OSH_CONTAINER_HOOK_H

#include <stddef.h>

struct err;
struct oci_hook_list;

/*
 * Run all hooks of @list, each in a child of its own with @state_json on its
 * standard input; its standard output and error go to ours. @kind names the
 * list in errors ("prestart"). The first failure ends it:
 *	run prestart hook 0 /path: exit status 1: <first line of stderr>
 */
int hook_run(const struct oci_hook_list *list, const char *kind,
	     const char *state_json, size_t state_len, struct err *err);

/* The same, but every hook runs and failures only go to @warn (poststart,
 * poststop: the specification wants them logged). */
void hook_run_all(const struct oci_hook_list *list, const char *kind,
		  const char *state_json, size_t state_len,
		  void (*warn)(const char *fmt, ...));

#endif
