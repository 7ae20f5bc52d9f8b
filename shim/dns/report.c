/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "runtime/base/err.h"
#include "shim/dns/link.h"
#include "shim/dns/report.h"

void report_init(struct report *r, uint64_t now_ms)
{
	limit_init(&r->limit, &limit_records, now_ms);
	r->flush_ms = UINT64_MAX;
	for (size_t i = 0; i < REASON_N; i++)
		r->held[i].count = 0;
}

static int tell(struct link *link, const struct resolver_query *q,
		uint32_t count, struct err *err)
{
	union link_msg msg = { .query = *q };

	msg.query.op = RESOLVER_OP_QUERY;
	msg.query.count = count;
	return link_send(link, &msg, err);
}

int report_add(struct report *r, struct link *link,
	       const struct resolver_query *q, uint64_t now_ms,
	       struct err *err)
{
	struct resolver_query *held;
	uint32_t count;

	assert(q->reason < REASON_N);
	if (link_room(link) && limit_take(&r->limit, &limit_records, now_ms))
		return tell(link, q, 1, err);
	held = &r->held[q->reason];
	count = held->count;
	*held = *q;
	held->count = count == UINT32_MAX ? count : count + 1;
	if (r->flush_ms == UINT64_MAX)
		r->flush_ms = now_ms + REPORT_FLUSH_MS;
	return 0;
}

int report_tick(struct report *r, struct link *link, uint64_t now_ms,
		struct err *err)
{
	bool left = false;

	if (r->flush_ms > now_ms)
		return 0;
	for (size_t i = 0; i < REASON_N; i++) {
		int ret;

		if (!r->held[i].count)
			continue;
		if (!link_room(link)) {
			left = true;
			continue;
		}
		ret = tell(link, &r->held[i], r->held[i].count, err);
		if (ret < 0)
			return ret;
		r->held[i].count = 0;
	}
	r->flush_ms = left ? now_ms + REPORT_FLUSH_MS : UINT64_MAX;
	return 0;
}
