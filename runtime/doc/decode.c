/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>

#include "runtime/base/arena.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/doc/decode.h"
#include "runtime/doc/decode_kind.h"
#include "runtime/doc/suggest.h"

/* A list as the decoder sees it: every LIST_OF() has this layout. */
struct any_list {
	void *v;
	size_t n;
};

static bool take_value(struct decode *d, const struct decode_row *row,
		       enum decode_kind kind, const struct doc_node *node,
		       void *at);
static void take_map(struct decode *d, const struct decode_table *t,
		     const struct doc_node *node, char *obj);

static bool expect(struct decode *d, const struct doc_node *node,
		   enum doc_kind kind)
{
	if (node->kind == kind)
		return true;
	doc_error_at(d->errors, node, "expected %s, found %s",
		     doc_kind_text(kind), doc_kind_text(node->kind));
	return false;
}

/* Are the row's range and flags those of the value, not of a list of it? */
static bool is_own(const struct decode_row *row)
{
	return decode_kinds[row->kind].is_leaf;
}

static bool take_bool(struct decode *d, const struct decode_row *row,
		      const struct doc_node *node, void *at)
{
	(void)row;
	if (!expect(d, node, DOC_BOOL))
		return false;
	*(bool *)at = node->boolean;
	return true;
}

static bool take_str(struct decode *d, const struct decode_row *row,
		     const struct doc_node *node, void *at)
{
	bool scalar = node->kind == DOC_BOOL || node->kind == DOC_NUMBER;

	if (!(scalar && (row->flags & DECODE_SCALAR)) &&
	    !expect(d, node, DOC_STRING))
		return false;
	if (is_own(row) && (row->flags & DECODE_NONEMPTY) && !node->len) {
		doc_error_at(d->errors, node, "must not be empty");
		return false;
	}
	if (is_own(row) && row->max && node->len > row->max) {
		doc_error_at(d->errors, node, "longer than %llu bytes",
			     (unsigned long long)row->max);
		return false;
	}
	*(const char **)at = node->text;
	return true;
}

static bool not_integer(struct decode *d, const struct doc_node *node)
{
	if (node->kind == DOC_NUMBER)
		doc_error_at(d->errors, node, "expected an integer, found %s",
			     node->text);
	else
		doc_error_at(d->errors, node, "expected an integer, found %s",
			     doc_kind_text(node->kind));
	return false;
}

static bool take_signed(struct decode *d, const struct decode_row *row,
			const struct doc_node *node, int64_t min, int64_t max,
			int64_t *ret)
{
	int r = doc_i64(node, ret);

	if (is_own(row) && (row->min || row->max)) {
		min = row->min;
		max = (int64_t)row->max;
	}
	if (r == -EINVAL)
		return not_integer(d, node);
	if (r < 0 || *ret < min || *ret > max) {
		doc_error_at(d->errors, node,
			     "%s is out of range (%lld to %lld)", node->text,
			     (long long)min, (long long)max);
		return false;
	}
	return true;
}

static bool take_unsigned(struct decode *d, const struct decode_row *row,
			  const struct doc_node *node, uint64_t max,
			  uint64_t *ret)
{
	uint64_t min = 0;
	int r = doc_u64(node, ret);

	if (is_own(row) && (row->min || row->max)) {
		min = (uint64_t)row->min;
		max = row->max;
	}
	if (r == -EINVAL)
		return not_integer(d, node);
	if (r < 0 || *ret < min || *ret > max) {
		doc_error_at(d->errors, node,
			     "%s is out of range (%llu to %llu)", node->text,
			     (unsigned long long)min, (unsigned long long)max);
		return false;
	}
	return true;
}

static bool take_i32(struct decode *d, const struct decode_row *row,
		     const struct doc_node *node, void *at)
{
	int64_t v;

	if (!take_signed(d, row, node, INT32_MIN, INT32_MAX, &v))
		return false;
	*(int32_t *)at = (int32_t)v;
	return true;
}

static bool take_u32(struct decode *d, const struct decode_row *row,
		     const struct doc_node *node, void *at)
{
	uint64_t v;

	if (!take_unsigned(d, row, node, UINT32_MAX, &v))
		return false;
	*(uint32_t *)at = (uint32_t)v;
	return true;
}

