/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "linux.resources" (config-linux.md, "Control groups"): also the file that
 * `update --resources` is given.
 */
#ifndef OSH_OCI_SPEC_RESOURCES_H
#define OSH_OCI_SPEC_RESOURCES_H

#include "runtime/doc/types.h"

struct arena;
struct doc_errors;
struct json;

struct oci_device_rule {
	bool allow;
	const char *type; /* "a", "b", "c"; NULL: all */
	struct opt_i64 major, minor; /* unset or -1: all */
	const char *access; /* of "rwm"; NULL: all */
};

struct oci_memory {
	struct opt_i64 limit, reservation, swap, kernel, kernel_tcp;
	struct opt_u64 swappiness;
	struct opt_bool disable_oom_killer, use_hierarchy;
	struct opt_bool check_before_update;
};

struct oci_cpu {
	struct opt_u64 shares, period, burst, realtime_period;
	struct opt_i64 quota, realtime_runtime, idle;
	const char *cpus, *mems;
};

struct oci_pids {
	struct opt_i64 limit;
};

struct oci_weight_device {
	int64_t major, minor;
	struct opt_u32 weight, leaf_weight;
};

struct oci_throttle_device {
	int64_t major, minor;
	uint64_t rate;
};

struct oci_throttle_list {
	struct oci_throttle_device *v;
	size_t n;
};

struct oci_block_io {
	struct opt_u32 weight, leaf_weight;
	LIST_OF(struct oci_weight_device) weight_device;
	struct oci_throttle_list read_bps, write_bps, read_iops, write_iops;
};

struct oci_hugepage_limit {
	const char *page_size; /* "2MB" */
	uint64_t limit;
};

struct oci_interface_priority {
	const char *name;
	uint32_t priority;
};

struct oci_network {
	struct opt_u32 class_id;
	LIST_OF(struct oci_interface_priority) priorities;
};

struct oci_rdma {
	const char *device;
	struct opt_u32 hca_handles, hca_objects;
};

struct oci_resources {
	const struct doc_node *node;
	LIST_OF(struct oci_device_rule) devices;
	struct oci_memory *memory;
	struct oci_cpu *cpu;
	struct oci_pids *pids;
	struct oci_block_io *block_io;
	LIST_OF(struct oci_hugepage_limit) hugepage_limits;
	struct oci_network *network;
	LIST_OF(struct oci_rdma) rdma;
	struct pair_list unified;
};

/* As oci_spec_parse, for a file that holds resources alone. */
int oci_resources_parse(struct arena *a, const char *data, size_t len,
			struct oci_resources **ret_resources,
			struct doc_errors *errors);
void oci_resources_write(struct json *j, const char *key,
			 const struct oci_resources *resources);

#endif
