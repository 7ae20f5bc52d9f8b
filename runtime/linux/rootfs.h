/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The root of a container: the steps, in the order in which they are taken.
 *
 *	rootfs_prepare	propagation of "/", the root bound onto itself
 *	mount_do ...	(mount.h), devices (device.h), terminal (terminal.h)
 *	rootfs_readonly_path, rootfs_mask
 *	rootfs_pivot	the new root is "/", the old one is gone
 *	rootfs_finish	its propagation, and read-only when asked for
 *
 * All run in the container's own mount namespace. Until rootfs_pivot the
 * host's /proc is at hand, which path_fd_name needs.
 */
#ifndef OSH_LINUX_ROOTFS_H
#define OSH_LINUX_ROOTFS_H

#include <stdbool.h>
#include <stddef.h>

struct err;

enum rootfs_switch {
	ROOTFS_PIVOT, /* pivot_root(".", ".") */
	ROOTFS_MOVE, /* --no-pivot: MS_MOVE and chroot, for ramfs roots */
	ROOTFS_CHROOT, /* no mount namespace of its own */
};

/*
 * @path is the root on the host. @propagation: MS_* of "rootfsPropagation",
 * or 0, which is rslave: what the host mounts later may arrive, nothing goes
 * back. The parent mount of the root is made private, so that the new one does
 * not show on the host. *ret_root_fd is the caller's.
 */
int rootfs_prepare(const char *path, unsigned long propagation,
		   int *ret_root_fd, struct err *err);

/*
 * Cover what "maskedPaths" names, once all mounts are there: a file by the
 * container's /dev/null, whose device number is checked (CVE-2025-31133); a
 * directory by an empty read-only tmpfs, one for all of them (runc#5275).
 * Missing paths are ignored (youki#1105).
 */
int rootfs_mask(int root_fd, const char *const *paths, size_t n,
		struct err *err);

/* Make what "readonlyPaths" names, and all below it, read-only. */
int rootfs_readonly_paths(int root_fd, const char *const *paths, size_t n,
			  struct err *err);

/* Make the root itself read-only, not what is mounted on it. */
int rootfs_readonly(int root_fd, struct err *err);

/*
 * Change to the new root; the working directory is "/" afterwards. @root_fd
 * stays valid. @shared: "/" may still propagate to the host, so cut the old
 * root off before it is unmounted (rootfs_prepare had MS_SHARED).
 */
int rootfs_pivot(int root_fd, enum rootfs_switch how, bool shared,
		 struct err *err);

/* After the switch: "rootfsPropagation" (0: nothing to do) for the new "/". */
int rootfs_propagate(unsigned long propagation, struct err *err);

#endif
