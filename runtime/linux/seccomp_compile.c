/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From rules to a program, in three steps:
 *
 *  1. For each architecture a list of entries (call number, rule), sorted by
 *     number; the entries of one number stay in the rules' order.
 *  2. The numbers are cut into ranges of equal outcome: a fixed verdict, or
 *     the entries whose arguments have to be looked at.
 *  3. From the last instruction to the first (seccomp_emit.h): per range its
 *     outcome, a balanced tree of comparisons over the ranges, and in front
 *     the dispatch on the architecture.
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/digest.h"
#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/bpf.h"
#include "runtime/linux/seccomp_arch.h"
#include "runtime/linux/seccomp_compile.h"
#include "runtime/linux/seccomp_emit.h"

enum {
	ERRNO_MAX = 4095,
	TRACE_MAX = 0xffff,
	ARGS_MAX = 6,
	COMPILER_VERSION = 1, /* in the digest: other code, other programs */
	X32_FIRST = 0x40000000,
};

/* A rule of the config, its names resolved to what they mean. */
struct rule {
	const struct seccomp_rule *from;
	uint32_t verdict;
	enum seccomp_rank rank;
	struct seccomp_cond *conds;
	size_t n_conds;
	bool any_of; /* one condition suffices: an index comes twice */
};

struct entry {
	uint32_t nr;
	uint32_t seq;
	const struct rule *rule;
	uint32_t mux; /* first argument of socketcall or ipc, whose other
		       * arguments can't be seen; 0: an ordinary call */
};

struct entries {
	struct entry *v;
	size_t n;
	uint32_t last; /* largest number that the profile names */
	bool any;
};

struct range {
	uint32_t from;
	bool fixed;
	uint32_t verdict; /* if fixed */
	const struct entry *first; /* otherwise */
	size_t n;
	const struct seccomp_arch *arch;
};

struct ranges {
	struct range *v;
	size_t n;
};

struct compiler {
	struct arena *a;
	const struct seccomp_spec *spec;
	uint32_t default_verdict;
	enum seccomp_rank default_rank;
	struct rule *rules;
	size_t n_rules;
	const struct seccomp_arch **archs; /* without repetition */
	size_t n_archs;
	struct seccomp_prog *prog;
	struct seccomp_emit emit;
};

/* ---------------------------------------------------------------- reading */

static int verdict_of(const char *name, bool errno_set, uint32_t errno_ret,
		      uint32_t *ret, enum seccomp_rank *ret_rank,
		      struct err *err)
{
	const struct seccomp_action *a = seccomp_action_by_name(name);
	uint32_t data = EPERM; /* what peers give where nothing is said */

	if (!a)
		return err_set(err, EINVAL, "unknown seccomp action %s", name);
	if (errno_set && !a->has_data)
		return err_set(err, EINVAL,
			       "seccomp action %s does not take errnoRet",
			       name);
	if (errno_set)
		data = errno_ret;
	if (data > (a->rank == SECCOMP_RANK_ERRNO ? ERRNO_MAX : TRACE_MAX))
		return err_set(err, ERANGE, "seccomp errnoRet %u: too large",
			       data);
	*ret = a->ret | (a->has_data ? data : 0);
	*ret_rank = a->rank;
	return 0;
}

/* Peers turn such a rule into one for each condition (runc #2735). */
static bool repeats_index(const struct seccomp_rule *from)
{
	unsigned int seen = 0;

	for (size_t i = 0; i < from->n_args; i++) {
		if (seen >> from->args[i].index & 1)
			return true;
		seen |= 1U << from->args[i].index;
	}
	return false;
}

static int read_conds(struct compiler *c, const struct seccomp_rule *from,
		      struct rule *ret, struct err *err)
{
	ret->conds = arena_array(c->a, struct seccomp_cond, from->n_args);
	ret->n_conds = from->n_args;
	for (size_t i = 0; i < from->n_args; i++) {
		const struct seccomp_arg *arg = &from->args[i];
		int op = seccomp_op_by_name(arg->op);

		if (op < 0)
			return err_set(err, EINVAL,
				       "unknown seccomp operator %s", arg->op);
		if (arg->index >= ARGS_MAX)
			return err_set(err, EINVAL,
				       "seccomp argument index %u: not 0 to 5",
				       arg->index);
		ret->conds[i] = (struct seccomp_cond){
			.index = arg->index,
			.op = (enum seccomp_op)op,
			.value = arg->value,
			.value_two = arg->value_two,
		};
	}
	ret->any_of = repeats_index(from);
	return 0;
}

