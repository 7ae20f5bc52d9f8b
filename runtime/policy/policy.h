/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiled policy, loaded: a view of bytes that the caller keeps.
 *
 * policy_load() trusts nothing: magic, version, digest, the bounds, order and
 * alignment of every section, every index, every offset and the end of every
 * string are checked once. After that the accessors can't fail, and nothing is
 * ever allocated. The bytes must not change while the view is used: read them
 * into memory or map a sealed memfd, not a file that somebody may write.
 *
 * The digest is for integrity (a torn or foreign file), not for authenticity:
 * who can write the cache is trusted by the file system's permissions.
 */
#ifndef OSH_POLICY_POLICY_H
#define OSH_POLICY_POLICY_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/policy/layout.h"
#include "runtime/policy/limits.h"

struct err;
struct sock_filter;

struct policy {
	const struct policy_header *header; /* borrowed: the whole file */
	const char *strings;
	const struct policy_entry *entry;
	const struct policy_endpoint *endpoint;
	const uint16_t *port;
	const struct policy_cidr *cidr;
	const struct policy_binary *binary;
	const struct policy_binary_ref *binary_ref;
	const struct policy_path *path;
	const uint32_t *by_host, *by_address, *by_glob, *hostless;
	const struct policy_node *node;
	const struct policy_program *program;
	const struct sock_filter *insn;
	const struct policy_warning *warning;
	uint32_t n_strings, n_entries, n_endpoints, n_ports, n_cidrs;
	uint32_t n_binaries, n_binary_refs, n_paths;
	uint32_t n_by_host, n_by_address, n_by_glob, n_hostless;
	uint32_t n_nodes, n_programs, n_insns, n_warnings;
};

/*
 * Check @len bytes at @data (aligned to 8, borrowed as long as *ret_view is
 * used). Errors: EINVAL (not a compiled policy, or damaged), EPROTO (another
 * version: compile it again).
 */
int policy_load(const void *data, size_t len, struct policy *ret_view,
		struct err *err);

/* The text of a string reference; never NULL, "" for POLICY_NONE. */
static inline const char *policy_text(const struct policy *p, uint32_t string)
{
	if (string == POLICY_NONE)
		return "";
	assert(string < p->n_strings);
	return p->strings + string;
}

static inline bool policy_has(const struct policy *p, uint32_t flag)
{
	return (p->header->flags & flag) != 0;
}

/* The name that is reported for endpoint number @endpoint. */
static inline const char *policy_name_of(const struct policy *p,
					 uint32_t endpoint)
{
	return policy_text(p, p->entry[p->endpoint[endpoint].entry].name);
}

/* Does endpoint number @endpoint list @port (host order)? */
bool policy_has_port(const struct policy *p, uint32_t endpoint, uint16_t port);

/*
 * The endpoints whose host is exactly @name, any case (not globs): a run of
 * p->by_host, of which the first is returned in *ret_first. Returns its length.
 */
uint32_t policy_find_host(const struct policy *p, const char *name,
			  uint32_t *ret_first);

/* The same for literal addresses (v4-mapped) in p->by_address. */
uint32_t policy_find_address(const struct policy *p, const uint8_t address[16],
			     uint32_t *ret_first);

/* The program of that kind, or NULL: p->insn + first_insn is its code. */
const struct policy_program *policy_find_program(const struct policy *p,
						 enum policy_program_kind kind);

/* The member @key of map @node (POLICY_NONE is fine), or POLICY_NONE. */
uint32_t policy_node_member(const struct policy *p, uint32_t node,
			    const char *key);

/* Text of the document's digest, "sha256:..." */
enum { POLICY_DIGEST_TEXT = 72 };
void policy_digest_text(const struct policy *p,
			char ret_text[POLICY_DIGEST_TEXT]);

/*
 * The first endpoint that needs inspection, or POLICY_NONE: until there is a
 * gateway, create refuses such a policy.
 */
uint32_t policy_first_inspected(const struct policy *p);

#endif
