/* SPDX-License-Identifier: Apache-2.0 */
/* What reader and writer of decoded structs both know of the kinds. Private
 * to doc/. */
#ifndef OSH_DOC_DECODE_KIND_H
#define OSH_DOC_DECODE_KIND_H

#include "runtime/doc/decode.h"

struct decode_kind_info {
	size_t size; /* of the member; 0: the table's */
	bool is_leaf; /* the row's range is that of the value itself */
};

struct decode_opt_info {
	size_t size; /* of struct opt_X; 0: there is none */
	size_t set_offset;
};

extern const struct decode_kind_info decode_kinds[DECODE_N];
extern const struct decode_opt_info decode_opts[DECODE_N];

/* Size of an element of a DECODE_LIST or DECODE_DICT. */
size_t decode_elem_size(const struct decode_row *row);

#endif
