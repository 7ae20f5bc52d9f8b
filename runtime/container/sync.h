/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parent and init take turns over one SOCK_SEQPACKET pair.
 *
 *	init -> parent			parent -> init
 *	NAMESPACES (netns cookie)	GO: hooks ran, filter in force
 *	ROOT (Landlock descriptors)	GO: binaries resolved, shim told
 *	LISTENER (number)		GO: the shim has it
 *	CREATED				- (init now waits at the FIFO)
 *	FAILED (struct err)		at any time; the init then exits
 *	NOTE (text)			at any time: a line for the operator
 *
 * A message is one struct sync_message, exactly of its size, with up to
 * SYNC_FDS_MAX descriptors. End of file means that the other side died: the
 * init exits without a word, the parent reports it.
 */
#ifndef OSH_CONTAINER_SYNC_H
#define OSH_CONTAINER_SYNC_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/base/err.h"

enum { SYNC_FDS_MAX = 4 };

enum sync_type {
	SYNC_GO = 1,
	SYNC_NAMESPACES,
	SYNC_ROOT,
	SYNC_LISTENER,
	SYNC_CREATED,
	SYNC_PID,
	SYNC_FAILED,
	SYNC_NOTE,
	SYNC_N
};

struct sync_message {
	uint32_t type;
	uint32_t n_fds;
	uint64_t value;
	struct err err;
};

/* [0] is the parent's end, [1] the init's; both O_CLOEXEC. */
int sync_pair(int ret_fd[2], struct err *err);

int sync_send(int fd, enum sync_type type, uint64_t value, const int *fds,
	      uint32_t n_fds, struct err *err);
/* The init's last words; its own failures are ignored. */
void sync_fail(int fd, const struct err *why);

/* One line of warning for the operator, such as a mount done in another way. */
void sync_note(int fd, const char *text);
/* Where sync_wait gives NOTEs that come meanwhile; NULL drops them. */
void sync_set_note(void (*note)(const char *fmt, ...));

/*
 * Wait for a message of @type. FAILED becomes *err as the other side made it;
 * end of file is ECONNRESET "@who ended unexpectedly". @ret_fds takes
 * SYNC_FDS_MAX descriptors (owned) or is NULL when none may come.
 */
int sync_wait(int fd, enum sync_type type, const char *who,
	      struct sync_message *ret, int *ret_fds, struct err *err);

#endif
