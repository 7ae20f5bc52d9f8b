/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/seccomp_arch.h"

/* --------------------------------------------------------- architectures */

enum {
	X32_BIT = 0x40000000,
	NR_MAX = 512, /* calls of one architecture */
	/* libseccomp's numbers for parts of socketcall and ipc */
	MUXED_FIRST = -100,
	MUXED_LAST = -300,
};

#define LE false
#define BE true

/*
 * The last four are in the runtime-spec and not in libseccomp 2.5: a config
 * may name them, and their calls are killed as those of any other
 * architecture that is not in the filter.
 */
static const struct seccomp_arch archs[] = {
	{"SCMP_ARCH_X86", SCMP_ARCH_X86, AUDIT_ARCH_I386, 0, false, LE},
	{"SCMP_ARCH_X86_64", SCMP_ARCH_X86_64, AUDIT_ARCH_X86_64, 0, true, LE},
	{"SCMP_ARCH_X32", SCMP_ARCH_X32, AUDIT_ARCH_X86_64, X32_BIT, false, LE},
	{"SCMP_ARCH_ARM", SCMP_ARCH_ARM, AUDIT_ARCH_ARM, 0, false, LE},
	{"SCMP_ARCH_AARCH64", SCMP_ARCH_AARCH64, AUDIT_ARCH_AARCH64, 0, true,
	 LE},
	{"SCMP_ARCH_MIPS", SCMP_ARCH_MIPS, AUDIT_ARCH_MIPS, 4000, false, BE},
	{"SCMP_ARCH_MIPS64", SCMP_ARCH_MIPS64, AUDIT_ARCH_MIPS64, 5000, true,
	 BE},
	{"SCMP_ARCH_MIPS64N32", SCMP_ARCH_MIPS64N32, AUDIT_ARCH_MIPS64N32, 6000,
	 false, BE},
	{"SCMP_ARCH_MIPSEL", SCMP_ARCH_MIPSEL, AUDIT_ARCH_MIPSEL, 4000, false,
	 LE},
	{"SCMP_ARCH_MIPSEL64", SCMP_ARCH_MIPSEL64, AUDIT_ARCH_MIPSEL64, 5000,
	 true, LE},
	{"SCMP_ARCH_MIPSEL64N32", SCMP_ARCH_MIPSEL64N32, AUDIT_ARCH_MIPSEL64N32,
	 6000, false, LE},
	{"SCMP_ARCH_PPC", SCMP_ARCH_PPC, AUDIT_ARCH_PPC, 0, false, BE},
	{"SCMP_ARCH_PPC64", SCMP_ARCH_PPC64, AUDIT_ARCH_PPC64, 0, true, BE},
	{"SCMP_ARCH_PPC64LE", SCMP_ARCH_PPC64LE, AUDIT_ARCH_PPC64LE, 0, true,
	 LE},
	{"SCMP_ARCH_S390", SCMP_ARCH_S390, AUDIT_ARCH_S390, 0, false, BE},
	{"SCMP_ARCH_S390X", SCMP_ARCH_S390X, AUDIT_ARCH_S390X, 0, true, BE},
	{"SCMP_ARCH_PARISC", SCMP_ARCH_PARISC, AUDIT_ARCH_PARISC, 0, false, BE},
	{"SCMP_ARCH_PARISC64", SCMP_ARCH_PARISC64, AUDIT_ARCH_PARISC64, 0, true,
	 BE},
	{"SCMP_ARCH_RISCV64", SCMP_ARCH_RISCV64, AUDIT_ARCH_RISCV64, 0, true,
	 LE},
	{"SCMP_ARCH_LOONGARCH64", 0, AUDIT_ARCH_LOONGARCH64, 0, true, LE},
	{"SCMP_ARCH_M68K", 0, AUDIT_ARCH_M68K, 0, false, BE},
	{"SCMP_ARCH_SH", 0, AUDIT_ARCH_SHEL, 0, false, LE},
	{"SCMP_ARCH_SHEB", 0, AUDIT_ARCH_SH, 0, false, BE},
};

const struct seccomp_arch *seccomp_arch_by_name(const char *name)
{
	for (size_t i = 0; i < N_ELEMENTS(archs); i++)
		if (str_eq(name, archs[i].name))
			return &archs[i];
	return NULL;
}

