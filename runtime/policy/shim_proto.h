/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What osh-runtime says to osh-shim, and the answers.
 *
 * Transport: a SOCK_SEQPACKET unix socket. One shim serves one network
 * namespace; its socket is SHIMS/COOKIE/sock, where SHIMS is
 * /run/osh-runtime/.shims (rootless: $XDG_RUNTIME_DIR/osh-runtime/.shims) and
 * COOKIE the namespace's SO_NETNS_COOKIE as 16 hex digits (inodes are
 * reused, cookies are not). Both ends are the operator's: the shim refuses a
 * peer whose SO_PEERCRED uid is not its own, and no part of the folder is ever
 * mounted into a container.
 *
 * Each message is one struct, exactly of its size, with exactly its number of
 * descriptors (SCM_RIGHTS); anything else ends the connection. Each request
 * gets one struct shim_reply. A connection that ends after ATTACH and before
 * COMMIT takes its container with it: a create that was killed leaves nothing.
 *
 *	create -> ATTACH -> (table in force, resolver answers) OK
 *	       -> BINARIES, then as many BINARY rows as it announced -> OK
 *	       -> RULESETS (0 to 2 descriptors) -> OK
 *	       -> LISTENER (the init's) -> OK
 *	       -> COMMIT -> OK
 *	exec   -> GET_RULESETS -> OK with descriptors
 *	       -> LISTENER -> OK
 *	delete -> DETACH -> OK, and again for as long as STATUS knows ours
 *
 * A shim is started by create with these descriptors and nothing else open:
 *	0,1,2	/dev/null
 *	3	the listening socket, bound by create under the lock
 *	4	the network namespace
 *	5	/proc (O_PATH directory of create's pid namespace)
 *	6	the folder SHIMS/COOKIE, a descriptor that flock(2) takes
 *	7	osh-resolver, open for fexecve
 * Its end: with the last container gone it takes flock(LOCK_EX | LOCK_NB) on 6.
 * A create holds that lock from before it connects until ATTACH was answered,
 * so whoever gets it knows that nobody is on the way; then the shim deletes
 * the table, removes sock and the folder (unlinkat(6, "../COOKIE",
 * AT_REMOVEDIR)) and exits. Where the lock is taken, it tries again later.
 *
 * It answers ATTACH only when the table is loaded; it double-forks nothing
 * itself (create has done that), and it closes 4 after opening its sockets.
 */
#ifndef OSH_POLICY_SHIM_PROTO_H
#define OSH_POLICY_SHIM_PROTO_H

#include <netinet/in.h>
#include <stdint.h>

#include "runtime/base/err.h"

enum {
	SHIM_PROTO_VERSION = 1,
	SHIM_FD_LISTEN = 3,
	SHIM_FD_NETNS = 4,
	SHIM_FD_PROC = 5,
	SHIM_FD_DIR = 6,
	SHIM_FD_RESOLVER = 7,

	SHIM_ID_BYTES = 256,	/* container id with its NUL */
	SHIM_TEXT_BYTES = 256,	/* source of the policy, for the log */
	SHIM_UPSTREAMS_MAX = 8, /* glibc reads 3; docker writes up to 8 */
	SHIM_FDS_MAX = 4,
	/* that share a network namespace: a pod of Kubernetes has a handful,
	 * and each costs the resolver a look at its policy for each name */
	SHIM_CONTAINERS_MAX = 32,
};

enum shim_op {
	SHIM_OP_ATTACH = 1,   /* fds: policy, log folder[, ceiling] */
	SHIM_OP_BINARIES,     /* announces n rows */
	SHIM_OP_BINARY,	      /* one resolved binary, no reply of its own
			       * except the last's */
	SHIM_OP_RULESETS,     /* fds: Landlock rulesets to keep, 0 to 2 */
	SHIM_OP_GET_RULESETS, /* the reply carries them */
	SHIM_OP_LISTENER,     /* fd: a seccomp listener */
	SHIM_OP_COMMIT,	      /* create is done: outlive this connection */
	SHIM_OP_DETACH,	      /* forget it, now that its tasks have ended */
	SHIM_OP_STATUS,
	SHIM_OP_N
};

enum shim_inbound {
	SHIM_INBOUND_LISTENING, /* new flows to sockets that listen */
	SHIM_INBOUND_NONE,
};

enum shim_on_death {
	SHIM_ON_DEATH_KEEP,
	SHIM_ON_DEATH_KILL,
};

/* A nameserver, IPv4 as v4-mapped. */
struct shim_upstream {
	uint8_t addr[16];
	uint16_t port; /* host order */
	uint16_t scope_unused;
	uint32_t scope_id;
};

struct shim_attach {
	uint32_t op, version;
	char id[SHIM_ID_BYTES];
	char source[SHIM_TEXT_BYTES]; /* "annotation", "/etc/...", ... */
	uint8_t inbound;	      /* enum shim_inbound */
	uint8_t on_death;	      /* enum shim_on_death */
	uint8_t deny_all;	      /* no policy: refuse and log everything;
				       * the policy descriptor is then that of
				       * an empty compiled policy */
	uint8_t n_upstreams;
	struct shim_upstream upstream[SHIM_UPSTREAMS_MAX];
	uint64_t log_max_bytes; /* rotate beyond; 0: the default */
};

struct shim_binaries {
	uint32_t op;
	uint32_t n;
	char id[SHIM_ID_BYTES];
	int32_t init_pid; /* in create's pid namespace: ancestors end there */
	uint32_t unused;
};

/* One row: policy binary number @binary (policy.h) is this file. */
struct shim_binary {
	uint32_t op;
	uint32_t binary;
	uint32_t ceiling; /* 1: of the ceiling's list */
	uint32_t unused;
	uint64_t dev, ino;
	/* As create found it; all 0: not told. */
	uint64_t size;
	int64_t mtime_ns, ctime_ns;
};

/* RULESETS, GET_RULESETS, LISTENER, COMMIT, DETACH, STATUS */
struct shim_request {
	uint32_t op;
	int32_t pid; /* LISTENER: the process that installed it */
	char id[SHIM_ID_BYTES];
};

struct shim_reply {
	uint32_t op;	  /* of the request */
	uint32_t n_fds;	  /* GET_RULESETS */
	uint32_t resolver_alive; /* STATUS */
	uint32_t n_listeners;	 /* STATUS: of this container; DETACH:
				  * containers that the shim still serves */
	uint64_t n_records;	 /* STATUS: decision log's last seq */
	uint64_t n_allowed, n_denied;
	struct err err; /* code 0: it was done */
};

#endif
