/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classic BPF, assembled from its end to its beginning: jumps go forward
 * only, so every target exists before the jump that needs it, and what a
 * jump's 8 bits can't reach is bridged on the spot. For seccomp_compile.c.
 */
#ifndef OSH_LINUX_SECCOMP_EMIT_H
#define OSH_LINUX_SECCOMP_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/linux/seccomp_arch.h"

struct sock_filter;

enum {
	SECCOMP_EMIT_MAX = 16384, /* before the kernel's 4096 are checked */
	SECCOMP_EMIT_RETS = 32, /* different verdicts that are shared */
};

struct seccomp_emit {
	struct sock_filter *v; /* SECCOMP_EMIT_MAX, reversed; borrowed */
	size_t n;
	bool full; /* more than fits: the result is not to be used */
	struct {
		uint32_t value;
		size_t label;
	} ret[SECCOMP_EMIT_RETS];
	size_t n_rets;
};

/* A label: how many instructions, with the one that it names, follow. */

/* "return @value": an earlier one within reach, or a new one. */
size_t seccomp_emit_ret(struct seccomp_emit *e, uint32_t value);
/* Load the word at @offset of struct seccomp_data, fall through. */
size_t seccomp_emit_load(struct seccomp_emit *e, uint32_t offset);
/* Go to @label, however far. */
size_t seccomp_emit_goto(struct seccomp_emit *e, size_t label);
/* "A op @k" ? @yes : @no; @op is BPF_JEQ, BPF_JGE, BPF_JGT. */
size_t seccomp_emit_jump(struct seccomp_emit *e, uint16_t op, uint32_t k,
			 size_t yes, size_t no);

/* One comparison of an argument. */
struct seccomp_cond {
	uint32_t index;
	enum seccomp_op op;
	uint64_t value, value_two;
};

/* @cond ? @yes : @no, in @arch's byte order and width. */
size_t seccomp_emit_cond(struct seccomp_emit *e,
			 const struct seccomp_arch *arch,
			 const struct seccomp_cond *cond, size_t yes,
			 size_t no);

/* Put the program into its right order at @to (room for e->n). */
void seccomp_emit_finish(const struct seccomp_emit *e, struct sock_filter *to);

#endif
