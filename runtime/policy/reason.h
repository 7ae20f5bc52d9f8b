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
const char *reason_code(enum reason r);
/* One clause for people: "no entry of the policy lists this host" */
const char *reason_meaning(enum reason r);
/* REASON_N when @code is none. */
enum reason reason_of_code(const char *code);

#endif
