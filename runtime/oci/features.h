/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `features`: the specification's features.md. What the kernel mechanisms
 * support is the caller's to say, because they are not below this layer.
 */
#ifndef OSH_OCI_FEATURES_H
#define OSH_OCI_FEATURES_H

#include "runtime/doc/types.h"

struct json;

/* Lists are borrowed, in the order in which they are printed. */
struct oci_features {
	struct str_list mount_options;
	struct str_list capabilities; /* "CAP_CHOWN" */
	struct str_list seccomp_known; /* SECCOMP_FILTER_FLAG_X */
	struct str_list seccomp_supported; /* by the running kernel */
	bool seccomp, apparmor, selinux, intel_rdt, idmap, net_devices;
	bool cgroup_v1, cgroup_v2, cgroup_systemd, cgroup_systemd_user,
		cgroup_rdma;
	struct pair_list annotations;
};

/* Hooks, namespaces, actions, operators, architectures are those of our own
 * tables. Written as one object. */
void oci_features_write(struct json *j, const struct oci_features *f);

#endif
