/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <assert.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter/nf_nat.h>
#include <stdbool.h>

#include "runtime/base/own.h"
#include "shim/nft/expr.h"
#include "shim/nft/ruleset.h"

static void put_u32(struct nlmsghdr *h, uint16_t type, uint32_t v)
{
	mnl_attr_put_u32(h, type, htonl(v));
}

/* struct nft_data as an attribute: a value */
static void put_value(struct nlmsghdr *h, uint16_t type, const void *data,
		      size_t n)
{
	struct nlattr *nest = mnl_attr_nest_start(h, type);

	mnl_attr_put(h, NFTA_DATA_VALUE, n, data);
	mnl_attr_nest_end(h, nest);
}

static void put_cmp(struct nlmsghdr *h, const struct expr *e, uint32_t op,
		    const void *data)
{
	put_u32(h, NFTA_CMP_SREG, e->reg);
	put_u32(h, NFTA_CMP_OP, op);
	put_value(h, NFTA_CMP_DATA, data, e->len);
}

static void put_mask(struct nlmsghdr *h, const struct expr *e)
{
	static const uint8_t zero[16];

	put_u32(h, NFTA_BITWISE_SREG, e->reg);
	put_u32(h, NFTA_BITWISE_DREG, e->reg);
	put_u32(h, NFTA_BITWISE_LEN, e->len);
	put_u32(h, NFTA_BITWISE_OP, NFT_BITWISE_BOOL);
	put_value(h, NFTA_BITWISE_MASK, e->data, e->len);
	put_value(h, NFTA_BITWISE_XOR, zero, e->len);
}

static void put_exthdr(struct nlmsghdr *h, const struct expr *e, uint32_t op)
{
	put_u32(h, NFTA_EXTHDR_DREG, e->reg);
	mnl_attr_put_u8(h, NFTA_EXTHDR_TYPE, (uint8_t)e->a);
	put_u32(h, NFTA_EXTHDR_OFFSET, 0);
	put_u32(h, NFTA_EXTHDR_LEN, 1);
	put_u32(h, NFTA_EXTHDR_FLAGS, NFT_EXTHDR_F_PRESENT);
	put_u32(h, NFTA_EXTHDR_OP, op);
}