static bool take_i64(struct decode *d, const struct decode_row *row,
		     const struct doc_node *node, void *at)
{
	return take_signed(d, row, node, INT64_MIN, INT64_MAX, at);
}

static bool take_u64(struct decode *d, const struct decode_row *row,
		     const struct doc_node *node, void *at)
{
	return take_unsigned(d, row, node, UINT64_MAX, at);
}

static void unknown_name(struct decode *d, const struct decode_name *names,
			 const struct doc_node *node)
{
	char room[200];
	struct strbuf all = STRBUF_FIXED(room);

	for (; names->name; names++)
		if (*names->name)
			strbuf_addf(&all, "%s%s", all.len ? ", " : "",
				    names->name);
	if (all.cut)
		doc_error_at(d->errors, node, "unknown value \"%s\"",
			     node->text);
	else
		doc_error_at(d->errors, node,
			     "unknown value \"%s\" (one of: %s)", node->text,
			     all.s);
}

static bool take_name(struct decode *d, const struct decode_row *row,
		      const struct doc_node *node, uint64_t *ret)
{
	if (!expect(d, node, DOC_STRING))
		return false;
	if (!decode_value_of(row->names, node->text, ret)) {
		unknown_name(d, row->names, node);
		return false;
	}
	return true;
}

static bool take_enum(struct decode *d, const struct decode_row *row,
		      const struct doc_node *node, void *at)
{
	uint64_t v;

	if (!take_name(d, row, node, &v))
		return false;
	*(uint32_t *)at = (uint32_t)v;
	return true;
}

static bool check_count(struct decode *d, const struct decode_row *row,
			const struct doc_node *node)
{
	if ((row->flags & DECODE_NONEMPTY) && !node->n) {
		doc_error_at(d->errors, node, "must not be empty");
		return false;
	}
	if (row->max && node->n > row->max) {
		doc_error_at(d->errors, node, "more than %llu entries",
			     (unsigned long long)row->max);
		return false;
	}
	return true;
}

static bool take_bits(struct decode *d, const struct decode_row *row,
		      const struct doc_node *node, void *at)
{
	uint64_t all = 0, v;
	bool ok = true;

	if (!expect(d, node, DOC_LIST) || !check_count(d, row, node))
		return false;
	doc_for_each (it, node) {
		if (take_name(d, row, it, &v))
			all |= v;
		else
			ok = false;
	}
	*(uint64_t *)at = all;
	return ok;
}

static bool take_struct(struct decode *d, const struct decode_row *row,
			const struct doc_node *node, void *at)
{
	char *obj = at;

	if (!expect(d, node, DOC_MAP) || !check_count(d, row, node))
		return false;
	if (!(row->flags & DECODE_INLINE)) {
		obj = arena_alloc(d->arena, row->table->size);
		*(void **)at = obj;
	}
	take_map(d, row->table, node, obj);
	return true;
}

static bool take_list(struct decode *d, const struct decode_row *row,
		      const struct doc_node *node, void *at)
{
	size_t size = decode_elem_size(row);
	struct any_list *list = at;
	char *v;
	bool ok = true;

	if (!expect(d, node, DOC_LIST) || !check_count(d, row, node))
		return false;
	/* one more: lists of strings end with a NULL */
	v = arena_calloc(d->arena, node->n + 1, size);
	list->v = v;
	doc_for_each (it, node) {
		if (row->elem != DECODE_STRUCT)
			ok &= take_value(d, row, row->elem, it, v);
		else if (expect(d, it, DOC_MAP))
			take_map(d, row->table, it, v);
		v += size;
	}
	list->n = node->n;
	return ok;
}

static bool take_dict(struct decode *d, const struct decode_row *row,
		      const struct doc_node *node, void *at)
{
	size_t size = decode_elem_size(row);
	struct any_list *list = at;
	char *v;
	bool ok = true;

	if (!expect(d, node, DOC_MAP) || !check_count(d, row, node))
		return false;
	v = arena_calloc(d->arena, node->n, size);
	list->v = v;
	doc_for_each (it, node) {
		*(const char **)(void *)v = it->key;
		if (row->elem == DECODE_STR)
			ok &= take_value(d, row, DECODE_STR, it,
					 v + offsetof(struct pair, value));
		else if (expect(d, it, DOC_MAP))
			take_map(d, row->table, it, v);
		v += size;
	}
	list->n = node->n;
	return ok;
}

