/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seccomp section of a config, compiled to classic BPF: one balanced tree
 * of number ranges per architecture, about 400 instructions for the usual
 * default profiles where libseccomp's linear form has 2000, and a fraction of
 * its load time. Pure: no system call; libseccomp only resolves names.
 *
 * Meaning (that of libseccomp and runc, held by a differential test):
 *  - a rule's arguments must all hold; but where an index comes twice any
 *    one suffices, as in all peers (the spec is silent, runc #2735);
 *  - rules of one call are tried in order (OR); one without arguments
 *    replaces those with arguments, the first of these wins;
 *  - a rule whose action is the default's is dropped;
 *  - the native architecture is always in; calls of an architecture that is
 *    not in are killed;
 *  - where the default is not to allow, a call number above every one that
 *    the profile names gives ENOSYS: such a call is newer than the profile,
 *    and programs then fall back;
 *  - on i386 (socketcall, ipc) arguments behind a pointer can't be seen: a
 *    rule with arguments holds for the multiplexed form only if it is no
 *    more permissive than the default.
 *
 * Source: OCI runtime-spec config-linux.md "Seccomp"; kernel
 * Documentation/userspace-api/seccomp_filter.rst.
 */
#ifndef OSH_LINUX_SECCOMP_COMPILE_H
#define OSH_LINUX_SECCOMP_COMPILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct digest;
struct err;
struct sock_filter;

struct seccomp_arg {
	uint32_t index; /* 0 to 5 */
	const char *op; /* "SCMP_CMP_EQ" */
	uint64_t value; /* MASKED_EQ: the mask */
	uint64_t value_two;
};

struct seccomp_rule {
	const char *const *names;
	size_t n_names;
	const char *action; /* "SCMP_ACT_ALLOW" */
	bool errno_set;
	uint32_t errno_ret;
	const struct seccomp_arg *args;
	size_t n_args;
};

/* As in config.json; all pointers are borrowed. */
struct seccomp_spec {
	const char *default_action;
	bool default_errno_set;
	uint32_t default_errno;
	const char *const *architectures; /* "SCMP_ARCH_X86_64" */
	size_t n_architectures;
	const struct seccomp_rule *rules;
	size_t n_rules;
};

/* A program; its memory is in the caller's arena. */
struct seccomp_prog {
	struct sock_filter *insns;
	size_t n_insns;
	bool notifies; /* has SCMP_ACT_NOTIFY: a listener is needed */
	/* call and architecture names that nobody here knows: to be warned of */
	const char **unknown;
	size_t n_unknown;
};

/*
 * Compile @spec. Unknown actions, operators, errno values out of range, an
 * errno on an action that has none, NOTIFY as the default or for write(2),
 * and a program longer than the kernel's 4096 instructions are errors.
 */
int seccomp_compile(struct arena *a, const struct seccomp_spec *spec,
		    struct seccomp_prog *ret, struct err *err);

/* Identifies @spec and this compiler's version: the key of the cache. */
void seccomp_spec_digest(const struct seccomp_spec *spec, struct digest *ret);

#endif
