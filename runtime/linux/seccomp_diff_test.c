/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiler against libseccomp: the same section through both, the two
 * programs simulated over calls and arguments. What differs on purpose
 * (seccomp_compile.h) is said in expected().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <seccomp.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/digest.h"
#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/seccomp_arch.h"
#include "runtime/linux/seccomp_compile.h"
#include "runtime/linux/seccomp_profile.h"
#include "runtime/linux/seccomp_sim.h"

struct program {
	struct sock_filter *v;
	size_t n;
};

/* ---------------------------------------------------------------- oracle */

static uint32_t scmp_action(const char *name, bool set, uint32_t data)
{
	const struct seccomp_action *a = seccomp_action_by_name(name);

	return a->ret | (a->has_data ? (set ? data : EPERM) : 0);
}

static const enum scmp_compare scmp_ops[] = {
	[SECCOMP_OP_NE] = SCMP_CMP_NE,
	[SECCOMP_OP_LT] = SCMP_CMP_LT,
	[SECCOMP_OP_LE] = SCMP_CMP_LE,
	[SECCOMP_OP_EQ] = SCMP_CMP_EQ,
	[SECCOMP_OP_GE] = SCMP_CMP_GE,
	[SECCOMP_OP_GT] = SCMP_CMP_GT,
	[SECCOMP_OP_MASKED_EQ] = SCMP_CMP_MASKED_EQ,
};

static void oracle_rule(scmp_filter_ctx ctx, const struct seccomp_rule *r,
			uint32_t action)
{
	struct scmp_arg_cmp cmp[6];

	for (size_t i = 0; i < r->n_args; i++)
		cmp[i] = (struct scmp_arg_cmp){
			.arg = r->args[i].index,
			.op = scmp_ops[seccomp_op_by_name(r->args[i].op)],
			.datum_a = r->args[i].value,
			.datum_b = r->args[i].value_two,
		};
	for (size_t i = 0; i < r->n_names; i++) {
		int nr = seccomp_syscall_resolve_name(r->names[i]);

		if (nr == __NR_SCMP_ERROR)
			continue;
		if (seccomp_rule_add_array(ctx, action, nr,
					   (unsigned int)r->n_args, cmp) < 0)
			fail_msg("libseccomp refuses %s", r->names[i]);
	}
}

static struct program oracle(struct arena *a, const struct seccomp_spec *s)
{
	uint32_t def = scmp_action(s->default_action, s->default_errno_set,
				   s->default_errno);
	scmp_filter_ctx ctx = seccomp_init(def);
	own_close int fd = memfd_create("oracle", MFD_CLOEXEC);
	struct program p;
	struct stat st;

	assert_non_null(ctx);
	for (size_t i = 0; i < s->n_architectures; i++)
		seccomp_arch_add(
			ctx, seccomp_arch_by_name(s->architectures[i])->scmp);
	for (size_t i = 0; i < s->n_rules; i++) {
		uint32_t action = scmp_action(s->rules[i].action,
					      s->rules[i].errno_set,
					      s->rules[i].errno_ret);

		if (action != def)
			oracle_rule(ctx, &s->rules[i], action);
	}
	assert_int_equal(seccomp_export_bpf(ctx, fd), 0);
	seccomp_release(ctx);
	assert_int_equal(fstat(fd, &st), 0);
	p.n = (size_t)st.st_size / sizeof(*p.v);
	p.v = arena_array(a, struct sock_filter, p.n);
	assert_int_equal(pread(fd, p.v, (size_t)st.st_size, 0), st.st_size);
	return p;
}

/* ------------------------------------------------------------ comparison */

static const struct {
	const char *name;
	uint32_t audit, first;
} tokens[] = {
	{"SCMP_ARCH_X86_64", AUDIT_ARCH_X86_64, 0},
	{"SCMP_ARCH_X32", AUDIT_ARCH_X86_64, 0x40000000},
	{"SCMP_ARCH_X86", AUDIT_ARCH_I386, 0},
	{"SCMP_ARCH_AARCH64", AUDIT_ARCH_AARCH64, 0},
};