static void put_verdict(struct nlmsghdr *h, const struct expr *e)
{
	struct nlattr *data, *verdict;

	put_u32(h, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
	data = mnl_attr_nest_start(h, NFTA_IMMEDIATE_DATA);
	verdict = mnl_attr_nest_start(h, NFTA_DATA_VERDICT);
	put_u32(h, NFTA_VERDICT_CODE, e->a);
	mnl_attr_nest_end(h, verdict);
	mnl_attr_nest_end(h, data);
}

static void put_data(struct nlmsghdr *h, const struct expr *e,
		     const struct ruleset_config *config, uint32_t set_id)
{
	uint16_t port = htons(config->resolver_port);

	switch ((enum expr_op)e->op) {
	case EXPR_META:
		put_u32(h, NFTA_META_KEY, e->a);
		put_u32(h, NFTA_META_DREG, e->reg);
		break;
	case EXPR_CT:
		put_u32(h, NFTA_CT_KEY, e->a);
		put_u32(h, NFTA_CT_DREG, e->reg);
		break;
	case EXPR_CT_SET:
		put_u32(h, NFTA_CT_KEY, e->a);
		put_u32(h, NFTA_CT_SREG, e->reg);
		break;
	case EXPR_SOCKET:
		put_u32(h, NFTA_SOCKET_KEY, e->a);
		put_u32(h, NFTA_SOCKET_DREG, e->reg);
		break;
	case EXPR_PAYLOAD:
		put_u32(h, NFTA_PAYLOAD_DREG, e->reg);
		put_u32(h, NFTA_PAYLOAD_BASE, e->a);
		put_u32(h, NFTA_PAYLOAD_OFFSET, e->b);
		put_u32(h, NFTA_PAYLOAD_LEN, e->len);
		break;
	case EXPR_OPTION:
		put_exthdr(h, e, NFT_EXTHDR_OP_IPV4);
		break;
	case EXPR_EXTHDR:
		put_exthdr(h, e, NFT_EXTHDR_OP_IPV6);
		break;
	case EXPR_EQ:
		put_cmp(h, e, NFT_CMP_EQ, e->data);
		break;
	case EXPR_NEQ:
		put_cmp(h, e, NFT_CMP_NEQ, e->data);
		break;
	case EXPR_EQ_PORT:
		put_cmp(h, e, NFT_CMP_EQ, &port);
		break;
	case EXPR_MASK:
		put_mask(h, e);
		break;
	case EXPR_LOOKUP:
		put_u32(h, NFTA_LOOKUP_SREG, e->reg);
		mnl_attr_put_strz(h, NFTA_LOOKUP_SET,
				  ruleset_set_name((enum ruleset_set)e->a));
		break;
	case EXPR_ONE_OF:
		put_u32(h, NFTA_LOOKUP_SREG, e->reg);
		mnl_attr_put_strz(h, NFTA_LOOKUP_SET, "__set%d");
		put_u32(h, NFTA_LOOKUP_SET_ID, set_id);
		break;
	case EXPR_LOG:
		mnl_attr_put_u16(h, NFTA_LOG_GROUP, htons((uint16_t)e->a));
		break;
	case EXPR_REJECT:
		put_u32(h, NFTA_REJECT_TYPE, e->a);
		mnl_attr_put_u8(h, NFTA_REJECT_ICMP_CODE, (uint8_t)e->b);
		break;
	case EXPR_TO_PORT:
		put_u32(h, NFTA_REDIR_REG_PROTO_MIN, e->reg);
		put_u32(h, NFTA_REDIR_FLAGS, NF_NAT_RANGE_PROTO_SPECIFIED);
		break;
	case EXPR_VERDICT:
		put_verdict(h, e);
		break;
	case EXPR_COUNTER:
	case EXPR_END:
	case EXPR_OP_N:
		break;
	}
}

static const char *const kernel_name[] = {
	[EXPR_END] = "",
	[EXPR_META] = "meta",
	[EXPR_CT] = "ct",
	[EXPR_CT_SET] = "ct",
	[EXPR_SOCKET] = "socket",
	[EXPR_PAYLOAD] = "payload",
	[EXPR_OPTION] = "exthdr",
	[EXPR_EXTHDR] = "exthdr",
	[EXPR_EQ] = "cmp",
	[EXPR_NEQ] = "cmp",
	[EXPR_EQ_PORT] = "cmp",
	[EXPR_MASK] = "bitwise",
	[EXPR_LOOKUP] = "lookup",
	[EXPR_ONE_OF] = "lookup",
	[EXPR_COUNTER] = "counter",
	[EXPR_LOG] = "log",
	[EXPR_REJECT] = "reject",
	[EXPR_TO_PORT] = "redir",
	[EXPR_VERDICT] = "immediate",
};
static_assert(N_ELEMENTS(kernel_name) == EXPR_OP_N, "a name for each op");

/* redir takes its port from a register: an immediate loads it first. */
static void put_port_load(struct nlmsghdr *h, uint32_t reg, uint16_t port)
{
	struct nlattr *elem = mnl_attr_nest_start(h, NFTA_LIST_ELEM);
	struct nlattr *data;

	mnl_attr_put_strz(h, NFTA_EXPR_NAME, "immediate");
	data = mnl_attr_nest_start(h, NFTA_EXPR_DATA);
	put_u32(h, NFTA_IMMEDIATE_DREG, reg);
	port = htons(port);
	put_value(h, NFTA_IMMEDIATE_DATA, &port, sizeof(port));
	mnl_attr_nest_end(h, data);
	mnl_attr_nest_end(h, elem);
}

void expr_put(struct nlmsghdr *h, const struct expr *e,
	      const struct ruleset_config *config, uint32_t set_id)
{
	struct nlattr *elem, *data;

	if (e->op == EXPR_TO_PORT)
		put_port_load(h, e->reg, config->resolver_port);
	elem = mnl_attr_nest_start(h, NFTA_LIST_ELEM);
	mnl_attr_put_strz(h, NFTA_EXPR_NAME, kernel_name[e->op]);
	data = mnl_attr_nest_start(h, NFTA_EXPR_DATA);
	put_data(h, e, config, set_id);
	mnl_attr_nest_end(h, data);
	mnl_attr_nest_end(h, elem);
}
