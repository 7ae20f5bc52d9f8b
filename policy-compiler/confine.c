/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy-compiler/confine.h"
#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/policy/limits.h"

enum {
	CPU_SECONDS = 20, /* 10,000 endpoints take a fraction of one */
	MEMORY_BYTES = 1 << 30 /* the largest document needs a third of it */
};

/* ----------------------------------------------------------------- limits */

static int limit(int resource, rlim_t value, const char *what, struct err *err)
{
	struct rlimit r = {value, value}, old;

	/* never more than the caller's own */
	if (getrlimit((__rlimit_resource_t)resource, &old) == 0 &&
	    old.rlim_max < value)
		r.rlim_cur = r.rlim_max = old.rlim_max;
	if (setrlimit((__rlimit_resource_t)resource, &r) < 0)
		return err_errno(err, errno, "limit %s", what);
	return 0;
}

static int step_limits(struct err *err)
{
	static const struct {
		int resource;
		rlim_t value;
		const char *what;
	} rows[] = {
		{RLIMIT_CPU, CPU_SECONDS, "CPU time"},
		{RLIMIT_AS, MEMORY_BYTES, "memory"},
		{RLIMIT_FSIZE, POLICY_FILE_BYTES_MAX, "file size"},
		{RLIMIT_NPROC, 0, "processes"},
		{RLIMIT_CORE, 0, "core files"},
	};

	for (size_t i = 0; i < N_ELEMENTS(rows); i++) {
		int r = limit(rows[i].resource, rows[i].value, rows[i].what,
			      err);

		if (r < 0)
			return r;
	}
	return 0;
}

static int step_descriptors(struct err *err)
{
	if (syscall(SYS_close_range, 3u, ~0u, 0u) < 0)
		return err_errno(err, errno, "close inherited descriptors");
	return 0;
}

static int step_privileges(struct err *err)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) < 0)
		return err_errno(err, errno, "set no_new_privs");
	return 0;
}

/* --------------------------------------------------------------- Landlock */

/* linux/landlock.h of Linux 6.12; bookworm's ends with the second word's
 * first bit. Older kernels take a shorter struct: its size goes with it. */
struct ruleset_attr {
	uint64_t handled_access_fs, handled_access_net, scoped;
};

enum { RULESET_VERSION = 1 << 0 }; /* LANDLOCK_CREATE_RULESET_VERSION */

/* All rights that a kernel of this ABI knows. */
static struct ruleset_attr rights_of(long abi, size_t *ret_size)
{
	static const unsigned int n_fs[] = {0, 13, 14, 15, 15, 16};
	struct ruleset_attr a = {0};
	size_t known = N_ELEMENTS(n_fs) - 1;
	unsigned int n = n_fs[(size_t)abi < known ? (size_t)abi : known];

	a.handled_access_fs = (UINT64_C(1) << n) - 1;
	*ret_size = sizeof(uint64_t);
	if (abi >= 4) {
		a.handled_access_net = 3; /* bind and connect TCP */
		*ret_size = 2 * sizeof(uint64_t);
	}
	if (abi >= 6) {
		a.scoped = 3; /* abstract sockets and signals */
		*ret_size = sizeof(a);
	}
	return a;
}

static int step_landlock(struct err *err)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0,
			   (unsigned int)RULESET_VERSION);
	own_close int fd = -EBADF;
	struct ruleset_attr a;
	size_t size;

	if (abi < 1)
		return err_errno(err, abi < 0 ? errno : EOPNOTSUPP,
				 "ask for Landlock");
	a = rights_of(abi, &size);
	fd = (int)syscall(SYS_landlock_create_ruleset, &a, size, 0u);
	if (fd < 0)
		return err_errno(err, errno, "create Landlock ruleset");
	if (syscall(SYS_landlock_restrict_self, fd, 0u) < 0)
		return err_errno(err, errno, "enforce Landlock ruleset");
	return 0;
}

