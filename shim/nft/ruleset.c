/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table, as rows. The lines for the gateway (marks with bit 31) come with
 * the gateway: until then no such mark is given, so they could match nothing.
 *
 * Two things that the rows can't say:
 * - A rule of family inet that looks at an address says first which family it
 *   means (nfproto), as nft(8) does silently.
 * - A concatenated key is laid out in consecutive 32-bit registers, each part
 *   padded: mark, protocol, address (1 or 4 registers), port.
 */
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter_ipv4.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <string.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "shim/limits.h"
#include "shim/nft/batch.h"
#include "shim/nft/expr.h"
#include "shim/nft/ruleset.h"

enum { EXPRS_MAX = 16, LO_INDEX = 1 };

/* nft(8)'s numbers of data types: what it prints a set's elements as. A
 * concatenation is 6 bits for each, the first part highest. */
enum {
	TYPE_IPADDR = 7,
	TYPE_IP6ADDR = 8,
	TYPE_PROTO = 12,
	TYPE_SERVICE = 13,
	TYPE_MARK = 19,
	TYPE_ICMP6_TYPE = 29,
};
#define TYPES3(a, b, c)	   ((uint32_t)(a) << 12 | (b) << 6 | (c))
#define TYPES4(a, b, c, d) ((uint32_t)(a) << 18 | TYPES3(b, c, d))

struct set_row {
	const char *name, *type;
	uint32_t key_type, key_bytes, flags, size;
};

static const struct set_row sets[] = {
	[SET_ALLOW4] = { "allow4",
			 "mark . inet_proto . ipv4_addr . inet_service",
			 TYPES4(TYPE_MARK, TYPE_PROTO, TYPE_IPADDR,
				TYPE_SERVICE),
			 16, NFT_SET_TIMEOUT, SHIM_SET_SIZE },
	[SET_ALLOW6] = { "allow6",
			 "mark . inet_proto . ipv6_addr . inet_service",
			 TYPES4(TYPE_MARK, TYPE_PROTO, TYPE_IP6ADDR,
				TYPE_SERVICE),
			 28, NFT_SET_TIMEOUT, SHIM_SET_SIZE },
	[SET_UPSTREAM4] = { "upstream4",
			    "inet_proto . ipv4_addr . inet_service",
			    TYPES3(TYPE_PROTO, TYPE_IPADDR, TYPE_SERVICE), 12,
			    0, 0 },
	[SET_UPSTREAM6] = { "upstream6",
			    "inet_proto . ipv6_addr . inet_service",
			    TYPES3(TYPE_PROTO, TYPE_IP6ADDR, TYPE_SERVICE), 24,
			    0, 0 },
	[SET_LIVE] = { "live", "mark", TYPE_MARK, 4, 0, 0 },
};
static_assert(N_ELEMENTS(sets) == SET_N, "a row for each set");

enum chain { OUT, IN, POST, NATOUT, CHAIN_N };

struct chain_row {
	const char *name, *type, *text;
	uint32_t hook;
	int32_t priority;
	uint32_t policy;
};

static const struct chain_row chains[] = {
	[OUT] = { "out", "filter",
		  "type filter hook output priority filter; policy drop;",
		  NF_INET_LOCAL_OUT, NF_IP_PRI_FILTER, NF_DROP },
	[IN] = { "in", "filter",
		 "type filter hook input priority filter; policy drop;",
		 NF_INET_LOCAL_IN, NF_IP_PRI_FILTER, NF_DROP },
	[POST] = { "post", "filter",
		   "type filter hook postrouting priority 300; policy accept;",
		   NF_INET_POST_ROUTING, 300, NF_ACCEPT },
	[NATOUT] = { "natout", "nat",
		     "type nat hook output priority -100; policy accept;",
		     NF_INET_LOCAL_OUT, NF_IP_PRI_NAT_DST, NF_ACCEPT },
};
static_assert(N_ELEMENTS(chains) == CHAIN_N, "a row for each chain");