const struct seccomp_arch *seccomp_arch_row(size_t i)
{
	return i < N_ELEMENTS(archs) ? &archs[i] : NULL;
}

const struct seccomp_arch *seccomp_arch_own(void)
{
	uint32_t native = seccomp_arch_native();

	for (size_t i = 0; i < N_ELEMENTS(archs); i++)
		if (archs[i].scmp == native)
			return &archs[i];
	abort(); /* an architecture that the table does not have */
}

bool seccomp_arch_is_x32(const struct seccomp_arch *arch)
{
	return arch->offset == X32_BIT;
}

/* -------------------------------------------------------------- numbers */

/*
 * Newer than libseccomp 2.5.4. Since 424 every architecture has the same
 * numbers (beyond its offset); a row with a token is that one's alone.
 */
static const struct {
	const char *name;
	int nr;
	uint32_t only_audit;
} newer[] = {
	{"uretprobe", 335, AUDIT_ARCH_X86_64},
	{"uprobe", 336, AUDIT_ARCH_X86_64},
	{"riscv_hwprobe", 258, AUDIT_ARCH_RISCV64},
	{"set_mempolicy_home_node", 450, 0},
	{"cachestat", 451, 0},
	{"fchmodat2", 452, 0},
	{"map_shadow_stack", 453, AUDIT_ARCH_X86_64},
	{"futex_wake", 454, 0},
	{"futex_wait", 455, 0},
	{"futex_requeue", 456, 0},
	{"statmount", 457, 0},
	{"listmount", 458, 0},
	{"lsm_get_self_attr", 459, 0},
	{"lsm_set_self_attr", 460, 0},
	{"lsm_list_modules", 461, 0},
	{"mseal", 462, 0},
	{"setxattrat", 463, 0},
	{"getxattrat", 464, 0},
	{"listxattrat", 465, 0},
	{"removexattrat", 466, 0},
	{"open_tree_attr", 467, 0},
	{"file_getattr", 468, 0},
	{"file_setattr", 469, 0},
};

static bool resolve_newer(const struct seccomp_arch *arch, const char *name,
			  uint32_t *ret_nr, bool *ret_known)
{
	for (size_t i = 0; i < N_ELEMENTS(newer); i++) {
		if (!str_eq(name, newer[i].name))
			continue;
		*ret_known = true;
		if (newer[i].only_audit &&
		    (newer[i].only_audit != arch->audit ||
		     seccomp_arch_is_x32(arch)))
			return false;
		*ret_nr = (uint32_t)(newer[i].nr + arch->offset);
		return true;
	}
	*ret_known = false;
	return false;
}

/*
 * For a call that is multiplexed on @arch libseccomp gives its own negative
 * number, although newer kernels have a direct call besides: found the other
 * way round.
 */
static bool resolve_direct(const struct seccomp_arch *arch, const char *name,
			   uint32_t *ret_nr)
{
	bool found = false;

	for (int nr = arch->offset; !found && nr < arch->offset + NR_MAX;
	     nr++) {
		char *is = seccomp_syscall_resolve_num_arch(arch->scmp, nr);

		found = is && str_eq(is, name);
		free(is);
		*ret_nr = (uint32_t)nr;
	}
	return found;
}

bool seccomp_arch_resolve(const struct seccomp_arch *arch, const char *name,
			  uint32_t *ret_nr, bool *ret_known)
{
	int nr = seccomp_syscall_resolve_name_arch(arch->scmp, name);

	if (nr == __NR_SCMP_ERROR)
		return resolve_newer(arch, name, ret_nr, ret_known);
	*ret_known = true;
	if (nr <= MUXED_FIRST && nr >= MUXED_LAST)
		return resolve_direct(arch, name, ret_nr);
	if (nr < 0)
		return false; /* other architectures have it */
	*ret_nr = (uint32_t)nr;
	return true;
}

