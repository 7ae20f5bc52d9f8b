/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forget every flow of the namespace. Done once, after the table is loaded: a
 * flow that began before it would be `established` and pass `in`.
 */
#ifndef OSH_SHIM_NFT_CONNTRACK_H
#define OSH_SHIM_NFT_CONNTRACK_H

struct err;
struct netlink;

/* @nl is of NETLINK_NETFILTER. */
int conntrack_flush(struct netlink *nl, struct err *err);

#endif
