/* SPDX-License-Identifier: Apache-2.0 */
/* From the plan to what an init, or an exec, needs: launch.h, enter.h. */
#ifndef OSH_CONTAINER_CREATE_LAUNCH_H
#define OSH_CONTAINER_CREATE_LAUNCH_H

#include "runtime/container/blueprint.h"

struct enter;
struct err;
struct launch;
struct oci_process;

/*
 * The process's part: capabilities, scheduling, the config's filter (from the
 * cache or compiled), the policy's filters, the user. @process is the plan's,
 * or plan_exec's. Descriptors of @ret are set to -EBADF, but for proc_fd,
 * which the caller owns.
 */
int launch_process(struct blueprint *b, const struct oci_process *process,
		   blueprint_note note, struct enter *ret, struct err *err);

/* The root's part: namespaces, mounts, devices, Landlock rules. */
int launch_container(struct blueprint *b, struct launch *ret, struct err *err);

#endif
