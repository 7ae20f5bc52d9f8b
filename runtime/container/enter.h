/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last stretch of every process that we put into a container, the init's
 * and exec's alike: from "in the namespaces, in the root" to execve.
 *
 * The order is the point, and it is the same for both:
 *
 *	 1 session keyring, rlimits, scheduling, personality
 *	 2 terminal, working directory (first try), program looked up
 *	 3 Landlock rulesets			(the policy's, the ceiling's)
 *	 4 the policy's seccomp filters; the listener handed to the shim
 *	 5 the config's seccomp filter, unless no_new_privs lets it wait
 *	 6 bounding set, groups, user, capabilities, working directory
 *	 7 no_new_privs' config filter
 *	 8 descriptors, environment, execve
 *
 * The policy's filters go first: they allow plain filters to be added, while
 * the config's may refuse any call that a hand-over needs. All filters apply
 * whatever their order is (seccomp(2): the strictest result wins), except that
 * both may not have a listener.
 */
#ifndef OSH_CONTAINER_ENTER_H
#define OSH_CONTAINER_ENTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/linux/capability.h"
#include "runtime/linux/scheduler.h"
#include "runtime/linux/seccomp_compile.h"

struct err;
struct oci_process;

enum { ENTER_LAYERS_MAX = 2 /* the policy and the ceiling */ };

/* Everything is prepared by the parent: nothing is read from files later. */
struct enter {
	const struct oci_process *process;
	struct scheduler_spec scheduler; /* policy NULL: unchanged */
	const char *ioprio_class;	 /* NULL: unchanged */
	const char *personality;	 /* "LINUX32"; NULL: unchanged */
	struct capability_sets caps;

	struct seccomp_prog seccomp; /* the config's; n_insns 0: none */
	unsigned int seccomp_flags;
	/* the policy's (with a listener), the ceiling's; n_insns 0: none */
	struct seccomp_prog policy_seccomp[ENTER_LAYERS_MAX];
	unsigned int listener_flags; /* WAIT_KILLABLE_RECV where it exists */
	int landlock_fd[ENTER_LAYERS_MAX]; /* or -EBADF */

	/* names or numbers of the policy's process section, or NULL */
	const char *policy_user, *policy_group;

	int proc_fd;  /* the host's /proc, opened before */
	int sync_fd;  /* to the parent: sync.h */
	int slave_fd; /* terminal, or -EBADF */
	unsigned int preserve_fds;
	unsigned int listen_fds; /* how many of them sd_listen_fds(3) means */
	bool own_keyring;
	const char *keyring_name;
};

/* Will the process hand a listener over (SYNC_LISTENER)? One at most. */
bool enter_has_listener(const struct enter *e);

/*
 * Steps 1 to 7, in the process itself. On return everything is in force and
 * @ret_path holds the program.
 */
int enter_confine(struct enter *e, char *ret_path, size_t size,
		  struct err *err);

/* Step 8. Returns only on failure: 127 when the program is missing, 126 when
 * it can't be executed; the reason is on standard error. */
int enter_execute(const struct enter *e, const char *path);

#endif
