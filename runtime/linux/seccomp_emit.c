/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/seccomp.h>
#include <stddef.h>

#include "runtime/linux/bpf.h"
#include "runtime/linux/seccomp_emit.h"

enum { REACH = 255 };

static size_t emit(struct seccomp_emit *e, struct sock_filter insn)
{
	if (e->n == SECCOMP_EMIT_MAX) {
		e->full = true;
		return e->n;
	}
	e->v[e->n++] = insn;
	return e->n;
}

/* How many instructions the next one emitted skips to get to @label. */
static size_t distance(const struct seccomp_emit *e, size_t label)
{
	return e->n - label;
}

size_t seccomp_emit_ret(struct seccomp_emit *e, uint32_t value)
{
	size_t i;

	for (i = 0; i < e->n_rets; i++)
		if (e->ret[i].value == value)
			break;
	if (i < e->n_rets && distance(e, e->ret[i].label) <= REACH - 8)
		return e->ret[i].label;
	emit(e, CBPF_RET(value));
	if (i == e->n_rets) {
		if (e->n_rets == SECCOMP_EMIT_RETS)
			return e->n; /* right, only not shared */
		e->n_rets++;
	}
	e->ret[i].value = value;
	e->ret[i].label = e->n;
	return e->n;
}

/* @label, or what does the same in reach of the next few instructions. */
static size_t near(struct seccomp_emit *e, size_t label)
{
	if (label == 0 || distance(e, label) <= REACH - 2)
		return label;
	if (BPF_CLASS(e->v[label - 1].code) == BPF_RET)
		return seccomp_emit_ret(e, e->v[label - 1].k);
	return seccomp_emit_goto(e, label);
}

size_t seccomp_emit_goto(struct seccomp_emit *e, size_t label)
{
	return emit(e, CBPF_JA((uint32_t)distance(e, label)));
}

size_t seccomp_emit_load(struct seccomp_emit *e, uint32_t offset)
{
	return emit(e, CBPF_LD(offset));
}

size_t seccomp_emit_jump(struct seccomp_emit *e, uint16_t op, uint32_t k,
			 size_t yes, size_t no)
{
	yes = near(e, yes);
	no = near(e, no);
	return emit(e, CBPF_JUMP(op, k, (uint8_t)distance(e, yes),
				 (uint8_t)distance(e, no)));
}

/* A comparison of one half; @mask only for MASKED_EQ. */
static size_t load_half(struct seccomp_emit *e, uint32_t offset, bool masked,
			uint32_t mask)
{
	if (masked && mask != UINT32_MAX)
		emit(e, CBPF_AND(mask));
	return seccomp_emit_load(e, offset);
}

static uint32_t arg_offset(const struct seccomp_arch *arch, uint32_t index,
			   bool high)
{
	uint32_t at = (uint32_t)offsetof(struct seccomp_data, args) + 8 * index;

	return at + (high == arch->big_endian ? 0 : 4);
}

/* The low half alone decides: 32-bit arguments, or equal high halves. */
static size_t emit_low(struct seccomp_emit *e, const struct seccomp_arch *arch,
		       const struct seccomp_cond *c, size_t yes, size_t no)
{
	uint32_t offset = arg_offset(arch, c->index, false);
	uint32_t v = (uint32_t)c->value, two = (uint32_t)c->value_two;

	switch (c->op) {
	case SECCOMP_OP_EQ:
		seccomp_emit_jump(e, BPF_JEQ, v, yes, no);
		break;
	case SECCOMP_OP_NE:
		seccomp_emit_jump(e, BPF_JEQ, v, no, yes);
		break;
	case SECCOMP_OP_GE:
		seccomp_emit_jump(e, BPF_JGE, v, yes, no);
		break;
	case SECCOMP_OP_LT:
		seccomp_emit_jump(e, BPF_JGE, v, no, yes);
		break;
	case SECCOMP_OP_GT:
		seccomp_emit_jump(e, BPF_JGT, v, yes, no);
		break;
	case SECCOMP_OP_LE:
		seccomp_emit_jump(e, BPF_JGT, v, no, yes);
		break;
	case SECCOMP_OP_MASKED_EQ:
		seccomp_emit_jump(e, BPF_JEQ, two & v, yes, no);
		break;
	case SECCOMP_OP_N:
		break;
	}
	return load_half(e, offset, c->op == SECCOMP_OP_MASKED_EQ, v);
}

/* Which way do halves that differ go? */
static size_t emit_high(struct seccomp_emit *e, const struct seccomp_arch *arch,
			const struct seccomp_cond *c, size_t low, size_t yes,
			size_t no)
{
	uint32_t offset = arg_offset(arch, c->index, true);
	uint32_t v = (uint32_t)(c->value >> 32);
	uint32_t two = (uint32_t)(c->value_two >> 32);
	size_t other;

	switch (c->op) {
	case SECCOMP_OP_EQ:
		seccomp_emit_jump(e, BPF_JEQ, v, low, no);
		break;
	case SECCOMP_OP_NE:
		seccomp_emit_jump(e, BPF_JEQ, v, low, yes);
		break;
	case SECCOMP_OP_GE:
	case SECCOMP_OP_GT:
		other = seccomp_emit_jump(e, BPF_JEQ, v, low, no);
		seccomp_emit_jump(e, BPF_JGT, v, yes, other);
		break;
	case SECCOMP_OP_LT:
	case SECCOMP_OP_LE:
		other = seccomp_emit_jump(e, BPF_JEQ, v, low, yes);
		seccomp_emit_jump(e, BPF_JGT, v, no, other);
		break;
	case SECCOMP_OP_MASKED_EQ:
		seccomp_emit_jump(e, BPF_JEQ, two & v, low, no);
		break;
	case SECCOMP_OP_N:
		break;
	}
	return load_half(e, offset, c->op == SECCOMP_OP_MASKED_EQ, v);
}

size_t seccomp_emit_cond(struct seccomp_emit *e,
			 const struct seccomp_arch *arch,
			 const struct seccomp_cond *cond, size_t yes, size_t no)
{
	bool masked = cond->op == SECCOMP_OP_MASKED_EQ;
	size_t low;

	low = emit_low(e, arch, cond, yes, no);
	/* a mask without high bits compares nothing there */
	if (!arch->wide || (masked && cond->value >> 32 == 0))
		return low;
	return emit_high(e, arch, cond, low, yes, no);
}

void seccomp_emit_finish(const struct seccomp_emit *e, struct sock_filter *to)
{
	for (size_t i = 0; i < e->n; i++)
		to[i] = e->v[e->n - 1 - i];
}
