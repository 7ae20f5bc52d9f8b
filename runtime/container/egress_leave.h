/* SPDX-License-Identifier: Apache-2.0 */
/* Taking a container out of its shim, for delete and for a create that failed. */
#ifndef OSH_CONTAINER_EGRESS_LEAVE_H
#define OSH_CONTAINER_EGRESS_LEAVE_H

#include <stdint.h>

struct arena;
struct err;

/*
 * Let the shim of namespace @cookie forget container @id, whose processes have
 * been killed. With its last container a shim ends by itself: that is awaited,
 * and what it can't remove (its cgroup; after a crash its folder) is removed.
 * One that is dead, or has forgotten already, is no error. What an earlier call
 * awaited in vain is removed as well.
 */
int egress_leave(struct arena *a, const char *id, uint64_t cookie,
		 struct err *err);

#endif
