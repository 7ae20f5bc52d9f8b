/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `spec` prints: a starting point for people and for tests, the same
 * container as `runc spec` describes (less its ambient capabilities: without
 * inheritable ones the kernel refuses them, and runc hides that).
 */
#include <linux/capability.h>
#include <linux/sched.h>
#include <sys/resource.h>

#include "runtime/base/arena.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/oci/spec_linux.h"

enum { OPTIONS_MAX = 8 };

struct mount_row {
	const char *destination, *type, *source;
	const char *options[OPTIONS_MAX]; /* up to a NULL */
	/* the same for rootless, where it differs */
	const char *rootless_type, *rootless_source;
	const char *rootless_options[OPTIONS_MAX];
};

static const struct mount_row mounts[] = {
	{.destination = "/proc", .type = "proc", .source = "proc"},
	{.destination = "/dev",
	 .type = "tmpfs",
	 .source = "tmpfs",
	 .options = {"nosuid", "strictatime", "mode=755", "size=65536k"}},
	{.destination = "/dev/pts",
	 .type = "devpts",
	 .source = "devpts",
	 .options = {"nosuid", "noexec", "newinstance", "ptmxmode=0666",
		     "mode=0620", "gid=5"},
	 /* group 5 has no place in a map of one id */
	 .rootless_type = "devpts",
	 .rootless_source = "devpts",
	 .rootless_options = {"nosuid", "noexec", "newinstance",
			      "ptmxmode=0666", "mode=0620"}},
	{.destination = "/dev/shm",
	 .type = "tmpfs",
	 .source = "shm",
	 .options = {"nosuid", "noexec", "nodev", "mode=1777", "size=65536k"}},
	{.destination = "/dev/mqueue",
	 .type = "mqueue",
	 .source = "mqueue",
	 .options = {"nosuid", "noexec", "nodev"}},
	{.destination = "/sys",
	 .type = "sysfs",
	 .source = "sysfs",
	 .options = {"nosuid", "noexec", "nodev", "ro"},
	 /* sysfs needs a network namespace of one's own */
	 .rootless_type = "none",
	 .rootless_source = "/sys",
	 .rootless_options = {"rbind", "nosuid", "noexec", "nodev", "ro"}},
	{.destination = "/sys/fs/cgroup",
	 .type = "cgroup",
	 .source = "cgroup",
	 .options = {"nosuid", "noexec", "nodev", "relatime", "ro"}},
};

static const char *const masked_paths[] = {
	"/proc/acpi",	     "/proc/asound",	    "/proc/kcore",
	"/proc/keys",	     "/proc/latency_stats", "/proc/timer_list",
	"/proc/timer_stats", "/proc/sched_debug",   "/proc/scsi",
	"/sys/firmware",
};

static const char *const readonly_paths[] = {
	"/proc/bus",	       "/proc/fs", "/proc/irq", "/proc/sys",
	"/proc/sysrq-trigger",
};

static struct str_list copy(struct arena *a, const char *const *v, size_t n)
{
	struct str_list list = {.v = arena_array(a, const char *, n + 1),
				.n = n};

	for (size_t i = 0; i < n; i++)
		list.v[i] = v[i];
	return list;
}
#define COPY(a, v) copy(a, v, N_ELEMENTS(v))

static struct str_list copy_options(struct arena *a, const char *const *v)
{
	size_t n = 0;

	while (n < OPTIONS_MAX && v[n])
		n++;
	return copy(a, v, n);
}

struct str_list oci_default_masked_paths(struct arena *a)
{
	return COPY(a, masked_paths);
}

struct str_list oci_default_readonly_paths(struct arena *a)
{
	return COPY(a, readonly_paths);
}

static struct oci_process *default_process(struct arena *a)
{
	static const char *const args[] = {"sh"};
	static const char *const env[] = {
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:"
		"/bin",
		"TERM=xterm",
	};
	const uint64_t caps = UINT64_C(1) << CAP_AUDIT_WRITE |
			      UINT64_C(1) << CAP_KILL |
			      UINT64_C(1) << CAP_NET_BIND_SERVICE;
	struct oci_process *p = arena_new(a, struct oci_process);

