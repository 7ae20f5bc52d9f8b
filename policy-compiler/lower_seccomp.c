/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of seccomp_table.c as classic BPF (seccomp(2)).
 *
 *	load arch
 *	x86-64: load nr; x32 numbers: ENOSYS; blocks ...; allow
 *	i386:	load nr; blocks ...; allow
 *	other:	kill the process
 *
 * A block holds the rows of some calls, in order of their numbers, and begins
 * with a jump over itself for numbers beyond its last: so a call that no row
 * names passes a handful of comparisons (and none at all where the kernel's
 * bitmap of constant verdicts applies, Linux 5.11). Jumps in BPF reach 255
 * instructions: a block is closed before it grows beyond that.
 */
#include <assert.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "policy-compiler/lower.h"
#include "policy-compiler/seccomp_table.h"
#include "runtime/base/own.h"
#include "runtime/policy/build.h"
#include "runtime/policy/limits.h"

enum {
	X32_BIT = 0x40000000,
	BLOCK_MAX = 200, /* leaves room for the rows of one more call */
	CALLS_MAX = 128,
};

struct code {
	struct sock_filter v[POLICY_INSNS_MAX];
	uint32_t n;
	bool notifies;
};

static void put(struct code *c, uint16_t code, uint8_t jt, uint8_t jf,
		uint32_t k)
{
	assert(c->n < POLICY_INSNS_MAX);
	c->v[c->n++] = (struct sock_filter){code, jt, jf, k};
}

