/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiled policy's elements for the network: entries (the members of
 * network_policies), their endpoints and their binaries. See layout.h.
 */
#ifndef OSH_POLICY_LAYOUT_NET_H
#define OSH_POLICY_LAYOUT_NET_H

#include <stdint.h>

/* No index, no string. */
#define POLICY_NONE UINT32_MAX

enum {
	/* The short form without `binaries`: any binary may. Without this
	 * flag, an entry that names no binary allows none. */
	POLICY_ENTRY_ANY_BINARY = 1u << 0,
};

struct policy_entry {
	uint32_t key; /* of the map; the short form: "network.allow[N]" */
	uint32_t name; /* what is reported; the key when not given */
	uint32_t line;
	uint32_t flags;
	uint32_t first_endpoint, n_endpoints;
	uint32_t first_binary, n_binaries; /* POLICY_BINARY_REFS */
};

enum policy_host {
	POLICY_HOST_NONE, /* allowed_ips only */
	POLICY_HOST_EXACT, /* lower case */
	POLICY_HOST_GLOB, /* lower case */
	POLICY_HOST_LITERAL, /* an address */
	POLICY_HOST_N
};

enum policy_protocol {
	POLICY_PROTO_NONE, /* not written: layer 4 */
	POLICY_PROTO_TCP,
	POLICY_PROTO_REST,
	POLICY_PROTO_WEBSOCKET,
	POLICY_PROTO_GRAPHQL,
	POLICY_PROTO_SQL,
	POLICY_PROTO_JSON_RPC,
	POLICY_PROTO_MCP,
	POLICY_PROTO_N
};

enum policy_tls {
	POLICY_TLS_AUTO, /* not written */
	POLICY_TLS_SKIP,
	POLICY_TLS_TERMINATE,
	POLICY_TLS_PASSTHROUGH, /* OpenShell's older word for AUTO */
	POLICY_TLS_N
};

enum policy_enforcement { POLICY_AUDIT, POLICY_ENFORCE, POLICY_ENFORCEMENT_N };

struct policy_endpoint {
	uint32_t entry;
	uint32_t host; /* string; "" without one */
	uint8_t host_kind, protocol, tls, enforcement;
	uint32_t first_port, n_ports;
	uint32_t first_cidr, n_cidrs; /* allowed_ips */
	uint8_t literal[16]; /* v4-mapped; zero unless a literal */
	uint32_t inspect; /* string: why the gateway must see it, or NONE */
	uint32_t layer7; /* node with all its L7 fields, or NONE */
	uint32_t line, column;
};

/* IPv4 as v4-mapped: the prefix then counts from the mapped form's start. */
struct policy_cidr {
	uint8_t address[16]; /* host bits zero */
	uint32_t prefix; /* 0 to 128 */
	uint32_t line;
};

struct policy_binary {
	uint32_t path; /* as written */
	uint32_t glob; /* 1: a glob */
};

struct policy_binary_ref {
	uint32_t binary;
	uint32_t line;
};

#endif
