/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "runtime/base/own.h"
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

static void check_size(const struct decode_row *row)
{
	size_t want = decode_kinds[row->kind].size;

	if (row->kind == DECODE_FN)
		return;
	if (row->flags & DECODE_OPT)
		want = decode_opts[row->kind].size;
	else if (row->kind == DECODE_STRUCT && (row->flags & DECODE_INLINE))
		want = row->table->size;
	assert(want && row->size == want);
}

static void check_elem(const struct decode_row *row)
{
	if (row->kind == DECODE_LIST)
		assert(row->elem == DECODE_STRUCT ||
		       decode_kinds[row->elem].is_leaf);
	else
		assert(row->elem == DECODE_STRUCT || row->elem == DECODE_STR);
	if (row->elem == DECODE_STRUCT)
		assert(row->table);
	if (row->elem == DECODE_ENUM)
		assert(row->names);
}

static void check_row(const struct decode_row *row)
{
	assert(row->key);
	check_size(row);
	switch (row->kind) {
	case DECODE_ENUM:
	case DECODE_BITS:
		assert(row->names);
		break;
	case DECODE_STRUCT:
		assert(row->table);
		break;
	case DECODE_LIST:
	case DECODE_DICT:
		check_elem(row);
		break;
	case DECODE_FN:
		assert(row->fn && row->write);
		break;
	case DECODE_BOOL:
	case DECODE_STR:
	case DECODE_I32:
	case DECODE_U32:
	case DECODE_I64:
	case DECODE_U64:
	case DECODE_N:
		break;
	}
}

void decode_table_check(const struct decode_table *table)
{
	for (size_t i = 0; i < table->n; i++) {
		const struct decode_row *row = &table->rows[i];

		check_row(row);
		assert(row->offset + row->size <= table->size);
		for (size_t k = 0; k < i; k++)
			assert(!str_eq(row->key, table->rows[k].key));
		if (row->table)
			decode_table_check(row->table);
	}
}
