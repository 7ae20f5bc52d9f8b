/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of convert.h in which the spec has the kernel's numbers and the
 * mechanisms take the specification's names.
 */
#include <linux/audit.h>
#include <linux/ioprio.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/personality.h>

#include "runtime/base/arena.h"
#include "runtime/base/own.h"
#include "runtime/container/convert.h"
#include "runtime/linux/scheduler.h"
#include "runtime/linux/seccomp_compile.h"
#include "runtime/oci/spec_linux.h"

struct name_row {
	uint32_t value;
	const char *name;
};

static const char *name_of(const struct name_row *rows, size_t n,
			   uint32_t value)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].value == value)
			return rows[i].name;
	return "";
}
#define NAME_OF(rows, value) name_of(rows, N_ELEMENTS(rows), value)

static const struct name_row policies[] = {
	{ SCHED_NORMAL, "SCHED_OTHER" }, { SCHED_FIFO, "SCHED_FIFO" },
	{ SCHED_RR, "SCHED_RR" },	 { SCHED_BATCH, "SCHED_BATCH" },
	{ SCHED_IDLE, "SCHED_IDLE" },	 { SCHED_DEADLINE, "SCHED_DEADLINE" },
};

static const struct name_row policy_flags[] = {
	{ SCHED_FLAG_RESET_ON_FORK, "SCHED_FLAG_RESET_ON_FORK" },
	{ SCHED_FLAG_RECLAIM, "SCHED_FLAG_RECLAIM" },
	{ SCHED_FLAG_DL_OVERRUN, "SCHED_FLAG_DL_OVERRUN" },
	{ SCHED_FLAG_KEEP_POLICY, "SCHED_FLAG_KEEP_POLICY" },
	{ SCHED_FLAG_KEEP_PARAMS, "SCHED_FLAG_KEEP_PARAMS" },
	{ SCHED_FLAG_UTIL_CLAMP_MIN, "SCHED_FLAG_UTIL_CLAMP_MIN" },
	{ SCHED_FLAG_UTIL_CLAMP_MAX, "SCHED_FLAG_UTIL_CLAMP_MAX" },
};

static const struct name_row io_classes[] = {
	{ IOPRIO_CLASS_RT, "IOPRIO_CLASS_RT" },
	{ IOPRIO_CLASS_BE, "IOPRIO_CLASS_BE" },
	{ IOPRIO_CLASS_IDLE, "IOPRIO_CLASS_IDLE" },
};

static const struct name_row personalities[] = {
	{ PER_LINUX, "LINUX" },
	{ PER_LINUX32, "LINUX32" },
};

static const struct name_row actions[] = {
	{ SECCOMP_RET_KILL_THREAD, "SCMP_ACT_KILL_THREAD" },
	{ SECCOMP_RET_KILL_PROCESS, "SCMP_ACT_KILL_PROCESS" },
	{ SECCOMP_RET_TRAP, "SCMP_ACT_TRAP" },
	{ SECCOMP_RET_ERRNO, "SCMP_ACT_ERRNO" },
	{ SECCOMP_RET_TRACE, "SCMP_ACT_TRACE" },
	{ SECCOMP_RET_ALLOW, "SCMP_ACT_ALLOW" },
	{ SECCOMP_RET_LOG, "SCMP_ACT_LOG" },
	{ SECCOMP_RET_USER_NOTIF, "SCMP_ACT_NOTIFY" },
};

static const struct name_row operators[] = {
	{ OCI_SECCOMP_NE, "SCMP_CMP_NE" },
	{ OCI_SECCOMP_LT, "SCMP_CMP_LT" },
	{ OCI_SECCOMP_LE, "SCMP_CMP_LE" },
	{ OCI_SECCOMP_EQ, "SCMP_CMP_EQ" },
	{ OCI_SECCOMP_GE, "SCMP_CMP_GE" },
	{ OCI_SECCOMP_GT, "SCMP_CMP_GT" },
	{ OCI_SECCOMP_MASKED_EQ, "SCMP_CMP_MASKED_EQ" },
};

