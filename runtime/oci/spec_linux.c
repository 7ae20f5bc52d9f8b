/* SPDX-License-Identifier: Apache-2.0 */
/* config-linux.md, without control groups and seccomp. */
#include <sys/stat.h>

#include "runtime/base/strbuf.h"
#include "runtime/oci/names.h"
#include "runtime/oci/spec_linux.h"
#include "runtime/oci/tables.h"

static const struct decode_row namespace_rows[] = {
	DECODE_ROW(struct oci_namespace, type, "type", DECODE_ENUM,
		   .names = oci_namespace_names, .flags = DECODE_REQUIRED),
	DECODE_ROW(struct oci_namespace, path, "path", DECODE_STR),
};

/* Go's writers know no absent string: "" is a new namespace as well. */
static void check_namespace(struct decode *d, const struct doc_node *node,
			    void *obj)
{
	struct oci_namespace *ns = obj;

	if (ns->path && !*ns->path)
		ns->path = NULL;
	oci_check_absolute(d, node, "path");
}

static const struct decode_table namespace_table = OCI_TABLE(
	struct oci_namespace, namespace_rows, .check = check_namespace);

static const struct decode_row id_map_rows[] = {
	DECODE_ROW(struct oci_id_map, container_id, "containerID", DECODE_U32,
		   .flags = DECODE_REQUIRED),
	DECODE_ROW(struct oci_id_map, host_id, "hostID", DECODE_U32,
		   .flags = DECODE_REQUIRED),
	DECODE_ROW(struct oci_id_map, size, "size", DECODE_U32, .min = 1,
		   .max = UINT32_MAX, .flags = DECODE_REQUIRED),
};
const struct decode_table oci_id_map_table =
	OCI_TABLE(struct oci_id_map, id_map_rows);

static const struct decode_row time_offset_rows[] = {
	DECODE_ROW(struct oci_time_offset, secs, "secs", DECODE_I64),
	DECODE_ROW(struct oci_time_offset, nanosecs, "nanosecs", DECODE_U32,
		   .max = 999999999),
};

static void check_time_offset(struct decode *d, const struct doc_node *node,
			      void *obj)
{
	const struct oci_time_offset *o = obj;

	if (!str_eq(o->clock, "monotonic") && !str_eq(o->clock, "boottime"))
		doc_error_at(d->errors, node,
			     "unknown clock (one of: monotonic, boottime)");
}

static const struct decode_table time_offset_table = OCI_TABLE(
	struct oci_time_offset, time_offset_rows, .check = check_time_offset);

static const struct decode_row device_rows[] = {
	DECODE_ROW(struct oci_device, path, "path", DECODE_STR,
		   .flags = DECODE_REQUIRED | DECODE_NONEMPTY),
	DECODE_ROW(struct oci_device, type, "type", DECODE_ENUM,
		   .names = oci_device_type_names, .flags = DECODE_REQUIRED),
	DECODE_ROW(struct oci_device, major, "major", DECODE_I64,
		   .flags = DECODE_ZERO),
	DECODE_ROW(struct oci_device, minor, "minor", DECODE_I64,
		   .flags = DECODE_ZERO),
	DECODE_ROW(struct oci_device, file_mode, "fileMode", DECODE_U32,
		   .flags = DECODE_OPT),
	DECODE_ROW(struct oci_device, uid, "uid", DECODE_U32,
		   .flags = DECODE_OPT),
	DECODE_ROW(struct oci_device, gid, "gid", DECODE_U32,
		   .flags = DECODE_OPT),
};

/* makedev(3): 12 bits of major and 20 of minor reach a file. */
static void check_device(struct decode *d, const struct doc_node *node,
			 void *obj)
{
	const struct oci_device *dev = obj;
	bool numbered = dev->type != S_IFIFO;

	oci_check_absolute(d, node, "path");
	if (numbered && (!doc_get(node, "major") || !doc_get(node, "minor")))
		doc_error_at(d->errors, node, "a device needs major and minor");
	if (dev->major < 0 || dev->major > 0xfff || dev->minor < 0 ||
	    dev->minor > 0xfffff)
		doc_error_at(d->errors, node,
			     "device number %lld:%lld is out of range",
			     (long long)dev->major, (long long)dev->minor);
}

