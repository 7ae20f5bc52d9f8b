/* SPDX-License-Identifier: Apache-2.0 */
/* What the fuzzers of both readers hold a tree to. */
#ifndef OSH_DOC_FUZZ_TREE_H
#define OSH_DOC_FUZZ_TREE_H

#include <assert.h>

#include "runtime/base/arena.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/base/utf8.h"
#include "runtime/doc/errors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void fuzz_node(const struct doc_node *node, unsigned int depth)
{
	char room[64];
	struct strbuf path = STRBUF_FIXED(room);
	const struct doc_node *before = NULL;
	int64_t i;
	uint64_t u;
	size_t n = 0;

	assert(depth <= DOC_DEPTH_MAX);
	assert(node->pos.line && node->pos.col);
	if (node->text)
		assert(strlen(node->text) == node->len &&
		       utf8_valid(node->text, node->len));
	doc_path(&path, node);
	doc_u64(node, &u);
	doc_i64(node, &i);
	doc_for_each (it, node) {
		assert(it->parent == node);
		assert(!it->key == (node->kind == DOC_LIST));
		if (it->key)
			assert(doc_get(node, it->key) == it);
		if (before)
			assert(it->pos.line > before->pos.line ||
			       (it->pos.line == before->pos.line &&
				it->pos.col > before->pos.col));
		before = it;
		fuzz_node(it, depth + 1);
		n++;
	}
	assert(n == node->n);
}

static inline int fuzz_doc(enum doc_format format, const uint8_t *data,
			   size_t size)
{
	own_arena struct arena a = ARENA_INIT;
	struct doc_errors errors;
	const struct doc_node *root;

	doc_errors_init(&errors, &a, "fuzz");
	if (doc_parse(&a, (const char *)data, size, format, &root, &errors) < 0)
		assert(errors.n_errors && !root);
	else
		fuzz_node(root, 0);
	return 0;
}

#endif
