/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system call rules of every policy, as a table: what is notified, what
 * is refused and how, on x86-64 and i386. lower_seccomp.c turns it into BPF;
 * its test runs each row through a simulator.
 *
 * A call that no row names is allowed. Rows of the same call follow one
 * another: the first whose conditions all hold decides, and a call that has
 * rows of which none holds is allowed.
 */
#ifndef OSH_COMPILER_SECCOMP_TABLE_H
#define OSH_COMPILER_SECCOMP_TABLE_H

#include <stddef.h>
#include <stdint.h>

enum { SECCOMP_TESTS_MAX = 3, SECCOMP_NO_NR = 0xffff };

enum seccomp_arch { SECCOMP_X86_64, SECCOMP_I386, SECCOMP_ARCH_N };

enum seccomp_op {
	SECCOMP_OP_NONE, /* no condition */
	SECCOMP_OP_EQ, /* (low half & mask) == value */
	SECCOMP_OP_NE, /* (low half & mask) != value */
	SECCOMP_OP_SET64, /* either half is not 0: a pointer */
};

/*
 * The kernel truncates int and unsigned int arguments, so their conditions
 * look at the low half alone: whatever is in the high half, the call is the
 * same one.
 */
struct seccomp_test {
	uint8_t op; /* enum seccomp_op */
	uint8_t arg;
	uint32_t mask, value;
};

enum seccomp_verdict {
	SECCOMP_ALLOW,
	SECCOMP_NOTIFY, /* allowed in the program without a listener */
	SECCOMP_NOT_PERMITTED, /* EPERM */
	SECCOMP_NO_SYSCALL, /* ENOSYS */
	SECCOMP_NO_PROTOCOL, /* EPROTONOSUPPORT */
};

struct seccomp_row {
	const char *name;
	uint16_t nr[SECCOMP_ARCH_N]; /* SECCOMP_NO_NR: not there */
	uint8_t verdict; /* enum seccomp_verdict */
	struct seccomp_test test[SECCOMP_TESTS_MAX];
};

extern const struct seccomp_row seccomp_rows[];
extern const size_t seccomp_n_rows;

#endif
