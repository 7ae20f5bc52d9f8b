/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiled policy on disk. osh-policy writes it, policy_load() reads it,
 * nobody else looks at these structs without having gone through that.
 *
 *	+----------------------+ 0
 *	| magic                |
 *	| digest               | SHA-256 of every byte after this field
 *	| version, sizes       |
 *	| document digest      | SHA-256 of the document's bytes
 *	| filesystem, process  |
 *	| section table        | for each section: offset, number of elements
 *	+----------------------+ sizeof(struct policy_header)
 *	| section 0            | arrays of the structs below, each at a
 *	| section 1            | multiple of 8, in the order of enum
 *	| ...                  | policy_section, gaps zero
 *	+----------------------+ file_bytes
 *
 * There are no pointers: an element refers to another by its index, to a text
 * by its offset in the section of strings. The file is of the machine that
 * wrote it (byte order, no padding): it is a cache, never an interchange
 * format. Every struct is a multiple of 4 bytes without holes.
 */
#ifndef OSH_POLICY_LAYOUT_H
#define OSH_POLICY_LAYOUT_H

#include <stdint.h>

#include "runtime/policy/layout_net.h"
#include "runtime/policy/layout_rest.h"

#define POLICY_MAGIC "OSHpol\r\n"

enum {
	POLICY_VERSION = 1,
	POLICY_MAGIC_BYTES = 8,
};

/* name, element */
enum policy_section {
	POLICY_STRINGS, /* char: NUL-terminated texts, UTF-8 */
	POLICY_ENTRIES, /* struct policy_entry, in document order */
	POLICY_ENDPOINTS, /* struct policy_endpoint, grouped by entry */
	POLICY_PORTS, /* uint16_t, ascending within an endpoint */
	POLICY_CIDRS, /* struct policy_cidr */
	POLICY_BINARIES, /* struct policy_binary: each path once */
	POLICY_BINARY_REFS, /* struct policy_binary_ref, grouped by entry */
	POLICY_PATHS, /* struct policy_path */
	POLICY_BY_HOST, /* uint32_t endpoints, sorted by exact host */
	POLICY_BY_ADDRESS, /* uint32_t endpoints, sorted by literal */
	POLICY_BY_GLOB, /* uint32_t endpoints whose host is a glob */
	POLICY_HOSTLESS, /* uint32_t endpoints that have no host */
	POLICY_NODES, /* struct policy_node: trees, in preorder */
	POLICY_PROGRAMS, /* struct policy_program */
	POLICY_INSNS, /* struct sock_filter (linux/filter.h) */
	POLICY_WARNINGS, /* struct policy_warning */
	POLICY_SECTION_N
};

struct policy_span {
	uint32_t offset; /* bytes from the start of the file */
	uint32_t n; /* elements */
};

/* header.flags */
enum {
	POLICY_FULL_FORM = 1u << 0, /* OpenShell's, `version: 1` */
	POLICY_FS_PRESENT = 1u << 1, /* filesystem_policy was written */
	POLICY_FS_ENFORCE = 1u << 2, /* build a Landlock ruleset */
	POLICY_FS_WORKDIR = 1u << 3, /* the working directory is rw */
	POLICY_LANDLOCK_HARD = 1u << 4, /* hard_requirement */
	POLICY_HAS_BINARIES = 1u << 5, /* some entry names a binary */
	POLICY_NEEDS_INSPECTION = 1u << 6, /* some endpoint does */
	POLICY_NO_EGRESS = 1u << 7, /* there is no endpoint at all */
};

struct policy_header {
	char magic[POLICY_MAGIC_BYTES];
	uint8_t digest[32]; /* of everything that follows */
	uint32_t version;
	uint32_t header_bytes;
	uint32_t file_bytes;
	uint32_t flags;
	uint8_t document_digest[32];
	/* lines are of the document, 0 where the section is absent */
	uint32_t network_line;
	uint32_t filesystem_line, workdir_line, landlock_line;
	/* strings, POLICY_NONE when absent: "sandbox" or a decimal number */
	uint32_t user, user_line;
	uint32_t group, group_line;
	uint32_t middlewares; /* node, POLICY_NONE when absent */
	uint32_t reserved; /* 0 */
	struct policy_span section[POLICY_SECTION_N];
};

#endif
