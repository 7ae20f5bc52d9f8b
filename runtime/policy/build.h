/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a compiled policy: the counterpart of policy_load(). Used by the
 * compiler and by tests; nothing here knows the language.
 *
 * Elements are added in document order: an entry, then its endpoints (each
 * followed by its ports and addresses) and its binaries, then the next entry.
 * policy_build_finish() derives the indexes and the summary flags, writes the
 * file and loads it, so that what it returns is what policy_load() accepts.
 *
 * Everything is in the caller's arena. Limits are checked at the end.
 */
#ifndef OSH_POLICY_BUILD_H
#define OSH_POLICY_BUILD_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/policy/layout.h"

struct arena;
struct err;
struct sock_filter;

struct policy_vector {
	void *v; /* elements of the section's struct */
	uint32_t n;
};

struct policy_build {
	struct arena *arena; /* borrowed */
	/* Flags that aren't derived, digest of the document, lines, user,
	 * group, middlewares: the caller sets them. */
	struct policy_header header;
	struct policy_vector section[POLICY_SECTION_N];
	uint32_t *interned; /* hash table of string offsets + 1 */
	uint32_t n_slots, n_interned;
};

void policy_build_init(struct policy_build *b, struct arena *a);

/* The reference of @s (copied); the same for the same text. */
uint32_t policy_build_text(struct policy_build *b, const char *s);

/* Begin an entry. Returns its number. */
uint32_t policy_build_entry(struct policy_build *b, const char *key,
			    const char *name, uint32_t line, uint32_t flags);

/*
 * Add an endpoint to the last entry. @host is lower-cased; a literal's address
 * is taken from it. The pointer is good until the next endpoint: set protocol,
 * tls, enforcement, inspect, layer7 there (0 or POLICY_NONE until then).
 */
struct policy_endpoint *policy_build_endpoint(struct policy_build *b,
					      enum policy_host kind,
					      const char *host, uint32_t line,
					      uint32_t column);
/* Of the last endpoint, in any order; a second time is nothing new. */
void policy_build_port(struct policy_build *b, uint16_t port);
/* Of the last endpoint; host bits are cleared. @prefix of the mapped form. */
void policy_build_cidr(struct policy_build *b, const uint8_t address[16],
		       uint32_t prefix, uint32_t line);
/* Of the last entry; the path is shared with other entries. */
void policy_build_binary(struct policy_build *b, const char *path,
			 uint32_t line);

void policy_build_path(struct policy_build *b, const char *path, uint32_t line,
		       uint32_t flags);

/*
 * Trees: add nodes in preorder; a list or map is closed when its members are
 * there. @key is NULL outside of maps. @value as in struct policy_node. The
 * endpoints' trees come in the endpoints' order, the middlewares' last.
 */
uint32_t policy_build_node(struct policy_build *b, enum policy_node_kind kind,
			   const char *key, uint32_t value, uint32_t line,
			   uint32_t column);
void policy_build_node_close(struct policy_build *b, uint32_t node);

/* @insn is copied. */
void policy_build_program(struct policy_build *b, enum policy_program_kind kind,
			  const struct sock_filter *insn, uint32_t n);
void policy_build_warning(struct policy_build *b, const char *text,
			  uint32_t line, uint32_t column);

/*
 * Write the file: *ret_data (aligned, in the arena) of *ret_len bytes. Fails
 * when a limit is exceeded, with policy_load()'s message.
 */
int policy_build_finish(struct policy_build *b, void **ret_data,
			size_t *ret_len, struct err *err);

#endif
