/* SPDX-License-Identifier: Apache-2.0 */
/* Base64 (RFC 4648, section 4), with padding. */
#ifndef OSH_COMPILER_BASE64_H
#define OSH_COMPILER_BASE64_H

#include <stddef.h>

struct strbuf;

void base64_encode(struct strbuf *sb, const void *data, size_t n);

#endif
