/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Telling people what a policy does: the verdict about one connection, with
 * the line that gives it, or a summary of the whole. Works on a compiled
 * policy, by the same functions that the shim decides with.
 */
#ifndef OSH_COMPILER_EXPLAIN_H
#define OSH_COMPILER_EXPLAIN_H

#include <stddef.h>

struct err;
struct policy;
struct strbuf;

/* A document and what became of it. */
struct explain_source {
	const char *file; /* how messages call it */
	const char *text; /* NUL-terminated */
	const struct policy *policy;
};

struct explain_question {
	const char *binary; /* path, or NULL: asked for each */
	const char *ancestors; /* paths, comma-separated, nearest first */
	const char *dest; /* HOST:PORT, [ADDRESS]:PORT */
	const char *ip; /* what HOST resolves to; NULL: a public one */
	const char *proto; /* NULL: tcp */
};

/*
 * The verdict. @ceiling may be NULL. -EINVAL when the question is no question.
 */
int explain_connect(struct strbuf *sb, const struct explain_source *source,
		    const struct explain_source *ceiling,
		    const struct explain_question *q, struct err *err);

void explain_summary(struct strbuf *sb, const struct explain_source *source);

#endif
