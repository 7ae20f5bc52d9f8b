/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled seccomp programs, one file per digest of the section that they
 * were compiled from, in a folder that only we write.
 *
 * A file is believed only if it is a regular file of our own, not writable by
 * others, of exactly the size that its header says, and its SHA-256 is right.
 * Anything else is reported and compiled anew: never loaded.
 */
#ifndef OSH_LINUX_SECCOMP_CACHE_H
#define OSH_LINUX_SECCOMP_CACHE_H

#include <stdbool.h>

struct arena;
struct digest;
struct err;
struct seccomp_prog;

/*
 * @ret_found says whether @ret was filled. A missing file is success without
 * it; a file that is not to be believed is an error (-EBADMSG or the reason)
 * that the caller logs before it compiles.
 */
int seccomp_cache_load(struct arena *a, int dir_fd, const struct digest *key,
		       struct seccomp_prog *ret, bool *ret_found,
		       struct err *err);
/* Replaces the file atomically. */
int seccomp_cache_store(int dir_fd, const struct digest *key,
			const struct seccomp_prog *prog, struct err *err);

#endif
