/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions of the two BPF machines that this layer assembles by hand:
 * classic (seccomp filters) and extended (device programs).
 *
 * Source: kernel Documentation/networking/filter.rst, Documentation/bpf/
 * standardization/instruction-set.rst.
 */
#ifndef OSH_LINUX_BPF_H
#define OSH_LINUX_BPF_H

#include <linux/bpf.h>
#include <linux/filter.h>
#include <stdint.h>

/* Classic: load a word of struct seccomp_data, compare, return. */
#define CBPF_LD(off) \
	((struct sock_filter){.code = BPF_LD | BPF_W | BPF_ABS, .k = (off)})
#define CBPF_AND(mask) \
	((struct sock_filter){.code = BPF_ALU | BPF_AND | BPF_K, .k = (mask)})
#define CBPF_JUMP(op, val, t, f)                                          \
	((struct sock_filter){.code = (uint16_t)(BPF_JMP | (op) | BPF_K), \
			      .jt = (t),                                  \
			      .jf = (f),                                  \
			      .k = (val)})
#define CBPF_JA(off) \
	((struct sock_filter){.code = BPF_JMP | BPF_JA, .k = (off)})
#define CBPF_RET(val) \
	((struct sock_filter){.code = BPF_RET | BPF_K, .k = (val)})

/* Extended: what a decision over three registers needs. */
#define EBPF_LOAD32(dst, src, o)                              \
	((struct bpf_insn){.code = BPF_LDX | BPF_MEM | BPF_W, \
			   .dst_reg = (dst),                  \
			   .src_reg = (src),                  \
			   .off = (o)})
#define EBPF_MOV32(dst, src)                                  \
	((struct bpf_insn){.code = BPF_ALU | BPF_MOV | BPF_X, \
			   .dst_reg = (dst),                  \
			   .src_reg = (src)})
#define EBPF_ALU32_IMM(op, dst, val)                                  \
	((struct bpf_insn){.code = (uint8_t)(BPF_ALU | (op) | BPF_K), \
			   .dst_reg = (dst),                          \
			   .imm = (val)})
/* skips @o instructions when "dst op val" holds */
#define EBPF_JUMP_IMM(op, dst, val, o)                                \
	((struct bpf_insn){.code = (uint8_t)(BPF_JMP | (op) | BPF_K), \
			   .dst_reg = (dst),                          \
			   .off = (o),                                \
			   .imm = (val)})
#define EBPF_MOV64_IMM(dst, val)                                \
	((struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_K, \
			   .dst_reg = (dst),                    \
			   .imm = (val)})
#define EBPF_EXIT() ((struct bpf_insn){.code = BPF_JMP | BPF_EXIT})

#endif
