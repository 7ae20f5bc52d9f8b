/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>

#include "runtime/base/arena.h"
#include "runtime/base/strbuf.h"
#include "runtime/doc/build.h"
#include "runtime/doc/errors.h"

static int check_text(struct doc_build *b, const char *text, size_t len,
		      struct doc_pos pos)
{
	if (len && memchr(text, '\0', len)) {
		doc_error(b->errors, pos, "string with a NUL character");
		return -EINVAL;
	}
	return 0;
}

int doc_build_key(struct doc_build *b, const char *text, size_t len,
		  struct doc_pos pos)
{
	assert(b->top && b->top->kind == DOC_MAP && !b->key);
	if (check_text(b, text, len, pos) < 0)
		return -EINVAL;
	b->key = arena_strndup(b->arena, text, len);
	b->key_pos = pos;
	return 0;
}

static struct doc_node *node_new(struct doc_build *b, enum doc_kind kind,
				 struct doc_pos pos)
{
	struct doc_node *node;

	if (++b->n_nodes > DOC_NODES_MAX) {
		doc_error(b->errors, pos, "more than %d values", DOC_NODES_MAX);
		return NULL;
	}
	node = arena_new(b->arena, struct doc_node);
	node->kind = kind;
	node->pos = pos;
	node->parent = b->top;
	if (!b->top) {
		assert(!b->root);
		b->root = node;
		return node;
	}
	if (b->top->kind == DOC_MAP) {
		assert(b->key);
		node->key = b->key;
		node->key_pos = b->key_pos;
		b->key = NULL;
	}
	if (b->top->last)
		b->top->last->next = node;
	else
		b->top->first = node;
	b->top->last = node;
	b->top->n++;
	return node;
}

int doc_build_scalar(struct doc_build *b, enum doc_kind kind, const char *text,
		     size_t len, struct doc_pos pos)
{
	struct doc_node *node;

	if (check_text(b, text, len, pos) < 0)
		return -EINVAL;
	node = node_new(b, kind, pos);
	if (!node)
		return -EINVAL;
	node->text = arena_strndup(b->arena, text, len);
	node->len = len;
	if (kind == DOC_BOOL)
		node->boolean = *text == 't' || *text == 'T';
	return 0;
}

int doc_build_open(struct doc_build *b, enum doc_kind kind, struct doc_pos pos)
{
	struct doc_node *node;

	if (b->depth == DOC_DEPTH_MAX) {
		doc_error(b->errors, pos, "nested more than %d levels deep",
			  DOC_DEPTH_MAX);
		return -EINVAL;
	}
	node = node_new(b, kind, pos);
	if (!node)
		return -EINVAL;
	b->depth++;
	b->top = node;
	return 0;
}

static int by_key(const void *a, const void *b)
{
	const struct doc_node *x = *(const struct doc_node *const *)a;
	const struct doc_node *y = *(const struct doc_node *const *)b;
	int r = strcmp(x->key, y->key);

	if (r)
		return r;
	if (x->key_pos.line != y->key_pos.line)
		return x->key_pos.line < y->key_pos.line ? -1 : 1;
	return x->key_pos.col < y->key_pos.col ? -1 : 1;
}

static void find_duplicates(struct doc_build *b, const struct doc_node *map)
{
	const struct doc_node **v =
		arena_array(b->arena, const struct doc_node *, map->n);
	const struct doc_node *first;
	size_t n = 0;

	doc_for_each (it, map)
		v[n++] = it;
	qsort(v, n, sizeof(*v), by_key);
	first = v[0];
	for (size_t i = 1; i < n; i++) {
		if (!str_eq(v[i]->key, first->key)) {
			first = v[i];
			continue;
		}
		doc_error(b->errors, v[i]->key_pos,
			  "duplicate key \"%s\": first at line %u, column %u",
			  first->key, first->key_pos.line, first->key_pos.col);
	}
}

void doc_build_close(struct doc_build *b)
{
	struct doc_node *node = b->top;

	assert(node && !b->key);
	if (node->kind == DOC_MAP && node->n > 1)
		find_duplicates(b, node);
	b->top = node->parent;
	b->depth--;
}

struct doc_pos doc_advance(struct doc_pos pos, const char *data, size_t from,
			   size_t offset)
{
	for (size_t i = from; i < offset; i++) {
		if (data[i] == '\n') {
			pos.line++;
			pos.col = 1;
		} else if (((unsigned char)data[i] & 0xc0) != 0x80) {
			pos.col++; /* not for continuation bytes */
		}
	}
	return pos;
}