/* First arguments of socketcall(2) and ipc(2): linux/net.h, linux/ipc.h. */
static const struct {
	const char *name;
	const char *mux;
	uint32_t number;
} muxed[] = {
	{"socket", "socketcall", 1},
	{"bind", "socketcall", 2},
	{"connect", "socketcall", 3},
	{"listen", "socketcall", 4},
	{"accept", "socketcall", 5},
	{"getsockname", "socketcall", 6},
	{"getpeername", "socketcall", 7},
	{"socketpair", "socketcall", 8},
	{"send", "socketcall", 9},
	{"recv", "socketcall", 10},
	{"sendto", "socketcall", 11},
	{"recvfrom", "socketcall", 12},
	{"shutdown", "socketcall", 13},
	{"setsockopt", "socketcall", 14},
	{"getsockopt", "socketcall", 15},
	{"sendmsg", "socketcall", 16},
	{"recvmsg", "socketcall", 17},
	{"accept4", "socketcall", 18},
	{"recvmmsg", "socketcall", 19},
	{"sendmmsg", "socketcall", 20},
	{"semop", "ipc", 1},
	{"semget", "ipc", 2},
	{"semctl", "ipc", 3},
	{"semtimedop", "ipc", 4},
	{"msgsnd", "ipc", 11},
	{"msgrcv", "ipc", 12},
	{"msgget", "ipc", 13},
	{"msgctl", "ipc", 14},
	{"shmat", "ipc", 21},
	{"shmdt", "ipc", 22},
	{"shmget", "ipc", 23},
	{"shmctl", "ipc", 24},
};

const char *seccomp_arch_mux(const char *name, uint32_t *ret_number)
{
	for (size_t i = 0; i < N_ELEMENTS(muxed); i++) {
		if (!str_eq(name, muxed[i].name))
			continue;
		*ret_number = muxed[i].number;
		return muxed[i].mux;
	}
	return NULL;
}

/* -------------------------------------------------- actions, operators */

static const struct seccomp_action actions[] = {
	{"SCMP_ACT_KILL", SECCOMP_RET_KILL_THREAD, SECCOMP_RANK_KILL_THREAD,
	 false},
	{"SCMP_ACT_KILL_PROCESS", SECCOMP_RET_KILL_PROCESS,
	 SECCOMP_RANK_KILL_PROCESS, false},
	{"SCMP_ACT_KILL_THREAD", SECCOMP_RET_KILL_THREAD,
	 SECCOMP_RANK_KILL_THREAD, false},
	{"SCMP_ACT_TRAP", SECCOMP_RET_TRAP, SECCOMP_RANK_TRAP, false},
	{"SCMP_ACT_ERRNO", SECCOMP_RET_ERRNO, SECCOMP_RANK_ERRNO, true},
	{"SCMP_ACT_TRACE", SECCOMP_RET_TRACE, SECCOMP_RANK_TRACE, true},
	{"SCMP_ACT_ALLOW", SECCOMP_RET_ALLOW, SECCOMP_RANK_ALLOW, false},
	{"SCMP_ACT_LOG", SECCOMP_RET_LOG, SECCOMP_RANK_LOG, false},
	{"SCMP_ACT_NOTIFY", SECCOMP_RET_USER_NOTIF, SECCOMP_RANK_NOTIFY, false},
};

const struct seccomp_action *seccomp_action_by_name(const char *name)
{
	for (size_t i = 0; i < N_ELEMENTS(actions); i++)
		if (str_eq(name, actions[i].name))
			return &actions[i];
	return NULL;
}

const struct seccomp_action *seccomp_action_row(size_t i)
{
	return i < N_ELEMENTS(actions) ? &actions[i] : NULL;
}

static const char *const ops[] = {
	[SECCOMP_OP_NE] = "SCMP_CMP_NE",
	[SECCOMP_OP_LT] = "SCMP_CMP_LT",
	[SECCOMP_OP_LE] = "SCMP_CMP_LE",
	[SECCOMP_OP_EQ] = "SCMP_CMP_EQ",
	[SECCOMP_OP_GE] = "SCMP_CMP_GE",
	[SECCOMP_OP_GT] = "SCMP_CMP_GT",
	[SECCOMP_OP_MASKED_EQ] = "SCMP_CMP_MASKED_EQ",
};
_Static_assert(N_ELEMENTS(ops) == SECCOMP_OP_N, "a name for each");

int seccomp_op_by_name(const char *name)
{
	for (size_t i = 0; i < SECCOMP_OP_N; i++)
		if (str_eq(name, ops[i]))
			return (int)i;
	return -1;
}

const char *seccomp_op_name(size_t i)
{
	return i < SECCOMP_OP_N ? ops[i] : NULL;
}
