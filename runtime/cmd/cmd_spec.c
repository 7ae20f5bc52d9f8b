/* SPDX-License-Identifier: Apache-2.0 */
/* spec and features. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <stdio.h>
#include <unistd.h>

#include "runtime/base/io.h"
#include "runtime/base/json.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/cmd/cmd.h"
#include "runtime/linux/capability.h"
#include "runtime/linux/mount.h"
#include "runtime/linux/seccomp_load.h"
#include "runtime/oci/features.h"
#include "runtime/oci/spec.h"

struct spec_options {
	const char *bundle;
	bool rootless;
};

const struct option_row cmd_spec_options[] = {
	{ "bundle", 'b', OPTION_STRING, offsetof(struct spec_options, bundle),
	  "DIR", "folder to write config.json to (default: this one)" },
	{ "rootless", 0, OPTION_FLAG, offsetof(struct spec_options, rootless),
	  NULL, "for a container without root" },
	{ .name = NULL },
};

int cmd_spec(struct cmd_global *g, int argc, char **argv)
{
	own_strbuf struct strbuf sb = STRBUF_HEAP;
	struct json j = json_to(&sb, true);
	struct spec_options o = { 0 };
	own_close int dir_fd = -EBADF;
	const char *dir;
	struct err err;
	int r;

	if (cmd_parse(g, "spec", argc, argv, &o, 0, 0) < 0)
		return 1;
	dir = o.bundle ? o.bundle : ".";
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0) {
		err_errno(&err, errno, "open folder %s", dir);
		return cmd_fail(&err);
	}
	if (faccessat(dir_fd, "config.json", F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
		err_set(&err, EEXIST,
			"write %s/config.json: file exists; remove it first",
			dir);
		return cmd_fail(&err);
	}
	oci_spec_write(&j, NULL,
		       oci_spec_default(g->arena, o.rootless, geteuid(),
					getegid()));
	strbuf_addc(&sb, '\n');
	r = io_replace_file(dir_fd, "config.json", sb.s, sb.len, &err);
	/* a bundle is read by others than its maker */
	if (r == 0 && fchmodat(dir_fd, "config.json", 0644, 0) < 0)
		r = err_errno(&err, errno, "write %s/config.json", dir);
	return r < 0 ? cmd_fail(&err) : 0;
}

static struct str_list names(struct arena *a, const char *(*name)(size_t i))
{
	struct str_list list = { 0 };
	const char *s;

	while ((s = name(list.n))) {
		list.v = arena_grow(a, list.v, list.n, sizeof(*list.v));
		list.v[list.n++] = s;
	}
	return list;
}

static const char *capability_at(size_t i)
{
	return i < CAPABILITY_N ? capability_name((unsigned int)i) : NULL;
}

static struct str_list supported_flags(struct arena *a,
				       const struct str_list *known)
{
	struct str_list list = { 0 };

	for (size_t i = 0; i < known->n; i++) {
		unsigned int bit;

		if (seccomp_flag_by_name(known->v[i], &bit) < 0 ||
		    !seccomp_has_flags(bit))
			continue;
		list.v = arena_grow(a, list.v, list.n, sizeof(*list.v));
		list.v[list.n++] = known->v[i];
	}
	return list;
}

int cmd_features(struct cmd_global *g, int argc, char **argv)
{
	static struct pair annotations[] = {
		{ "ai.openshell.runtime.version", OSH_VERSION },
		{ "run.oci.crun.checkpoint.enabled", "false" },
	};
	own_strbuf struct strbuf sb = STRBUF_HEAP;
	struct json j = json_to(&sb, true);
	struct oci_features f;
	char unused;

	if (cmd_parse(g, "features", argc, argv, &unused, 0, 0) < 0)
		return 1;
	f = (struct oci_features){
		.mount_options = names(g->arena, mount_option_name),
		.capabilities = names(g->arena, capability_at),
		.seccomp_known = names(g->arena, seccomp_flag_name),
		.seccomp = true,
		.apparmor = true,
		.selinux = true,
		.idmap = true,
		.net_devices = true,
		.cgroup_v1 = true,
		.cgroup_v2 = true,
		.cgroup_rdma = true,
		.annotations = { annotations, N_ELEMENTS(annotations) },
	};
	f.seccomp_supported = supported_flags(g->arena, &f.seccomp_known);
	oci_features_write(&j, &f);
	printf("%s\n", sb.s);
	return 0;
}
