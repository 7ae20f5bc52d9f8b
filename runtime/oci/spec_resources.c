/* SPDX-License-Identifier: Apache-2.0 */
/* config-linux.md, "Control groups". */
#include "runtime/base/arena.h"
#include "runtime/base/strbuf.h"
#include "runtime/oci/spec_resources.h"
#include "runtime/oci/tables.h"

static const struct decode_row device_rule_rows[] = {
	DECODE_ROW(struct oci_device_rule, allow, "allow", DECODE_BOOL,
		   .flags = DECODE_REQUIRED),
	DECODE_ROW(struct oci_device_rule, type, "type", DECODE_STR),
	DECODE_ROW(struct oci_device_rule, major, "major", DECODE_I64,
		   .flags = DECODE_OPT),
	DECODE_ROW(struct oci_device_rule, minor, "minor", DECODE_I64,
		   .flags = DECODE_OPT),
	DECODE_ROW(struct oci_device_rule, access, "access", DECODE_STR),
};

static void check_device_rule(struct decode *d, const struct doc_node *node,
			      void *obj)
{
	const struct oci_device_rule *r = obj;

	if (r->type && !str_eq(r->type, "a") && !str_eq(r->type, "b") &&
	    !str_eq(r->type, "c") && !str_eq(r->type, ""))
		doc_error_at(d->errors, doc_get(node, "type"),
			     "unknown value \"%s\" (one of: a, b, c)", r->type);
	if (r->access && r->access[strspn(r->access, "rwm")])
		doc_error_at(d->errors, doc_get(node, "access"),
			     "\"%s\" is not made of r, w and m", r->access);
	if ((r->major.set && r->major.v < -1) ||
	    (r->minor.set && r->minor.v < -1))
		doc_error_at(d->errors, node,
			     "major and minor are -1 (all) or above");
}

static const struct decode_table device_rule_table = OCI_TABLE(
	struct oci_device_rule, device_rule_rows, .check = check_device_rule);

