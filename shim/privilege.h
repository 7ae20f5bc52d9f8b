/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capabilities and namespaces of the shim's processes. Raw system calls:
 * these few need no library.
 */
#ifndef OSH_SHIM_PRIVILEGE_H
#define OSH_SHIM_PRIVILEGE_H

#include <stdint.h>

struct err;

/*
 * Keep exactly the capabilities of @mask (bit n: capability n) as permitted
 * and effective, and as what an execve could give; none is inherited. Sets
 * no_new_privs and takes dumpability away.
 */
int privilege_keep(uint64_t mask, struct err *err);

/* A mount namespace of its own whose root is empty and read-only. */
int privilege_empty_root(struct err *err);

#endif
