/* SPDX-License-Identifier: Apache-2.0 */
/* The SHA-256 of executables, each state of a file hashed once. */
#ifndef OSH_SHIM_NOTIFY_HASHES_H
#define OSH_SHIM_NOTIFY_HASHES_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/digest.h"
#include "shim/notify/identity.h"

/*
 * The digest of the executable of @pid, which must be in state @file before
 * and after. False when it can't be read, is larger than @max_bytes, or
 * changes meanwhile.
 */
bool hashes_of_exe(int proc_fd, int pid, const struct file_id *file,
		   uint64_t max_bytes, struct digest *ret);

#endif
