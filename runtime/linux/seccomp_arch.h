/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a seccomp section's names mean: architectures, system calls, actions,
 * operators. Tables for seccomp_compile.c; the rows are also what `features`
 * lists. Pure; libseccomp knows the numbers of calls, and a table here those
 * that Debian 12's (2.5.4) does not.
 */
#ifndef OSH_LINUX_SECCOMP_ARCH_H
#define OSH_LINUX_SECCOMP_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct seccomp_arch {
	const char *name; /* "SCMP_ARCH_X86_64" */
	uint32_t scmp; /* libseccomp's token; 0: it has none */
	uint32_t audit; /* AUDIT_ARCH_*, what struct seccomp_data has */
	int offset; /* of the numbers that all architectures share */
	bool wide; /* arguments are compared in 64 bits */
	bool big_endian;
};

/* NULL: no such name. */
const struct seccomp_arch *seccomp_arch_by_name(const char *name);
/* Row @i, NULL past the end. */
const struct seccomp_arch *seccomp_arch_row(size_t i);
/* That of this program; never NULL. */
const struct seccomp_arch *seccomp_arch_own(void);
/* x32 shares the token of x86_64, and is told apart by a bit of the number. */
bool seccomp_arch_is_x32(const struct seccomp_arch *arch);

/*
 * Number of the call @name. False: @arch does not have it (*@ret_known is
 * then false if nobody has).
 */
bool seccomp_arch_resolve(const struct seccomp_arch *arch, const char *name,
			  uint32_t *ret_nr, bool *ret_known);

/*
 * Calls that some architectures multiplex: the name of the multiplexer
 * ("socketcall", "ipc") and the number that its first argument has. NULL: not
 * such a call.
 */
const char *seccomp_arch_mux(const char *name, uint32_t *ret_number);

/* Ordered from the strictest to the most permissive, as the kernel has it. */
enum seccomp_rank {
	SECCOMP_RANK_KILL_PROCESS,
	SECCOMP_RANK_KILL_THREAD,
	SECCOMP_RANK_TRAP,
	SECCOMP_RANK_ERRNO,
	SECCOMP_RANK_NOTIFY,
	SECCOMP_RANK_TRACE,
	SECCOMP_RANK_LOG,
	SECCOMP_RANK_ALLOW,
};

struct seccomp_action {
	const char *name; /* "SCMP_ACT_ERRNO" */
	uint32_t ret; /* SECCOMP_RET_* */
	enum seccomp_rank rank;
	bool has_data; /* takes an errno (TRACE: a message) */
};

const struct seccomp_action *seccomp_action_by_name(const char *name);
const struct seccomp_action *seccomp_action_row(size_t i);

enum seccomp_op {
	SECCOMP_OP_NE,
	SECCOMP_OP_LT,
	SECCOMP_OP_LE,
	SECCOMP_OP_EQ,
	SECCOMP_OP_GE,
	SECCOMP_OP_GT,
	SECCOMP_OP_MASKED_EQ,
	SECCOMP_OP_N
};

/* -1: no such name. */
int seccomp_op_by_name(const char *name);
const char *seccomp_op_name(size_t i);

#endif
