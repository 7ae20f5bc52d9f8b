/* SPDX-License-Identifier: Apache-2.0 */
/* Containers that share a namespace share a fate: see create_shared.c. */
#ifndef OSH_CONTAINER_CREATE_SHARED_H
#define OSH_CONTAINER_CREATE_SHARED_H

struct create;
struct err;

/* Refuse a container without a policy beside one that has one, either way
 * round. The init exists already. */
int create_check_shared(struct create *c, struct err *err);

#endif
