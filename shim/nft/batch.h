/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One nf_tables transaction: messages between a batch's begin and its end,
 * which the kernel carries out all or not at all
 * (linux/netfilter/nfnetlink.h, NFNL_MSG_BATCH_BEGIN).
 */
#ifndef OSH_SHIM_NFT_BATCH_H
#define OSH_SHIM_NFT_BATCH_H

#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct netlink;

struct batch {
	struct netlink *nl; /* borrowed */
	char *buf;	    /* borrowed */
	size_t size, len;
	size_t last; /* where the newest message begins */
	bool full; /* something did not fit: batch_commit() fails */
};

/* @buf of @size bytes is aligned as a netlink message and stays in use. */
void batch_begin(struct batch *b, struct netlink *nl, char *buf, size_t size);

/*
 * Append a message of @type (NFT_MSG_*) for family inet with @flags beyond
 * NLM_F_REQUEST. Attributes are added with libmnl's functions until
 * batch_end_message(). Never NULL: when the batch is full, a scratch message
 * is returned and batch_commit() will fail.
 */
struct nlmsghdr *batch_message(struct batch *b, uint16_t type, uint16_t flags);
void batch_end_message(struct batch *b, struct nlmsghdr *h);

/* Send it. ENOBUFS when it was full; otherwise the kernel's verdict. */
int batch_commit(struct batch *b, const char *what, struct err *err);

#endif
