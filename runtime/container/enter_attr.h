/* SPDX-License-Identifier: Apache-2.0 */
/* What a process is born with beside its limits and its user. */
#ifndef OSH_CONTAINER_ENTER_ATTR_H
#define OSH_CONTAINER_ENTER_ATTR_H

struct enter;
struct err;

/* Scheduling, I/O priority, OOM score, security labels. */
int enter_attributes(const struct enter *e, struct err *err);

#endif
