/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiler's own sandbox, for when a root process hands it a document
 * that a stranger wrote: from then on it can read what is on its descriptors
 * 0, 1 and 2, write there, use some memory and some time, and end.
 *
 *	limits		CPU seconds, address space, file size, no new files,
 *			no children, no core
 *	descriptors	3 and above are closed
 *	privileges	no_new_privs
 *	Landlock	no right to anything in any file system
 *	seccomp		a list of allowed calls; any other ends the process
 *
 * All or nothing: what the kernel can't give is an error.
 */
#ifndef OSH_COMPILER_CONFINE_H
#define OSH_COMPILER_CONFINE_H

struct err;

/* Confine the calling process, for good. It must have one thread. */
int confine(struct err *err);

#endif
