/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who calls: the executable of a task and of its ancestors, and whether it is
 * one of the policy's binaries.
 *
 * A file is told by device and inode through /proc/PID/exe; path strings are
 * for patterns, for names that did not exist at create, and for the log. (They
 * can't be faked: mounts and user namespaces are refused inside.) A binary's
 * content is pinned on first use: the SHA-256 of what first used a permission
 * stays the only content that has it.
 */
#ifndef OSH_SHIM_NOTIFY_IDENTITY_H
#define OSH_SHIM_NOTIFY_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "runtime/base/digest.h"
#include "runtime/policy/decide.h"
#include "shim/limits.h"

struct err;
struct policy;

/* What tells one state of one file from another; ctime can't be set. */
struct file_id {
	uint64_t dev, ino, size;
	int64_t mtime_ns, ctime_ns;
};

struct file_id file_id_of(const struct stat *st);
bool file_id_equal(const struct file_id *a, const struct file_id *b);

/* One of the policy's binaries as create resolved it (or did not). */
struct binary_row {
	bool resolved; /* dev, ino are create's */
	bool has_stat; /* so are size and times */
	bool pinned;   /* used once; sum and path_sum are of then */
	bool has_sum;  /* the content could be read */
	struct file_id file;
	struct digest sum, path_sum;
};

/* A path that a pattern or an unresolved name let in. */
struct binary_pin {
	struct digest path_sum; /* of the path: it may be 4 KiB long */
	bool has_sum;
	struct file_id file;
	struct digest sum;
};

struct binary_table {
	const struct policy *policy; /* borrowed; NULL: no table */
	struct binary_row *row;	     /* owned, n of them: policy's binaries */
	uint32_t n;
	struct binary_pin pin[SHIM_PINS_MAX];
	unsigned int n_pins;
};

int binary_table_init(struct binary_table *t, const struct policy *p,
		      struct err *err);
void binary_table_done(struct binary_table *t);

/* A process of the chain. */
struct process {
	int pid;
	bool known; /* it has an executable */
	struct file_id file;
	bool has_sum;
	struct digest sum;
	char path[SHIM_PATH_BYTES];
};

/*
 * The caller, as decide_connect() wants it. process[0] is the caller, the
 * others its ancestors, read only when somebody asks.
 */
struct identity {
	struct decide_caller decide; /* first: matches() goes back from it */
	int proc_fd;		     /* borrowed */
	struct binary_table *table[2]; /* borrowed: policy's, ceiling's */
	/* The walk ends at these, or where the pid namespace does. */
	int init_pid, root_pid;
	uint64_t pidns_dev, pidns_ino;

	bool changed; /* some binary matched but for its content */
	bool full;    /* the table of pins has no room */
	bool walked;
	size_t n; /* of process */
	const char *ancestor[SHIM_ANCESTORS_MAX];
	struct process process[SHIM_ANCESTORS_MAX + 1];
};

/*
 * Read the executable of thread @tid. Fills id->process[0] and id->decide;
 * false when it has none that can be read (then it is nobody).
 */
bool identity_read(struct identity *id, int tid);

/* Read the ancestors too, for the log; done once. */
void identity_walk(struct identity *id);

/* The caller's SHA-256 in hex, or NULL: too large for the log's sake alone
 * (@must: hash it all the same), or not readable. */
const char *identity_sum(struct identity *id, bool must,
			 char ret_hex[DIGEST_HEX]);

#endif