static void load(struct code *c, size_t offset)
{
	put(c, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}

static void put_return(struct code *c, uint32_t action)
{
	put(c, BPF_RET | BPF_K, 0, 0, action);
}

static uint32_t action_of(const struct code *c, uint8_t verdict)
{
	switch ((enum seccomp_verdict)verdict) {
	case SECCOMP_ALLOW:
		break;
	case SECCOMP_NOTIFY:
		return c->notifies ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW;
	case SECCOMP_NOT_PERMITTED:
		return SECCOMP_RET_ERRNO | EPERM;
	case SECCOMP_NO_SYSCALL:
		return SECCOMP_RET_ERRNO | ENOSYS;
	case SECCOMP_NO_PROTOCOL:
		return SECCOMP_RET_ERRNO | EPROTONOSUPPORT;
	}
	return SECCOMP_RET_ALLOW;
}

/* x86 is little-endian: the low half comes first. */
static size_t low_half(uint8_t arg)
{
	return offsetof(struct seccomp_data, args[0]) + 8u * arg;
}

/*
 * One condition: falls through when it holds. The jump for when it doesn't is
 * left open (offset 0), to be closed by put_row().
 */
static void put_test(struct code *c, const struct seccomp_test *t)
{
	load(c, low_half(t->arg));
	switch ((enum seccomp_op)t->op) {
	case SECCOMP_OP_EQ:
	case SECCOMP_OP_NE:
		if (t->mask != UINT32_MAX)
			put(c, BPF_ALU | BPF_AND | BPF_K, 0, 0, t->mask);
		put(c, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, t->value);
		break;
	case SECCOMP_OP_SET64:
		/* low half not 0: over the look at the high half */
		put(c, BPF_JMP | BPF_JEQ | BPF_K, 0, 2, 0);
		load(c, low_half(t->arg) + 4);
		put(c, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 0);
		break;
	case SECCOMP_OP_NONE:
		break;
	}
}

/* Conditions, then the verdict; a condition that fails jumps behind it. */
static void put_row(struct code *c, const struct seccomp_row *r)
{
	uint32_t open[SECCOMP_TESTS_MAX], n = 0, end;

	for (size_t i = 0; i < SECCOMP_TESTS_MAX; i++) {
		if (r->test[i].op == SECCOMP_OP_NONE)
			break;
		put_test(c, &r->test[i]);
		open[n++] = c->n - 1;
	}
	put_return(c, action_of(c, r->verdict));
	end = c->n;
	for (uint32_t i = 0; i < n; i++) {
		struct sock_filter *f = &c->v[open[i]];
		uint8_t distance = (uint8_t)(end - open[i] - 1);

		if (r->test[i].op == SECCOMP_OP_EQ)
			f->jf = distance;
		else /* NE, SET64: equal is what fails */
			f->jt = distance;
	}
}

/* All rows of one call, and the verdict when none holds. */
static void put_call(struct code *c, enum seccomp_arch arch, uint16_t nr)
{
	uint32_t start = c->n;
	bool open = true;

	put(c, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, nr);
	for (size_t i = 0; i < seccomp_n_rows; i++) {
		if (seccomp_rows[i].nr[arch] != nr)
			continue;
		put_row(c, &seccomp_rows[i]);
		open = seccomp_rows[i].test[0].op != SECCOMP_OP_NONE;
	}
	if (open)
		put_return(c, SECCOMP_RET_ALLOW);
	assert(c->n - start - 1 <= UINT8_MAX);
	c->v[start].jf = (uint8_t)(c->n - start - 1);
}

static int order_nr(const void *a, const void *b)
{
	return *(const uint16_t *)a - *(const uint16_t *)b;
}

/* The numbers that have rows, each once, ascending. */
static size_t numbers(enum seccomp_arch arch, uint16_t ret_nr[CALLS_MAX])
{
	size_t n = 0, k = 0;

	for (size_t i = 0; i < seccomp_n_rows; i++) {
		uint16_t nr = seccomp_rows[i].nr[arch];

		/* rows of one call follow one another */
		if (nr == SECCOMP_NO_NR || (n && ret_nr[n - 1] == nr))
			continue;
		assert(n < CALLS_MAX);
		ret_nr[n++] = nr;
	}
	qsort(ret_nr, n, sizeof(*ret_nr), order_nr);
	for (size_t i = 1; i < n; i++)
		k += ret_nr[i] == ret_nr[i - 1];
	assert(k == 0);
	return n;
}

static void put_blocks(struct code *c, enum seccomp_arch arch)
{
	uint16_t nr[CALLS_MAX];
	size_t n = numbers(arch, nr), i = 0;

	while (i < n) {
		uint32_t start = c->n;
		size_t first = i;

		put(c, BPF_JMP | BPF_JGT | BPF_K, 0, 0, 0);
		do {
			uint32_t before = c->n;

			put_call(c, arch, nr[i]);
			/* the first call of a block always fits */
			if (c->n - start > BLOCK_MAX && i > first) {
				c->n = before;
				break;
			}
			i++;
		} while (i < n && i - first < 8 && c->n - start < BLOCK_MAX);
		put_return(c, SECCOMP_RET_ALLOW);
		assert(c->n - start - 1 <= UINT8_MAX);
		c->v[start].k = nr[i - 1];
		c->v[start].jt = (uint8_t)(c->n - start - 1);
	}
	put_return(c, SECCOMP_RET_ALLOW);
}

/* The code for one architecture; jumped over when it is another. */
static void put_arch(struct code *c, enum seccomp_arch arch, uint32_t audit)
{
	uint32_t start;

	load(c, offsetof(struct seccomp_data, arch));
	put(c, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, audit);
	start = c->n;
	put(c, BPF_JMP | BPF_JA, 0, 0, 0);
	load(c, offsetof(struct seccomp_data, nr));
	if (arch == SECCOMP_X86_64) {
		put(c, BPF_JMP | BPF_JGE | BPF_K, 0, 1, X32_BIT);
		put_return(c, SECCOMP_RET_ERRNO | ENOSYS);
	}
	put_blocks(c, arch);
	c->v[start].k = c->n - start - 1;
}

static void put_program(struct policy_build *b, struct code *c,
			enum policy_program_kind kind)
{
	c->n = 0;
	c->notifies = kind == POLICY_PROGRAM_LISTENER;
	put_arch(c, SECCOMP_X86_64, AUDIT_ARCH_X86_64);
	put_arch(c, SECCOMP_I386, AUDIT_ARCH_I386);
	put_return(c, SECCOMP_RET_KILL_PROCESS);
	policy_build_program(b, kind, c->v, c->n);
}

void lower_seccomp(struct policy_build *b)
{
	static struct code code;

	put_program(b, &code, POLICY_PROGRAM_LISTENER);
	put_program(b, &code, POLICY_PROGRAM_PLAIN);
}
