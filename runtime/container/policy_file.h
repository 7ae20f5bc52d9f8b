/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a policy document to a compiled policy in memory.
 *
 * A pod's author writes the document, so this process never parses it:
 * osh-policy does, confined, and only when the cache lacks the document's
 * digest. What comes back is loaded by runtime/policy's loader, which trusts
 * nothing in it.
 */
#ifndef OSH_CONTAINER_POLICY_FILE_H
#define OSH_CONTAINER_POLICY_FILE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "runtime/base/digest.h"
#include "runtime/policy/policy.h"

struct arena;
struct err;

struct policy_file {
	struct policy view;   /* of @data */
	const void *data;     /* in the arena, 8-aligned */
	size_t len;
	int fd;		      /* owned: a sealed memory file with @data */
	struct digest digest; /* of the document */
	bool cached;	      /* the compiler did not have to run */
};

#define POLICY_FILE_INIT { .fd = -EBADF }

/*
 * Compile @text. @name is what errors call the document ("annotation
 * ai.openshell.policy", a path): they read NAME:LINE:COLUMN: message. *err has
 * the first and how many there are; warnings go to @note, one call a line (may
 * be NULL).
 */
int policy_file_compile(struct arena *a, const char *text, size_t len,
			const char *name, void (*note)(const char *fmt, ...),
			struct policy_file *ret, struct err *err);

/* Load a compiled file that we keep (ROOT/ID/policy). */
int policy_file_load(struct arena *a, int dir_fd, const char *path,
		     struct policy_file *ret, struct err *err);
/* Keep it there. */
int policy_file_save(const struct policy_file *p, int dir_fd, const char *path,
		     struct err *err);

void policy_file_done(struct policy_file *p);

#endif
