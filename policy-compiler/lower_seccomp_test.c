/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The emitted programs run in a simulator of seccomp's BPF, so that each row
 * of the table is tested on each architecture without a kernel.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <seccomp.h>
#include <sys/socket.h>
#include <cmocka.h>

#include "policy-compiler/lower.h"
#include "policy-compiler/seccomp_table.h"
#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/policy/build.h"
#include "runtime/policy/policy.h"

enum {
	ALLOW = SECCOMP_RET_ALLOW,
	NOTIFY = SECCOMP_RET_USER_NOTIF,
	REFUSED = SECCOMP_RET_ERRNO | EPERM,
	NOSYS = SECCOMP_RET_ERRNO | ENOSYS,
	NOPROTO = SECCOMP_RET_ERRNO | EPROTONOSUPPORT,
};
#define KILL SECCOMP_RET_KILL_PROCESS

static struct arena arena;
static struct policy policy;

static int setup(void **state)
{
	struct policy_build b;
	struct err err;
	void *data;
	size_t len;

	(void)state;
	arena_init(&arena);
	policy_build_init(&b, &arena);
	lower_seccomp(&b);
	if (policy_build_finish(&b, &data, &len, &err) < 0)
		fail_msg("%s", err.text);
	return policy_load(data, len, &policy, &err);
}

static int teardown(void **state)
{
	(void)state;
	arena_done(&arena);
	return 0;
}

/* --------------------------------------------------------- the simulator */

static uint32_t word_at(const struct seccomp_data *d, uint32_t offset)
{
	uint32_t v;

	assert_true(offset % 4 == 0 && offset <= sizeof(*d) - 4);
	memcpy(&v, (const uint8_t *)d + offset, sizeof(v));
	return v;
}

static uint32_t simulate(enum policy_program_kind kind,
			 const struct seccomp_data *d, unsigned int *ret_steps)
{
	const struct policy_program *g = policy_find_program(&policy, kind);
	const struct sock_filter *v = policy.insn + g->first_insn;
	uint32_t a = 0, pc = 0;

	for (*ret_steps = 0; pc < g->n_insns; pc++, ++*ret_steps) {
		const struct sock_filter *f = &v[pc];
		bool jump = false;

		switch (f->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			a = word_at(d, f->k);
			continue;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= f->k;
			continue;
		case BPF_RET | BPF_K:
			return f->k;
		case BPF_JMP | BPF_JA:
			pc += f->k;
			continue;
		case BPF_JMP | BPF_JEQ | BPF_K:
			jump = a == f->k;
			break;
		case BPF_JMP | BPF_JGT | BPF_K:
			jump = a > f->k;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			jump = a >= f->k;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			jump = (a & f->k) != 0;
			break;
		default:
			fail_msg("instruction %u: code %u", pc, f->code);
		}
		pc += jump ? f->jt : f->jf;
	}
	fail_msg("ran off the end");
	return 0;
}

static const uint32_t audit[] = {
	[SECCOMP_X86_64] = AUDIT_ARCH_X86_64,
	[SECCOMP_I386] = AUDIT_ARCH_I386,
};

static uint32_t run(enum policy_program_kind kind, enum seccomp_arch arch,
		    int nr, const uint64_t args[6])
{
	struct seccomp_data d = {.nr = nr, .arch = audit[arch]};
	unsigned int steps;

	memcpy(d.args, args, sizeof(d.args));
	return simulate(kind, &d, &steps);
}

static int number(enum seccomp_arch arch, const char *name)
{
	for (size_t i = 0; i < seccomp_n_rows; i++)
		if (str_eq(seccomp_rows[i].name, name) &&
		    seccomp_rows[i].nr[arch] != SECCOMP_NO_NR)
			return seccomp_rows[i].nr[arch];
	return -1;
}

/* ----------------------------------------------------------------- cases */

#define HIGH UINT64_C(0xffffffff00000000)

