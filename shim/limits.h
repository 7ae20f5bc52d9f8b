/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much osh-shim keeps. Every bound has a verdict for when it is reached:
 * a refusal with reason `limit` (or `dns-limit`), never "carry on without".
 */
#ifndef OSH_SHIM_LIMITS_H
#define OSH_SHIM_LIMITS_H

enum {
	/* Connections of create, exec, delete, state: short-lived, one
	 * request at a time. More wait in the listen queue. */
	SHIM_CONNECTIONS_MAX = 16,

	/* Seccomp listeners of all containers: one for each init and each
	 * exec that still lives. Health checks run one exec after another. */
	SHIM_LISTENERS_MAX = 512,

	/* Names that the resolver gave addresses out for, and (name, address)
	 * pairs. A package mirror's name leads to a dozen addresses; thousands
	 * of names come from a wildcard only, and then from an attacker. */
	SHIM_NAMES_MAX = 4096,
	SHIM_NAME_ADDRS_MAX = 16384,
	/* Names that one address is looked up for: content networks put
	 * hundreds of names on one address; the newest of them decide. */
	SHIM_NAMES_PER_ADDR = 64,

	/* How long an answer holds: its TTL, at least the first (a client
	 * that got TTL 0 still has to connect), at most the second, plus the
	 * slack for clients that keep an address a little too long. */
	SHIM_TTL_MIN_S = 60,
	SHIM_TTL_MAX_S = 3600,
	SHIM_TTL_SLACK_S = 60,

	/* (mark, address, port) that the kernel's sets hold. Connections that
	 * are established don't need theirs any more. */
	SHIM_GRANTS_MAX = 16384,
	/* Twice that: expired elements count until the kernel collects them. */
	SHIM_SET_SIZE = 2 * SHIM_GRANTS_MAX,
	/* An element has to outlive the handshake: TCP gives up after 127 s
	 * (tcp_syn_retries 6). One with less left than the first is refreshed
	 * before a connect, for the second at least. It may outlive the DNS
	 * answer: only sockets that a decision marked can use it. */
	SHIM_GRANT_FRESH_S = 130,
	SHIM_GRANT_MIN_S = 300,

	/* Executables whose content was hashed, for all containers. */
	SHIM_HASHES_MAX = 512,
	/* The largest that is hashed (a node or a chrome has 200 MB). */
	SHIM_HASH_BYTES_MAX = 1 << 30,
	/* Executables pinned by path: they matched a glob, or did not exist at
	 * create. Of one container. */
	SHIM_PINS_MAX = 256,
	/* OpenShell's bound on the walk to the container's init. */
	SHIM_ANCESTORS_MAX = 64,
	/* PATH_MAX; a longer path is no identity. */
	SHIM_PATH_BYTES = 4096,

	/* For the log alone, a file up to this size is hashed: 0.1 s. */
	SHIM_HASH_LOG_BYTES_MAX = 32 << 20,

	/* NFLOG packets taken before the notifications have their turn. */
	SHIM_NFLOG_BATCH = 32,
	/* And at the end of a container. */
	SHIM_NFLOG_LAST = 1024,

	/* How long the sockets of a container that has ended may go on sending
	 * what its processes left them; what is open then is aborted. A client
	 * that deletes the container does not wait for that. */
	SHIM_DRAIN_MS = 10000,

	/* Records alike within this time become one with a count. */
	SHIM_LOG_WINDOW_MS = 1000,
	/* Kinds of records that are being counted, of one container; the next
	 * one is written at once. */
	SHIM_LOG_PENDING_MAX = 64,
	SHIM_LOG_FILE_BYTES = 16 << 20,
	SHIM_LOG_FILES_KEPT = 8,
	/* Denials of one container that are recorded one by one: so many at
	 * once, and so many a second after that; beyond, they are counted, and
	 * a record each second says how many. Whoever wants the log's older
	 * files rotated away (9 of 16 MB) needs five hours of trying. */
	SHIM_LOG_BURST = 500,
	SHIM_LOG_PER_SECOND = 20,

	/* A resolver that dies is started again this often within the time. */
	SHIM_RESOLVER_STARTS_MAX = 5,
	SHIM_RESOLVER_WINDOW_S = 60,
	/* From POLICY_ADD to POLICY_DONE, and from the start to READY. */
	SHIM_RESOLVER_TIMEOUT_MS = 5000,
};

#endif
