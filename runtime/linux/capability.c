/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/capability.h>
#include <stddef.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/linux/capability.h"

static const char *const names[] = {
	"CAP_CHOWN",
	"CAP_DAC_OVERRIDE",
	"CAP_DAC_READ_SEARCH",
	"CAP_FOWNER",
	"CAP_FSETID",
	"CAP_KILL",
	"CAP_SETGID",
	"CAP_SETUID",
	"CAP_SETPCAP",
	"CAP_LINUX_IMMUTABLE",
	"CAP_NET_BIND_SERVICE",
	"CAP_NET_BROADCAST",
	"CAP_NET_ADMIN",
	"CAP_NET_RAW",
	"CAP_IPC_LOCK",
	"CAP_IPC_OWNER",
	"CAP_SYS_MODULE",
	"CAP_SYS_RAWIO",
	"CAP_SYS_CHROOT",
	"CAP_SYS_PTRACE",
	"CAP_SYS_PACCT",
	"CAP_SYS_ADMIN",
	"CAP_SYS_BOOT",
	"CAP_SYS_NICE",
	"CAP_SYS_RESOURCE",
	"CAP_SYS_TIME",
	"CAP_SYS_TTY_CONFIG",
	"CAP_MKNOD",
	"CAP_LEASE",
	"CAP_AUDIT_WRITE",
	"CAP_AUDIT_CONTROL",
	"CAP_SETFCAP",
	"CAP_MAC_OVERRIDE",
	"CAP_MAC_ADMIN",
	"CAP_SYSLOG",
	"CAP_WAKE_ALARM",
	"CAP_BLOCK_SUSPEND",
	"CAP_AUDIT_READ",
	"CAP_PERFMON",
	"CAP_BPF",
	"CAP_CHECKPOINT_RESTORE",
};
_Static_assert(N_ELEMENTS(names) == CAPABILITY_N, "a name for each");
_Static_assert(CAPABILITY_N == CAP_CHECKPOINT_RESTORE + 1, "the last one");

enum { CAPABILITY_BITS = 64 };

int capability_by_name(const char *name)
{
	for (size_t i = 0; i < CAPABILITY_N; i++)
		if (strcasecmp(name, names[i]) == 0)
			return (int)i;
	return -1;
}

const char *capability_name(unsigned int cap)
{
	return cap < CAPABILITY_N ? names[cap] : NULL;
}

static bool kernel_has(int cap)
{
	return prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0;
}

/* No /proc is needed: the kernel refuses the first that it does not have. */
int capability_last(void)
{
	int last = CAPABILITY_N - 1;

	while (last >= 0 && !kernel_has(last))
		last--;
	while (last + 1 < CAPABILITY_BITS && kernel_has(last + 1))
		last++;
	return last >= 0 ? last : -ENOSYS;
}

uint64_t capability_all(void)
{
	int last = capability_last();

	if (last < 0)
		return 0;
	return UINT64_MAX >> (CAPABILITY_BITS - 1 - last);
}

static void split(uint64_t mask, uint32_t *lo, uint32_t *hi)
{
	*lo = (uint32_t)mask;
	*hi = (uint32_t)(mask >> 32);
}

static uint64_t join(uint32_t lo, uint32_t hi)
{
	return (uint64_t)hi << 32 | lo;
}

static uint64_t read_mask(int option, unsigned long arg)
{
	int last = capability_last();
	uint64_t mask = 0;

	for (int i = 0; i <= last; i++) {
		int r = option == PR_CAPBSET_READ ? prctl(option, i, 0, 0, 0)
						  : prctl(option, arg, i, 0, 0);
		if (r == 1)
			mask |= UINT64_C(1) << i;
	}
	return mask;
}

int capability_get(struct capability_sets *ret, struct err *err)
{
	struct __user_cap_header_struct h = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct d[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &h, d) < 0)
		return err_errno(err, errno, "read capabilities");
	ret->effective = join(d[0].effective, d[1].effective);
	ret->permitted = join(d[0].permitted, d[1].permitted);
	ret->inheritable = join(d[0].inheritable, d[1].inheritable);
	ret->bounding = read_mask(PR_CAPBSET_READ, 0);
	ret->ambient = read_mask(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET);
	return 0;
}

int capability_drop_bounding(uint64_t keep, struct err *err)
{
	int last = capability_last();

	if (last < 0)
		return err_errno(err, -last, "read the bounding set");
	for (int i = 0; i <= last; i++) {
		if (keep >> i & 1)
			continue;
		if (prctl(PR_CAPBSET_DROP, i, 0, 0, 0) == 0)
			continue;
		/* nothing to do needs no privilege */
		if (errno == EPERM && prctl(PR_CAPBSET_READ, i, 0, 0, 0) == 0)
			continue;
		return err_errno(err, errno, "drop %s from the bounding set",
				 i < CAPABILITY_N ? names[i] : "a capability");
	}
	return 0;
}

int capability_keep(bool keep, struct err *err)
{
	if (prctl(PR_SET_KEEPCAPS, keep ? 1 : 0, 0, 0, 0) < 0)
		return err_errno(err, errno, "keep capabilities");
	return 0;
}

static int raise_ambient(uint64_t mask, struct err *err)
{
	/* EINVAL: a kernel before 4.3 has no ambient set to clear */
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 &&
	    !(errno == EINVAL && mask == 0))
		return err_errno(err, errno, "clear ambient capabilities");
	for (int i = 0; i < CAPABILITY_BITS; i++) {
		if (!(mask >> i & 1))
			continue;
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, i, 0, 0) < 0)
			return err_errno(err, errno,
					 "raise ambient capability %s",
					 i < CAPABILITY_N ? names[i] : "?");
	}
	return 0;
}

int capability_apply(const struct capability_sets *s, struct err *err)
{
	struct __user_cap_header_struct h = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct d[_LINUX_CAPABILITY_U32S_3];

	split(s->effective, &d[0].effective, &d[1].effective);
	split(s->permitted, &d[0].permitted, &d[1].permitted);
	split(s->inheritable, &d[0].inheritable, &d[1].inheritable);
	if (syscall(SYS_capset, &h, d) < 0)
		return err_errno(err, errno, "set capabilities");
	return raise_ambient(s->ambient, err);
}