/* With and without garbage in the high half where it must not matter. */
static const struct {
	const char *name;
	uint64_t args[6];
	uint32_t verdict;
} cases[] = {
	{"connect", {3, 0x1000, 16}, NOTIFY},
	{"bind", {3, 0x1000, 16}, NOTIFY},
	{"listen", {3, 1}, NOTIFY},
	{"sendto", {3, 1, 1, 0, 0, 0}, ALLOW},
	{"sendto", {3, 1, 1, 0, 0, 16}, ALLOW},
	{"sendto", {3, 1, 1, 0, 1, 16}, NOTIFY},
	{"sendto", {3, 1, 1, 0, UINT64_C(1) << 32, 16}, NOTIFY},
	{"sendto", {3, 1, 1, 0, UINT64_C(1) << 63, 16}, NOTIFY},
	{"sendto", {HIGH, HIGH, HIGH, HIGH, 0, HIGH}, ALLOW},

	{"socket", {AF_UNIX, SOCK_STREAM, 0}, ALLOW},
	{"socket", {AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0}, ALLOW},
	{"socket", {AF_NETLINK, SOCK_RAW, 0}, ALLOW},
	{"socket", {AF_NETLINK, SOCK_RAW, 12}, REFUSED}, /* netfilter */
	{"socket", {AF_NETLINK, SOCK_RAW, HIGH}, ALLOW},
	{"socket", {AF_NETLINK, SOCK_RAW, HIGH | 9}, REFUSED},
	{"socket", {AF_INET, SOCK_STREAM, 0}, ALLOW},
	{"socket", {AF_INET, SOCK_STREAM, IPPROTO_TCP}, ALLOW},
	{"socket", {AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0}, ALLOW},
	{"socket", {AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 6}, ALLOW},
	{"socket",
	 {AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0},
	 ALLOW},
	{"socket", {AF_INET, SOCK_DGRAM, IPPROTO_UDP}, ALLOW},
	{"socket", {AF_INET, SOCK_DGRAM, IPPROTO_ICMP}, ALLOW},
	{"socket", {AF_INET, SOCK_DGRAM, IPPROTO_ICMPV6}, NOPROTO},
	{"socket", {AF_INET, SOCK_STREAM, IPPROTO_UDP}, NOPROTO},
	{"socket", {AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE}, NOPROTO},
	{"socket", {AF_INET, SOCK_STREAM, IPPROTO_SCTP}, NOPROTO},
	{"socket", {AF_INET, SOCK_STREAM, 262}, NOPROTO}, /* MPTCP */
	{"socket", {AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP}, REFUSED},
	{"socket", {AF_INET, SOCK_DCCP, 33}, REFUSED},
	{"socket", {AF_INET, SOCK_RAW, IPPROTO_RAW}, REFUSED},
	{"socket", {AF_INET, SOCK_RAW | SOCK_CLOEXEC, 6}, REFUSED},
	{"socket", {AF_INET, SOCK_PACKET, 0x300}, REFUSED},
	{"socket", {AF_INET, SOCK_RAW, 0}, REFUSED},
	{"socket", {AF_INET6, SOCK_STREAM, 0}, ALLOW},
	{"socket", {AF_INET6, SOCK_STREAM, IPPROTO_TCP}, ALLOW},
	{"socket", {AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP}, ALLOW},
	{"socket", {AF_INET6, SOCK_DGRAM, IPPROTO_ICMPV6}, ALLOW},
	{"socket", {AF_INET6, SOCK_DGRAM, IPPROTO_ICMP}, NOPROTO},
	{"socket", {AF_INET6, SOCK_RAW, IPPROTO_ICMPV6}, REFUSED},
	{"socket", {HIGH | AF_INET, HIGH | SOCK_STREAM, HIGH}, ALLOW},
	{"socket", {HIGH | AF_PACKET, HIGH | SOCK_RAW, 0}, REFUSED},
	{"socket", {AF_UNSPEC, SOCK_STREAM, 0}, REFUSED},
	{"socket", {AF_PACKET, SOCK_RAW, 0x300}, REFUSED},
	{"socket", {AF_BLUETOOTH, SOCK_RAW, 0}, REFUSED},
	{"socket", {AF_VSOCK, SOCK_STREAM, 0}, REFUSED},
	{"socket", {AF_ALG, SOCK_SEQPACKET, 0}, REFUSED},
	{"socket", {44 /* AF_XDP */, SOCK_RAW, 0}, REFUSED},
	{"socket", {43 /* AF_SMC */, SOCK_STREAM, 0}, REFUSED},
	{"socket", {AF_RDS, SOCK_SEQPACKET, 0}, REFUSED},
	{"socket", {AF_TIPC, SOCK_STREAM, 0}, REFUSED},
	{"socket", {AF_CAN, SOCK_RAW, 1}, REFUSED},
	{"socketpair", {AF_UNIX, SOCK_STREAM, 0, 0x1000}, ALLOW},
	{"socketpair", {HIGH | AF_UNIX, SOCK_DGRAM, 0, 0x1000}, ALLOW},
	{"socketpair", {AF_TIPC, SOCK_STREAM, 0, 0x1000}, REFUSED},
	{"socketpair", {AF_INET, SOCK_STREAM, 0, 0x1000}, REFUSED},

	{"setsockopt", {3, SOL_SOCKET, SO_REUSEADDR, 1, 4}, ALLOW},
	{"setsockopt", {3, IPPROTO_TCP, 35, 1, 4}, ALLOW},
	{"setsockopt", {3, IPPROTO_IP, IP_MULTICAST_TTL, 1, 4}, ALLOW},
	{"setsockopt", {3, IPPROTO_IP, IP_ADD_MEMBERSHIP, 1, 8}, REFUSED},
	{"setsockopt", {3, HIGH, HIGH | IP_ADD_MEMBERSHIP, 1, 8}, REFUSED},
	{"setsockopt", {3, IPPROTO_IPV6, IPV6_V6ONLY, 1, 4}, ALLOW},
	{"setsockopt", {3, IPPROTO_IPV6, IPV6_JOIN_GROUP, 1, 20}, REFUSED},
	{"setsockopt", {3, IPPROTO_IPV6, MCAST_JOIN_GROUP, 1, 136}, REFUSED},

	{"io_uring_setup", {1}, NOSYS},
	{"io_uring_enter", {3}, NOSYS},
	{"io_uring_register", {3}, NOSYS},
	{"clone3", {0x1000, 88}, NOSYS},

	{"clone", {SIGCHLD}, ALLOW},
	{"clone", {CLONE_VM | CLONE_VFORK | SIGCHLD}, ALLOW},
	{"clone",
	 {CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
	  CLONE_SYSVSEM | CLONE_SETTLS},
	 ALLOW},
	{"clone", {CLONE_NEWUSER | SIGCHLD}, REFUSED},
	{"clone", {CLONE_NEWNET | SIGCHLD}, REFUSED},
	{"clone", {CLONE_NEWNS | SIGCHLD}, REFUSED},
	{"clone", {CLONE_NEWPID | SIGCHLD}, REFUSED},
	{"clone", {CLONE_NEWIPC | SIGCHLD}, REFUSED},
	{"clone", {CLONE_NEWUTS | SIGCHLD}, REFUSED},
	{"clone", {CLONE_NEWCGROUP | SIGCHLD}, REFUSED},
	{"unshare", {CLONE_FS | CLONE_FILES}, ALLOW},
	{"unshare", {CLONE_NEWUSER}, REFUSED},
	{"unshare", {CLONE_NEWTIME}, REFUSED},
	{"unshare", {CLONE_FS | CLONE_NEWNET}, REFUSED},
	{"setns", {3, 0}, REFUSED},
	{"mount", {0}, REFUSED},
	{"umount2", {0}, REFUSED},
	{"pivot_root", {0}, REFUSED},
	{"open_tree", {0}, REFUSED},
	{"move_mount", {0}, REFUSED},
	{"fsopen", {0}, REFUSED},
	{"fsconfig", {0}, REFUSED},
	{"fsmount", {0}, REFUSED},
	{"fspick", {0}, REFUSED},
	{"mount_setattr", {0}, REFUSED},
	{"open_tree_attr", {0}, REFUSED},

	{"ptrace", {0}, REFUSED},
	{"process_vm_readv", {1}, REFUSED},
	{"process_vm_writev", {1}, REFUSED},
	{"process_madvise", {1}, REFUSED},
	{"kcmp", {1}, REFUSED},
	{"pidfd_open", {1}, REFUSED},
	{"pidfd_getfd", {1}, REFUSED},
	{"pidfd_send_signal", {1}, REFUSED},
	{"prctl", {35 /* PR_SET_MM */, 13}, REFUSED},
	{"prctl", {HIGH | 35, 13}, REFUSED},
	{"prctl", {38 /* PR_SET_NO_NEW_PRIVS */, 1}, ALLOW},
	{"prctl", {22 /* PR_SET_SECCOMP */, 2}, ALLOW},

	{"memfd_create", {0x1000, 0}, REFUSED},
	{"memfd_create", {0x1000, 1 | 2}, REFUSED},
	{"memfd_create", {0x1000, 8}, ALLOW},
	{"memfd_create", {0x1000, 1 | 8}, ALLOW},
	{"memfd_create", {0x1000, 0x10 /* MFD_EXEC */}, REFUSED},
	{"memfd_create", {0x1000, HIGH | 8}, ALLOW},
	{"memfd_create", {0x1000, UINT64_C(8) << 32}, REFUSED},
	{"execveat", {3, 1, 1, 1, 0}, ALLOW},
	{"execveat", {3, 1, 1, 1, 0x1000}, REFUSED},
	{"execveat", {3, 1, 1, 1, 0x1100}, REFUSED},
	{"execveat", {3, 1, 1, 1, HIGH | 0x100}, ALLOW},

	{"seccomp", {1, 0, 0x1000}, ALLOW},
	{"seccomp", {1, 1, 0x1000}, ALLOW},
	{"seccomp", {1, 8, 0x1000}, REFUSED},
	{"seccomp", {1, 8 | 16, 0x1000}, REFUSED},
	{"seccomp", {HIGH | 1, HIGH | 8, 0x1000}, REFUSED},
	{"seccomp", {2, 0, 0x1000}, ALLOW},
	{"seccomp", {0, 0, 0}, ALLOW},

	{"ioctl", {0, 0x5412}, REFUSED},
	{"ioctl", {0, HIGH | 0x5412}, REFUSED},
	{"ioctl", {0, 0x541c}, REFUSED},
	{"ioctl", {0, 0x5413 /* TIOCGWINSZ */}, ALLOW},

	{"bpf", {0}, REFUSED},
	{"perf_event_open", {0}, REFUSED},
	{"userfaultfd", {0}, REFUSED},
	{"add_key", {0}, REFUSED},
	{"request_key", {0}, REFUSED},
	{"keyctl", {0}, REFUSED},
	{"init_module", {0}, REFUSED},
	{"finit_module", {0}, REFUSED},
	{"delete_module", {0}, REFUSED},
	{"kexec_load", {0}, REFUSED},
	{"kexec_file_load", {0}, REFUSED},
	{"umount", {0}, REFUSED},
	{"socketcall", {1, 0x1000}, NOTIFY},
	{"socketcall", {2, 0x1000}, NOTIFY},
	{"socketcall", {3, 0x1000}, NOTIFY},
	{"socketcall", {4, 0x1000}, NOTIFY},
	{"socketcall", {5, 0x1000}, NOSYS},
	{"socketcall", {8, 0x1000}, NOSYS},
	{"socketcall", {9, 0x1000}, NOSYS},
	{"socketcall", {11, 0x1000}, NOTIFY},
	{"socketcall", {16, 0x1000}, NOSYS},
	{"socketcall", {20, 0x1000}, NOSYS},
	{"socketcall", {0, 0x1000}, NOSYS},
};

