/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nf_tables expressions as rows of a table. A rule is a short program over
 * registers (linux/netfilter/nf_tables.h); each row below is one instruction.
 * Data is what the kernel compares: numbers that come from the packet are in
 * network order, marks, connection states and interface numbers in host order.
 */
#ifndef OSH_SHIM_NFT_EXPR_H
#define OSH_SHIM_NFT_EXPR_H

#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <stdint.h>

struct batch;
struct nlmsghdr;
struct ruleset_config;

enum expr_op {
	EXPR_END,
	EXPR_META,     /* key a -> reg */
	EXPR_CT,       /* key a -> reg */
	EXPR_CT_SET,   /* reg -> key a */
	EXPR_SOCKET,   /* key a -> reg */
	EXPR_PAYLOAD,  /* base a, offset b, len -> reg */
	EXPR_OPTION,   /* IPv4 option a is present -> reg */
	EXPR_EXTHDR,   /* IPv6 extension header a is present -> reg */
	EXPR_EQ,       /* reg == data */
	EXPR_NEQ,      /* reg != data */
	EXPR_EQ_PORT,  /* reg == the resolver's port */
	EXPR_MASK,     /* reg &= data */
	EXPR_LOOKUP,   /* reg is in the named set a (enum ruleset_set) */
	EXPR_ONE_OF,   /* reg is one of len bytes; a: nft(8)'s data type */
	EXPR_COUNTER,
	EXPR_LOG,      /* to group a */
	EXPR_REJECT,   /* type a, code b */
	EXPR_TO_PORT,  /* redirect to the resolver's port */
	EXPR_VERDICT,  /* a */
	EXPR_OP_N
};

struct expr {
	uint8_t op, reg, len;
	uint32_t a, b;
	const uint8_t *data;
};

/*
 * Append @e to the rule that @h is (inside NFTA_RULE_EXPRESSIONS).
 * @set_id names the anonymous set of an EXPR_ONE_OF.
 */
void expr_put(struct nlmsghdr *h, const struct expr *e,
	      const struct ruleset_config *config, uint32_t set_id);

/* Registers of 4 bytes; R1 is also the 16-byte register 1. */
enum {
	R1 = NFT_REG32_00,
	R2 = NFT_REG32_01,
	R3 = NFT_REG32_02,
	R4 = NFT_REG32_03,
	R6 = NFT_REG32_05,
	R7 = NFT_REG32_06,
};

#define BYTES(...) ((const uint8_t[]){ __VA_ARGS__ })
#define HOST32(v)  ((const uint8_t *)(const uint32_t[]){ (v) })

#define META_TO(r, key)                                                        \
	{                                                                      \
		.op = EXPR_META, .reg = (r), .a = (key)                        \
	}
#define META(key) META_TO(R1, key)
#define CT(key)                                                                \
	{                                                                      \
		.op = EXPR_CT, .reg = R1, .a = (key)                           \
	}
#define CT_SET(key)                                                            \
	{                                                                      \
		.op = EXPR_CT_SET, .reg = R1, .a = (key)                       \
	}
#define SOCKET(key)                                                            \
	{                                                                      \
		.op = EXPR_SOCKET, .reg = R1, .a = (key)                       \
	}
#define PAYLOAD_TO(r, base, offset, n)                                         \
	{                                                                      \
		.op = EXPR_PAYLOAD, .reg = (r), .a = (base), .b = (offset),    \
		.len = (n)                                                     \
	}
#define PAYLOAD(base, offset, n) PAYLOAD_TO(R1, base, offset, n)
#define OPTION(type)                                                           \
	{                                                                      \
		.op = EXPR_OPTION, .reg = R1, .a = (type)                      \
	}
#define EXTHDR(type)                                                           \
	{                                                                      \
		.op = EXPR_EXTHDR, .reg = R1, .a = (type)                      \
	}
#define EQ(n, bytes)                                                           \
	{                                                                      \
		.op = EXPR_EQ, .reg = R1, .len = (n), .data = (bytes)          \
	}
#define NEQ(n, bytes)                                                          \
	{                                                                      \
		.op = EXPR_NEQ, .reg = R1, .len = (n), .data = (bytes)         \
	}
#define EQ_RESOLVER_PORT                                                       \
	{                                                                      \
		.op = EXPR_EQ_PORT, .reg = R1, .len = 2                        \
	}
#define MASK(n, bytes)                                                         \
	{                                                                      \
		.op = EXPR_MASK, .reg = R1, .len = (n), .data = (bytes)        \
	}
#define IN_SET(set)                                                            \
	{                                                                      \
		.op = EXPR_LOOKUP, .reg = R1, .a = (set)                       \
	}
#define ONE_OF(type, n, bytes)                                                 \
	{                                                                      \
		.op = EXPR_ONE_OF, .reg = R1, .a = (type), .len = (n),         \
		.data = (bytes)                                                \
	}
#define COUNTER                                                                \
	{                                                                      \
		.op = EXPR_COUNTER                                             \
	}
#define LOG(group)                                                             \
	{                                                                      \
		.op = EXPR_LOG, .a = (group)                                   \
	}
#define REJECT(type, code)                                                     \
	{                                                                      \
		.op = EXPR_REJECT, .a = (type), .b = (code)                    \
	}
#define REDIRECT_TO_RESOLVER                                                   \
	{                                                                      \
		.op = EXPR_TO_PORT, .reg = R1                                  \
	}
#define ACCEPT                                                                 \
	{                                                                      \
		.op = EXPR_VERDICT, .a = NF_ACCEPT                             \
	}
#define DROP                                                                   \
	{                                                                      \
		.op = EXPR_VERDICT, .a = NF_DROP                               \
	}

#endif
