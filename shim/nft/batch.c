/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <string.h>

#include "runtime/base/err.h"
#include "shim/nft/batch.h"
#include "shim/nft/netlink.h"

/* No message of ours is longer: a rule has at most 16 expressions. */
enum { MESSAGE_MAX = 4096 };

static struct nlmsghdr *header(struct batch *b, uint16_t type, uint16_t flags,
			       uint8_t family, uint16_t res_id)
{
	struct nlmsghdr *h;
	struct nfgenmsg *g;

	if (b->size - b->len < MESSAGE_MAX) {
		b->full = true;
		b->len = 0; /* scratch: what is there will not be sent */
	}
	h = mnl_nlmsg_put_header(b->buf + b->len);
	h->nlmsg_type = type;
	h->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
	h->nlmsg_seq = b->nl->seq++;
	g = mnl_nlmsg_put_extra_header(h, sizeof(*g));
	g->nfgen_family = family;
	g->version = NFNETLINK_V0;
	g->res_id = htons(res_id);
	return h;
}

void batch_begin(struct batch *b, struct netlink *nl, char *buf, size_t size)
{
	struct nlmsghdr *h;

	assert(size >= 2 * MESSAGE_MAX);
	*b = (struct batch){ .nl = nl, .buf = buf, .size = size };
	h = header(b, NFNL_MSG_BATCH_BEGIN, 0, AF_UNSPEC,
		   NFNL_SUBSYS_NFTABLES);
	batch_end_message(b, h);
}

struct nlmsghdr *batch_message(struct batch *b, uint16_t type, uint16_t flags)
{
	return header(b, (uint16_t)(NFNL_SUBSYS_NFTABLES << 8 | type), flags,
		      NFPROTO_INET, 0);
}

void batch_end_message(struct batch *b, struct nlmsghdr *h)
{
	assert(h->nlmsg_len <= MESSAGE_MAX);
	b->last = b->len;
	b->len += (h->nlmsg_len + 3u) & ~3u;
}

int batch_commit(struct batch *b, const char *what, struct err *err)
{
	struct nlmsghdr *last, *end;

	if (b->full)
		return err_errno(err, ENOBUFS, "%s", what);
	/* Before Linux 6.10 the end itself is never acknowledged. */
	last = (struct nlmsghdr *)(void *)(b->buf + b->last);
	last->nlmsg_flags |= NLM_F_ACK;
	end = header(b, NFNL_MSG_BATCH_END, 0, AF_UNSPEC,
		     NFNL_SUBSYS_NFTABLES);
	batch_end_message(b, end);
	if (b->full)
		return err_errno(err, ENOBUFS, "%s", what);
	return netlink_talk(b->nl, b->buf, b->len, what, err);
}