static const struct decode_table device_table =
	OCI_TABLE(struct oci_device, device_rows, .check = check_device);

static const struct decode_row net_device_rows[] = {
	DECODE_ROW(struct oci_net_device, name, "name", DECODE_STR),
};

/* What the kernel's dev_valid_name() takes. */
static bool is_interface_name(const char *s)
{
	return *s && strlen(s) < 16 && !str_eq(s, ".") && !str_eq(s, "..") &&
	       !s[strcspn(s, "/: \t\n\v\f\r")];
}

static void check_net_device(struct decode *d, const struct doc_node *node,
			     void *obj)
{
	struct oci_net_device *dev = obj;

	if (dev->name && !*dev->name)
		dev->name = NULL;
	if (!is_interface_name(dev->host_name))
		doc_error_at(d->errors, node, "not a name of an interface");
	if (dev->name && !is_interface_name(dev->name))
		doc_error_at(d->errors, doc_get(node, "name"),
			     "not a name of an interface");
}

static const struct decode_table net_device_table = OCI_TABLE(
	struct oci_net_device, net_device_rows, .check = check_net_device);

static const struct decode_row intel_rdt_rows[] = {
	DECODE_ROW(struct oci_intel_rdt, clos_id, "closID", DECODE_STR),
	DECODE_ROW(struct oci_intel_rdt, schemata, "schemata", DECODE_LIST,
		   .elem = DECODE_STR),
	DECODE_ROW(struct oci_intel_rdt, l3_cache_schema, "l3CacheSchema",
		   DECODE_STR),
	DECODE_ROW(struct oci_intel_rdt, mem_bw_schema, "memBwSchema",
		   DECODE_STR),
	DECODE_ROW(struct oci_intel_rdt, enable_monitoring, "enableMonitoring",
		   DECODE_BOOL),
};

static void check_intel_rdt(struct decode *d, const struct doc_node *node,
			    void *obj)
{
	const struct oci_intel_rdt *r = obj;

	/* it becomes the name of a folder */
	if (r->clos_id && (!*r->clos_id || *r->clos_id == '.' ||
			   strchr(r->clos_id, '/') || strchr(r->clos_id, '\n')))
		doc_error_at(d->errors, doc_get(node, "closID"),
			     "not a name of a class");
	if (r->mem_bw_schema && (!str_after(r->mem_bw_schema, "MB:") ||
				 strchr(r->mem_bw_schema, '\n')))
		doc_error_at(d->errors, doc_get(node, "memBwSchema"),
			     "must be one line that begins with MB:");
}

static const struct decode_table intel_rdt_table = OCI_TABLE(
	struct oci_intel_rdt, intel_rdt_rows, .check = check_intel_rdt);

static const struct decode_row personality_rows[] = {
	DECODE_ROW(struct oci_personality, domain, "domain", DECODE_ENUM,
		   .names = oci_personality_names, .flags = DECODE_REQUIRED),
	DECODE_ROW(struct oci_personality, flags, "flags", DECODE_LIST,
		   .elem = DECODE_STR),
};

static void check_personality(struct decode *d, const struct doc_node *node,
			      void *obj)
{
	const struct oci_personality *p = obj;

	if (p->flags.n)
		doc_error_at(d->errors, doc_get(node, "flags"),
			     "the specification has no flags yet");
}

static const struct decode_table personality_table = OCI_TABLE(
	struct oci_personality, personality_rows, .check = check_personality);

static const struct decode_row memory_policy_rows[] = {
	DECODE_ROW(struct oci_memory_policy, mode, "mode", DECODE_ENUM,
		   .names = oci_mempolicy_names, .flags = DECODE_REQUIRED),
	DECODE_ROW(struct oci_memory_policy, nodes, "nodes", DECODE_STR),
	DECODE_ROW(struct oci_memory_policy, flags, "flags", DECODE_BITS,
		   .names = oci_mempolicy_flag_names),
};
static const struct decode_table memory_policy_table =
	OCI_TABLE(struct oci_memory_policy, memory_policy_rows);

