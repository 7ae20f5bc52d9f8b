/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/scheduler.h"

/* The kernel's struct sched_attr, which the C library does not have. */
struct attr {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime;
	uint64_t deadline;
	uint64_t period;
	uint32_t util_min;
	uint32_t util_max;
};
_Static_assert(sizeof(struct attr) == 56, "SCHED_ATTR_SIZE_VER1");

struct row {
	const char *name;
	uint32_t value;
};

static const struct row policies[] = {
	{"SCHED_OTHER", 0},    {"SCHED_FIFO", 1}, {"SCHED_RR", 2},
	{"SCHED_BATCH", 3},    {"SCHED_ISO", 4},  {"SCHED_IDLE", 5},
	{"SCHED_DEADLINE", 6},
};

static const struct row flags_table[] = {
	{"SCHED_FLAG_RESET_ON_FORK", 0x01},
	{"SCHED_FLAG_RECLAIM", 0x02},
	{"SCHED_FLAG_DL_OVERRUN", 0x04},
	{"SCHED_FLAG_KEEP_POLICY", 0x08},
	{"SCHED_FLAG_KEEP_PARAMS", 0x10},
	{"SCHED_FLAG_UTIL_CLAMP_MIN", 0x20},
	{"SCHED_FLAG_UTIL_CLAMP_MAX", 0x40},
};

static const struct row io_classes[] = {
	{"IOPRIO_CLASS_RT", 1},
	{"IOPRIO_CLASS_BE", 2},
	{"IOPRIO_CLASS_IDLE", 3},
};

enum {
	IOPRIO_WHO_PROCESS = 1,
	IOPRIO_CLASS_SHIFT = 13,
	IOPRIO_MAX = 7,

	CPU_BITS = 8 * sizeof(unsigned long),
	CPU_MAX = 16384, /* twice the kernel's largest NR_CPUS */
};

static const struct row *find(const struct row *t, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(name, t[i].name))
			return &t[i];
	return NULL;
}

int scheduler_set(const struct scheduler_spec *s, struct err *err)
{
	struct attr a = {
		.size = sizeof(a),
		.nice = s->nice,
		.priority = (uint32_t)s->priority,
		.runtime = s->runtime_ns,
		.deadline = s->deadline_ns,
		.period = s->period_ns,
	};
	const struct row *row = find(policies, N_ELEMENTS(policies), s->policy);

	if (!row)
		return err_set(err, EINVAL, "unknown scheduler policy %s",
			       s->policy);
	a.policy = row->value;
	for (size_t i = 0; i < s->n_flags; i++) {
		row = find(flags_table, N_ELEMENTS(flags_table), s->flags[i]);
		if (!row)
			return err_set(err, EINVAL, "unknown scheduler flag %s",
				       s->flags[i]);
		a.flags |= row->value;
	}
	if (syscall(SYS_sched_setattr, 0, &a, 0) < 0)
		return err_errno(err, errno, "set scheduler policy %s",
				 s->policy);
	return 0;
}

int scheduler_set_ioprio(const char *ioclass, int priority, struct err *err)
{
	const struct row *row =
		find(io_classes, N_ELEMENTS(io_classes), ioclass);

	if (!row)
		return err_set(err, EINVAL, "unknown I/O priority class %s",
			       ioclass);
	if (priority < 0 || priority > IOPRIO_MAX)
		return err_set(err, EINVAL, "I/O priority %d: not 0 to %d",
			       priority, IOPRIO_MAX);
	if (syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0,
		    row->value << IOPRIO_CLASS_SHIFT | (uint32_t)priority) < 0)
		return err_errno(err, errno, "set I/O priority %s %d", ioclass,
				 priority);
	return 0;
}

/* Raw, because cpu_set_t ends at 1024. */
static int set_mask(const unsigned long *mask, size_t size_bytes)
{
	return syscall(SYS_sched_setaffinity, 0, size_bytes, mask) < 0 ? -errno
								       : 0;
}

static const char *take_number(const char *p, size_t *ret)
{
	size_t n = 0;

	if (*p < '0' || *p > '9')
		return NULL;
	for (; *p >= '0' && *p <= '9'; p++) {
		n = 10 * n + (size_t)(*p - '0');
		if (n >= CPU_MAX)
			return NULL;
	}
	*ret = n;
	return p;
}

/* "0-3,8" */
static bool parse_cpus(const char *p, unsigned long *mask)
{
	for (;;) {
		size_t from, to;

		p = take_number(p, &from);
		if (!p)
			return false;
		to = from;
		if (*p == '-') {
			p = take_number(p + 1, &to);
			if (!p || to < from)
				return false;
		}
		for (size_t i = from; i <= to; i++)
			mask[i / CPU_BITS] |= 1UL << i % CPU_BITS;
		if (*p == '\0')
			return true;
		if (*p++ != ',')
			return false;
	}
}

int scheduler_set_affinity(const char *cpus, struct err *err)
{
	unsigned long mask[CPU_MAX / CPU_BITS] = {0};
	int r;

	if (!parse_cpus(cpus, mask))
		return err_set(err, EINVAL, "CPU affinity %s: not a list",
			       cpus);
	r = set_mask(mask, sizeof(mask));
	if (r < 0)
		return err_errno(err, -r, "set CPU affinity %s", cpus);
	return 0;
}

int scheduler_reset_affinity(struct err *err)
{
	unsigned long mask[CPU_MAX / CPU_BITS];
	int r;

	/* the kernel takes what the cpuset allows, and cuts the mask */
	memset(mask, 0xff, sizeof(mask));
	r = set_mask(mask, sizeof(mask));
	if (r < 0)
		return err_errno(err, -r, "reset CPU affinity");
	return 0;
}