#define NH NFT_PAYLOAD_NETWORK_HEADER
#define TH NFT_PAYLOAD_TRANSPORT_HEADER

#define IS_IP4	   META(NFT_META_NFPROTO), EQ(1, BYTES(NFPROTO_IPV4))
#define IS_IP6	   META(NFT_META_NFPROTO), EQ(1, BYTES(NFPROTO_IPV6))
#define IS_TCP	   META(NFT_META_L4PROTO), EQ(1, BYTES(IPPROTO_TCP))
#define IS_ICMP6   META(NFT_META_L4PROTO), EQ(1, BYTES(IPPROTO_ICMPV6))
#define IS_TCP_UDP                                                             \
	META(NFT_META_L4PROTO),                                                \
	ONE_OF(TYPE_PROTO, 2, BYTES(IPPROTO_TCP, IPPROTO_UDP))
#define MARK_IS(m) META(NFT_META_MARK), EQ(4, HOST32(m))
#define CT_STATE(bits)                                                         \
	CT(NFT_CT_STATE), MASK(4, HOST32(bits)), NEQ(4, HOST32(0))
#define CT_DNAT                                                                \
	CT(NFT_CT_STATUS), MASK(4, HOST32(IPS_DST_NAT)), NEQ(4, HOST32(0))
#define LO4  BYTES(127, 0, 0, 1)
#define LO6  BYTES(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)
#define NAME_LO BYTES('l', 'o', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

/* linux/netfilter/nf_conntrack_tuple_common.h, and the state bits that are
 * in the kernel's nf_conntrack_common.h only in a form that C can't shift */
enum {
	STATE_ESTABLISHED = 1 << 1,
	STATE_RELATED = 1 << 2,
	STATE_NEW = 1 << 3,
	DIRECTION_REPLY = 1,
	TCP_FIN_SYN_RST_ACK = 0x17,
	TCP_SYN_ONLY = 0x02,
	IP6_ROUTING = 43, /* next header, RFC 8200 4.4 */
};

struct rule {
	uint8_t chain;
	const char *text;
	struct expr expr[EXPRS_MAX];
};

