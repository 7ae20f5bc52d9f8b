/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "runtime/base/own.h"
#include "runtime/policy/load.h"
#include "runtime/policy/policy.h"

/* --------------------------------------------------------------- trees */

struct level {
	uint32_t end; /* of the subtree */
	uint32_t left; /* members still to come */
	bool is_map;
};

static bool value_ok(const struct policy *p, const struct policy_node *n)
{
	switch ((enum policy_node_kind)n->kind) {
	case POLICY_NODE_NULL:
		return n->value == 0 && n->size == 1;
	case POLICY_NODE_BOOL:
		return n->value <= 1 && n->size == 1;
	case POLICY_NODE_NUMBER:
	case POLICY_NODE_STRING:
		return load_string_ok(p, n->value, false) && n->size == 1;
	case POLICY_NODE_LIST:
	case POLICY_NODE_MAP:
		return n->size > n->value;
	case POLICY_NODE_KIND_N:
		break;
	}
	return false;
}

/*
 * One tree from @root on: every member within its parent, as many as the
 * parent says, and nothing left over.
 */
static int check_tree(const struct policy *p, uint32_t root, struct err *err)
{
	struct level level[POLICY_NODE_DEPTH_MAX];
	uint32_t depth = 0, end, i;

	end = p->node[root].size;
	if (end == 0 || end > p->n_nodes - root)
		return load_bad(err, "nodes", root, "beyond the end");
	end += root;
	for (i = root; i < end; i++) {
		const struct policy_node *n = &p->node[i];
		uint32_t limit = depth ? level[depth - 1].end : end;
		bool is_member = depth && level[depth - 1].is_map;

		if (n->size == 0 || n->size > limit - i || !value_ok(p, n) ||
		    !load_string_ok(p, n->key, !is_member) ||
		    (!is_member && n->key != POLICY_NONE))
			return load_bad(err, "nodes", i, "damaged");
		if (depth && level[depth - 1].left-- == 0)
			return load_bad(err, "nodes", i, "one too many");
		if (n->size > 1 && depth == POLICY_NODE_DEPTH_MAX)
			return load_bad(err, "nodes", i, "too deep");
		if (n->size > 1)
			level[depth++] = (struct level){
				.end = i + n->size,
				.left = n->value,
				.is_map = n->kind == POLICY_NODE_MAP,
			};
		/* leave what ends here */
		while (depth && level[depth - 1].end == i + 1) {
			if (level[depth - 1].left != 0)
				return load_bad(err, "nodes", i, "too few");
			depth--;
		}
	}
	return 0;
}

/*
 * The section is a row of trees: the endpoints' in their order, then the
 * middlewares'. Every tree is somebody's.
 */
int load_check_trees(const struct policy *p, struct err *err)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i <= p->n_endpoints; i++) {
		uint32_t root = i < p->n_endpoints ? p->endpoint[i].layer7
						   : p->header->middlewares;
		int r;

		if (root == POLICY_NONE)
			continue;
		if (root != next || root >= p->n_nodes)
			return load_bad(err, "nodes", root, "misplaced");
		r = check_tree(p, root, err);
		if (r < 0)
			return r;
		next += p->node[root].size;
	}
	if (next != p->n_nodes)
		return load_bad(err, "nodes", next, "of nobody");
	return 0;
}

/* ------------------------------------------------------------ programs */

enum { DATA_BYTES = sizeof(struct seccomp_data) };

/* The jump's targets lie within the program (@left instructions follow). */
static bool jump_ok(const struct sock_filter *f, uint32_t left)
{
	return f->jt < left && f->jf < left;
}

static bool insn_ok(const struct sock_filter *f, uint32_t left)
{
	switch (f->code) {
	case BPF_LD | BPF_W | BPF_ABS:
		return f->k % 4 == 0 && f->k <= DATA_BYTES - 4;
	case BPF_ALU | BPF_AND | BPF_K:
	case BPF_RET | BPF_K:
		return true;
	case BPF_JMP | BPF_JA:
		return f->k < left;
	case BPF_JMP | BPF_JEQ | BPF_K:
	case BPF_JMP | BPF_JGT | BPF_K:
	case BPF_JMP | BPF_JGE | BPF_K:
	case BPF_JMP | BPF_JSET | BPF_K:
		return jump_ok(f, left);
	}
	return false;
}

int load_check_programs(const struct policy *p, struct err *err)
{
	uint32_t next = 0, kinds = 0, i, j;

	for (i = 0; i < p->n_programs; i++) {
		const struct policy_program *g = &p->program[i];

		if (g->kind >= POLICY_PROGRAM_N || kinds & 1u << g->kind)
			return load_bad(err, "programs", i, "unknown kind");
		kinds |= 1u << g->kind;
		if (g->first_insn != next || g->n_insns == 0 ||
		    g->n_insns > POLICY_INSNS_MAX ||
		    g->n_insns > p->n_insns - next)
			return load_bad(err, "programs", i, "misplaced");
		next += g->n_insns;
		for (j = 0; j < g->n_insns; j++)
			if (!insn_ok(&p->insn[g->first_insn + j],
				     g->n_insns - 1 - j))
				return load_bad(err, "instructions",
						g->first_insn + j, "refused");
		if (p->insn[next - 1].code != (BPF_RET | BPF_K))
			return load_bad(err, "programs", i, "has no end");
	}
	if (next != p->n_insns)
		return load_bad(err, "instructions", next, "of no program");
	return 0;
}
