/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is there a text that two globs both match? Exact for literals, "*" and
 * "**"; where a pattern holds "?", classes, braces or escapes, the answer is
 * on the safe side: true when it can't be told.
 */
#ifndef OSH_COMPILER_OVERLAP_H
#define OSH_COMPILER_OVERLAP_H

#include <stdbool.h>

/* Hosts: "." separates, any case; NULL is every host. */
bool overlap_hosts(const char *a, const char *b);

/*
 * Endpoint paths, in OpenShell's sense: there, "*" crosses "/" as "**" does.
 * NULL, "**" and "/" with "**" are every path.
 */
bool overlap_paths(const char *a, const char *b);

#endif
