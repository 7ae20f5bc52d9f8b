/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capabilities: names, numbers, and the five sets of the calling thread, as
 * 64-bit masks (bit n is capability n). Allocates nothing.
 *
 * Order for a container's init: capability_drop_bounding (needs SETPCAP),
 * capability_keep(true), change of user, capability_apply (clears keep).
 *
 * Source: capabilities(7); names to CAP_CHECKPOINT_RESTORE (40).
 */
#ifndef OSH_LINUX_CAPABILITY_H
#define OSH_LINUX_CAPABILITY_H

#include <stdbool.h>
#include <stdint.h>

struct err;

enum { CAPABILITY_N = 41 }; /* that have a name here */

struct capability_sets {
	uint64_t bounding;
	uint64_t effective;
	uint64_t inheritable;
	uint64_t permitted;
	uint64_t ambient;
};

/* "CAP_CHOWN" (any case, prefix needed) -> 0, or -1 when not known. */
int capability_by_name(const char *name);
/* NULL when @cap has no name here. Static storage. */
const char *capability_name(unsigned int cap);
/* Highest that the running kernel has (40 since 5.9), or negative errno. */
int capability_last(void);
/* What the kernel has, as a mask. */
uint64_t capability_all(void);
/* The calling thread's sets. */
int capability_get(struct capability_sets *ret, struct err *err);

/* Drop from the bounding set all that the kernel has and @keep lacks. */
int capability_drop_bounding(uint64_t keep, struct err *err);
/* Keep the permitted set over the change from root (PR_SET_KEEPCAPS). */
int capability_keep(bool keep, struct err *err);
/*
 * Set effective, permitted, inheritable and ambient (the bounding set is not
 * touched). What the kernel refuses is an error: nothing is left out.
 */
int capability_apply(const struct capability_sets *s, struct err *err);

#endif
