/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One document tree for JSON (RFC 8259) and YAML, with the position of every
 * node.
 *
 * What a tree never holds, because the readers refuse it: duplicate keys,
 * strings with NUL, text that is not UTF-8, and in YAML anchors, aliases,
 * tags, merge keys, keys that are not scalars, a second document. Depth, size
 * and number of nodes are bounded by the DOC_*_MAX below.
 *
 * Scalars of YAML follow the core schema of YAML 1.2: a plain true, false,
 * null, ~ or number is that; a quoted or block scalar is always a string; yes,
 * no, on and off are strings. Numbers stay text, so that an u64 is exact and
 * a decoder may take them as a string.
 *
 * Everything lives in the caller's arena and is immutable once parsed.
 */
#ifndef OSH_DOC_DOC_H
#define OSH_DOC_DOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct doc_errors;
struct strbuf;

enum {
	DOC_BYTES_MAX = 16 << 20, /* podman's largest config is 100 KiB */
	DOC_NODES_MAX = 1 << 19, /* 16,000 endpoints with rules: 400,000 */
	DOC_DEPTH_MAX = 48, /* config.json needs 8 */
};

enum doc_kind {
	DOC_NULL,
	DOC_BOOL,
	DOC_NUMBER,
	DOC_STRING,
	DOC_LIST,
	DOC_MAP,
	DOC_N
};

enum doc_format {
	DOC_AUTO, /* JSON when the first character is '{', else YAML */
	DOC_JSON,
	DOC_YAML,
};

/* Counted from 1, columns in characters; 0 means unknown. */
struct doc_pos {
	uint32_t line, col;
};

struct doc_node {
	enum doc_kind kind;
	bool boolean; /* DOC_BOOL */
	struct doc_pos pos, key_pos;
	const char *key; /* member of a map, otherwise NULL */
	const char *text; /* scalars: as written, without quotes or escapes */
	size_t len; /* of @text */
	size_t n; /* DOC_LIST, DOC_MAP: children */
	struct doc_node *parent, *next, *first, *last;
};

#define doc_for_each(it, node) \
	for (const struct doc_node *it = (node)->first; it; it = it->next)

/*
 * Parse the whole of @data. Nodes go to @a, errors to @errors (a syntax error
 * ends the parse; duplicate keys are all reported). Returns 0 or -EINVAL.
 */
int doc_parse(struct arena *a, const char *data, size_t len,
	      enum doc_format format, const struct doc_node **ret_root,
	      struct doc_errors *errors);

/* Member @key of a map, or NULL (also when @map is NULL or no map). */
const struct doc_node *doc_get(const struct doc_node *map, const char *key);

/* "a string", "a map", ...: for messages. */
const char *doc_kind_text(enum doc_kind kind);

/* Where a node is in its document: mounts[3].destination; "" for the root. */
void doc_path(struct strbuf *sb, const struct doc_node *node);

/* Integers of DOC_NUMBER (0x, 0o, 0b as in YAML 1.2); 0, -EINVAL, -ERANGE. */
int doc_u64(const struct doc_node *node, uint64_t *ret);
int doc_i64(const struct doc_node *node, int64_t *ret);

#endif
