/* SPDX-License-Identifier: Apache-2.0 */
/* config.json's "linux" section (config-linux.md); see spec.h. */
#ifndef OSH_OCI_SPEC_LINUX_H
#define OSH_OCI_SPEC_LINUX_H

#include "runtime/oci/spec.h"
#include "runtime/oci/spec_resources.h"
#include "runtime/oci/spec_seccomp.h"

struct oci_namespace {
	uint32_t type; /* CLONE_NEWX */
	const char *path; /* NULL: a new one */
};

struct oci_time_offset {
	const char *clock; /* "monotonic", "boottime" */
	int64_t secs;
	uint32_t nanosecs;
};

struct oci_device {
	const char *path;
	uint32_t type; /* S_IFCHR, S_IFBLK, S_IFIFO */
	int64_t major, minor;
	struct opt_u32 file_mode, uid, gid;
};

struct oci_net_device {
	const char *host_name;
	const char *name; /* inside; NULL: the same */
};

struct oci_intel_rdt {
	const char *clos_id;
	struct str_list schemata;
	const char *l3_cache_schema, *mem_bw_schema;
	bool enable_monitoring;
};

struct oci_personality {
	uint32_t domain; /* PER_LINUX, PER_LINUX32 */
	struct str_list flags;
};

struct oci_memory_policy {
	uint32_t mode; /* MPOL_X */
	const char *nodes;
	uint64_t flags; /* MPOL_F_X */
};

struct oci_linux {
	const struct doc_node *node;
	LIST_OF(struct oci_namespace) namespaces;
	LIST_OF(struct oci_id_map) uid_mappings;
	LIST_OF(struct oci_id_map) gid_mappings;
	LIST_OF(struct oci_time_offset) time_offsets;
	LIST_OF(struct oci_device) devices;
	LIST_OF(struct oci_net_device) net_devices;
	const char *cgroups_path;
	struct oci_resources *resources;
	struct oci_seccomp *seccomp;
	uint32_t rootfs_propagation; /* MS_SHARED ..., with MS_REC; 0: none */
	struct str_list masked_paths, readonly_paths;
	const char *mount_label;
	struct pair_list sysctl;
	struct oci_intel_rdt *intel_rdt;
	struct oci_personality *personality;
	struct oci_memory_policy *memory_policy;
};

/* The entry of a type (CLONE_NEWX), or NULL: the host's is shared. */
const struct oci_namespace *oci_namespace(const struct oci_spec *spec,
					  uint32_t type);
/* "network" for CLONE_NEWNET; NULL for what is no namespace. */
const char *oci_namespace_name(uint32_t type);

#endif
