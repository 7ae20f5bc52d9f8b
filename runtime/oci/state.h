/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What we remember of a container (state.json in its folder), and the state
 * that the specification shows to others (runtime.md, "State").
 *
 * The file is ours: read strictly, an unknown key is an error. Paths in it
 * are never followed blindly: see "Safety of the host" in the design.
 */
#ifndef OSH_OCI_STATE_H
#define OSH_OCI_STATE_H

#include "runtime/doc/types.h"

struct arena;
struct err;
struct json;
struct strbuf;

enum { OCI_STATE_VERSION = 1 };

enum oci_status {
	OCI_CREATING,
	OCI_CREATED,
	OCI_RUNNING,
	OCI_PAUSED, /* runc's; not of the specification */
	OCI_STOPPED,
	OCI_STATUS_N
};

const char *oci_status_name(enum oci_status status);

enum oci_cgroup_manager {
	OCI_CGROUP_NONE, /* cgroups disabled, or nothing could be made */
	OCI_CGROUP_FS,
	OCI_CGROUP_SYSTEMD,
	OCI_CGROUP_N
};

struct oci_state_cgroup {
	const char *controllers; /* "cpu,cpuacct", "name=systemd"; "": v2 */
	const char *path; /* absolute, in the file system */
	bool created; /* by us: only then is it ever removed */
};

enum oci_egress {
	OCI_EGRESS_PLAIN, /* when_missing: none. No filter at all */
	OCI_EGRESS_DENY_ALL, /* when_missing: deny-network */
	OCI_EGRESS_POLICY,
	OCI_EGRESS_N
};

/* "plain", "deny-all", "policy" */
const char *oci_egress_name(uint32_t egress);

/* How the container's policy was chosen; for exec, delete and `list`. */
struct oci_state_policy {
	uint32_t egress; /* enum oci_egress */
	const char *source; /* "annotation ai.openshell.policy", a path */
	const char *digest; /* "sha256:...", of the document; or NULL */
	const char *ceiling; /* the same of the ceiling, or NULL */
	uint64_t netns_cookie; /* which shim serves it; 0: none */
	bool has_landlock, has_ceiling;
};

struct oci_state {
	uint32_t version; /* OCI_STATE_VERSION */
	const char *id;
	const char *oci_version;
	const char *bundle, *rootfs; /* absolute */
	const char *config; /* the copy's name in the folder */
	const char *created; /* RFC 3339 with nanoseconds, UTC */
	uint32_t owner_uid;
	const char *owner; /* name of it, may be "" */
	int32_t pid; /* of the init; 0 before it exists */
	/* Field 22 of /proc/PID/stat: tells the init from a later process
	 * with the same number. */
	uint64_t pid_start;
	bool rootless, no_pivot, terminal;
	uint32_t cgroup_manager; /* enum oci_cgroup_manager */
	LIST_OF(struct oci_state_cgroup) cgroups;
	/* "network" -> path that was joined; "" for one that we made */
	struct pair_list namespaces;
	struct pair_list annotations;
	struct oci_state_policy *policy;
	const char *intel_rdt; /* the group that we made, or NULL */
};

/* Parse the text of state.json; @file is for messages. */
int oci_state_parse(struct arena *a, const char *file, const char *data,
		    size_t len, struct oci_state **ret_state, struct err *err);
void oci_state_write(struct strbuf *sb, const struct oci_state *state);

/*
 * The public state: `state` (pretty), one element of `list`, and what hooks
 * read on standard input. runc's additional members (rootfs, created, owner)
 * are left out for hooks. @pid is 0 for a container that has stopped.
 */
void oci_state_report(struct json *j, const struct oci_state *state,
		      enum oci_status status, bool for_hook);

#endif
