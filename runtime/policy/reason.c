/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/policy/reason.h"

static const struct {
	const char *name, *meaning;
} reasons[] = {
#define REASON(name, code, meaning) [REASON_##name] = {code, meaning},
#include "runtime/policy/reasons.def"
#undef REASON
};
_Static_assert(N_ELEMENTS(reasons) == REASON_N, "one row for each reason");

const char *reason_name(enum reason r)
{
	return (unsigned int)r < REASON_N ? reasons[r].name : "unknown";
}

const char *reason_meaning(enum reason r)
{
	return (unsigned int)r < REASON_N ? reasons[r].meaning : "unknown";
}

enum reason reason_find(const char *name)
{
	size_t i;

	for (i = 0; i < REASON_N; i++)
		if (str_eq(reasons[i].name, name))
			break;
	return (enum reason)i;
}