static const struct rule rules[] = {
	{ OUT,
	  "ip daddr 127.0.0.1 th dport $RESOLVER ct status dnat "
	  "meta l4proto { tcp, udp } accept",
	  { IS_IP4, PAYLOAD(NH, 16, 4), EQ(4, LO4), PAYLOAD(TH, 2, 2),
	    EQ_RESOLVER_PORT, CT_DNAT, IS_TCP_UDP, ACCEPT } },
	{ OUT,
	  "ip6 daddr ::1 th dport $RESOLVER ct status dnat "
	  "meta l4proto { tcp, udp } accept",
	  { IS_IP6, PAYLOAD(NH, 24, 16), EQ(16, LO6), PAYLOAD(TH, 2, 2),
	    EQ_RESOLVER_PORT, CT_DNAT, IS_TCP_UDP, ACCEPT } },
	/* A flow that left by another interface has a mark. On lo it is forged:
	 * any program may send from a foreign IPv6 address (IPV6_FREEBIND), an
	 * answer to the resolver's question in its upstream's name, say. */
	{ OUT,
	  "oif \"lo\" ct state established ct mark != 0x00000000 drop",
	  { META(NFT_META_OIF), EQ(4, HOST32(LO_INDEX)),
	    CT_STATE(STATE_ESTABLISHED), CT(NFT_CT_MARK), NEQ(4, HOST32(0)),
	    DROP } },
	{ OUT,
	  "oif \"lo\" accept",
	  { META(NFT_META_OIF), EQ(4, HOST32(LO_INDEX)), ACCEPT } },
	{ OUT,
	  "ip option lsrr exists drop",
	  { IS_IP4, OPTION(IPOPT_LSRR), EQ(1, BYTES(1)), DROP } },
	{ OUT,
	  "ip option ssrr exists drop",
	  { IS_IP4, OPTION(IPOPT_SSRR), EQ(1, BYTES(1)), DROP } },
	{ OUT,
	  "exthdr rt exists drop",
	  { IS_IP6, EXTHDR(IP6_ROUTING), EQ(1, BYTES(1)), DROP } },
	/* Replies to what came in by the chain `in`, and to nothing else: a
	 * datagram over lo from a foreign address makes a flow as well, and so
	 * do the refusals below, whose reply would be sent to that address. */
	{ OUT,
	  "ct direction reply ct mark 0x7fff0002 accept",
	  { CT(NFT_CT_DIRECTION), EQ(1, BYTES(DIRECTION_REPLY)),
	    CT(NFT_CT_MARK), EQ(4, HOST32(MARK_LISTENER)), ACCEPT } },
	{ OUT,
	  "ct state established meta l4proto tcp "
	  "tcp flags & (fin|syn|rst|ack) != syn ct mark @live accept",
	  { CT_STATE(STATE_ESTABLISHED), IS_TCP, PAYLOAD(TH, 13, 1),
	    MASK(1, BYTES(TCP_FIN_SYN_RST_ACK)), NEQ(1, BYTES(TCP_SYN_ONLY)),
	    CT(NFT_CT_MARK), IN_SET(SET_LIVE), ACCEPT } },
	{ OUT,
	  "meta mark 0x7fff0001 "
	  "meta l4proto . ip daddr . th dport @upstream4 "
	  "ct mark set meta mark accept",
	  { MARK_IS(MARK_RESOLVER), IS_IP4, META(NFT_META_L4PROTO),
	    PAYLOAD_TO(R2, NH, 16, 4), PAYLOAD_TO(R3, TH, 2, 2),
	    IN_SET(SET_UPSTREAM4), META(NFT_META_MARK), CT_SET(NFT_CT_MARK),
	    ACCEPT } },
	{ OUT,
	  "meta mark 0x7fff0001 "
	  "meta l4proto . ip6 daddr . th dport @upstream6 "
	  "ct mark set meta mark accept",
	  { MARK_IS(MARK_RESOLVER), IS_IP6, META(NFT_META_L4PROTO),
	    PAYLOAD_TO(R2, NH, 24, 16), PAYLOAD_TO(R6, TH, 2, 2),
	    IN_SET(SET_UPSTREAM6), META(NFT_META_MARK), CT_SET(NFT_CT_MARK),
	    ACCEPT } },
	{ OUT,
	  "meta mark . meta l4proto . ip daddr . th dport @allow4 "
	  "ct mark set meta mark accept",
	  { IS_IP4, META(NFT_META_MARK), META_TO(R2, NFT_META_L4PROTO),
	    PAYLOAD_TO(R3, NH, 16, 4), PAYLOAD_TO(R4, TH, 2, 2),
	    IN_SET(SET_ALLOW4), META(NFT_META_MARK), CT_SET(NFT_CT_MARK),
	    ACCEPT } },
	{ OUT,
	  "meta mark . meta l4proto . ip6 daddr . th dport @allow6 "
	  "ct mark set meta mark accept",
	  { IS_IP6, META(NFT_META_MARK), META_TO(R2, NFT_META_L4PROTO),
	    PAYLOAD_TO(R3, NH, 24, 16), PAYLOAD_TO(R7, TH, 2, 2),
	    IN_SET(SET_ALLOW6), META(NFT_META_MARK), CT_SET(NFT_CT_MARK),
	    ACCEPT } },
	{ OUT,
	  "icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } "
	  "ip6 hoplimit 255 accept",
	  { IS_IP6, IS_ICMP6, PAYLOAD(TH, 0, 1),
	    ONE_OF(TYPE_ICMP6_TYPE, 2,
		   BYTES(ND_NEIGHBOR_SOLICIT, ND_NEIGHBOR_ADVERT)),
	    PAYLOAD(NH, 7, 1), EQ(1, BYTES(255)), ACCEPT } },
	{ OUT,
	  "counter log group 5",
	  { COUNTER, LOG(RULESET_LOG_GROUP) } },
	{ OUT,
	  "meta l4proto tcp reject with tcp reset",
	  { IS_TCP, REJECT(NFT_REJECT_TCP_RST, 0) } },
	{ OUT,
	  "reject with icmpx admin-prohibited",
	  { REJECT(NFT_REJECT_ICMPX_UNREACH,
		   NFT_REJECT_ICMPX_ADMIN_PROHIBITED) } },

	{ IN,
	  "iif \"lo\" accept",
	  { META(NFT_META_IIF), EQ(4, HOST32(LO_INDEX)), ACCEPT } },
	{ IN,
	  "ct state established,related ct mark != 0x00000000 accept",
	  { CT_STATE(STATE_ESTABLISHED | STATE_RELATED), CT(NFT_CT_MARK),
	    NEQ(4, HOST32(0)), ACCEPT } },
	{ IN,
	  "ct state new meta l4proto { tcp, udp } socket mark 0x7fff0002 "
	  "ct mark set socket mark accept",
	  { CT_STATE(STATE_NEW), IS_TCP_UDP, SOCKET(NFT_SOCKET_MARK),
	    EQ(4, HOST32(MARK_LISTENER)), SOCKET(NFT_SOCKET_MARK),
	    CT_SET(NFT_CT_MARK), ACCEPT } },
	{ IN,
	  "icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert, "
	  "nd-router-advert } ip6 hoplimit 255 accept",
	  { IS_IP6, IS_ICMP6, PAYLOAD(TH, 0, 1),
	    ONE_OF(TYPE_ICMP6_TYPE, 3,
		   BYTES(ND_NEIGHBOR_SOLICIT, ND_NEIGHBOR_ADVERT,
			 ND_ROUTER_ADVERT)),
	    PAYLOAD(NH, 7, 1), EQ(1, BYTES(255)), ACCEPT } },

	{ POST,
	  "oifname != \"lo\" ip daddr 127.0.0.0/8 drop",
	  { META(NFT_META_OIFNAME), NEQ(16, NAME_LO), IS_IP4,
	    PAYLOAD(NH, 16, 1), EQ(1, BYTES(127)), DROP } },
	{ POST,
	  "oifname != \"lo\" ip6 daddr ::1 drop",
	  { META(NFT_META_OIFNAME), NEQ(16, NAME_LO), IS_IP6,
	    PAYLOAD(NH, 24, 16), EQ(16, LO6), DROP } },

	{ NATOUT,
	  "meta mark 0x7fff0001 accept",
	  { MARK_IS(MARK_RESOLVER), ACCEPT } },
	{ NATOUT,
	  "meta l4proto { tcp, udp } th dport 53 redirect to :$RESOLVER",
	  { IS_TCP_UDP, PAYLOAD(TH, 2, 2), EQ(2, BYTES(0, 53)),
	    REDIRECT_TO_RESOLVER } },
};