static int step_files(struct err *err)
{
	return limit(RLIMIT_NOFILE, 3, "open files", err);
}

/* ---------------------------------------------------------------- seccomp */

/* What reading, allocating, sorting (glibc's qsort asks how much memory there
 * is), writing, aborting and ending need. */
static const uint16_t allowed[] = {
	SYS_read,
	SYS_write,
	SYS_writev,
	SYS_close,
	SYS_brk,
	SYS_munmap,
	SYS_mremap,
	SYS_madvise,
	SYS_getpid,
	SYS_gettid,
	SYS_tgkill,
	SYS_futex,
	SYS_exit,
	SYS_exit_group,
	SYS_getrandom,
	SYS_sysinfo,
	SYS_rt_sigprocmask,
	SYS_rt_sigreturn,
};

/* Memory, but never executable: argument 2 is prot in both. */
static const uint16_t memory[] = {SYS_mmap, SYS_mprotect};

enum { N_INSNS = 4 + 2 * N_ELEMENTS(allowed) + 5 * N_ELEMENTS(memory) + 1 };

static size_t filter(struct sock_filter *f)
{
	struct sock_filter *start = f;
	const uint32_t prot = offsetof(struct seccomp_data, args[2]);
	size_t i;

	*f++ = (struct sock_filter){BPF_LD | BPF_W | BPF_ABS, 0, 0,
				    offsetof(struct seccomp_data, arch)};
	*f++ = (struct sock_filter){BPF_JMP | BPF_JEQ | BPF_K, 1, 0,
				    AUDIT_ARCH_X86_64};
	*f++ = (struct sock_filter){BPF_RET | BPF_K, 0, 0,
				    SECCOMP_RET_KILL_PROCESS};
	*f++ = (struct sock_filter){BPF_LD | BPF_W | BPF_ABS, 0, 0,
				    offsetof(struct seccomp_data, nr)};
	for (i = 0; i < N_ELEMENTS(allowed); i++) {
		*f++ = (struct sock_filter){BPF_JMP | BPF_JEQ | BPF_K, 0, 1,
					    allowed[i]};
		*f++ = (struct sock_filter){BPF_RET | BPF_K, 0, 0,
					    SECCOMP_RET_ALLOW};
	}
	for (i = 0; i < N_ELEMENTS(memory); i++) {
		*f++ = (struct sock_filter){BPF_JMP | BPF_JEQ | BPF_K, 0, 4,
					    memory[i]};
		*f++ = (struct sock_filter){BPF_LD | BPF_W | BPF_ABS, 0, 0,
					    prot};
		*f++ = (struct sock_filter){BPF_JMP | BPF_JSET | BPF_K, 0, 1,
					    PROT_EXEC};
		*f++ = (struct sock_filter){BPF_RET | BPF_K, 0, 0,
					    SECCOMP_RET_KILL_PROCESS};
		*f++ = (struct sock_filter){BPF_RET | BPF_K, 0, 0,
					    SECCOMP_RET_ALLOW};
	}
	*f++ = (struct sock_filter){BPF_RET | BPF_K, 0, 0,
				    SECCOMP_RET_KILL_PROCESS};
	return (size_t)(f - start);
}

static int step_seccomp(struct err *err)
{
	struct sock_filter insn[N_INSNS];
	struct sock_fprog program = {
		.len = (unsigned short)filter(insn),
		.filter = insn,
	};

	if (prctl(PR_SET_SECCOMP, (long)SECCOMP_MODE_FILTER, &program) < 0)
		return err_errno(err, errno, "install seccomp filter");
	return 0;
}

int confine(struct err *err)
{
	static int (*const steps[])(struct err * err) = {
		step_limits,   step_descriptors, step_privileges,
		step_landlock, step_files,	 step_seccomp,
	};

	for (size_t i = 0; i < N_ELEMENTS(steps); i++) {
		int r = steps[i](err);

		if (r < 0)
			return err_wrap(err, "confine the compiler");
	}
	return 0;
}
