/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 as RFC 3629 has it: shortest forms, no surrogates, to U+10FFFF. */
#ifndef OSH_BASE_UTF8_H
#define OSH_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Length of the sequence at @s (1 to 4), or 0 when it is not valid. */
size_t utf8_len(const char *s, size_t n);
bool utf8_valid(const char *s, size_t n);

#endif
