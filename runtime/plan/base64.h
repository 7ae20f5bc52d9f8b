/* SPDX-License-Identifier: Apache-2.0 */
/* Base64 (RFC 4648 section 4), strictly: padded, no blanks, zero rest bits. */
#ifndef OSH_PLAN_BASE64_H
#define OSH_PLAN_BASE64_H

#include <stddef.h>

struct arena;

/* Decode @len characters into @a (a NUL is added). 0 or -EINVAL. */
int base64_decode(struct arena *a, const char *text, size_t len,
		  char **ret_data, size_t *ret_len);

#endif
