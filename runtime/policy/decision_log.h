/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decision log's lines, pure: what osh-shim writes and `osh-runtime log`
 * reads. One JSON object per line; each line carries the hash of the one
 * before it (`prev`), so that edits, gaps and reordering show.
 *
 * Files: ID.jsonl is the newest, ID.jsonl.1 the one before it, and so on to
 * DECISION_LOG_KEPT; the chain runs on from one into the next.
 */
#ifndef OSH_POLICY_DECISION_LOG_H
#define OSH_POLICY_DECISION_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/digest.h"

struct err;
struct strbuf;

enum {
	DECISION_LOG_KEPT = 8, /* rotated files, besides the newest */
	/* The longest line that is written; longer texts are cut. */
	DECISION_LOG_LINE_MAX = 32768,
	DECISION_LOG_NAME_BYTES = 280,
};

enum log_kind {
	LOG_CONNECT,
	LOG_DATAGRAM,
	LOG_DNS,
	LOG_INBOUND,
	LOG_HTTP,
	LOG_CREDENTIAL,
	LOG_PACKET,
	LOG_POLICY,
	LOG_FINDING,
	LOG_LIFECYCLE,
	LOG_KIND_N
};

enum log_verdict {
	LOG_ALLOW,
	LOG_DENY,
	LOG_AUDIT, /* would have been denied */
	LOG_VERDICT_N
};

const char *log_kind_name(enum log_kind k);
const char *log_verdict_name(enum log_verdict v);

/*
 * Name of file number @n of sandbox @id, 0 the newest. False when @id can't
 * be part of a file name (empty, a dot first, other than A-Z a-z 0-9 _ + - .).
 */
bool decision_log_file(const char *id, unsigned int n,
		       char ret_name[DECISION_LOG_NAME_BYTES]);

/* What stands in `prev` of the first record of sandbox @id. */
void decision_log_anchor(const char *id, struct digest *ret);

/*
 * One line (without its newline) for people. Every byte that is not printable
 * ASCII is escaped. EINVAL when it is no record.
 */
int decision_log_text(const char *line, size_t n, struct strbuf *sb,
		      struct err *err);

/* `seq` of a line; EINVAL when it is no record. For who continues a log. */
int decision_log_seq(const char *line, size_t n, uint64_t *ret_seq,
		     struct err *err);

/*
 * The state of a walk along the chain, oldest line first. Zero it and set @id;
 * after the walk, @n is the number of lines, @first_seq the first one's: not 1
 * when older files were rotated away.
 */
struct decision_log_verify {
	const char *id; /* borrowed */
	struct digest prev;
	uint64_t n, first_seq, next_seq;
};

/*
 * Check the next line (without its newline). EINVAL with the reason: no
 * record, another sandbox's, a gap, or a line that was changed.
 */
int decision_log_verify(struct decision_log_verify *v, const char *line,
			size_t n, struct err *err);

#endif
