/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "shim/privilege.h"

int privilege_keep(uint64_t mask, struct err *err)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {
		{ .effective = (uint32_t)mask, .permitted = (uint32_t)mask },
		{ .effective = (uint32_t)(mask >> 32),
		  .permitted = (uint32_t)(mask >> 32) },
	};

	/* the bounding set first: dropping from it needs CAP_SETPCAP; the
	 * first number that the kernel does not know ends the walk */
	for (unsigned long c = 0; c < 64; c++) {
		if (mask & UINT64_C(1) << c)
			continue;
		if (prctl(PR_CAPBSET_DROP, c, 0, 0, 0) < 0) {
			if (errno == EINVAL)
				break;
			return err_errno(err, errno,
					 "drop bounding capability %lu", c);
		}
	}
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return err_errno(err, errno, "clear ambient capabilities");
	if (syscall(SYS_capset, &head, data) < 0)
		return err_errno(err, errno, "drop capabilities");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_errno(err, errno, "set no_new_privs");
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return err_errno(err, errno, "forbid core dumps and ptrace");
	return 0;
}

int privilege_empty_root(struct err *err)
{
	/* any directory serves as the place; this one exists */
	static const char at[] = "/proc";

	if (unshare(CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS) < 0)
		return err_errno(err, errno, "create a mount namespace");
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return err_errno(err, errno, "make mounts private");
	if (mount("none", at, "tmpfs",
		  MS_NOSUID | MS_NODEV | MS_NOEXEC,
		  "mode=000,nr_inodes=2,size=4096") < 0)
		return err_errno(err, errno, "mount an empty root");
	if (chdir(at) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 ||
	    umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		return err_errno(err, errno, "enter the empty root");
	if (mount(NULL, "/", NULL,
		  MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV |
			  MS_NOEXEC,
		  NULL) < 0)
		return err_errno(err, errno, "make the empty root read-only");
	return 0;
}
