/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole way from the bytes of a document to the bytes of a compiled
 * policy: parse, decode, check, warn, lower. Touches nothing but memory.
 */
#ifndef OSH_COMPILER_COMPILE_H
#define OSH_COMPILER_COMPILE_H

#include <stddef.h>

#include "runtime/doc/errors.h"

struct arena;

/* Messages of one document. Warnings are apart, so that many of them never
 * push an error out of the list; there are none unless errors is empty. */
struct compile_messages {
	struct doc_errors errors, warnings;
};

/* @name is how messages call the document; borrowed. */
void compile_messages_init(struct compile_messages *m, struct arena *a,
			   const char *name);

/*
 * Compile @len bytes at @text. Returns 0, or -EINVAL after messages. The
 * compiled policy is in @a; warnings are in it too.
 */
int compile(struct arena *a, const char *text, size_t len,
	    struct compile_messages *m, void **ret_data, size_t *ret_len);

#endif