static bool take_fn(struct decode *d, const struct decode_row *row,
		    const struct doc_node *node, void *at)
{
	row->fn(d, row, node, at);
	return true;
}

typedef bool take_func(struct decode *d, const struct decode_row *row,
		       const struct doc_node *node, void *at);

static take_func *const takes[] = {
	[DECODE_BOOL] = take_bool,     [DECODE_STR] = take_str,
	[DECODE_I32] = take_i32,       [DECODE_U32] = take_u32,
	[DECODE_I64] = take_i64,       [DECODE_U64] = take_u64,
	[DECODE_ENUM] = take_enum,     [DECODE_BITS] = take_bits,
	[DECODE_STRUCT] = take_struct, [DECODE_LIST] = take_list,
	[DECODE_DICT] = take_dict,     [DECODE_FN] = take_fn,
};
_Static_assert(N_ELEMENTS(takes) == DECODE_N, "each kind is decoded");

static bool take_value(struct decode *d, const struct decode_row *row,
		       enum decode_kind kind, const struct doc_node *node,
		       void *at)
{
	return takes[kind](d, row, node, at);
}

static void take_member(struct decode *d, const struct decode_row *row,
			const struct doc_node *node, char *obj)
{
	char *at = obj + row->offset;

	if (take_value(d, row, row->kind, node, at) &&
	    (row->flags & DECODE_OPT))
		*(bool *)(at + decode_opts[row->kind].set_offset) = true;
}

static const struct decode_row *find_row(const struct decode_table *t,
					 const char *key)
{
	for (size_t i = 0; i < t->n; i++)
		if (str_eq(t->rows[i].key, key))
			return &t->rows[i];
	return NULL;
}

static void unknown_key(struct decode *d, const struct decode_table *t,
			const struct doc_node *node)
{
	const char *near = NULL;
	char room[300];
	struct strbuf path = STRBUF_FIXED(room);

	for (size_t i = 0; i < t->n && !near; i++)
		if (suggest_is_near(node->key, t->rows[i].key))
			near = t->rows[i].key;
	doc_path(&path, node->parent);
	doc_error(d->errors, node->key_pos, "%s%sunknown key \"%s\"%s%s%s",
		  path.s, path.len ? ": " : "", node->key,
		  near ? ", did you mean \"" : "", near ? near : "",
		  near ? "\"?" : "");
}

static bool is_absent(const struct decode_table *t,
		      const struct decode_row *row, const struct doc_node *node)
{
	return !node ||
	       (node->kind == DOC_NULL && ((row->flags & DECODE_NULLABLE) ||
					   (t->flags & DECODE_NULL_ABSENT)));
}

static void check_required(struct decode *d, const struct decode_table *t,
			   const struct doc_node *node)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct decode_row *row = &t->rows[i];

		if ((row->flags & DECODE_REQUIRED) &&
		    is_absent(t, row, doc_get(node, row->key)))
			doc_error_at(d->errors, node, "missing key \"%s\"",
				     row->key);
	}
}

static void take_map(struct decode *d, const struct decode_table *t,
		     const struct doc_node *node, char *obj)
{
	size_t n_before = d->errors->n_errors;

	if (t->node_at)
		*(const struct doc_node **)(void *)(obj + t->node_at - 1) =
			node;
	doc_for_each (it, node) {
		const struct decode_row *row = find_row(t, it->key);

		if (row && !is_absent(t, row, it))
			take_member(d, row, it, obj);
		else if (!row && !(t->flags & DECODE_IGNORE_UNKNOWN))
			unknown_key(d, t, it);
	}
	check_required(d, t, node);
	if (t->check && d->errors->n_errors == n_before)
		t->check(d, node, obj);
}

int decode(struct arena *a, const struct decode_table *table,
	   const struct doc_node *root, void *obj, struct doc_errors *errors)
{
	struct decode d = {.arena = a, .errors = errors};
	size_t n_before = errors->n_errors;

	if (expect(&d, root, DOC_MAP))
		take_map(&d, table, root, obj);
	return errors->n_errors == n_before ? 0 : -EINVAL;
}
