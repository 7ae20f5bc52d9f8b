/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much a policy may hold. Reaching a limit is a compile error that names
 * the line; the loader refuses a file beyond them.
 */
#ifndef OSH_POLICY_LIMITS_H
#define OSH_POLICY_LIMITS_H

enum {
	/* A policy of 10,000 endpoints is about 1.5 MiB compiled. */
	POLICY_FILE_BYTES_MAX = 16 << 20,
	/* The document; annotations are below 256 KiB in Kubernetes, but an
	 * operator's file may list 10,000 endpoints in 1 MiB of YAML. */
	POLICY_DOCUMENT_BYTES_MAX = 4 << 20,

	/* 10,000 are promised; a number fits a part of a firewall mark. */
	POLICY_ENDPOINTS_MAX = 16384,
	/* The short form makes one entry of each of its rows. */
	POLICY_ENTRIES_MAX = 16384,
	/* Globs can't be indexed: every one is tried on every name. */
	POLICY_HOST_GLOBS_MAX = 1024,
	/* The same for endpoints that have allowed_ips and no host. */
	POLICY_HOSTLESS_MAX = 256,
	/* Each is resolved at create and keeps one bit for each process. */
	POLICY_BINARIES_MAX = 4096,
	POLICY_BINARY_REFS_MAX = 65536,
	POLICY_PORTS_MAX = 262144,
	POLICY_PORTS_PER_ENDPOINT_MAX = 4096,
	POLICY_CIDRS_MAX = 65536,

	/* OpenShell's: filesystem paths in total, and their length. */
	POLICY_PATHS_MAX = 256,
	POLICY_PATH_BYTES_MAX = 4096,
	/* OpenShell's paths of its own, which come on top. */
	POLICY_BASELINE_PATHS_MAX = 64,

	/* RFC 1035 2.3.4: 255 octets on the wire are 253 characters. */
	POLICY_HOST_BYTES_MAX = 253,
	/* A glob's matcher holds two bits a byte, on the stack. */
	POLICY_GLOB_BYTES_MAX = 1024,

	/* Layer 7 rules and middlewares, carried as a tree. */
	POLICY_NODES_MAX = 524288,
	POLICY_NODE_DEPTH_MAX = 24,

	POLICY_WARNINGS_MAX = 4096,
	POLICY_PROGRAMS_MAX = 4,
	/* BPF_MAXINSNS (linux/bpf_common.h) */
	POLICY_INSNS_MAX = 4096,

	/* OpenShell's: network_middlewares and their selector patterns. */
	POLICY_MIDDLEWARES_MAX = 10,
	POLICY_SELECTORS_MAX = 32,
};

#endif