static int check_notify(struct compiler *c, const struct seccomp_rule *from,
			struct err *err)
{
	c->prog->notifies = true;
	/* the supervisor may have to write before it can answer */
	for (size_t i = 0; i < from->n_names; i++)
		if (str_eq(from->names[i], "write"))
			return err_set(err, EINVAL,
				       "SCMP_ACT_NOTIFY cannot be used for the "
				       "write syscall");
	return 0;
}

static int read_rules(struct compiler *c, struct err *err)
{
	const struct seccomp_spec *s = c->spec;
	int r = verdict_of(s->default_action, s->default_errno_set,
			   s->default_errno, &c->default_verdict,
			   &c->default_rank, err);

	if (r == 0 && c->default_rank == SECCOMP_RANK_NOTIFY)
		r = err_set(err, EINVAL,
			    "SCMP_ACT_NOTIFY cannot be used as default action");
	c->rules = arena_array(c->a, struct rule, s->n_rules);
	for (size_t i = 0; r == 0 && i < s->n_rules; i++) {
		struct rule *rule = &c->rules[c->n_rules++];

		rule->from = &s->rules[i];
		r = verdict_of(rule->from->action, rule->from->errno_set,
			       rule->from->errno_ret, &rule->verdict,
			       &rule->rank, err);
		if (r == 0)
			r = read_conds(c, rule->from, rule, err);
		if (r == 0 && rule->rank == SECCOMP_RANK_NOTIFY)
			r = check_notify(c, rule->from, err);
	}
	return r;
}

static void add_unknown(struct compiler *c, const char *name)
{
	struct seccomp_prog *p = c->prog;

	for (size_t i = 0; i < p->n_unknown; i++)
		if (str_eq(p->unknown[i], name))
			return;
	p->unknown =
		arena_grow(c->a, p->unknown, p->n_unknown, sizeof(*p->unknown));
	p->unknown[p->n_unknown++] = arena_strdup(c->a, name);
}

static void add_arch(struct compiler *c, const struct seccomp_arch *arch)
{
	for (size_t i = 0; i < c->n_archs; i++)
		if (c->archs[i] == arch)
			return;
	c->archs = arena_grow(c->a, c->archs, c->n_archs, sizeof(*c->archs));
	c->archs[c->n_archs++] = arch;
}

static int read_archs(struct compiler *c, struct err *err)
{
	add_arch(c, seccomp_arch_own());
	for (size_t i = 0; i < c->spec->n_architectures; i++) {
		const char *name = c->spec->architectures[i];
		const struct seccomp_arch *arch = seccomp_arch_by_name(name);

		if (!arch)
			return err_set(err, EINVAL,
				       "unknown seccomp architecture %s", name);
		if (arch->scmp)
			add_arch(c, arch);
		else
			add_unknown(c, name);
	}
	return 0;
}

/* ------------------------------------------------------- step 1: entries */

static void add_entry(struct compiler *c, struct entries *es, uint32_t nr,
		      const struct rule *rule, uint32_t mux)
{
	es->v = arena_grow(c->a, es->v, es->n, sizeof(*es->v));
	es->v[es->n] = (struct entry){
		.nr = nr,
		.seq = (uint32_t)es->n,
		.rule = rule,
		.mux = mux,
	};
	es->n++;
}

/*
 * The multiplexed form of a call. Its arguments are behind a pointer: what
 * can't be looked at gets the stricter of the rule's verdict and the default.
 */
static void add_mux(struct compiler *c, struct entries *es,
		    const struct seccomp_arch *arch, const char *name,
		    const struct rule *rule)
{
	uint32_t number, nr;
	const char *mux = seccomp_arch_mux(name, &number);
	bool known;

	if (!mux || !seccomp_arch_resolve(arch, mux, &nr, &known))
		return;
	if (rule->n_conds > 0 && rule->rank > c->default_rank)
		return;
	add_entry(c, es, nr, rule, number);
}

static void add_name(struct compiler *c, struct entries *es,
		     const struct seccomp_arch *arch, const char *name,
		     const struct rule *rule)
{
	bool drop = rule->verdict == c->default_verdict, known;
	uint32_t nr;

	if (seccomp_arch_resolve(arch, name, &nr, &known)) {
		es->last = !es->any || nr > es->last ? nr : es->last;
		es->any = true;
		if (!drop)
			add_entry(c, es, nr, rule, 0);
	}
	if (!known)
		add_unknown(c, name);
	if (!drop)
		add_mux(c, es, arch, name, rule);
}

static int by_number(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->nr != y->nr)
		return x->nr < y->nr ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static void collect(struct compiler *c, const struct seccomp_arch *arch,
		    struct entries *ret)
{
	*ret = (struct entries){0};
	for (size_t i = 0; i < c->n_rules; i++)
		for (size_t k = 0; k < c->rules[i].from->n_names; k++)
			add_name(c, ret, arch, c->rules[i].from->names[k],
				 &c->rules[i]);
	if (ret->n > 0)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_number);
}

