/* SPDX-License-Identifier: Apache-2.0 */
/* The files beneath a journal: lines in, chain and rotation kept. */
#ifndef OSH_SHIM_LOG_JOURNAL_FILE_H
#define OSH_SHIM_LOG_JOURNAL_FILE_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct journal;

/*
 * Open the newest file and find seq and prev; a torn last line (a crash while
 * it was written) is cut off.
 */
int journal_file_open(struct journal *j, struct err *err);

/*
 * Append the record whose middle members are the object @body, with the next
 * number, and advance the chain. @count 0: neither count nor until.
 */
int journal_append(struct journal *j, const char *body, size_t len,
		   uint64_t time_us, uint64_t count, uint64_t until_us,
		   struct err *err);

#endif
