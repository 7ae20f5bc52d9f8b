/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "shim/dns/confine.h"

#if defined(__x86_64__)
#define CONFINE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define CONFINE_ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define CONFINE_ARCH AUDIT_ARCH_RISCV64
#else
#error "the audit name of this architecture is not known here"
#endif

int confine_privileges(struct err *err)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_errno(err, errno, "set no_new_privs");
	/* the ambient set is emptied with the permitted one */
	if (syscall(SYS_capset, &head, none) < 0)
		return err_errno(err, errno, "drop capabilities");
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return err_errno(err, errno, "forbid core dumps and ptrace");
	return 0;
}

/* The file rights that exist, by ABI: bookworm's header stops at 2. */
static uint64_t file_rights(long abi)
{
	static const uint8_t n_rights[] = { 0, 13, 14, 15, 15, 16 };
	size_t at = (size_t)abi;

	if (at >= N_ELEMENTS(n_rights))
		at = N_ELEMENTS(n_rights) - 1;
	return (UINT64_C(1) << n_rights[at]) - 1;
}

int confine_files(struct err *err)
{
	struct landlock_ruleset_attr attr = { .handled_access_fs = 0 };
	own_close int fd = -EBADF;
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
			   LANDLOCK_CREATE_RULESET_VERSION);

	if (abi < 0)
		return err_errno(err, errno, "ask for landlock");
	attr.handled_access_fs = file_rights(abi);
	fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (fd < 0)
		return err_errno(err, errno, "create a landlock ruleset");
	if (syscall(SYS_landlock_restrict_self, fd, 0) < 0)
		return err_errno(err, errno, "enforce the landlock ruleset");
	return 0;
}

int confine_limits(const struct confine_limit *limits, size_t n,
		   struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		struct rlimit lim;

		if (getrlimit((__rlimit_resource_t)limits[i].resource, &lim) < 0)
			return err_errno(err, errno, "get limit %d",
					 limits[i].resource);
		/* never raised: that would need a privilege */
		if (lim.rlim_max > limits[i].value)
			lim.rlim_max = limits[i].value;
		lim.rlim_cur = lim.rlim_max;
		if (setrlimit((__rlimit_resource_t)limits[i].resource, &lim) < 0)
			return err_errno(err, errno, "set limit %d",
					 limits[i].resource);
	}
	return 0;
}

/* ------------------------------------------------------------- seccomp */

enum {
	INSNS_PER_ARG = 4,
	INSNS_PER_CALL = 3 + 2 * INSNS_PER_ARG,
	INSNS_HEAD = 3,
	INSNS_MAX = INSNS_HEAD + CONFINE_CALLS_MAX * INSNS_PER_CALL + 1,
};

struct program {
	struct sock_filter insn[INSNS_MAX];
	unsigned short n;
};

static void add(struct program *p, unsigned int code, uint32_t k,
		unsigned int jt, unsigned int jf)
{
	p->insn[p->n++] = (struct sock_filter){ .code = (uint16_t)code,
						.jt = (uint8_t)jt,
						.jf = (uint8_t)jf,
						.k = k };
}

static void add_load(struct program *p, size_t offset)
{
	add(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/* Of each 64-bit argument, the half at lower addresses comes first. */
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "halves of arguments");

/*
 *	load nr
 *	not this one: skip to the next call
 *	for each argument checked
 *		load low; not the value: skip to the next call
 *		load high; not zero: skip to the next call
 *	allow
 */
static void add_call(struct program *p, const struct confine_call *call)
{
	unsigned int left = 1;

	for (size_t i = 0; i < N_ELEMENTS(call->arg); i++)
		left += call->arg[i].index ? INSNS_PER_ARG : 0u;
	add_load(p, offsetof(struct seccomp_data, nr));
	add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call->nr, 0, left);
	for (size_t i = 0; i < N_ELEMENTS(call->arg); i++) {
		size_t at = offsetof(struct seccomp_data, args);

		if (!call->arg[i].index)
			continue;
		at += (call->arg[i].index - 1u) * sizeof(uint64_t);
		add_load(p, at);
		left -= 2;
		add(p, BPF_JMP | BPF_JEQ | BPF_K, call->arg[i].value, 0, left);
		add_load(p, at + sizeof(uint32_t));
		left -= 2;
		add(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, left);
	}
	add(p, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

int confine_calls(const struct confine_call *calls, size_t n, struct err *err)
{
	struct program p = { .n = 0 };
	struct sock_fprog prog = { .filter = p.insn };

	assert(n <= CONFINE_CALLS_MAX);
	add_load(&p, offsetof(struct seccomp_data, arch));
	add(&p, BPF_JMP | BPF_JEQ | BPF_K, CONFINE_ARCH, 1, 0);
	add(&p, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
	for (size_t i = 0; i < n; i++)
		add_call(&p, &calls[i]);
	add(&p, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
	prog.len = p.n;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0) < 0)
		return err_errno(err, errno, "install the seccomp filter");
	return 0;
}
