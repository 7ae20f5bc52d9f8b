/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the two readers (doc_json.c, doc_yaml.c) build the tree with: limits,
 * duplicate keys and NULs are found here, once. Private to doc/.
 *
 * Each function returns 0, or -EINVAL after a message: then the reader stops.
 */
#ifndef OSH_DOC_BUILD_H
#define OSH_DOC_BUILD_H

#include "runtime/doc/doc.h"

struct doc_build {
	struct arena *arena;
	struct doc_errors *errors;
	struct doc_node *root, *top;
	size_t n_nodes, depth;
	const char *key; /* of the member that comes next */
	struct doc_pos key_pos;
};

/* The next child of the open map is called @text; copied. */
int doc_build_key(struct doc_build *b, const char *text, size_t len,
		  struct doc_pos pos);
int doc_build_scalar(struct doc_build *b, enum doc_kind kind, const char *text,
		     size_t len, struct doc_pos pos);
int doc_build_open(struct doc_build *b, enum doc_kind kind, struct doc_pos pos);
/* Duplicate keys are reported and don't stop the reader. */
void doc_build_close(struct doc_build *b);

/* The position of @data[offset], going on from @pos at @data[from]. */
struct doc_pos doc_advance(struct doc_pos pos, const char *data, size_t from,
			   size_t offset);

/* The readers: @data is valid UTF-8. */
int doc_json(struct doc_build *b, const char *data, size_t len);
int doc_yaml(struct doc_build *b, const char *data, size_t len);

#endif
