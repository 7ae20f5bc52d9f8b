/* SPDX-License-Identifier: Apache-2.0 */
/* "linux.netDevices" of a container that is being made. */
#ifndef OSH_CONTAINER_CREATE_NETDEVICE_H
#define OSH_CONTAINER_CREATE_NETDEVICE_H

#include <sys/types.h>

struct err;
struct oci_spec;

/*
 * Move them from our network namespace to that of @pid, the init, before the
 * hooks see it. One that is shared with us is refused.
 */
int create_netdevices(const struct oci_spec *spec, pid_t pid, struct err *err);

#endif
