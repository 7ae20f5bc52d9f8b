/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "policy-compiler/lower.h"
#include "policy-compiler/spec.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/doc/doc.h"
#include "runtime/policy/build.h"

/*
 * What OpenShell adds to a sandbox that may use the network, so that programs
 * find their libraries, and only where it exists. It never makes writable
 * what the author listed as read-only. The GPU rows apply where the container
 * has such a device; OpenShell makes /proc writable with them, which is left
 * out: writing to /proc/PID/mem of a permitted binary would be its identity.
 */
static const struct {
	const char *path;
	uint32_t flags;
} baseline[] = {
	{"/usr", 0},
	{"/lib", 0},
	{"/etc", 0},
	{"/app", 0},
	{"/var/log", 0},
	{"/proc", 0},
	{"/dev/urandom", 0},
	{"/tmp", POLICY_PATH_WRITE},
	{"/dev/null", POLICY_PATH_WRITE},
	{"/run/nvidia-persistenced", POLICY_PATH_GPU},
	{"/usr/lib/wsl", POLICY_PATH_GPU},
	{"/dev/nvidiactl", POLICY_PATH_GPU | POLICY_PATH_WRITE},
	{"/dev/nvidia-uvm", POLICY_PATH_GPU | POLICY_PATH_WRITE},
	{"/dev/nvidia-uvm-tools", POLICY_PATH_GPU | POLICY_PATH_WRITE},
	{"/dev/nvidia-modeset", POLICY_PATH_GPU | POLICY_PATH_WRITE},
	{"/dev/dxg", POLICY_PATH_GPU | POLICY_PATH_WRITE},
	{"/dev/nvidia0", POLICY_PATH_GPU | POLICY_PATH_WRITE},
	{"/dev/nvidia1", POLICY_PATH_GPU | POLICY_PATH_WRITE},
	{"/dev/nvidia2", POLICY_PATH_GPU | POLICY_PATH_WRITE},
	{"/dev/nvidia3", POLICY_PATH_GPU | POLICY_PATH_WRITE},
	{"/dev/nvidia4", POLICY_PATH_GPU | POLICY_PATH_WRITE},
	{"/dev/nvidia5", POLICY_PATH_GPU | POLICY_PATH_WRITE},
	{"/dev/nvidia6", POLICY_PATH_GPU | POLICY_PATH_WRITE},
	{"/dev/nvidia7", POLICY_PATH_GPU | POLICY_PATH_WRITE},
};

/* Equal but for slashes at the end. */
static bool same_path(const char *a, const char *b)
{
	size_t x = strlen(a), y = strlen(b);

	while (x > 1 && a[x - 1] == '/')
		x--;
	while (y > 1 && b[y - 1] == '/')
		y--;
	return x == y && memcmp(a, b, x) == 0;
}

static bool lists(const struct str_list *list, const char *path)
{
	for (size_t i = 0; i < list->n; i++)
		if (same_path(list->v[i], path))
			return true;
	return false;
}

static void add_baseline(struct policy_build *b,
			 const struct spec_filesystem *f)
{
	for (size_t i = 0; i < N_ELEMENTS(baseline); i++) {
		if (f && (lists(&f->read_only, baseline[i].path) ||
			  lists(&f->read_write, baseline[i].path)))
			continue;
		policy_build_path(b, baseline[i].path, 0,
				  baseline[i].flags | POLICY_PATH_BASELINE);
	}
}

static void add_list(struct policy_build *b, const struct doc_node *list,
		     uint32_t flags)
{
	if (list)
		doc_for_each (it, list)
			policy_build_path(b, it->text, it->pos.line, flags);
}

static uint32_t line_of(const struct doc_node *map, const char *key)
{
	const struct doc_node *n = doc_get(map, key);

	return n ? n->key_pos.line : 0;
}

void lower_filesystem(struct policy_build *b, const struct spec *s)
{
	const struct spec_filesystem *f = s->filesystem_policy;
	bool has_network = s->network_policies.n ||
			   (s->network && s->network->allow.n);

	b->header.landlock_line = line_of(s->node, "landlock");
	if (s->landlock && s->landlock->hard_requirement)
		b->header.flags |= POLICY_LANDLOCK_HARD;
	if (f) {
		b->header.flags |= POLICY_FS_PRESENT;
		b->header.filesystem_line =
			line_of(s->node, "filesystem_policy");
		b->header.workdir_line = line_of(f->node, "include_workdir");
	} else if (s->network) {
		return; /* the short form speaks of the network only */
	}
	/* OpenShell: true where the section is absent, false where the key */
	if (!f || f->include_workdir)
		b->header.flags |= POLICY_FS_WORKDIR;
	if (has_network)
		add_baseline(b, f);
	if (f) {
		add_list(b, doc_get(f->node, "read_only"), 0);
		add_list(b, doc_get(f->node, "read_write"), POLICY_PATH_WRITE);
	}
	/* OpenShell: both lists empty is no Landlock */
	if (b->section[POLICY_PATHS].n)
		b->header.flags |= POLICY_FS_ENFORCE;
}
