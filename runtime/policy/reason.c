/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/policy/reason.h"

static const char *const names[] = {
	[REASON_ALLOWED] = "allowed",
	[REASON_HOST_NOT_IN_ALLOWLIST] = "host-not-in-allowlist",
	[REASON_PORT_NOT_ALLOWED] = "port-not-allowed",
	[REASON_BINARY_NOT_ALLOWED] = "binary-not-allowed",
	[REASON_BINARY_CHANGED] = "binary-changed",
	[REASON_BINARY_UNKNOWN] = "binary-unknown",
	[REASON_LITERAL_ADDRESS] = "literal-address",
	[REASON_ADDRESS_NOT_RESOLVED] = "address-not-resolved",
	[REASON_PRIVATE_ADDRESS] = "private-address",
	[REASON_BLOCKED_ADDRESS] = "blocked-address",
	[REASON_BLOCKED_PORT] = "blocked-port",
	[REASON_NAME_NOT_ALLOWED] = "name-not-allowed",
	[REASON_DNS_TYPE] = "dns-type",
	[REASON_DNS_LIMIT] = "dns-limit",
	[REASON_PROTOCOL] = "protocol",
	[REASON_INBOUND_CLOSED] = "inbound-closed",
	[REASON_CEILING] = "ceiling",
	[REASON_SNI_MISMATCH] = "sni-mismatch",
	[REASON_SNI_MISSING] = "sni-missing",
	[REASON_HOST_MISMATCH] = "host-mismatch",
	[REASON_L7_DENY] = "l7-deny",
	[REASON_L7_NOT_ALLOWED] = "l7-not-allowed",
	[REASON_CREDENTIAL_ENDPOINT_MISMATCH] = "credential-endpoint-mismatch",
	[REASON_UNINSPECTED_CREDENTIALS] = "uninspected-credentials",
	[REASON_LIMIT] = "limit",
	[REASON_SHIM_ERROR] = "shim-error",
};
static_assert(N_ELEMENTS(names) == REASON_N, "a name for each reason");

const char *reason_name(enum reason r)
{
	assert((unsigned int)r < REASON_N);
	return names[r];
}

enum reason reason_find(const char *name)
{
	for (unsigned int i = 0; i < REASON_N; i++)
		if (str_eq(names[i], name))
			return (enum reason)i;
	return REASON_N;
}
