/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The id maps of a user namespace (user_namespaces(7)), written by its parent.
 *
 * Bounded: the kernel takes at most 340 lines and less than one page in a
 * single write; more is an error here, before anything is made
 * (CVE-2021-43784 was a length that wrapped).
 */
#ifndef OSH_LINUX_IDMAP_H
#define OSH_LINUX_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

enum { IDMAP_LINES_MAX = 340 };

struct idmap_line {
	uint32_t inside;
	uint32_t outside;
	uint32_t size;
};

struct idmap {
	const struct idmap_line *uid; /* borrowed */
	size_t n_uid;
	const struct idmap_line *gid;
	size_t n_gid;
};

/* Overlaps, sizes of zero, wraps, too many lines: -EINVAL. */
int idmap_check(const struct idmap *m, struct err *err);

/*
 * Write the maps of process @pid, which has just been cloned into a new user
 * namespace. Without the capabilities for it, newuidmap(1) and newgidmap(1)
 * are run; a single line for our own id is then written directly, and
 * setgroups is denied, as the kernel demands.
 */
int idmap_write(pid_t pid, const struct idmap *m, struct err *err);

/*
 * A user namespace with these maps that nobody lives in, for idmapped mounts.
 */
int idmap_userns(const struct idmap *m, int *ret_fd, struct err *err);

/* Translate an id; false when it is not mapped. */
bool idmap_to_outside(const struct idmap_line *lines, size_t n, uint32_t inside,
		      uint32_t *ret);

#endif
