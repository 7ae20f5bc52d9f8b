/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records for the decision log. A flood becomes counts: no record is lost,
 * but beyond limit_records they are told as one of each reason a second.
 */
#ifndef OSH_DNS_REPORT_H
#define OSH_DNS_REPORT_H

#include <stdint.h>

#include "runtime/policy/reason.h"
#include "shim/dns/limit.h"
#include "shim/ipc/resolver_proto.h"

struct err;
struct link;

struct report {
	struct limit limit;
	uint64_t flush_ms; /* UINT64_MAX: nothing is held back */
	/* by reason: how many were not told, and the last of them */
	struct resolver_query held[REASON_N];
};

void report_init(struct report *r, uint64_t now_ms);
/* Send @q (op and count are filled in), or count it. Errors: the shim is
 * gone. */
int report_add(struct report *r, struct link *link,
	       const struct resolver_query *q, uint64_t now_ms,
	       struct err *err);
/* Tell what was held back, at its time. */
int report_tick(struct report *r, struct link *link, uint64_t now_ms,
		struct err *err);

#endif
