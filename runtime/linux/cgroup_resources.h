/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What cgroup_apply writes: the resources of OCI runtime-spec config-linux.md
 * "Control groups", with the same names and units. All pointers are borrowed.
 * A zeroed struct asks for nothing.
 */
#ifndef OSH_LINUX_CGROUP_RESOURCES_H
#define OSH_LINUX_CGROUP_RESOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cgroup_device_rule;

struct cgroup_i64 {
	bool set;
	int64_t v;
};

struct cgroup_u64 {
	bool set;
	uint64_t v;
};

/* bytes; -1 is unlimited; 0 leaves it alone, as runc has it */
struct cgroup_memory {
	struct cgroup_i64 limit;
	struct cgroup_i64 reservation;
	struct cgroup_i64 swap; /* memory + swap, v1's meaning */
	struct cgroup_i64 kernel; /* the kernel ignores it since 5.16 */
	struct cgroup_i64 kernel_tcp; /* v1 */
	struct cgroup_u64 swappiness; /* v1, 0 to 100 */
	bool disable_oom_killer; /* v1 */
	bool use_hierarchy; /* v1; the only mode since 5.11 */
	bool check_before_update; /* refuse a limit below the usage */
};

struct cgroup_cpu {
	struct cgroup_u64 shares; /* 0 leaves it alone */
	struct cgroup_i64 quota; /* us per period; -1 unlimited; 0 alone */
	struct cgroup_u64 period; /* us */
	struct cgroup_u64 burst; /* us */
	struct cgroup_i64 rt_runtime;
	struct cgroup_u64 rt_period;
	struct cgroup_i64 idle; /* 0 or 1 */
	const char *cpus; /* NULL or "" leaves it alone */
	const char *mems;
};

struct cgroup_weight_device {
	int64_t major, minor;
	struct cgroup_u64 weight;
	struct cgroup_u64 leaf_weight;
};

struct cgroup_throttle_device {
	int64_t major, minor;
	uint64_t rate; /* bytes/s or operations/s */
};

enum cgroup_throttle {
	CGROUP_READ_BPS,
	CGROUP_WRITE_BPS,
	CGROUP_READ_IOPS,
	CGROUP_WRITE_IOPS,
	CGROUP_THROTTLE_N
};

struct cgroup_blkio {
	struct cgroup_u64 weight; /* 10 to 1000; 0 leaves it alone */
	struct cgroup_u64 leaf_weight;
	const struct cgroup_weight_device *weight_devices;
	size_t n_weight_devices;
	const struct cgroup_throttle_device *throttle[CGROUP_THROTTLE_N];
	size_t n_throttle[CGROUP_THROTTLE_N];
};

struct cgroup_hugepage {
	const char *page_size; /* "2MB" */
	uint64_t limit; /* bytes */
};

struct cgroup_rdma {
	const char *device;
	struct cgroup_u64 hca_handles;
	struct cgroup_u64 hca_objects;
};

struct cgroup_priority {
	const char *name; /* of the interface */
	uint32_t priority;
};

struct cgroup_unified {
	const char *key; /* a v2 file, "memory.high" */
	const char *value;
};

struct cgroup_resources {
	struct cgroup_memory memory;
	struct cgroup_cpu cpu;
	struct cgroup_i64 pids; /* -1: unlimited; 0: a limit too (runc #4949) */
	struct cgroup_blkio blkio;
	const struct cgroup_hugepage *hugepages;
	size_t n_hugepages;
	struct cgroup_u64 class_id; /* net_cls */
	const struct cgroup_priority *priorities;
	size_t n_priorities;
	const struct cgroup_rdma *rdma;
	size_t n_rdma;
	const struct cgroup_unified *unified;
	size_t n_unified;

	/*
	 * In order, the last that matches wins; what no rule matches is denied.
	 * The container's default devices are added by the caller, see
	 * cgroup_devices.h. With n_devices 0 and no default nothing is
	 * written.
	 */
	const struct cgroup_device_rule *devices;
	size_t n_devices;
	/*
	 * We are in a user namespace: the kernel lets us neither filter devices
	 * nor make nodes, so device rules are left out.
	 */
	bool no_devices;
};

/* Bit per enum cgroup_controller that @r needs. */
uint32_t cgroup_resources_need(const struct cgroup_resources *r);

#endif