static bool has_arch(const struct seccomp_spec *s, const char *name)
{
	if (str_eq(name, seccomp_arch_own()->name))
		return true;
	for (size_t i = 0; i < s->n_architectures; i++)
		if (str_eq(name, s->architectures[i]))
			return true;
	return false;
}

/* Largest number that the profile names; -1: none. */
static int64_t last_named(const struct seccomp_spec *s, const char *arch)
{
	int64_t last = -1;

	for (size_t i = 0; i < s->n_rules; i++)
		for (size_t k = 0; k < s->rules[i].n_names; k++) {
			uint32_t nr;
			bool known;

			if (seccomp_arch_resolve(seccomp_arch_by_name(arch),
						 s->rules[i].names[k], &nr,
						 &known) &&
			    nr > last)
				last = nr;
		}
	return last;
}

/* Numbers of the profile's names that libseccomp can't resolve. */
struct newer {
	uint32_t nr[64];
	size_t n;
};

static void find_newer(const struct seccomp_spec *s, const char *arch,
		       struct newer *ret)
{
	ret->n = 0;
	for (size_t i = 0; i < s->n_rules; i++)
		for (size_t k = 0; k < s->rules[i].n_names; k++) {
			const char *name = s->rules[i].names[k];
			bool known;

			if (seccomp_syscall_resolve_name(name) !=
			    __NR_SCMP_ERROR)
				continue;
			assert_true(ret->n < N_ELEMENTS(ret->nr));
			if (seccomp_arch_resolve(seccomp_arch_by_name(arch),
						 name, &ret->nr[ret->n],
						 &known))
				ret->n++;
		}
}

static bool is_newer(const struct newer *l, uint32_t nr)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->nr[i] == nr)
			return true;
	return false;
}

static bool is_kill(uint32_t v)
{
	return v == SECCOMP_RET_KILL_PROCESS || v == SECCOMP_RET_KILL_THREAD;
}

static void dump(const struct seccomp_spec *s)
{
	print_message("default %s\n", s->default_action);
	for (size_t i = 0; i < s->n_rules; i++) {
		const struct seccomp_rule *r = &s->rules[i];

		if (r->n_names > 1)
			continue;
		print_message("%s %s", r->names[0], r->action);
		for (size_t k = 0; k < r->n_args; k++)
			print_message(" [%u %s %llx %llx]", r->args[k].index,
				      r->args[k].op,
				      (unsigned long long)r->args[k].value,
				      (unsigned long long)r->args[k].value_two);
		print_message("\n");
	}
}

static void check_one(const struct seccomp_spec *s, const struct program *want,
		      const struct seccomp_prog *got, size_t token,
		      int64_t last, const struct seccomp_data *d)
{
	uint32_t x = seccomp_sim(want->v, want->n, d);
	uint32_t y = seccomp_sim(got->insns, got->n_insns, d);
	const struct seccomp_action *def =
		seccomp_action_by_name(s->default_action);

	/* on purpose: ENOSYS for what is newer than the profile */
	if (def->rank < SECCOMP_RANK_TRACE && last >= 0 &&
	    (int64_t)(uint32_t)d->nr > last)
		x = SECCOMP_RET_ERRNO | ENOSYS;
	/* on purpose: the process, not the thread, of a foreign arch */
	if (!has_arch(s, tokens[token].name)) {
		assert_true(is_kill(y));
		return;
	}
	if (x != y)
		dump(s);
	if (x != y)
		fail_msg("%s call %u(%llx, %llx, %llx): %08x, want %08x",
			 tokens[token].name, (unsigned int)d->nr,
			 (unsigned long long)d->args[0],
			 (unsigned long long)d->args[1],
			 (unsigned long long)d->args[2], y, x);
}

