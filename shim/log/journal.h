/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decision log of one container, as its writer: numbering, hash chain,
 * coalescing, rotation. The format is runtime/policy/decision_log.h's.
 *
 * A record is on file when journal_write() returns 0, with two exceptions
 * that are bounded: records that are like one of the last second are counted
 * and written as one when the second is over, and denials beyond
 * a rate (SHIM_LOG_BURST) are counted and reported by number. A decision
 * whose record could not be written must not be carried out: the caller
 * denies it. How many were lost is the first thing on file once writing works
 * again.
 *
 * A log whose end was cut off still is a chain: so the hash of each hundredth
 * record goes to syslog as well, where there is one.
 */
#ifndef OSH_SHIM_LOG_JOURNAL_H
#define OSH_SHIM_LOG_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/digest.h"
#include "runtime/policy/decision_log.h"
#include "runtime/policy/reason.h"
#include "shim/limits.h"

struct err;

/* All texts are borrowed during the call; NULL or 0 leaves a field out. */
struct journal_record {
	enum log_kind kind;
	enum log_verdict verdict;
	enum reason reason;
	const char *detail;
	struct {
		const char *path, *sha256;
		int pid;
		const char *const *ancestors; /* nearest first */
		size_t n_ancestors;
	} binary;
	struct {
		const char *host, *ip, *proto;
		uint16_t port;
		bool has_port;
	} dest;
	struct {
		const char *name, *rule, *digest;
		uint32_t line;
	} policy;
	uint64_t count; /* of events that the caller counted itself; 0: one */
};

enum {
	JOURNAL_ID_BYTES = 256,
	/* A longer record is not coalesced. */
	JOURNAL_BODY_MAX = 2048,
	JOURNAL_HOSTS = 3,
	JOURNAL_HOST_BYTES = 256,
	JOURNAL_ANCHOR_EACH = 100,
};

struct journal_pending {
	uint64_t key; /* 0: free */
	uint64_t since_ms;
	uint64_t n; /* after the first, which is on file */
	uint64_t first_us, last_us;
	size_t len; /* of its body */
};

struct journal {
	char id[JOURNAL_ID_BYTES];
	int dir_fd, fd; /* owned */
	int anchor_fd;	/* borrowed: syslog's socket, or negative */
	uint64_t max_bytes, size;
	uint64_t seq; /* of the newest record on file */
	struct digest prev;
	uint64_t n_allowed, n_denied; /* decisions, for STATUS */
	uint64_t n_lost;
	uint64_t second;	/* when the tokens were last filled up */
	unsigned int n_tokens;	/* denials that may be written one by one */
	uint64_t n_suppressed;
	unsigned int n_pending; /* places in use */
	struct journal_pending pending[SHIM_LOG_PENDING_MAX];
	/* the finding of denials after a read from outside */
	bool read_outside, told;
	unsigned int n_hosts;
	char host[JOURNAL_HOSTS][JOURNAL_HOST_BYTES];
	/* of pending; last: what is never used costs no memory */
	char body[SHIM_LOG_PENDING_MAX][JOURNAL_BODY_MAX];
};

/*
 * Open sandbox @id's log in @dir_fd (taken over, on failure too), and carry on
 * with the chain that is there. @max_bytes 0 is the default.
 */
int journal_open(struct journal *j, int dir_fd, const char *id,
		 uint64_t max_bytes, struct err *err);
/* Tell each hundredth record's hash to @anchor_fd (borrowed; negative: none). */
void journal_set_anchor(struct journal *j, int anchor_fd);
/* Writes what is pending. */
void journal_close(struct journal *j);

int journal_write(struct journal *j, const struct journal_record *r,
		  struct err *err);
/* Write what has been pending for long enough: each second, unless idle. */
void journal_tick(struct journal *j);
bool journal_is_idle(const struct journal *j);
/* Write all that is pending, now. */
void journal_flush(struct journal *j);

#endif
