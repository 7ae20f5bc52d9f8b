/* SPDX-License-Identifier: Apache-2.0 */
/* What Debian 12's kernel headers (6.1) don't know yet. */
#ifndef OSH_SHIM_NOTIFY_COMPAT_H
#define OSH_SHIM_NOTIFY_COMPAT_H

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/socket.h>

/* Linux 6.6 */
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif
#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif
/* Linux 6.9 */
#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL
#endif
/* Linux 5.14 */
#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

#endif
