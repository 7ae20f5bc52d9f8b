/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/strbuf.h"
#include "runtime/doc/decode_kind.h"

const struct decode_kind_info decode_kinds[DECODE_N] = {
	[DECODE_BOOL] = {sizeof(bool), true},
	[DECODE_STR] = {sizeof(const char *), true},
	[DECODE_I32] = {sizeof(int32_t), true},
	[DECODE_U32] = {sizeof(uint32_t), true},
	[DECODE_I64] = {sizeof(int64_t), true},
	[DECODE_U64] = {sizeof(uint64_t), true},
	[DECODE_ENUM] = {sizeof(uint32_t), true},
	[DECODE_BITS] = {sizeof(uint64_t), false},
	[DECODE_STRUCT] = {sizeof(void *), false},
	[DECODE_LIST] = {sizeof(struct str_list), false},
	[DECODE_DICT] = {sizeof(struct pair_list), false},
	[DECODE_FN] = {0, false},
};

#define OPT_INFO(type)                            \
	{                                         \
		sizeof(type), offsetof(type, set) \
	}

const struct decode_opt_info decode_opts[DECODE_N] = {
	[DECODE_BOOL] = OPT_INFO(struct opt_bool),
	[DECODE_I32] = OPT_INFO(struct opt_i32),
	[DECODE_U32] = OPT_INFO(struct opt_u32),
	[DECODE_I64] = OPT_INFO(struct opt_i64),
	[DECODE_U64] = OPT_INFO(struct opt_u64),
	[DECODE_ENUM] = OPT_INFO(struct opt_u32),
	[DECODE_BITS] = OPT_INFO(struct opt_u64),
	[DECODE_FN] = {0, 0},
};

size_t decode_elem_size(const struct decode_row *row)
{
	if (row->elem == DECODE_STRUCT)
		return row->table->size;
	if (row->kind == DECODE_DICT)
		return sizeof(struct pair);
	return decode_kinds[row->elem].size;
}

bool decode_value_of(const struct decode_name *names, const char *name,
		     uint64_t *ret)
{
	for (; names->name; names++) {
		if (str_eq(names->name, name)) {
			*ret = names->value;
			return true;
		}
	}
	return false;
}

const char *decode_name_of(const struct decode_name *names, uint64_t value)
{
	for (; names->name; names++)
		if (names->value == value)
			return names->name;
	return NULL;
}

static bool is_size_right(const struct decode_row *row)
{
	size_t want = decode_kinds[row->kind].size;

	if (row->kind == DECODE_FN)
		return true;
	if (row->flags & DECODE_OPT)
		want = decode_opts[row->kind].size;
	else if (row->kind == DECODE_STRUCT && (row->flags & DECODE_INLINE))
		want = row->table->size;
	return want && row->size == want;
}

static bool is_elem_right(const struct decode_row *row)
{
	if (row->elem == DECODE_STRUCT)
		return row->table;
	if (row->elem == DECODE_ENUM && !row->names)
		return false;
	return row->elem == DECODE_STR ||
	       (row->kind == DECODE_LIST && decode_kinds[row->elem].is_leaf);
}

static bool is_row_right(const struct decode_row *row)
{
	switch (row->kind) {
	case DECODE_ENUM:
	case DECODE_BITS:
		return row->names && is_size_right(row);
	case DECODE_STRUCT:
		return row->table && is_size_right(row);
	case DECODE_LIST:
	case DECODE_DICT:
		return is_elem_right(row) && is_size_right(row);
	case DECODE_FN:
		return row->fn && row->write;
	case DECODE_BOOL:
	case DECODE_STR:
	case DECODE_I32:
	case DECODE_U32:
	case DECODE_I64:
	case DECODE_U64:
	case DECODE_N:
		break;
	}
	return is_size_right(row);
}

const char *decode_table_fault(const struct decode_table *table)
{
	for (size_t i = 0; i < table->n; i++) {
		const struct decode_row *row = &table->rows[i];
		const char *below;

		if (!is_row_right(row) || row->offset + row->size > table->size)
			return row->key;
		for (size_t k = 0; k < i; k++)
			if (str_eq(row->key, table->rows[k].key))
				return row->key;
		below = row->table ? decode_table_fault(row->table) : NULL;
		if (below)
			return below;
	}
	return NULL;
}