static const struct decode_row linux_rows[] = {
	DECODE_ROW(struct oci_linux, uid_mappings, "uidMappings", DECODE_LIST,
		   .elem = DECODE_STRUCT, .table = &oci_id_map_table),
	DECODE_ROW(struct oci_linux, gid_mappings, "gidMappings", DECODE_LIST,
		   .elem = DECODE_STRUCT, .table = &oci_id_map_table),
	DECODE_ROW(struct oci_linux, sysctl, "sysctl", DECODE_DICT,
		   .elem = DECODE_STR),
	DECODE_ROW(struct oci_linux, resources, "resources", DECODE_STRUCT,
		   .table = &oci_resources_table),
	DECODE_ROW(struct oci_linux, cgroups_path, "cgroupsPath", DECODE_STR),
	DECODE_ROW(struct oci_linux, namespaces, "namespaces", DECODE_LIST,
		   .elem = DECODE_STRUCT, .table = &namespace_table),
	DECODE_ROW(struct oci_linux, devices, "devices", DECODE_LIST,
		   .elem = DECODE_STRUCT, .table = &device_table),
	DECODE_ROW(struct oci_linux, net_devices, "netDevices", DECODE_DICT,
		   .elem = DECODE_STRUCT, .table = &net_device_table),
	DECODE_ROW(struct oci_linux, seccomp, "seccomp", DECODE_STRUCT,
		   .table = &oci_seccomp_table),
	DECODE_ROW(struct oci_linux, rootfs_propagation, "rootfsPropagation",
		   DECODE_ENUM, .names = oci_propagation_names),
	DECODE_ROW(struct oci_linux, masked_paths, "maskedPaths", DECODE_LIST,
		   .elem = DECODE_STR),
	DECODE_ROW(struct oci_linux, readonly_paths, "readonlyPaths",
		   DECODE_LIST, .elem = DECODE_STR),
	DECODE_ROW(struct oci_linux, mount_label, "mountLabel", DECODE_STR),
	DECODE_ROW(struct oci_linux, intel_rdt, "intelRdt", DECODE_STRUCT,
		   .table = &intel_rdt_table),
	DECODE_ROW(struct oci_linux, personality, "personality", DECODE_STRUCT,
		   .table = &personality_table),
	DECODE_ROW(struct oci_linux, memory_policy, "memoryPolicy",
		   DECODE_STRUCT, .table = &memory_policy_table),
	DECODE_ROW(struct oci_linux, time_offsets, "timeOffsets", DECODE_DICT,
		   .elem = DECODE_STRUCT, .table = &time_offset_table),
};

static void check_paths(struct decode *d, const struct doc_node *list)
{
	if (!list)
		return;
	doc_for_each (it, list)
		if (it->kind == DOC_STRING && *it->text != '/')
			doc_error_at(d->errors, it,
				     "must be an absolute path: \"%s\"",
				     it->text);
}

/* A part ".." could lead to a cgroup that is somebody else's. */
static bool climbs(const char *path)
{
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && path[0] == '.' && path[1] == '.')
			return true;
		path += n;
		path += strspn(path, "/");
	}
	return false;
}

static void check_linux(struct decode *d, const struct doc_node *node,
			void *obj)
{
	const struct oci_linux *l = obj;
	uint32_t seen = 0;

	for (size_t i = 0; i < l->namespaces.n; i++) {
		const struct oci_namespace *ns = &l->namespaces.v[i];

		if (seen & ns->type)
			doc_error_at(d->errors, doc_get(node, "namespaces"),
				     "\"%s\" a second time",
				     oci_namespace_name(ns->type));
		seen |= ns->type;
	}
	if (l->cgroups_path && climbs(l->cgroups_path))
		doc_error_at(d->errors, doc_get(node, "cgroupsPath"),
			     "must not hold \"..\"");
	check_paths(d, doc_get(node, "maskedPaths"));
	check_paths(d, doc_get(node, "readonlyPaths"));
}

const struct decode_table oci_linux_table = OCI_TABLE(
	struct oci_linux, linux_rows,
	.node_at = DECODE_AT(struct oci_linux, node), .check = check_linux);

const char *oci_namespace_name(uint32_t type)
{
	return decode_name_of(oci_namespace_names, type);
}

const struct oci_namespace *oci_namespace(const struct oci_spec *spec,
					  uint32_t type)
{
	const struct oci_linux *l = spec->linux_;

	for (size_t i = 0; i < l->namespaces.n; i++)
		if (l->namespaces.v[i].type == type)
			return &l->namespaces.v[i];
	return NULL;
}
