/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What decoded structs are made of: values that may be absent, lists, pairs.
 * The decoder (decode.h) fills them; anybody may build them by hand.
 */
#ifndef OSH_DOC_TYPES_H
#define OSH_DOC_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct opt_bool {
	bool v;
	bool set;
};

struct opt_i32 {
	int32_t v;
	bool set;
};

struct opt_u32 {
	uint32_t v;
	bool set;
};

struct opt_i64 {
	int64_t v;
	bool set;
};

struct opt_u64 {
	uint64_t v;
	bool set;
};

/* A list without a name of its own: spec->mounts.v[i], spec->mounts.n. */
#define LIST_OF(type)     \
	struct {          \
		type *v;  \
		size_t n; \
	}

/* Decoded lists of strings have a NULL behind the last: they do as argv. */
struct str_list {
	const char **v;
	size_t n;
};

struct pair {
	const char *key, *value;
};

struct pair_list {
	struct pair *v;
	size_t n;
};

#endif
