/* SPDX-License-Identifier: Apache-2.0 */
/* Step 4 of create: the init, in its namespaces and its v2 cgroup. */
#ifndef OSH_CONTAINER_CREATE_CLONE_H
#define OSH_CONTAINER_CREATE_CLONE_H

struct create;
struct err;

/*
 * Clone the init of c->launch: sets c->pid, c->pidfd and c->sync_fd. On
 * failure c->pid may be set all the same; what undoes the step looks there.
 */
int create_clone(struct create *c, struct err *err);

#endif
