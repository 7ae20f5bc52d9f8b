/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The config's own listener: SCMP_ACT_NOTIFY and linux.seccomp.listenerPath
 * (OCI runtime specification, config-linux.md "Seccomp", "The Container
 * Process State"). A policy's filter and this exclude each other: the kernel
 * allows one listener.
 */
#ifndef OSH_CONTAINER_SECCOMP_AGENT_H
#define OSH_CONTAINER_SECCOMP_AGENT_H

#include <sys/types.h>

struct err;
struct oci_seccomp;
struct oci_state;
struct arena;

/*
 * Fetch descriptor @number of the process behind @pidfd and send it, with the
 * container process state, to the agent that listens at listenerPath.
 */
int seccomp_agent_send(struct arena *a, const struct oci_seccomp *sec,
		       const struct oci_state *state, pid_t pid, int pidfd,
		       int number, struct err *err);

#endif
