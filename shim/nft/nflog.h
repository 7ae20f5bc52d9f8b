/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the table dropped, as the kernel tells it (NFLOG). Of the packet only
 * fixed places are read: addresses, protocol, ports.
 */
#ifndef OSH_SHIM_NFT_NFLOG_H
#define OSH_SHIM_NFT_NFLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct netlink;

struct nflog_packet {
	uint8_t src[16], dst[16]; /* IPv4 as v4-mapped */
	uint16_t sport, dport;	  /* host order; 0: not known */
	uint8_t proto;
	bool have_uid;
	uint32_t uid, mark;
};

typedef void nflog_fn(void *ctx, const struct nflog_packet *p);

/* Open a socket of its own and bind it to @group. */
int nflog_open(struct netlink *nl, uint16_t group, struct err *err);

/*
 * Take up to @max waiting packets and call @fn for each. What could not be
 * read counts in *ret_lost (the kernel's queue overran, or it was no packet):
 * a number to report, not an error.
 */
void nflog_read(struct netlink *nl, unsigned int max, nflog_fn *fn, void *ctx,
		uint64_t *ret_lost);

/* The IP packet at @data; false when it is too short or no IP. */
bool nflog_parse(const uint8_t *data, size_t n, struct nflog_packet *ret);

#endif
