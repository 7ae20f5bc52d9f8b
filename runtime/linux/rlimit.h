/* SPDX-License-Identifier: Apache-2.0 */
/* Resource limits by name, for the calling process. Source: getrlimit(2). */
#ifndef OSH_LINUX_RLIMIT_H
#define OSH_LINUX_RLIMIT_H

#include <stddef.h>
#include <stdint.h>

struct err;

/* "RLIMIT_NOFILE" -> its number, or -1. */
int rlimit_by_name(const char *name);
/* Row @i of the table, or NULL past its end. */
const char *rlimit_name(size_t i);
/* UINT64_MAX is unlimited. @soft above @hard is EINVAL. */
int rlimit_set(int resource, uint64_t soft, uint64_t hard, struct err *err);

#endif
