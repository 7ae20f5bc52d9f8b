/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Giving up what a worker that parses hostile bytes does not need: privileges,
 * the file system, resources, system calls. Called once, with every descriptor
 * open that will ever be opened by path, and single-threaded.
 */
#ifndef OSH_DNS_CONFINE_H
#define OSH_DNS_CONFINE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

struct err;

/* An argument's value: the low 32 bits; the high ones are zero. */
struct confine_arg {
	uint8_t index; /* 1 to 6; 0: no check */
	uint32_t value;
};

/* A system call that is allowed, with these arguments. */
struct confine_call {
	int nr;
	struct confine_arg arg[2];
};

struct confine_limit {
	int resource; /* RLIMIT_* */
	rlim_t value;
};

enum { CONFINE_CALLS_MAX = 64 };

/* No capability in any set, and none to come (no_new_privs). */
int confine_privileges(struct err *err);
/*
 * No file system access (Landlock, every right that the kernel knows).
 * -ENOSYS or -EOPNOTSUPP where the kernel has no Landlock.
 */
int confine_files(struct err *err);
int confine_limits(const struct confine_limit *limits, size_t n,
		   struct err *err);
/* Any other call, or one of another architecture, kills the process. */
int confine_calls(const struct confine_call *calls, size_t n,
		  struct err *err);

#endif
