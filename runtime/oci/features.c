/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/json.h"
#include "runtime/oci/features.h"
#include "runtime/oci/names.h"
#include "runtime/oci/spec.h"

static void put_list(struct json *j, const char *key,
		     const struct str_list *list)
{
	json_array(j, key);
	for (size_t i = 0; i < list->n; i++)
		json_str(j, NULL, list->v[i]);
	json_end(j);
}

static void put_names(struct json *j, const char *key,
		      const struct decode_name *names)
{
	json_array(j, key);
	for (; names->name; names++)
		json_str(j, NULL, names->name);
	json_end(j);
}

static void put_enabled(struct json *j, const char *key, bool enabled)
{
	json_object(j, key);
	json_bool(j, "enabled", enabled);
	json_end(j);
}

static void put_cgroup(struct json *j, const struct oci_features *f)
{
	json_object(j, "cgroup");
	json_bool(j, "v1", f->cgroup_v1);
	json_bool(j, "v2", f->cgroup_v2);
	json_bool(j, "systemd", f->cgroup_systemd);
	json_bool(j, "systemdUser", f->cgroup_systemd_user);
	json_bool(j, "rdma", f->cgroup_rdma);
	json_end(j);
}

static void put_seccomp(struct json *j, const struct oci_features *f)
{
	json_object(j, "seccomp");
	json_bool(j, "enabled", f->seccomp);
	put_names(j, "actions", oci_seccomp_action_names);
	put_names(j, "operators", oci_seccomp_op_names);
	put_names(j, "archs", oci_seccomp_arch_names);
	put_list(j, "knownFlags", &f->seccomp_known);
	put_list(j, "supportedFlags", &f->seccomp_supported);
	json_end(j);
}

static void put_linux(struct json *j, const struct oci_features *f)
{
	json_object(j, "linux");
	put_names(j, "namespaces", oci_namespace_names);
	put_list(j, "capabilities", &f->capabilities);
	put_cgroup(j, f);
	put_seccomp(j, f);
	put_enabled(j, "apparmor", f->apparmor);
	put_enabled(j, "selinux", f->selinux);
	put_enabled(j, "intelRdt", f->intel_rdt);
	json_object(j, "mountExtensions");
	put_enabled(j, "idmap", f->idmap);
	json_end(j);
	put_enabled(j, "netDevices", f->net_devices);
	json_end(j);
}

void oci_features_write(struct json *j, const struct oci_features *f)
{
	json_object(j, NULL);
	json_str(j, "ociVersionMin", "1.0.0");
	json_str(j, "ociVersionMax", OCI_VERSION);
	put_names(j, "hooks", oci_hook_names);
	put_list(j, "mountOptions", &f->mount_options);
	put_linux(j, f);
	json_object(j, "annotations");
	for (size_t i = 0; i < f->annotations.n; i++)
		json_str(j, f->annotations.v[i].key, f->annotations.v[i].value);
	json_end(j);
	json_end(j);
}
