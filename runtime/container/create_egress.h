/* SPDX-License-Identifier: Apache-2.0 */
/* create's dealings with the egress filter: steps 7, 8, 10, 11. */
#ifndef OSH_CONTAINER_CREATE_EGRESS_H
#define OSH_CONTAINER_CREATE_EGRESS_H

#include <sys/types.h>

struct create;
struct egress;
struct err;

/* Start or join the shim of the init's network namespace. */
int create_egress_attach(struct create *c, struct err *err);
void create_egress_undo(struct create *c);
/* Resolve the policy's binaries in the new root; hand over the rulesets. */
int create_egress_binaries(struct create *c, struct err *err);
/* Fetch descriptor @number of the process behind @pidfd, give it to the shim. */
int create_egress_listener(struct egress *e, int pidfd, pid_t pid, int number,
			   struct err *err);

#endif
