/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <endian.h>
#include <linux/netfilter/nf_tables.h>
#include <string.h>

#include "shim/nft/batch.h"
#include "shim/nft/elements.h"

/* An element takes less than 128 bytes, three times; begin, end. */
enum { BUFFER_BYTES = ELEMENTS_MAX * 3 * 256 + 8192 };

static char buffer[BUFFER_BYTES] __attribute__((aligned(NLMSG_ALIGNTO)));

struct key {
	uint8_t b[28];
	size_t n;
};

static void key_add(struct key *k, const void *data, size_t n)
{
	memcpy(k->b + k->n, data, n);
	k->n += (n + 3) & ~(size_t)3; /* each part fills its registers */
}

static struct key key_of(const struct element *e)
{
	uint16_t port = htons(e->port);
	struct key k = { .n = 0 };

	switch (e->set) {
	case SET_ALLOW4:
	case SET_ALLOW6:
		key_add(&k, &e->mark, sizeof(e->mark));
		break;
	case SET_LIVE:
		key_add(&k, &e->mark, sizeof(e->mark));
		return k;
	case SET_UPSTREAM4:
	case SET_UPSTREAM6:
	case SET_N:
		break;
	}
	key_add(&k, &e->proto, sizeof(e->proto));
	if (e->set == SET_ALLOW4 || e->set == SET_UPSTREAM4)
		key_add(&k, e->addr + 12, 4);
	else
		key_add(&k, e->addr, 16);
	key_add(&k, &port, sizeof(port));
	return k;
}

static void put(struct batch *b, uint16_t type, const struct element *e)
{
	struct nlmsghdr *h = batch_message(
		b, type, type == NFT_MSG_NEWSETELEM ? NLM_F_CREATE : 0);
	struct key k = key_of(e);
	struct nlattr *list, *elem, *key;

	mnl_attr_put_strz(h, NFTA_SET_ELEM_LIST_TABLE, RULESET_TABLE);
	mnl_attr_put_strz(h, NFTA_SET_ELEM_LIST_SET, ruleset_set_name(e->set));
	list = mnl_attr_nest_start(h, NFTA_SET_ELEM_LIST_ELEMENTS);
	elem = mnl_attr_nest_start(h, NFTA_LIST_ELEM);
	key = mnl_attr_nest_start(h, NFTA_SET_ELEM_KEY);
	mnl_attr_put(h, NFTA_DATA_VALUE, k.n, k.b);
	mnl_attr_nest_end(h, key);
	if (type == NFT_MSG_NEWSETELEM && e->timeout_ms)
		mnl_attr_put_u64(h, NFTA_SET_ELEM_TIMEOUT,
				 htobe64(e->timeout_ms));
	mnl_attr_nest_end(h, elem);
	mnl_attr_nest_end(h, list);
	batch_end_message(b, h);
}

int elements_put(struct netlink *nl, const struct element *e, size_t n,
		 struct err *err)
{
	struct batch b;

	batch_begin(&b, nl, buffer, sizeof(buffer));
	for (size_t i = 0; i < n; i++) {
		put(&b, NFT_MSG_NEWSETELEM, &e[i]);
		if (!e[i].timeout_ms)
			continue;
		put(&b, NFT_MSG_DELSETELEM, &e[i]);
		put(&b, NFT_MSG_NEWSETELEM, &e[i]);
	}
	return batch_commit(&b, "add to the nftables sets", err);
}

int elements_remove(struct netlink *nl, const struct element *e, size_t n,
		    struct err *err)
{
	struct batch b;

	batch_begin(&b, nl, buffer, sizeof(buffer));
	for (size_t i = 0; i < n; i++) {
		put(&b, NFT_MSG_NEWSETELEM, &e[i]);
		put(&b, NFT_MSG_DELSETELEM, &e[i]);
	}
	return batch_commit(&b, "remove from the nftables sets", err);
}

int elements_replace(struct netlink *nl, enum ruleset_set set,
		     const struct element *e, size_t n, struct err *err)
{
	struct nlmsghdr *h;
	struct batch b;

	batch_begin(&b, nl, buffer, sizeof(buffer));
	/* without a list of elements: all of them */
	h = batch_message(&b, NFT_MSG_DELSETELEM, 0);
	mnl_attr_put_strz(h, NFTA_SET_ELEM_LIST_TABLE, RULESET_TABLE);
	mnl_attr_put_strz(h, NFTA_SET_ELEM_LIST_SET, ruleset_set_name(set));
	batch_end_message(&b, h);
	for (size_t i = 0; i < n; i++)
		put(&b, NFT_MSG_NEWSETELEM, &e[i]);
	return batch_commit(&b, "replace an nftables set", err);
}