	p->terminal = true;
	p->args = COPY(a, args);
	p->env = COPY(a, env);
	p->cwd = "/";
	p->capabilities = arena_new(a, struct oci_capabilities);
	*p->capabilities = (struct oci_capabilities){
		.bounding = caps, .effective = caps, .permitted = caps};
	p->rlimits.v = arena_array(a, struct oci_rlimit, 1);
	p->rlimits.v[0] = (struct oci_rlimit){
		.type = RLIMIT_NOFILE, .soft = 1024, .hard = 1024};
	p->rlimits.n = 1;
	p->no_new_privileges = true;
	return p;
}

static void default_mounts(struct arena *a, struct oci_spec *spec,
			   bool rootless)
{
	spec->mounts.n = N_ELEMENTS(mounts);
	spec->mounts.v = arena_array(a, struct oci_mount, spec->mounts.n);
	for (size_t i = 0; i < spec->mounts.n; i++) {
		const struct mount_row *row = &mounts[i];
		struct oci_mount *m = &spec->mounts.v[i];
		bool other = rootless && row->rootless_type;

		m->destination = row->destination;
		m->type = other ? row->rootless_type : row->type;
		m->source = other ? row->rootless_source : row->source;
		m->options = copy_options(a, other ? row->rootless_options
						   : row->options);
	}
}

static struct oci_id_map *one_id(struct arena *a, uint32_t id)
{
	struct oci_id_map *map = arena_new(a, struct oci_id_map);

	*map = (struct oci_id_map){.host_id = id, .size = 1};
	return map;
}

static struct oci_linux *default_linux(struct arena *a, bool rootless,
				       uint32_t uid, uint32_t gid)
{
	static const uint32_t rootful_ns[] = {CLONE_NEWPID, CLONE_NEWNET,
					      CLONE_NEWIPC, CLONE_NEWUTS,
					      CLONE_NEWNS};
	static const uint32_t rootless_ns[] = {CLONE_NEWPID, CLONE_NEWIPC,
					       CLONE_NEWUTS, CLONE_NEWNS,
					       CLONE_NEWUSER};
	const uint32_t *ns = rootless ? rootless_ns : rootful_ns;
	struct oci_linux *l = arena_new(a, struct oci_linux);

	_Static_assert(sizeof(rootful_ns) == sizeof(rootless_ns), "one length");
	l->namespaces.n = N_ELEMENTS(rootful_ns);
	l->namespaces.v = arena_array(a, struct oci_namespace, l->namespaces.n);
	for (size_t i = 0; i < l->namespaces.n; i++)
		l->namespaces.v[i].type = ns[i];
	l->masked_paths = oci_default_masked_paths(a);
	l->readonly_paths = oci_default_readonly_paths(a);
	if (rootless) {
		l->uid_mappings.v = one_id(a, uid);
		l->gid_mappings.v = one_id(a, gid);
		l->uid_mappings.n = l->gid_mappings.n = 1;
	} else {
		l->resources = arena_new(a, struct oci_resources);
		l->resources->devices.v = arena_new(a, struct oci_device_rule);
		l->resources->devices.v->access = "rwm";
		l->resources->devices.n = 1;
	}
	return l;
}

const struct oci_spec *oci_spec_default(struct arena *a, bool rootless,
					uint32_t uid, uint32_t gid)
{
	struct oci_spec *spec = arena_new(a, struct oci_spec);

	spec->oci_version = OCI_VERSION;
	spec->process = default_process(a);
	spec->root = arena_new(a, struct oci_root);
	*spec->root = (struct oci_root){.path = "rootfs", .readonly = true};
	spec->hostname = "osh-runtime";
	default_mounts(a, spec, rootless);
	spec->linux_ = default_linux(a, rootless, uid, gid);
	return spec;
}
