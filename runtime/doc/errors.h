/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages about one document, collected: one run reports all errors.
 *
 *	own_arena struct arena a = ARENA_INIT;
 *	struct doc_errors errors;
 *
 *	doc_errors_init(&errors, &a, "config.json");
 */
#ifndef OSH_DOC_ERRORS_H
#define OSH_DOC_ERRORS_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/doc/doc.h"

struct err;

enum { DOC_ERRORS_MAX = 64 }; /* messages kept; the rest are counted */

struct doc_message {
	struct doc_pos pos;
	const char *text; /* without the position */
	bool warning;
};

/* In the order found. */
struct doc_errors {
	struct arena *arena; /* borrowed */
	const char *file; /* how messages call the document; borrowed */
	struct doc_message *v;
	size_t n, n_errors, n_warnings, n_dropped;
};

void doc_errors_init(struct doc_errors *e, struct arena *a, const char *file);

/* A message about a position, or about a node ("PATH: message"). */
void doc_error(struct doc_errors *e, struct doc_pos pos, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void doc_error_at(struct doc_errors *e, const struct doc_node *node,
		  const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void doc_warning_at(struct doc_errors *e, const struct doc_node *node,
		    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* "file:line:col: message" without a newline; a warning says that it is. */
void doc_message_text(struct strbuf *sb, const struct doc_errors *e,
		      const struct doc_message *m);

/* The first error, and how many more there are, as one line. -EINVAL. */
int doc_errors_err(const struct doc_errors *e, struct err *err);

#endif
