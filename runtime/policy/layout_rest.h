/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiled policy's other elements: filesystem paths, the trees of what
 * is carried for the gateway, BPF programs, warnings. See layout.h.
 */
#ifndef OSH_POLICY_LAYOUT_REST_H
#define OSH_POLICY_LAYOUT_REST_H

#include <stdint.h>

/* policy_path.flags */
enum {
	POLICY_PATH_WRITE = 1u << 0, /* read_write */
	POLICY_PATH_BASELINE = 1u << 1, /* added: only where it exists */
	POLICY_PATH_GPU = 1u << 2, /* added: only with /dev/nvidiactl or
				    * /dev/dxg in the container */
};

struct policy_path {
	uint32_t path;
	uint32_t line; /* 0: baseline */
	uint32_t flags;
};

enum policy_node_kind {
	POLICY_NODE_NULL,
	POLICY_NODE_BOOL, /* value 0 or 1 */
	POLICY_NODE_NUMBER, /* value is a string: its text */
	POLICY_NODE_STRING, /* value is a string */
	POLICY_NODE_LIST, /* value is the number of members */
	POLICY_NODE_MAP, /* the same; members have keys */
	POLICY_NODE_KIND_N
};

/*
 * Preorder: the first member of node i is node i + 1, the next sibling of a
 * node is i + size.
 */
struct policy_node {
	uint32_t kind;
	uint32_t key; /* string; NONE outside maps */
	uint32_t value;
	uint32_t size; /* nodes of this subtree, itself included */
	uint32_t line, column;
};

enum policy_program_kind {
	/* Install with SECCOMP_FILTER_FLAG_NEW_LISTENER: the egress calls are
	 * notified. */
	POLICY_PROGRAM_LISTENER,
	/* The same rules without notifications: for a ceiling, whose filter
	 * is the second (a second listener is EBUSY). */
	POLICY_PROGRAM_PLAIN,
	POLICY_PROGRAM_N
};

struct policy_program {
	uint32_t kind;
	uint32_t first_insn, n_insns;
};

struct policy_warning {
	uint32_t text;
	uint32_t line, column;
};

#endif
