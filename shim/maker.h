/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The maker: what the shim can no longer do once it has locked itself up is
 * done by a process forked before (shim/ipc/maker_proto.h). It stays in the
 * sandbox's network namespace, in a user namespace of its own, where it may
 * create namespaces; over the sandbox's it has no privilege. It dies with the
 * shim, and the resolvers it started with it.
 */
#ifndef OSH_SHIM_MAKER_H
#define OSH_SHIM_MAKER_H

struct err;

/*
 * Fork it. @proc_fd is /proc. The descriptors that the shim has open are
 * closed in it. Returns the channel in *ret_fd (the caller owns it).
 */
int maker_start(int proc_fd, int *ret_fd, struct err *err);

#endif
