/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "runtime/base/json.h"
#include "runtime/base/own.h"
#include "runtime/doc/decode_kind.h"

static void put_value(struct json *j, const char *key,
		      const struct decode_row *row, enum decode_kind kind,
		      const void *at);

static void put_bool(struct json *j, const char *key,
		     const struct decode_row *row, const void *at)
{
	(void)row;
	json_bool(j, key, *(const bool *)at);
}

static void put_str(struct json *j, const char *key,
		    const struct decode_row *row, const void *at)
{
	(void)row;
	json_str(j, key, *(const char *const *)at);
}

static void put_i32(struct json *j, const char *key,
		    const struct decode_row *row, const void *at)
{
	(void)row;
	json_i64(j, key, *(const int32_t *)at);
}

static void put_u32(struct json *j, const char *key,
		    const struct decode_row *row, const void *at)
{
	(void)row;
	json_u64(j, key, *(const uint32_t *)at);
}

static void put_i64(struct json *j, const char *key,
		    const struct decode_row *row, const void *at)
{
	(void)row;
	json_i64(j, key, *(const int64_t *)at);
}

static void put_u64(struct json *j, const char *key,
		    const struct decode_row *row, const void *at)
{
	(void)row;
	json_u64(j, key, *(const uint64_t *)at);
}

static void put_enum(struct json *j, const char *key,
		     const struct decode_row *row, const void *at)
{
	const char *name = decode_name_of(row->names, *(const uint32_t *)at);

	assert(name);
	json_str(j, key, name);
}

static void put_bits(struct json *j, const char *key,
		     const struct decode_row *row, const void *at)
{
	uint64_t left = *(const uint64_t *)at;

	json_array(j, key);
	for (const struct decode_name *n = row->names; n->name; n++) {
		if (n->value && (left & n->value) == n->value) {
			json_str(j, NULL, n->name);
			left &= ~n->value;
		}
	}
	assert(!left);
	json_end(j);
}

static void put_struct(struct json *j, const char *key,
		       const struct decode_row *row, const void *at)
{
	if (!(row->flags & DECODE_INLINE))
		at = *(const void *const *)at;
	decode_write(j, key, row->table, at);
}

static void put_list(struct json *j, const char *key,
		     const struct decode_row *row, const void *at)
{
	const struct {
		const char *v;
		size_t n;
	} *list = at;
	size_t size = decode_elem_size(row);

	json_array(j, key);
	for (size_t i = 0; i < list->n; i++) {
		if (row->elem == DECODE_STRUCT)
			decode_write(j, NULL, row->table, list->v + i * size);
		else
			put_value(j, NULL, row, row->elem, list->v + i * size);
	}
	json_end(j);
}

static void put_dict(struct json *j, const char *key,
		     const struct decode_row *row, const void *at)
{
	const struct {
		const char *v;
		size_t n;
	} *list = at;
	size_t size = decode_elem_size(row);

	json_object(j, key);
	for (size_t i = 0; i < list->n; i++) {
		const char *elem = list->v + i * size;
		const char *name = *(const char *const *)(const void *)elem;

		if (row->elem == DECODE_STRUCT)
			decode_write(j, name, row->table, elem);
		else
			put_str(j, name, row,
				elem + offsetof(struct pair, value));
	}
	json_end(j);
}

static void put_fn(struct json *j, const char *key,
		   const struct decode_row *row, const void *at)
{
	(void)key;
	row->write(j, row, at);
}

typedef void put_func(struct json *j, const char *key,
		      const struct decode_row *row, const void *at);

static put_func *const puts_[] = {
	[DECODE_BOOL] = put_bool,     [DECODE_STR] = put_str,
	[DECODE_I32] = put_i32,	      [DECODE_U32] = put_u32,
	[DECODE_I64] = put_i64,	      [DECODE_U64] = put_u64,
	[DECODE_ENUM] = put_enum,     [DECODE_BITS] = put_bits,
	[DECODE_STRUCT] = put_struct, [DECODE_LIST] = put_list,
	[DECODE_DICT] = put_dict,     [DECODE_FN] = put_fn,
};
_Static_assert(N_ELEMENTS(puts_) == DECODE_N, "each kind is written");

static void put_value(struct json *j, const char *key,
		      const struct decode_row *row, enum decode_kind kind,
		      const void *at)
{
	puts_[kind](j, key, row, at);
}

static bool is_zero(const char *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (at[i])
			return false;
	return true;
}

static bool is_written(const struct decode_row *row, const char *at)
{
	const struct pair_list *list;

	if (row->flags & DECODE_OPT)
		return *(const bool *)(at + decode_opts[row->kind].set_offset);
	if (row->flags & (DECODE_REQUIRED | DECODE_ZERO))
		return true;
	if (row->kind == DECODE_LIST || row->kind == DECODE_DICT) {
		list = (const void *)at;
		return list->n != 0;
	}
	return !is_zero(at, row->size);
}

void decode_write(struct json *j, const char *key,
		  const struct decode_table *table, const void *obj)
{
	json_object(j, key);
	for (size_t i = 0; i < table->n; i++) {
		const struct decode_row *row = &table->rows[i];
		const char *at = (const char *)obj + row->offset;

		if (is_written(row, at))
			put_value(j, row->key, row, row->kind, at);
	}
	json_end(j);
}
