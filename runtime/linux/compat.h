/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel has and the headers that we build with may lack: Debian 12
 * ships those of Linux 6.1 with glibc 2.36. Values are ABI, so they are
 * written down once here, each with the release that brought it.
 */
#ifndef OSH_LINUX_COMPAT_H
#define OSH_LINUX_COMPAT_H

#include <fcntl.h>
#include <linux/ioctl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>

#ifndef AT_RECURSIVE /* 5.2 */
#define AT_RECURSIVE 0x8000
#endif
#ifndef MS_NOSYMFOLLOW /* 5.10 */
#define MS_NOSYMFOLLOW 256
#endif
#ifndef MS_LAZYTIME /* 4.0 */
#define MS_LAZYTIME (1 << 25)
#endif
#ifndef MOUNT_ATTR__ATIME /* 5.2 */
#define MOUNT_ATTR__ATIME 0x00000070
#endif
#ifndef MOUNT_ATTR_IDMAP /* 5.12 */
#define MOUNT_ATTR_IDMAP 0x00100000
#endif
#ifndef MOUNT_ATTR_NOSYMFOLLOW /* 5.14 */
#define MOUNT_ATTR_NOSYMFOLLOW 0x00200000
#endif
#ifndef CLONE_NEWTIME /* 5.6 */
#define CLONE_NEWTIME 0x00000080
#endif
#ifndef CLONE_INTO_CGROUP /* 5.7 */
#define CLONE_INTO_CGROUP 0x200000000ULL
#endif
#ifndef SO_NETNS_COOKIE /* 5.14 */
#define SO_NETNS_COOKIE 71
#endif
#ifndef TIOCGPTPEER /* 4.13 */
#define TIOCGPTPEER _IO('T', 0x41)
#endif
#ifndef NS_GET_NSTYPE /* 4.11 */
#define NS_GET_NSTYPE _IO(0xb7, 0x3)
#endif

#endif