#define OPT_ROW(type, member, key, kind, ...) \
	DECODE_ROW(type, member, key, kind, .flags = DECODE_OPT, ##__VA_ARGS__)

static const struct decode_row memory_rows[] = {
	OPT_ROW(struct oci_memory, limit, "limit", DECODE_I64),
	OPT_ROW(struct oci_memory, reservation, "reservation", DECODE_I64),
	OPT_ROW(struct oci_memory, swap, "swap", DECODE_I64),
	OPT_ROW(struct oci_memory, kernel, "kernel", DECODE_I64),
	OPT_ROW(struct oci_memory, kernel_tcp, "kernelTCP", DECODE_I64),
	OPT_ROW(struct oci_memory, swappiness, "swappiness", DECODE_U64),
	OPT_ROW(struct oci_memory, disable_oom_killer, "disableOOMKiller",
		DECODE_BOOL),
	OPT_ROW(struct oci_memory, use_hierarchy, "useHierarchy", DECODE_BOOL),
	OPT_ROW(struct oci_memory, check_before_update, "checkBeforeUpdate",
		DECODE_BOOL),
};
static const struct decode_table memory_table =
	OCI_TABLE(struct oci_memory, memory_rows);

static const struct decode_row cpu_rows[] = {
	OPT_ROW(struct oci_cpu, shares, "shares", DECODE_U64),
	OPT_ROW(struct oci_cpu, quota, "quota", DECODE_I64),
	OPT_ROW(struct oci_cpu, burst, "burst", DECODE_U64),
	OPT_ROW(struct oci_cpu, period, "period", DECODE_U64),
	OPT_ROW(struct oci_cpu, realtime_runtime, "realtimeRuntime",
		DECODE_I64),
	OPT_ROW(struct oci_cpu, realtime_period, "realtimePeriod", DECODE_U64),
	DECODE_ROW(struct oci_cpu, cpus, "cpus", DECODE_STR),
	DECODE_ROW(struct oci_cpu, mems, "mems", DECODE_STR),
	OPT_ROW(struct oci_cpu, idle, "idle", DECODE_I64),
};
static const struct decode_table cpu_table =
	OCI_TABLE(struct oci_cpu, cpu_rows);

static const struct decode_row pids_rows[] = {
	OPT_ROW(struct oci_pids, limit, "limit", DECODE_I64),
};
static const struct decode_table pids_table =
	OCI_TABLE(struct oci_pids, pids_rows);

enum { WEIGHT_MAX = UINT16_MAX };

static const struct decode_row weight_device_rows[] = {
	DECODE_ROW(struct oci_weight_device, major, "major", DECODE_I64,
		   .flags = DECODE_REQUIRED),
	DECODE_ROW(struct oci_weight_device, minor, "minor", DECODE_I64,
		   .flags = DECODE_REQUIRED),
	OPT_ROW(struct oci_weight_device, weight, "weight", DECODE_U32,
		.max = WEIGHT_MAX),
	OPT_ROW(struct oci_weight_device, leaf_weight, "leafWeight", DECODE_U32,
		.max = WEIGHT_MAX),
};
static const struct decode_table weight_device_table =
	OCI_TABLE(struct oci_weight_device, weight_device_rows);

static const struct decode_row throttle_device_rows[] = {
	DECODE_ROW(struct oci_throttle_device, major, "major", DECODE_I64,
		   .flags = DECODE_REQUIRED),
	DECODE_ROW(struct oci_throttle_device, minor, "minor", DECODE_I64,
		   .flags = DECODE_REQUIRED),
	DECODE_ROW(struct oci_throttle_device, rate, "rate", DECODE_U64,
		   .flags = DECODE_ZERO),
};
static const struct decode_table throttle_device_table =
	OCI_TABLE(struct oci_throttle_device, throttle_device_rows);

#define THROTTLE_ROW(member, key)                                 \
	DECODE_ROW(struct oci_block_io, member, key, DECODE_LIST, \
		   .elem = DECODE_STRUCT, .table = &throttle_device_table)

static const struct decode_row block_io_rows[] = {
	OPT_ROW(struct oci_block_io, weight, "weight", DECODE_U32,
		.max = WEIGHT_MAX),
	OPT_ROW(struct oci_block_io, leaf_weight, "leafWeight", DECODE_U32,
		.max = WEIGHT_MAX),
	DECODE_ROW(struct oci_block_io, weight_device, "weightDevice",
		   DECODE_LIST, .elem = DECODE_STRUCT,
		   .table = &weight_device_table),
	THROTTLE_ROW(read_bps, "throttleReadBpsDevice"),
	THROTTLE_ROW(write_bps, "throttleWriteBpsDevice"),
	THROTTLE_ROW(read_iops, "throttleReadIOPSDevice"),
	THROTTLE_ROW(write_iops, "throttleWriteIOPSDevice"),
};
static const struct decode_table block_io_table =
	OCI_TABLE(struct oci_block_io, block_io_rows);

static const struct decode_row hugepage_limit_rows[] = {
	DECODE_ROW(struct oci_hugepage_limit, page_size, "pageSize", DECODE_STR,
		   .flags = DECODE_REQUIRED),
	DECODE_ROW(struct oci_hugepage_limit, limit, "limit", DECODE_U64,
		   .flags = DECODE_REQUIRED),
};

/* ^[1-9][0-9]*[KMG]B$: it becomes a part of a file's name */
static bool is_page_size(const char *s)
{
	const char *unit = s + strspn(s, "0123456789");

	return unit != s && *s != '0' && *unit && strchr("KMG", *unit) &&
	       str_eq(unit + 1, "B");
}

static void check_hugepage_limit(struct decode *d, const struct doc_node *node,
				 void *obj)
{
	const struct oci_hugepage_limit *l = obj;

	if (!is_page_size(l->page_size))
		doc_error_at(d->errors, doc_get(node, "pageSize"),
			     "\"%s\" is not a size like 64KB, 2MB or 1GB",
			     l->page_size);
}

static const struct decode_table hugepage_limit_table =
	OCI_TABLE(struct oci_hugepage_limit, hugepage_limit_rows,
		  .check = check_hugepage_limit);

static const struct decode_row interface_priority_rows[] = {
	DECODE_ROW(struct oci_interface_priority, name, "name", DECODE_STR,
		   .flags = DECODE_REQUIRED | DECODE_NONEMPTY),
	DECODE_ROW(struct oci_interface_priority, priority, "priority",
		   DECODE_U32, .flags = DECODE_REQUIRED),
};
static const struct decode_table interface_priority_table =
	OCI_TABLE(struct oci_interface_priority, interface_priority_rows);

static const struct decode_row network_rows[] = {
	OPT_ROW(struct oci_network, class_id, "classID", DECODE_U32),
	DECODE_ROW(struct oci_network, priorities, "priorities", DECODE_LIST,
		   .elem = DECODE_STRUCT, .table = &interface_priority_table),
};
static const struct decode_table network_table =
	OCI_TABLE(struct oci_network, network_rows);

static const struct decode_row rdma_rows[] = {
	OPT_ROW(struct oci_rdma, hca_handles, "hcaHandles", DECODE_U32),
	OPT_ROW(struct oci_rdma, hca_objects, "hcaObjects", DECODE_U32),
};
static const struct decode_table rdma_table =
	OCI_TABLE(struct oci_rdma, rdma_rows);

static const struct decode_row resources_rows[] = {
	DECODE_ROW(struct oci_resources, devices, "devices", DECODE_LIST,
		   .elem = DECODE_STRUCT, .table = &device_rule_table),
	DECODE_ROW(struct oci_resources, memory, "memory", DECODE_STRUCT,
		   .table = &memory_table),
	DECODE_ROW(struct oci_resources, cpu, "cpu", DECODE_STRUCT,
		   .table = &cpu_table),
	DECODE_ROW(struct oci_resources, pids, "pids", DECODE_STRUCT,
		   .table = &pids_table),
	DECODE_ROW(struct oci_resources, block_io, "blockIO", DECODE_STRUCT,
		   .table = &block_io_table),
	DECODE_ROW(struct oci_resources, hugepage_limits, "hugepageLimits",
		   DECODE_LIST, .elem = DECODE_STRUCT,
		   .table = &hugepage_limit_table),
	DECODE_ROW(struct oci_resources, network, "network", DECODE_STRUCT,
		   .table = &network_table),
	DECODE_ROW(struct oci_resources, rdma, "rdma", DECODE_DICT,
		   .elem = DECODE_STRUCT, .table = &rdma_table),
	DECODE_ROW(struct oci_resources, unified, "unified", DECODE_DICT,
		   .elem = DECODE_STR),
};

/* Keys of "unified" are names of files in the cgroup's folder. */
static void check_resources(struct decode *d, const struct doc_node *node,
			    void *obj)
{
	const struct doc_node *unified = doc_get(node, "unified");

	(void)obj;
	if (!unified)
		return;
	doc_for_each (it, unified)
		if (!*it->key || strchr(it->key, '/') || *it->key == '.')
			doc_error_at(d->errors, it,
				     "not the name of a control file");
}

const struct decode_table oci_resources_table =
	OCI_TABLE(struct oci_resources, resources_rows,
		  .node_at = DECODE_AT(struct oci_resources, node),
		  .check = check_resources);

int oci_resources_parse(struct arena *a, const char *data, size_t len,
			struct oci_resources **ret_resources,
			struct doc_errors *errors)
{
	struct oci_resources *r = arena_new(a, struct oci_resources);

	*ret_resources = r;
	return oci_parse(a, data, len, &oci_resources_table, r, errors);
}

void oci_resources_write(struct json *j, const char *key,
			 const struct oci_resources *resources)
{
	decode_write(j, key, &oci_resources_table, resources);
}
