/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why something was allowed or refused: the codes of the decision log. Every
 * program that decides or records uses these and no text of its own.
 */
#ifndef OSH_POLICY_REASON_H
#define OSH_POLICY_REASON_H

enum reason {
	REASON_ALLOWED,
	REASON_HOST_NOT_IN_ALLOWLIST,
	REASON_PORT_NOT_ALLOWED,
	REASON_BINARY_NOT_ALLOWED,
	REASON_BINARY_CHANGED,
	REASON_BINARY_UNKNOWN,
	REASON_LITERAL_ADDRESS,
	REASON_ADDRESS_NOT_RESOLVED,
	REASON_PRIVATE_ADDRESS,
	REASON_BLOCKED_ADDRESS,
	REASON_BLOCKED_PORT,
	REASON_NAME_NOT_ALLOWED,
	REASON_DNS_TYPE,
	REASON_DNS_LIMIT,
	REASON_PROTOCOL,
	REASON_INBOUND_CLOSED,
	REASON_CEILING,
	REASON_SNI_MISMATCH,
	REASON_SNI_MISSING,
	REASON_HOST_MISMATCH,
	REASON_L7_DENY,
	REASON_L7_NOT_ALLOWED,
	REASON_CREDENTIAL_ENDPOINT_MISMATCH,
	REASON_UNINSPECTED_CREDENTIALS,
	REASON_LIMIT,
	REASON_SHIM_ERROR,
	REASON_N
};

/* "host-not-in-allowlist"; static storage. */
const char *reason_name(enum reason r);
/* The code of that name, or REASON_N. */
enum reason reason_find(const char *name);

#endif
