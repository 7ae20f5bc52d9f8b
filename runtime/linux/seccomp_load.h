/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Installing seccomp programs in the calling thread, and what the kernel
 * offers. The caller has no_new_privs set, or CAP_SYS_ADMIN in its user
 * namespace. Allocates nothing.
 *
 * Source: seccomp(2).
 */
#ifndef OSH_LINUX_SECCOMP_LOAD_H
#define OSH_LINUX_SECCOMP_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct sock_filter;

/*
 * Install @n_insns of @insns with @flags (SECCOMP_FILTER_FLAG_*). With
 * @ret_listener_fd a listener is made (NEW_LISTENER is added); the caller owns
 * it, close-on-exec. A second listener in one task is EBUSY (kernel).
 */
int seccomp_load_filter(const struct sock_filter *insns, size_t n_insns,
			unsigned int flags, int *ret_listener_fd,
			struct err *err);

/* "SECCOMP_FILTER_FLAG_LOG" -> its bit in *@ret, or -EINVAL. */
int seccomp_flag_by_name(const char *name, unsigned int *ret);
/* Row @i of the flags' table, or NULL past its end: for `features`. */
const char *seccomp_flag_name(size_t i);
/* Does the kernel know all of @flags? Needs no privilege. */
bool seccomp_has_flags(unsigned int flags);
/* Does the kernel know SECCOMP_RET_* @action? */
bool seccomp_has_action(uint32_t action);

#endif