static void compare(struct arena *a, const struct seccomp_spec *s,
		    size_t n_tries, uint64_t seed)
{
	struct err err = ERR_INIT;
	struct program want = oracle(a, s);
	struct seccomp_prog got;

	if (seccomp_compile(a, s, &got, &err) < 0)
		fail_msg("%s", err.text);
	for (size_t t = 0; t < N_ELEMENTS(tokens); t++) {
		int64_t last = last_named(s, tokens[t].name);
		struct newer newer;

		find_newer(s, tokens[t].name, &newer);
		for (uint32_t nr = 0; nr < 700; nr++) {
			/* on purpose: calls that libseccomp does not know */
			if (is_newer(&newer, tokens[t].first + nr))
				continue;
			for (size_t k = 0; k < n_tries; k++) {
				struct seccomp_data d = {
					.arch = tokens[t].audit,
					.nr = (int)(tokens[t].first + nr),
				};

				for (size_t i = 0; k && i < 6; i++)
					d.args[i] = pick_value(s, &seed);
				check_one(s, &want, &got, t, last, &d);
			}
		}
	}
}

/* ------------------------------------------------------------- reference */

static bool holds(const struct seccomp_arg *c, uint64_t arg, bool wide)
{
	uint64_t cut = wide ? UINT64_MAX : UINT32_MAX;
	uint64_t v = c->value & cut, two = c->value_two & cut;

	arg &= cut;
	switch ((enum seccomp_op)seccomp_op_by_name(c->op)) {
	case SECCOMP_OP_NE:
		return arg != v;
	case SECCOMP_OP_LT:
		return arg < v;
	case SECCOMP_OP_LE:
		return arg <= v;
	case SECCOMP_OP_EQ:
		return arg == v;
	case SECCOMP_OP_GE:
		return arg >= v;
	case SECCOMP_OP_GT:
		return arg > v;
	case SECCOMP_OP_MASKED_EQ:
		return (arg & v) == (two & v);
	case SECCOMP_OP_N:
		break;
	}
	return false;
}

static bool rule_holds(const struct seccomp_rule *r,
		       const struct seccomp_data *d, bool wide)
{
	unsigned int seen = 0;
	bool all = true, any = false, twice = false;

	for (size_t i = 0; i < r->n_args; i++) {
		bool h = holds(&r->args[i], d->args[r->args[i].index], wide);

		all = all && h;
		any = any || h;
		twice = twice || seen >> r->args[i].index & 1;
		seen |= 1U << r->args[i].index;
	}
	return twice ? any : all;
}

/* The rules of each call of one architecture, in their order. */
struct calls {
	const struct seccomp_rule *rule[700][48];
	size_t n[700];
};

static void resolve_calls(const struct seccomp_spec *s,
			  const struct seccomp_arch *arch, uint32_t first,
			  struct calls *ret)
{
	memset(ret->n, 0, sizeof(ret->n));
	for (size_t i = 0; i < s->n_rules; i++)
		for (size_t k = 0; k < s->rules[i].n_names; k++) {
			uint32_t nr;
			bool known;

			if (!seccomp_arch_resolve(arch, s->rules[i].names[k],
						  &nr, &known))
				continue;
			nr -= first;
			assert_true(nr < 700 && ret->n[nr] < 48);
			ret->rule[nr][ret->n[nr]++] = &s->rules[i];
		}
}

/* What the rules say, read one after the other. */
static uint32_t reference(const struct seccomp_spec *s,
			  const struct seccomp_rule *const *rules, size_t n,
			  bool wide, int64_t last, const struct seccomp_data *d)
{
	uint32_t def = scmp_action(s->default_action, s->default_errno_set,
				   s->default_errno);
	uint32_t verdict = def;
	bool found = false;

	if ((int64_t)(uint32_t)d->nr > last && last >= 0)
		return seccomp_action_by_name(s->default_action)->rank <
				       SECCOMP_RANK_TRACE
			       ? SECCOMP_RET_ERRNO | ENOSYS
			       : def;
	for (size_t i = 0; i < n; i++) {
		const struct seccomp_rule *r = rules[i];
		uint32_t v = scmp_action(r->action, r->errno_set, r->errno_ret);

		if (v == def)
			continue;
		if (r->n_args == 0)
			return v;
		if (!found && rule_holds(r, d, wide)) {
			found = true;
			verdict = v;
		}
	}
	return verdict;
}

