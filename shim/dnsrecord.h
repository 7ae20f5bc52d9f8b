/* SPDX-License-Identifier: Apache-2.0 */
/* What the resolver did, in the decision log: records of kind dns. */
#ifndef OSH_SHIM_DNSRECORD_H
#define OSH_SHIM_DNSRECORD_H

#include "shim/ipc/resolver_proto.h"

struct askers;
struct sandbox;
struct sandboxes;

/* Where the records' subjects are looked up; all borrowed. */
struct dnsrecord {
	struct sandboxes *sandboxes;
	struct askers *askers;
};

/*
 * The addresses in @a are about to be given out (@code 0) or not (a negative
 * errno: no room for them). Returns @code, or what kept the record from being
 * written: then they are not given out either.
 */
int dnsrecord_answer(const struct dnsrecord *to, struct sandbox *s,
		     const struct resolver_answer *a, int code);

/* A query without addresses: refused, or answered empty. */
void dnsrecord_query(const struct dnsrecord *to,
		     const struct resolver_query *q);

#endif
