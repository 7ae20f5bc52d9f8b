/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table-driven decoder: a document tree becomes structs, and structs
 * become JSON again, by the same tables. A table is the accepted grammar of
 * one kind of map: a row for each key.
 *
 *	static const struct decode_row root_rows[] = {
 *		DECODE_ROW(struct oci_root, path, "path", DECODE_STR,
 *			   .flags = DECODE_REQUIRED | DECODE_NONEMPTY),
 *		DECODE_ROW(struct oci_root, readonly, "readonly", DECODE_BOOL),
 *	};
 *	static const struct decode_table root_table =
 *		DECODE_TABLE(struct oci_root, root_rows);
 *
 * All errors of a document are collected in one run, each with its position
 * and path. What a row does not name is an error unless the table says
 * DECODE_IGNORE_UNKNOWN. Absent members stay zero (NULL, unset, n == 0).
 */
#ifndef OSH_DOC_DECODE_H
#define OSH_DOC_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/doc/doc.h"
#include "runtime/doc/errors.h"
#include "runtime/doc/types.h"

struct json;
struct decode_table;

enum decode_kind { /* document		what the member is */
		   DECODE_BOOL, /* true, false		bool */
		   DECODE_STR, /* string		const char * */
		   DECODE_I32, /* integer		int32_t */
		   DECODE_U32, /* integer		uint32_t */
		   DECODE_I64, /* integer		int64_t */
		   DECODE_U64, /* integer		uint64_t */
		   DECODE_ENUM, /* a name of .names	uint32_t or an enum */
		   DECODE_BITS, /* list of .names	uint64_t, or-ed */
		   DECODE_STRUCT, /* map, by .table	struct T * (INLINE:
				     struct T) */
		   DECODE_LIST, /* list of .elem	LIST_OF(T) */
		   DECODE_DICT, /* map to .elem		LIST_OF(T), T begins
				 *with its const char *key: struct pair for
				 *strings, else .table's */
		   DECODE_FN, /* anything		by .fn, .write */
		   DECODE_N
};

enum decode_flag {
	DECODE_REQUIRED = 1 << 0, /* and written even when zero */
	DECODE_NONEMPTY = 1 << 1, /* strings, lists, maps: not empty */
	DECODE_OPT = 1 << 2, /* scalars: the member is struct opt_X */
	DECODE_INLINE = 1 << 3, /* DECODE_STRUCT: embedded */
	DECODE_NULLABLE = 1 << 4, /* null is the same as absent */
	DECODE_SCALAR = 1 << 5, /* strings: any plain scalar as written */
	DECODE_ZERO = 1 << 6, /* written even when zero */
};

enum decode_table_flag {
	DECODE_IGNORE_UNKNOWN = 1 << 0,
	DECODE_NULL_ABSENT = 1 << 1, /* all rows are DECODE_NULLABLE */
};

/* The first row with a value is its canonical name; ends with a NULL name. */
struct decode_name {
	const char *name;
	uint64_t value;
};

struct decode {
	struct arena *arena;
	struct doc_errors *errors;
};

struct decode_row {
	const char *key;
	enum decode_kind kind, elem;
	unsigned int flags;
	size_t offset, size; /* of the member */
	int64_t min; /* integers; both 0: the type's range */
	uint64_t max; /* integers; lists and maps: elements, 0: any */
	const struct decode_name *names;
	const struct decode_table *table;
	/* @at is the member; errors through doc_error_at(d->errors, ...) */
	void (*fn)(struct decode *d, const struct decode_row *row,
		   const struct doc_node *node, void *at);
	void (*write)(struct json *j, const struct decode_row *row,
		      const void *at);
};

struct decode_table {
	const struct decode_row *rows;
	size_t n;
	size_t size; /* of the struct */
	unsigned int flags; /* enum decode_table_flag */
	size_t node_at; /* DECODE_AT() of a const struct doc_node * that
			 * keeps the map for later messages, or 0 */
	/* Checks between members; called when all rows decoded well. */
	void (*check)(struct decode *d, const struct doc_node *node, void *obj);
};

#define DECODE_AT(type, member) (offsetof(type, member) + 1)
#define DECODE_ROW(type, member, key_, kind_, ...)               \
	{                                                        \
		.key = (key_), .kind = (kind_),                  \
		.offset = offsetof(type, member),                \
		.size = sizeof(((type *)0)->member), __VA_ARGS__ \
	}
#define DECODE_TABLE(type, rows_, ...)                                    \
	{                                                                 \
		.rows = (rows_), .n = sizeof(rows_) / sizeof((rows_)[0]), \
		.size = sizeof(type), __VA_ARGS__                         \
	}

/* Decode @root into @obj (zeroed by the caller). 0, or -EINVAL with errors. */
int decode(struct arena *a, const struct decode_table *table,
	   const struct doc_node *root, void *obj, struct doc_errors *errors);

/* Write @obj as JSON object @key (NULL: outermost or list element). */
void decode_write(struct json *j, const char *key,
		  const struct decode_table *table, const void *obj);

/* Canonical name of a value or NULL; value of a name: true when there is. */
const char *decode_name_of(const struct decode_name *names, uint64_t value);
bool decode_value_of(const struct decode_name *names, const char *name,
		     uint64_t *ret);

/* For tests: the key of a row, here or below, that can't be right; or NULL. */
const char *decode_table_fault(const struct decode_table *table);

#endif