/* socketcall and ipc have tests of their own. */
static bool is_mux(const struct seccomp_arch *arch, uint32_t nr)
{
	static const char *const names[] = {"socketcall", "ipc"};
	uint32_t is;
	bool known;

	for (size_t i = 0; i < N_ELEMENTS(names); i++)
		if (seccomp_arch_resolve(arch, names[i], &is, &known) &&
		    is == nr)
			return true;
	return false;
}

static void compare_reference(struct arena *a, const struct seccomp_spec *s,
			      size_t n_tries, uint64_t seed)
{
	struct calls *calls = arena_new(a, struct calls);
	struct err err = ERR_INIT;
	struct seccomp_prog got;

	assert_int_equal(seccomp_compile(a, s, &got, &err), 0);
	for (size_t t = 0; t < N_ELEMENTS(tokens); t++) {
		const struct seccomp_arch *arch =
			seccomp_arch_by_name(tokens[t].name);
		int64_t last = last_named(s, tokens[t].name);

		if (!has_arch(s, tokens[t].name))
			continue;
		resolve_calls(s, arch, tokens[t].first, calls);
		for (uint32_t i = 0; i < 700; i++) {
			size_t n = calls->n[i] ? n_tries : 1;
			struct seccomp_data d = {
				.arch = tokens[t].audit,
				.nr = (int)(tokens[t].first + i),
			};

			if (is_mux(arch, (uint32_t)d.nr))
				continue;
			for (size_t k = 0; k < n; k++) {
				for (size_t j = 0; k && j < 6; j++)
					d.args[j] = pick_value(s, &seed);
				assert_int_equal(
					seccomp_sim(got.insns, got.n_insns, &d),
					reference(s, calls->rule[i],
						  calls->n[i], arch->wide, last,
						  &d));
			}
		}
	}
}

static void test_podman(void **state)
{
	own_arena struct arena a = ARENA_INIT;
	struct profile *p = arena_new(&a, struct profile);

	(void)state;
	read_file(&a, p, "runtime/linux/testdata/podman.seccomp");
	compare(&a, &p->spec, 60, 1);
	compare_reference(&a, &p->spec, 60, 1);
}

static void test_docker(void **state)
{
	own_arena struct arena a = ARENA_INIT;
	struct profile *p = arena_new(&a, struct profile);

	(void)state;
	read_file(&a, p, "runtime/linux/testdata/docker.seccomp");
	compare(&a, &p->spec, 60, 2);
	compare_reference(&a, &p->spec, 60, 2);
}

/* One architecture: libseccomp 2.5.4 errs with several on odd rules. */
static void test_random_libseccomp(void **state)
{
	uint64_t seed = 42;

	(void)state;
	for (int i = 0; i < 60; i++) {
		own_arena struct arena a = ARENA_INIT;
		struct profile *p = arena_new(&a, struct profile);

		random_spec(p, 9, true, &seed);
		compare(&a, &p->spec, 12, next_random(&seed));
	}
}

static void test_random_reference(void **state)
{
	uint64_t seed = 43;

	(void)state;
	for (int i = 0; i < 100; i++) {
		own_arena struct arena a = ARENA_INIT;
		struct profile *p = arena_new(&a, struct profile);

		random_spec(p, 40, false, &seed);
		compare_reference(&a, &p->spec, 12, next_random(&seed));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_podman),
		cmocka_unit_test(test_docker),
		cmocka_unit_test(test_random_libseccomp),
		cmocka_unit_test(test_random_reference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
