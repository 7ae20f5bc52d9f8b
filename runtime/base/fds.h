/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors that a forked child keeps: a list of those allowed. */
#ifndef OSH_BASE_FDS_H
#define OSH_BASE_FDS_H

#include <stddef.h>
#include <stdint.h>

struct err;

/* a user namespace's volumes are a descriptor each */
enum { FDS_MAX = 1024 };

/* A small set; negative numbers are ignored, more than FDS_MAX is a bug. */
struct fds {
	int v[FDS_MAX];
	size_t n;
};

void fds_add(struct fds *s, int fd);

/*
 * Close every descriptor from @first on that is not in the set: what a fork
 * inherited (locks among them: flock(2) belongs to the open file description)
 * is then really gone. Changes the order of the set.
 */
void fds_close_others(struct fds *s, unsigned int first);

/*
 * Are descriptors 3 to 2 + @n all the caller's, for us to hand on? Ours are
 * close-on-exec, the caller's are not: -EBADF, with *err set, names one that
 * is missing, whose number one of ours has or may get.
 */
int fds_check_handed(uint64_t n, struct err *err);

#endif
