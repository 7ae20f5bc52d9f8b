/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Landlock: file access by hierarchy, for the calling thread and its
 * descendants. A ruleset handles every file right that the running kernel
 * knows, so that what no rule grants is refused. No network rights and no
 * scopes (the egress filter and the namespaces decide those).
 *
 * A kernel with a lower ABI refuses fewer kinds of access (truncate before 3,
 * device ioctls before 5): the caller compares landlock_abi() with what its
 * policy demands, nothing is lowered here.
 *
 * Source: kernel Documentation/userspace-api/landlock.rst.
 */
#ifndef OSH_LINUX_LANDLOCK_H
#define OSH_LINUX_LANDLOCK_H

#include <stdint.h>

struct err;

enum landlock_mode {
	LANDLOCK_READ_ONLY, /* execute, read file, read directory */
	LANDLOCK_READ_WRITE, /* every right */
	LANDLOCK_WRITE_ONLY, /* write and truncate files */
	LANDLOCK_MODE_N
};

/* The ABI version, 0 when the kernel has no Landlock or it is disabled. */
int landlock_abi(void);
/* LANDLOCK_ACCESS_FS_* for @mode at @abi; only those of files if !@is_dir. */
uint64_t landlock_rights(int abi, enum landlock_mode mode, int is_dir);

/*
 * New ruleset that handles @abi's file rights of @handled (READ_WRITE: all);
 * what it does not handle stays allowed. The descriptor is the caller's.
 */
int landlock_ruleset(int abi, enum landlock_mode handled, int *ret_fd,
		     struct err *err);
/*
 * Grant @mode at and beneath @path_fd (O_PATH will do; borrowed). @path is for
 * the error's text.
 */
int landlock_grant(int ruleset_fd, int abi, enum landlock_mode mode,
		   int path_fd, const char *path, struct err *err);
/* Enforce; needs no_new_privs or CAP_SYS_ADMIN. Layers add up, 16 at most. */
int landlock_restrict(int ruleset_fd, struct err *err);

#endif
