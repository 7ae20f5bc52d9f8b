/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moving network devices into a container ("linux.netDevices", runtime-spec
 * 1.3, config-linux.md "Network Devices"), by rtnetlink(7).
 *
 * A device moves and gets its new name in one step, so that it never clashes
 * with one that is there already. Its permanent addresses of global scope go
 * with it, and it is up afterwards; the kernel drops both on the way. When the
 * namespace ends, the kernel brings physical devices back and removes virtual
 * ones: nothing is undone here.
 */
#ifndef OSH_LINUX_NETDEVICE_H
#define OSH_LINUX_NETDEVICE_H

#include <stddef.h>

struct err;

enum { NETDEVICE_ADDRESSES_MAX = 64 };

struct netdevice {
	const char *name; /* in our network namespace */
	const char *new_name; /* in the other one; NULL: the same */
};

/*
 * Move @v to the network namespace @ns_fd. Goes there and back with setns:
 * for a process with one thread.
 */
int netdevice_move(const struct netdevice *v, size_t n, int ns_fd,
		   struct err *err);

#endif