static void test_each_row(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(cases); i++)
		for (unsigned int a = 0; a < SECCOMP_ARCH_N; a++) {
			enum seccomp_arch arch = (enum seccomp_arch)a;
			int nr = number(arch, cases[i].name);
			uint32_t plain = cases[i].verdict == NOTIFY
						 ? ALLOW
						 : cases[i].verdict;

			if (nr < 0)
				continue;
			if (run(POLICY_PROGRAM_LISTENER, arch, nr,
				cases[i].args) != cases[i].verdict ||
			    run(POLICY_PROGRAM_PLAIN, arch, nr,
				cases[i].args) != plain)
				fail_msg("case %zu: %s on %u", i, cases[i].name,
					 a);
		}
}

/* Nothing in the table is without a case. */
static void test_cases_are_complete(void **state)
{
	(void)state;
	for (size_t i = 0; i < seccomp_n_rows; i++) {
		bool found = false;

		for (size_t k = 0; k < N_ELEMENTS(cases); k++)
			found |= str_eq(seccomp_rows[i].name, cases[k].name);
		if (!found)
			fail_msg("no case for %s", seccomp_rows[i].name);
	}
}

static void test_numbers(void **state)
{
	static const uint32_t archs[] = {
		[SECCOMP_X86_64] = SCMP_ARCH_X86_64,
		[SECCOMP_I386] = SCMP_ARCH_X86,
	};
	size_t known = 0;

	(void)state;
	for (size_t i = 0; i < seccomp_n_rows; i++)
		for (unsigned int a = 0; a < SECCOMP_ARCH_N; a++) {
			const struct seccomp_row *r = &seccomp_rows[i];
			int nr = seccomp_syscall_resolve_name_arch(archs[a],
								   r->name);

			/* bookworm's does not know open_tree_attr; and the
			 * socket calls of i386 are pseudo numbers to it, like
			 * what an architecture doesn't have */
			if (nr == __NR_SCMP_ERROR ||
			    (nr < 0 && r->nr[a] >= 359 && r->nr[a] <= 373))
				continue;
			known++;
			assert_int_equal(nr < 0 ? SECCOMP_NO_NR : nr, r->nr[a]);
		}
	assert_true(known > 90);
}