/* -------------------------------------------------------- step 2: ranges */

static void add_range(struct compiler *c, struct ranges *rs, struct range r)
{
	struct range *last = rs->n ? &rs->v[rs->n - 1] : NULL;

	if (last && last->from == r.from)
		rs->n--; /* empty */
	last = rs->n ? &rs->v[rs->n - 1] : NULL;
	if (last && last->fixed && r.fixed && last->verdict == r.verdict)
		return;
	rs->v = arena_grow(c->a, rs->v, rs->n, sizeof(*rs->v));
	rs->v[rs->n++] = r;
}

static void add_fixed(struct compiler *c, struct ranges *rs, uint32_t from,
		      uint32_t verdict)
{
	add_range(c, rs,
		  (struct range){
			  .from = from, .fixed = true, .verdict = verdict});
}

static bool is_unconditional(const struct entry *e)
{
	return e->mux == 0 && e->rule->n_conds == 0;
}

/* The @n entries of one number. */
static void add_call(struct compiler *c, struct ranges *rs,
		     const struct seccomp_arch *arch, const struct entry *e,
		     size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_unconditional(&e[i])) {
			add_fixed(c, rs, e->nr, e[i].rule->verdict);
			return;
		}
	add_range(c, rs,
		  (struct range){
			  .from = e->nr, .first = e, .n = n, .arch = arch});
}

/*
 * What a number above all that the profile names gets: ENOSYS where the
 * default is to refuse, because such a call is newer than the profile.
 */
static uint32_t beyond(const struct compiler *c)
{
	return c->default_rank >= SECCOMP_RANK_TRACE
		       ? c->default_verdict
		       : SECCOMP_RET_ERRNO | ENOSYS;
}

/* The ranges of one architecture, whose numbers begin at @from. */
static void add_ranges(struct compiler *c, struct ranges *rs,
		       const struct seccomp_arch *arch, uint32_t from)
{
	struct entries es;
	size_t n;

	collect(c, arch, &es);
	add_fixed(c, rs, from, c->default_verdict);
	for (size_t i = 0; i < es.n; i += n) {
		for (n = 1; i + n < es.n && es.v[i + n].nr == es.v[i].nr;)
			n++;
		add_call(c, rs, arch, &es.v[i], n);
		add_fixed(c, rs, es.v[i].nr + 1, c->default_verdict);
	}
	if (es.any)
		add_fixed(c, rs, es.last + 1, beyond(c));
}

static const struct seccomp_arch *find_arch(const struct compiler *c,
					    uint32_t audit, bool x32)
{
	for (size_t i = 0; i < c->n_archs; i++)
		if (c->archs[i]->audit == audit &&
		    seccomp_arch_is_x32(c->archs[i]) == x32)
			return c->archs[i];
	return NULL;
}

/* All numbers that come with the token @audit. */
static void plan_token(struct compiler *c, uint32_t audit, struct ranges *ret)
{
	const struct seccomp_arch *arch = find_arch(c, audit, false);
	const struct seccomp_arch *x32 = find_arch(c, audit, true);

	*ret = (struct ranges){0};
	if (arch)
		add_ranges(c, ret, arch, 0);
	else
		add_fixed(c, ret, 0, SECCOMP_RET_KILL_PROCESS);
	if (x32) {
		add_ranges(c, ret, x32, X32_FIRST);
	} else if (audit == seccomp_arch_by_name("SCMP_ARCH_X86_64")->audit) {
		add_fixed(c, ret, X32_FIRST, SECCOMP_RET_KILL_PROCESS);
		/* -1 is no x32 call, but what a tracer puts to skip one */
		add_fixed(c, ret, UINT32_MAX, beyond(c));
	}
}

/* ------------------------------------------------------- step 3: program */

static size_t emit_entry(struct compiler *c, const struct seccomp_arch *arch,
			 const struct entry *e, size_t otherwise)
{
	size_t hit = seccomp_emit_ret(&c->emit, e->rule->verdict);
	size_t at = e->rule->any_of ? otherwise : hit;
	const struct seccomp_cond mux = {
		.op = SECCOMP_OP_EQ,
		.value = e->mux,
	};

	if (e->mux)
		return seccomp_emit_cond(&c->emit, arch, &mux, hit, otherwise);
	for (size_t i = e->rule->n_conds; i-- > 0;)
		at = seccomp_emit_cond(&c->emit, arch, &e->rule->conds[i],
				       e->rule->any_of ? hit : at,
				       e->rule->any_of ? at : otherwise);
	return at;
}

