/* SPDX-License-Identifier: Apache-2.0 */
/* What the resolver did, in the decision log: records of kind dns. */
#ifndef OSH_SHIM_DNSRECORD_H
#define OSH_SHIM_DNSRECORD_H

#include "shim/ipc/resolver_proto.h"

struct sandbox;
struct sandboxes;

/*
 * The addresses in @a are about to be given out (@code 0) or not (a negative
 * errno: no room for them). Returns @code, or what kept the record from being
 * written: then they are not given out either.
 */
int dnsrecord_answer(struct sandboxes *all, struct sandbox *s,
		     const struct resolver_answer *a, int code);

/* A query without addresses: refused, or answered empty. */
void dnsrecord_query(struct sandboxes *all, const struct resolver_query *q);

#endif
