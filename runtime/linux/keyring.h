/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session keyring of the container's own, so that it does not hold its
 * maker's keys. Source: keyctl(2).
 */
#ifndef OSH_LINUX_KEYRING_H
#define OSH_LINUX_KEYRING_H

#include <stdint.h>

struct err;

/*
 * Join a session keyring named @name (made where there is none; NULL: a fresh
 * one without a name) and give its possessor's user the right to search it.
 * ENOSYS (a kernel without keys, or a filter) is returned for the caller to
 * decide.
 */
int keyring_join(const char *name, int32_t *ret_id, struct err *err);

#endif