static size_t emit_range(struct compiler *c, const struct range *r)
{
	size_t at;

	if (r->fixed)
		return seccomp_emit_ret(&c->emit, r->verdict);
	at = seccomp_emit_ret(&c->emit, c->default_verdict);
	for (size_t i = r->n; i-- > 0;)
		at = emit_entry(c, r->arch, &r->first[i], at);
	return at;
}

static size_t emit_tree(struct compiler *c, const struct range *v, size_t n)
{
	size_t half = n / 2, left, right;

	if (n == 1)
		return emit_range(c, v);
	right = emit_tree(c, v + half, n - half);
	left = emit_tree(c, v, half);
	return seccomp_emit_jump(&c->emit, BPF_JGE, v[half].from, right, left);
}

static void emit_program(struct compiler *c)
{
	size_t at = seccomp_emit_ret(&c->emit, SECCOMP_RET_KILL_PROCESS);

	for (size_t i = c->n_archs; i-- > 0;) {
		uint32_t audit = c->archs[i]->audit;
		struct ranges rs;
		size_t section;
		bool again = false;

		for (size_t k = 0; k < i; k++)
			again = again || c->archs[k]->audit == audit;
		if (again)
			continue;
		plan_token(c, audit, &rs);
		section = emit_tree(c, rs.v, rs.n);
		/* control falls from the load into the tree's first compare */
		if (section != c->emit.n)
			section = seccomp_emit_goto(&c->emit, section);
		section = seccomp_emit_load(
			&c->emit, (uint32_t)offsetof(struct seccomp_data, nr));
		at = seccomp_emit_jump(&c->emit, BPF_JEQ, audit, section, at);
	}
	seccomp_emit_load(&c->emit,
			  (uint32_t)offsetof(struct seccomp_data, arch));
}

int seccomp_compile(struct arena *a, const struct seccomp_spec *spec,
		    struct seccomp_prog *ret, struct err *err)
{
	struct compiler c = {.a = a, .spec = spec, .prog = ret};
	own_free struct sock_filter *room =
		calloc(SECCOMP_EMIT_MAX, sizeof(*room));
	int r;

	if (!room)
		return err_errno(err, ENOMEM, "compile seccomp");
	*ret = (struct seccomp_prog){0};
	c.emit.v = room;
	r = read_rules(&c, err);
	if (r == 0)
		r = read_archs(&c, err);
	if (r < 0)
		return r;
	emit_program(&c);
	if (c.emit.full || c.emit.n > BPF_MAXINSNS)
		return err_set(err, E2BIG,
			       "seccomp filter: more than %d instructions",
			       BPF_MAXINSNS);
	ret->n_insns = c.emit.n;
	ret->insns = arena_array(a, struct sock_filter, ret->n_insns);
	seccomp_emit_finish(&c.emit, ret->insns);
	return 0;
}

/* ----------------------------------------------------------------- digest */

static void add_number(struct strbuf *sb, uint64_t v)
{
	strbuf_add(sb, &v, sizeof(v));
}

/* With its length, so that no two specs have the same bytes. */
static void add_text(struct strbuf *sb, const char *s)
{
	add_number(sb, strlen(s));
	strbuf_adds(sb, s);
}

static void add_rule(struct strbuf *sb, const struct seccomp_rule *r)
{
	add_number(sb, r->n_names);
	for (size_t i = 0; i < r->n_names; i++)
		add_text(sb, r->names[i]);
	add_text(sb, r->action);
	add_number(sb, r->errno_set ? r->errno_ret : UINT64_MAX);
	add_number(sb, r->n_args);
	for (size_t i = 0; i < r->n_args; i++) {
		add_number(sb, r->args[i].index);
		add_text(sb, r->args[i].op);
		add_number(sb, r->args[i].value);
		add_number(sb, r->args[i].value_two);
	}
}

void seccomp_spec_digest(const struct seccomp_spec *spec, struct digest *ret)
{
	const struct scmp_version *v = seccomp_version();
	own_strbuf struct strbuf sb = STRBUF_HEAP;

	add_number(&sb, COMPILER_VERSION);
	add_number(&sb, v->major);
	add_number(&sb, v->minor);
	add_number(&sb, v->micro);
	add_text(&sb, seccomp_arch_own()->name);
	add_text(&sb, spec->default_action);
	add_number(&sb,
		   spec->default_errno_set ? spec->default_errno : UINT64_MAX);
	add_number(&sb, spec->n_architectures);
	for (size_t i = 0; i < spec->n_architectures; i++)
		add_text(&sb, spec->architectures[i]);
	add_number(&sb, spec->n_rules);
	for (size_t i = 0; i < spec->n_rules; i++)
		add_rule(&sb, &spec->rules[i]);
	digest_of(ret, sb.s, sb.len);
}