static const struct name_row architectures[] = {
	{ SCMP_ARCH_X86, "SCMP_ARCH_X86" },
	{ SCMP_ARCH_X86_64, "SCMP_ARCH_X86_64" },
	{ SCMP_ARCH_X32, "SCMP_ARCH_X32" },
	{ SCMP_ARCH_ARM, "SCMP_ARCH_ARM" },
	{ SCMP_ARCH_AARCH64, "SCMP_ARCH_AARCH64" },
	{ SCMP_ARCH_MIPS, "SCMP_ARCH_MIPS" },
	{ SCMP_ARCH_MIPS64, "SCMP_ARCH_MIPS64" },
	{ SCMP_ARCH_MIPS64N32, "SCMP_ARCH_MIPS64N32" },
	{ SCMP_ARCH_MIPSEL, "SCMP_ARCH_MIPSEL" },
	{ SCMP_ARCH_MIPSEL64, "SCMP_ARCH_MIPSEL64" },
	{ SCMP_ARCH_MIPSEL64N32, "SCMP_ARCH_MIPSEL64N32" },
	{ SCMP_ARCH_PPC, "SCMP_ARCH_PPC" },
	{ SCMP_ARCH_PPC64, "SCMP_ARCH_PPC64" },
	{ SCMP_ARCH_PPC64LE, "SCMP_ARCH_PPC64LE" },
	{ SCMP_ARCH_S390, "SCMP_ARCH_S390" },
	{ SCMP_ARCH_S390X, "SCMP_ARCH_S390X" },
	{ SCMP_ARCH_PARISC, "SCMP_ARCH_PARISC" },
	{ SCMP_ARCH_PARISC64, "SCMP_ARCH_PARISC64" },
	{ SCMP_ARCH_RISCV64, "SCMP_ARCH_RISCV64" },
};

void convert_scheduler(struct arena *a, const struct oci_process *p,
		       struct scheduler_spec *ret, const char **ret_ioclass)
{
	const struct oci_scheduler *s = p->scheduler;
	const char **flags;
	size_t n = 0;

	*ret = (struct scheduler_spec){ 0 };
	*ret_ioclass = p->io_priority ?
			       NAME_OF(io_classes, p->io_priority->class) :
			       NULL;
	if (!s)
		return;
	flags = arena_array(a, const char *, N_ELEMENTS(policy_flags));
	for (size_t i = 0; i < N_ELEMENTS(policy_flags); i++)
		if (s->flags & policy_flags[i].value)
			flags[n++] = policy_flags[i].name;
	*ret = (struct scheduler_spec){
		.policy = NAME_OF(policies, s->policy),
		.nice = s->nice,
		.priority = s->priority,
		.flags = flags,
		.n_flags = n,
		.runtime_ns = s->runtime_ns,
		.deadline_ns = s->deadline_ns,
		.period_ns = s->period_ns,
	};
}

const char *convert_personality(const struct oci_spec *spec)
{
	const struct oci_personality *p = spec->linux_->personality;

	return p ? NAME_OF(personalities, p->domain) : NULL;
}

static void convert_rule(struct arena *a, const struct oci_seccomp_rule *from,
			 struct seccomp_rule *ret)
{
	struct seccomp_arg *args =
		arena_array(a, struct seccomp_arg, from->args.n);

	for (size_t i = 0; i < from->args.n; i++) {
		const struct oci_seccomp_arg *arg = &from->args.v[i];

		args[i] = (struct seccomp_arg){
			.index = arg->index,
			.op = NAME_OF(operators, arg->op),
			.value = arg->value,
			.value_two = arg->value_two,
		};
	}
	*ret = (struct seccomp_rule){
		.names = from->names.v,
		.n_names = from->names.n,
		.action = NAME_OF(actions, from->action),
		.errno_set = from->errno_ret.set,
		.errno_ret = from->errno_ret.v,
		.args = args,
		.n_args = from->args.n,
	};
}

void convert_seccomp(struct arena *a, const struct oci_seccomp *sec,
		     struct seccomp_spec *ret)
{
	const char **arches =
		arena_array(a, const char *, sec->architectures.n);
	struct seccomp_rule *rules =
		arena_array(a, struct seccomp_rule, sec->syscalls.n);

	for (size_t i = 0; i < sec->architectures.n; i++)
		arches[i] = NAME_OF(architectures, sec->architectures.v[i]);
	for (size_t i = 0; i < sec->syscalls.n; i++)
		convert_rule(a, &sec->syscalls.v[i], &rules[i]);
	*ret = (struct seccomp_spec){
		.default_action = NAME_OF(actions, sec->default_action),
		.default_errno_set = sec->default_errno_ret.set,
		.default_errno = sec->default_errno_ret.v,
		.architectures = arches,
		.n_architectures = sec->architectures.n,
		.rules = rules,
		.n_rules = sec->syscalls.n,
	};
}