/* Every number that no row names is allowed, by few instructions. */
static void test_others(void **state)
{
	static const uint64_t args[6] = {0};

	(void)state;
	for (unsigned int a = 0; a < SECCOMP_ARCH_N; a++)
		for (int nr = 0; nr < 600; nr++) {
			struct seccomp_data d = {.nr = nr, .arch = audit[a]};
			unsigned int steps;
			bool named = false;

			for (size_t i = 0; i < seccomp_n_rows; i++)
				named |= seccomp_rows[i].nr[a] == nr;
			if (named)
				continue;
			assert_int_equal(
				simulate(POLICY_PROGRAM_LISTENER, &d, &steps),
				ALLOW);
			assert_true(steps < 32);
			assert_int_equal(run(POLICY_PROGRAM_PLAIN,
					     (enum seccomp_arch)a, nr, args),
					 ALLOW);
		}
}

static void test_architectures(void **state)
{
	static const uint32_t foreign[] = {
		AUDIT_ARCH_AARCH64,
		AUDIT_ARCH_ARM,
		AUDIT_ARCH_RISCV64,
		AUDIT_ARCH_X86_64 ^ 1,
		0,
	};
	struct seccomp_data d = {.nr = 0};
	unsigned int steps;

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(foreign); i++) {
		d.arch = foreign[i];
		assert_int_equal(simulate(POLICY_PROGRAM_LISTENER, &d, &steps),
				 KILL);
		assert_int_equal(simulate(POLICY_PROGRAM_PLAIN, &d, &steps),
				 KILL);
	}
	/* x32: its bit, with any number behind it */
	d.arch = AUDIT_ARCH_X86_64;
	for (uint32_t nr = 0; nr < 600; nr++) {
		d.nr = (int)(nr | 0x40000000);
		assert_int_equal(simulate(POLICY_PROGRAM_LISTENER, &d, &steps),
				 NOSYS);
	}
	d.nr = -1;
	assert_int_equal(simulate(POLICY_PROGRAM_PLAIN, &d, &steps), NOSYS);
	/* i386 has no such bit: a number that is none is the kernel's */
	d.arch = AUDIT_ARCH_I386;
	d.nr = 0x40000000 | 11;
	assert_int_equal(simulate(POLICY_PROGRAM_PLAIN, &d, &steps), ALLOW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_row),
		cmocka_unit_test(test_cases_are_complete),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_architectures),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
