/* SPDX-License-Identifier: Apache-2.0 */
/* The tables that schema.c and schema_endpoint.c share. */
#ifndef OSH_COMPILER_SCHEMA_H
#define OSH_COMPILER_SCHEMA_H

#include "runtime/doc/decode.h"

extern const struct decode_table spec_endpoint_table;

/* For rows of kind DECODE_FN: a document is read here, never written. */
void spec_never_written(struct json *j, const struct decode_row *row,
			const void *at);

#endif
