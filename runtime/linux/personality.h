/* SPDX-License-Identifier: Apache-2.0 */
/* Execution domain of the calling process. Source: personality(2). */
#ifndef OSH_LINUX_PERSONALITY_H
#define OSH_LINUX_PERSONALITY_H

struct err;

/* @domain "LINUX" or "LINUX32". Call before seccomp (runc #4900). */
int personality_set(const char *domain, struct err *err);

#endif