const char *ruleset_set_name(enum ruleset_set set)
{
	assert((unsigned int)set < SET_N);
	return sets[set].name;
}

static void put_u32(struct nlmsghdr *h, uint16_t type, uint32_t v)
{
	mnl_attr_put_u32(h, type, htonl(v));
}

static void put_table(struct batch *b, uint16_t type, uint16_t flags)
{
	struct nlmsghdr *h = batch_message(b, type, flags);

	mnl_attr_put_strz(h, NFTA_TABLE_NAME, RULESET_TABLE);
	batch_end_message(b, h);
}

static void put_set(struct batch *b, const struct set_row *s, uint32_t id)
{
	struct nlmsghdr *h = batch_message(b, NFT_MSG_NEWSET, NLM_F_CREATE);
	/* for nft(8) alone: {key byte order, 4 bytes, host's} */
	static const uint8_t host_order[] = { 0, 4, 1, 0, 0, 0 };
	struct nlattr *desc;

	mnl_attr_put_strz(h, NFTA_SET_TABLE, RULESET_TABLE);
	mnl_attr_put_strz(h, NFTA_SET_NAME, s->name);
	put_u32(h, NFTA_SET_FLAGS, s->flags);
	put_u32(h, NFTA_SET_KEY_TYPE, s->key_type);
	put_u32(h, NFTA_SET_KEY_LEN, s->key_bytes);
	put_u32(h, NFTA_SET_ID, id);
	if (s->key_type == TYPE_MARK)
		mnl_attr_put(h, NFTA_SET_USERDATA, sizeof(host_order),
			     host_order);
	if (s->size) {
		desc = mnl_attr_nest_start(h, NFTA_SET_DESC);
		put_u32(h, NFTA_SET_DESC_SIZE, s->size);
		mnl_attr_nest_end(h, desc);
	}
	batch_end_message(b, h);
}

