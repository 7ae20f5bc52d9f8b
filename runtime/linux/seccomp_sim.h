/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A seccomp filter, run as the kernel would: for tests, no kernel needed.
 * Fails the test on what the kernel's checker would refuse.
 */
#ifndef OSH_LINUX_SECCOMP_SIM_H
#define OSH_LINUX_SECCOMP_SIM_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline uint32_t seccomp_sim(const struct sock_filter *p, size_t n,
				   const struct seccomp_data *d)
{
	uint32_t a = 0, jump;

	for (size_t pc = 0; pc < n; pc++) {
		const struct sock_filter *i = &p[pc];

		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			if (i->k % 4 || i->k > sizeof(*d) - 4)
				abort();
			memcpy(&a, (const char *)d + i->k, 4);
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= i->k;
			break;
		case BPF_JMP | BPF_JA:
			pc += i->k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
		case BPF_JMP | BPF_JGE | BPF_K:
		case BPF_JMP | BPF_JGT | BPF_K:
			jump = BPF_OP(i->code) == BPF_JEQ   ? a == i->k
			       : BPF_OP(i->code) == BPF_JGE ? a >= i->k
							    : a > i->k;
			pc += jump ? i->jt : i->jf;
			break;
		case BPF_RET | BPF_K:
			return i->k;
		default:
			abort();
		}
	}
	abort(); /* fell off the end */
}

#endif
