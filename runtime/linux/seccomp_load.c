/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/seccomp_load.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV /* Linux 5.19 */
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

#define ROW(name)                           \
	{                                   \
#name, (unsigned int)(name) \
	}

/* Those that a config may ask for (config-linux.md "Seccomp"). */
static const struct {
	const char *name;
	unsigned int flag;
} flags_table[] = {
	ROW(SECCOMP_FILTER_FLAG_TSYNC),
	ROW(SECCOMP_FILTER_FLAG_LOG),
	ROW(SECCOMP_FILTER_FLAG_SPEC_ALLOW),
	ROW(SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV),
};

static int seccomp(unsigned int op, unsigned int flags, const void *arg)
{
	return (int)syscall(SYS_seccomp, op, flags, arg);
}

int seccomp_load_filter(const struct sock_filter *insns, size_t n_insns,
			unsigned int flags, int *ret_listener_fd,
			struct err *err)
{
	union {
		const struct sock_filter *in;
		struct sock_filter *out;
	} u = {.in = insns};
	struct sock_fprog prog = {
		.len = (unsigned short)n_insns,
		.filter = u.out, /* the kernel only reads it */
	};
	int r;

	if (n_insns == 0 || n_insns > BPF_MAXINSNS)
		return err_set(err, EINVAL,
			       "load seccomp filter: %zu instructions",
			       n_insns);
	if (ret_listener_fd) {
		flags |= SECCOMP_FILTER_FLAG_NEW_LISTENER;
		/* with both, an error would look like a descriptor */
		if (flags & SECCOMP_FILTER_FLAG_TSYNC)
			flags |= SECCOMP_FILTER_FLAG_TSYNC_ESRCH;
	}
	r = seccomp(SECCOMP_SET_MODE_FILTER, flags, &prog);
	if (r < 0)
		return err_errno(err, errno, "load seccomp filter");
	if (ret_listener_fd) {
		*ret_listener_fd = r; /* the kernel makes it close-on-exec */
		return 0;
	}
	/* TSYNC: the id of a thread that has a filter of its own */
	if (r > 0)
		return err_set(err, EBUSY,
			       "load seccomp filter: thread %d can't follow",
			       r);
	return 0;
}

int seccomp_flag_by_name(const char *name, unsigned int *ret)
{
	for (size_t i = 0; i < N_ELEMENTS(flags_table); i++) {
		if (!str_eq(name, flags_table[i].name))
			continue;
		*ret = flags_table[i].flag;
		return 0;
	}
	return -EINVAL;
}

const char *seccomp_flag_name(size_t i)
{
	return i < N_ELEMENTS(flags_table) ? flags_table[i].name : NULL;
}

/* The kernel looks at the flags before it follows the pointer. */
bool seccomp_has_flags(unsigned int flags)
{
	/* WAIT_KILLABLE_RECV alone is invalid: it speaks of a listener */
	if (flags & SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)
		flags |= SECCOMP_FILTER_FLAG_NEW_LISTENER;
	if ((flags & SECCOMP_FILTER_FLAG_NEW_LISTENER) &&
	    (flags & SECCOMP_FILTER_FLAG_TSYNC))
		flags |= SECCOMP_FILTER_FLAG_TSYNC_ESRCH;
	return seccomp(SECCOMP_SET_MODE_FILTER, flags, NULL) < 0 &&
	       errno == EFAULT;
}

bool seccomp_has_action(uint32_t action)
{
	return seccomp(SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}