/* The set of an EXPR_ONE_OF, and its elements. */
static void put_anonymous(struct batch *b, const struct expr *e, uint32_t id)
{
	const struct set_row row = {
		.name = "__set%d",
		.key_type = e->a,
		.key_bytes = 1,
		.flags = NFT_SET_ANONYMOUS | NFT_SET_CONSTANT,
		.size = e->len,
	};
	struct nlattr *list, *elem, *key;
	struct nlmsghdr *h;

	put_set(b, &row, id);
	h = batch_message(b, NFT_MSG_NEWSETELEM, NLM_F_CREATE);
	mnl_attr_put_strz(h, NFTA_SET_ELEM_LIST_TABLE, RULESET_TABLE);
	mnl_attr_put_strz(h, NFTA_SET_ELEM_LIST_SET, row.name);
	put_u32(h, NFTA_SET_ELEM_LIST_SET_ID, id);
	list = mnl_attr_nest_start(h, NFTA_SET_ELEM_LIST_ELEMENTS);
	for (uint32_t i = 0; i < e->len; i++) {
		elem = mnl_attr_nest_start(h, NFTA_LIST_ELEM);
		key = mnl_attr_nest_start(h, NFTA_SET_ELEM_KEY);
		mnl_attr_put(h, NFTA_DATA_VALUE, 1, e->data + i);
		mnl_attr_nest_end(h, key);
		mnl_attr_nest_end(h, elem);
	}
	mnl_attr_nest_end(h, list);
	batch_end_message(b, h);
}

static void put_chain(struct batch *b, const struct chain_row *c)
{
	struct nlmsghdr *h = batch_message(b, NFT_MSG_NEWCHAIN, NLM_F_CREATE);
	struct nlattr *hook;

	mnl_attr_put_strz(h, NFTA_CHAIN_TABLE, RULESET_TABLE);
	mnl_attr_put_strz(h, NFTA_CHAIN_NAME, c->name);
	mnl_attr_put_strz(h, NFTA_CHAIN_TYPE, c->type);
	put_u32(h, NFTA_CHAIN_POLICY, c->policy);
	hook = mnl_attr_nest_start(h, NFTA_CHAIN_HOOK);
	put_u32(h, NFTA_HOOK_HOOKNUM, c->hook);
	put_u32(h, NFTA_HOOK_PRIORITY, (uint32_t)c->priority);
	mnl_attr_nest_end(h, hook);
	batch_end_message(b, h);
}

