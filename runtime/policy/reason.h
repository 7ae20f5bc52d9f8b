/* SPDX-License-Identifier: Apache-2.0 */
/* The decision log's reason codes (reasons.def). */
#ifndef OSH_POLICY_REASON_H
#define OSH_POLICY_REASON_H

enum reason {
#define REASON(name, code, meaning) REASON_##name,
#include "runtime/policy/reasons.def"
#undef REASON
	REASON_N
};

/* "host-not-in-allowlist" */
const char *reason_name(enum reason r);
/* One clause for people: "no entry of the policy lists this host" */
const char *reason_meaning(enum reason r);
/* REASON_N when @name is none of them. */
enum reason reason_find(const char *name);

#endif
