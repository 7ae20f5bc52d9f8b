/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device nodes, the links in /dev, and /dev/console.
 *
 * Everything is made beneath the root's descriptor, so a "/dev" that is a
 * symlink leads nowhere outside (CVE-2026-41579, CVE-2026-47766).
 */
#ifndef OSH_LINUX_DEVICE_H
#define OSH_LINUX_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

struct device {
	const char *path; /* absolute, inside the container */
	char type; /* 'c', 'u' (as 'c'), 'b' or 'p' */
	uint32_t major;
	uint32_t minor;
	mode_t mode; /* permission bits */
	uid_t uid; /* inside the container */
	gid_t gid;
};

/*
 * The devices that every container has (config-linux.md, "Default Devices"):
 * null, zero, full, random, urandom, tty.
 */
extern const struct device device_defaults[];
extern const size_t device_n_defaults;

/*
 * Make @devices. With @bind (a user namespace may not make nodes) the host's
 * node of the same name is bound instead, after its number was compared.
 * A node that is there already with the right number is kept.
 */
int device_create(int root_fd, const struct device *devices, size_t n,
		  bool bind, struct err *err);

/* /dev/fd, stdin, stdout, stderr, core, and ptmx -> pts/ptmx. */
int device_links(int root_fd, struct err *err);

/*
 * Bind the pseudoterminal @slave_fd onto /dev/console (CVE-2025-52565: the
 * descriptor is checked to be a slave on devpts).
 */
int device_console(int root_fd, int slave_fd, struct err *err);

#endif