static void put_rule(struct batch *b, const struct rule *r,
		     const struct ruleset_config *config, uint32_t *set_id)
{
	uint32_t first_id = *set_id;
	struct nlmsghdr *h;
	struct nlattr *list;

	for (unsigned int i = 0; i < EXPRS_MAX; i++)
		if (r->expr[i].op == EXPR_ONE_OF)
			put_anonymous(b, &r->expr[i], (*set_id)++);
	assert(*set_id - first_id <= 1); /* or each needs its own id below */

	h = batch_message(b, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND);
	mnl_attr_put_strz(h, NFTA_RULE_TABLE, RULESET_TABLE);
	mnl_attr_put_strz(h, NFTA_RULE_CHAIN, chains[r->chain].name);
	list = mnl_attr_nest_start(h, NFTA_RULE_EXPRESSIONS);
	for (unsigned int i = 0; i < EXPRS_MAX && r->expr[i].op; i++)
		expr_put(h, &r->expr[i], config, first_id);
	mnl_attr_nest_end(h, list);
	batch_end_message(b, h);
}

int ruleset_load(struct netlink *nl, const struct ruleset_config *config,
		 struct err *err)
{
	static char buf[32768] __attribute__((aligned(NLMSG_ALIGNTO)));
	uint32_t set_id = SET_N + 1;
	struct batch b;

	batch_begin(&b, nl, buf, sizeof(buf));
	/* deleting needs it to exist; so does a first load */
	put_table(&b, NFT_MSG_NEWTABLE, NLM_F_CREATE);
	put_table(&b, NFT_MSG_DELTABLE, 0);
	put_table(&b, NFT_MSG_NEWTABLE, NLM_F_CREATE);
	for (unsigned int i = 0; i < SET_N; i++)
		put_set(&b, &sets[i], i + 1);
	for (unsigned int i = 0; i < CHAIN_N; i++)
		put_chain(&b, &chains[i]);
	for (unsigned int i = 0; i < N_ELEMENTS(rules); i++)
		put_rule(&b, &rules[i], config, &set_id);
	return batch_commit(&b, "load the nftables table", err);
}

int ruleset_delete(struct netlink *nl, struct err *err)
{
	char buf[8192] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct batch b;

	batch_begin(&b, nl, buf, sizeof(buf));
	put_table(&b, NFT_MSG_NEWTABLE, NLM_F_CREATE);
	put_table(&b, NFT_MSG_DELTABLE, 0);
	return batch_commit(&b, "delete the nftables table", err);
}

static void add_rule_text(struct strbuf *sb, const char *text, uint16_t port)
{
	static const char var[] = "$RESOLVER";
	const char *at = strstr(text, var);

	strbuf_adds(sb, "\t\t");
	if (at) {
		strbuf_add(sb, text, (size_t)(at - text));
		strbuf_addf(sb, "%u%s", port, at + sizeof(var) - 1);
	} else {
		strbuf_adds(sb, text);
	}
	strbuf_addc(sb, '\n');
}

void ruleset_text(const struct ruleset_config *config, struct strbuf *sb)
{
	strbuf_adds(sb, "table inet " RULESET_TABLE " {\n");
	for (unsigned int i = 0; i < SET_N; i++) {
		strbuf_addf(sb, "\tset %s {\n\t\ttype %s\n", sets[i].name,
			    sets[i].type);
		if (sets[i].size)
			strbuf_addf(sb, "\t\tsize %u\n", sets[i].size);
		if (sets[i].flags)
			strbuf_adds(sb, "\t\tflags timeout\n");
		strbuf_adds(sb, "\t}\n");
	}
	for (uint8_t c = 0; c < CHAIN_N; c++) {
		strbuf_addf(sb, "\tchain %s {\n\t\t%s\n", chains[c].name,
			    chains[c].text);
		for (unsigned int i = 0; i < N_ELEMENTS(rules); i++)
			if (rules[i].chain == c)
				add_rule_text(sb, rules[i].text,
					      config->resolver_port);
		strbuf_adds(sb, "\t}\n");
	}
	strbuf_adds(sb, "}\n");
}
