/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shim's own cgroup: a sibling of the first container's that it serves. Not
 * the container's (it would be frozen, starved or killed with it), and not the
 * client's (it would die with the client's scope). It is on record as
 * SHIMS/COOKIE.cgroup, beside the shim's folder, until a delete removes it.
 */
#ifndef OSH_CONTAINER_EGRESS_CGROUP_H
#define OSH_CONTAINER_EGRESS_CGROUP_H

#include <stdint.h>

struct arena;
struct cgroup_join;
struct err;

/* Both under the lock of the shim's folder (egress.c). @beside: the
 * container's cgroupsPath (may be NULL). */
int egress_cgroup_make(struct arena *a, uint64_t cookie, const char *beside,
		       struct cgroup_join *ret, struct err *err);

/* Once the shim has ended. There may be none: no error. */
int egress_cgroup_remove(struct arena *a, uint64_t cookie, struct err *err);

#endif
