/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sysctls of a container: only those that a namespace of its own holds may be
 * set, because any other would be the host's.
 *
 * Keys are written with dots (net.ipv4.ip_forward) or with slashes
 * (net/ipv4/conf/eth0.1/forwarding); which, the first separator says
 * (sysctl(8)).
 */
#ifndef OSH_LINUX_SYSCTL_H
#define OSH_LINUX_SYSCTL_H

struct err;

/* Namespaces that the container does not share with its maker. */
enum {
	SYSCTL_NS_IPC = 1 << 0,
	SYSCTL_NS_NET = 1 << 1,
	SYSCTL_NS_UTS = 1 << 2,
	SYSCTL_NS_USER = 1 << 3,
};

/*
 * May @key be set by a container with @own_ns? kernel.hostname is refused
 * (the config's hostname field sets it). Pure.
 */
int sysctl_check(const char *key, unsigned int own_ns, struct err *err);

/*
 * Write @value. @proc_fd from path_proc_fd(), or -EBADF to open /proc here;
 * what is opened beneath it is checked to be procfs (CVE-2025-52881). Call it
 * inside the namespaces: the caller's own decide what is written.
 */
int sysctl_write(int proc_fd, const char *key, const char *value,
		 struct err *err);

#endif
