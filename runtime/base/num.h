/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers from text: the whole string or nothing, no blanks, no sign tricks. */
#ifndef OSH_BASE_NUM_H
#define OSH_BASE_NUM_H

#include <stdint.h>

/* Decimal without sign or leading blanks; 0 or -EINVAL, -ERANGE. */
int num_parse_u64(const char *s, uint64_t *ret);
/* Decimal with an optional '-'; 0 or -EINVAL, -ERANGE. */
int num_parse_i64(const char *s, int64_t *ret);
/* As num_parse_u64, at most @max. */
int num_parse_u32(const char *s, uint32_t max, uint32_t *ret);

#endif
