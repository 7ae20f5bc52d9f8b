/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the calling thread is scheduled: policy, I/O priority, CPU affinity.
 * Source: sched_setattr(2), ioprio_set(2), sched_setaffinity(2); OCI
 * runtime-spec config.md "Linux Process".
 */
#ifndef OSH_LINUX_SCHEDULER_H
#define OSH_LINUX_SCHEDULER_H

#include <stddef.h>
#include <stdint.h>

struct err;

struct scheduler_spec {
	const char *policy; /* "SCHED_BATCH" */
	int32_t nice;
	int32_t priority;
	const char *const *flags; /* "SCHED_FLAG_RESET_ON_FORK" */
	size_t n_flags;
	uint64_t runtime_ns, deadline_ns, period_ns;
};

int scheduler_set(const struct scheduler_spec *s, struct err *err);

/* @ioclass "IOPRIO_CLASS_BE"; @priority 0 to 7. */
int scheduler_set_ioprio(const char *ioclass, int priority, struct err *err);

/* @cpus as "0-3,8"; any number of CPUs. */
int scheduler_set_affinity(const char *cpus, struct err *err);
/*
 * Every CPU that the cpuset allows: a container must not inherit the affinity
 * of its maker. Call after joining the cgroup.
 */
int scheduler_reset_affinity(struct err *err);

#endif
