/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What no single section can tell: settings that need a namespace of their
 * own, or they would change the host.
 */
#include <linux/sched.h>

#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/oci/spec_linux.h"
#include "runtime/oci/tables.h"

struct need {
	const char *key; /* of "linux", or of the outermost level */
	bool top;
	uint32_t ns;
};

/* Settings that act on what a namespace separates. */
static const struct need needs[] = {
	{"hostname", true, CLONE_NEWUTS},
	{"domainname", true, CLONE_NEWUTS},
	{"maskedPaths", false, CLONE_NEWNS},
	{"readonlyPaths", false, CLONE_NEWNS},
	{"rootfsPropagation", false, CLONE_NEWNS},
	{"netDevices", false, CLONE_NEWNET},
	{"timeOffsets", false, CLONE_NEWTIME},
	{"uidMappings", false, CLONE_NEWUSER},
	{"gidMappings", false, CLONE_NEWUSER},
};

static bool is_empty(const struct doc_node *node)
{
	switch (node->kind) {
	case DOC_NULL:
		return true;
	case DOC_STRING:
		return !node->len;
	case DOC_LIST:
	case DOC_MAP:
		return !node->n;
	case DOC_BOOL:
	case DOC_NUMBER:
	case DOC_N:
		break;
	}
	return false;
}

static void check_needs(const struct oci_spec *spec, struct doc_errors *errors)
{
	for (size_t i = 0; i < N_ELEMENTS(needs); i++) {
		const struct doc_node *node =
			doc_get(needs[i].top ? spec->node : spec->linux_->node,
				needs[i].key);

		if (node && !is_empty(node) &&
		    !oci_namespace(spec, needs[i].ns))
			doc_error_at(errors, node,
				     "needs a namespace of type %s, which the "
				     "config does not have",
				     oci_namespace_name(needs[i].ns));
	}
}

/* Which namespace a sysctl belongs to (namespaces(7), user.* since 4.9). */
static const struct {
	const char *prefix;
	uint32_t ns;
} sysctls[] = {
	{"net.", CLONE_NEWNET},
	{"fs.mqueue.", CLONE_NEWIPC},
	{"kernel.msgmax", CLONE_NEWIPC},
	{"kernel.msgmnb", CLONE_NEWIPC},
	{"kernel.msgmni", CLONE_NEWIPC},
	{"kernel.msg_next_id", CLONE_NEWIPC},
	{"kernel.sem", CLONE_NEWIPC},
	{"kernel.sem_next_id", CLONE_NEWIPC},
	{"kernel.shmall", CLONE_NEWIPC},
	{"kernel.shmmax", CLONE_NEWIPC},
	{"kernel.shmmni", CLONE_NEWIPC},
	{"kernel.shm_next_id", CLONE_NEWIPC},
	{"kernel.shm_rmid_forced", CLONE_NEWIPC},
	{"kernel.domainname", CLONE_NEWUTS},
	{"user.", CLONE_NEWUSER},
};

static uint32_t sysctl_namespace(const char *name)
{
	for (size_t i = 0; i < N_ELEMENTS(sysctls); i++) {
		const char *rest = str_after(name, sysctls[i].prefix);
		size_t n = strlen(sysctls[i].prefix);

		if (rest && (!*rest || sysctls[i].prefix[n - 1] == '.'))
			return sysctls[i].ns;
	}
	return 0;
}

static void check_sysctl(const struct oci_spec *spec,
			 const struct doc_node *node, struct doc_errors *errors)
{
	char name[128];
	uint32_t ns;

	/* both forms of sysctl(8): dots, or slashes with dots in names */
	if (!str_copy(name, sizeof(name), node->key)) {
		doc_error_at(errors, node, "the name is too long");
		return;
	}
	for (char *c = name; *c; c++)
		if (*c == '/')
			*c = '.';
	if (strstr(name, "..") || *name == '.') {
		doc_error_at(errors, node, "not a name of a sysctl");
		return;
	}
	if (str_eq(name, "kernel.hostname")) {
		doc_error_at(errors, node, "use hostname");
		return;
	}
	ns = sysctl_namespace(name);
	if (!ns)
		doc_error_at(errors, node,
			     "would change the host: no namespace has it");
	else if (!oci_namespace(spec, ns))
		doc_error_at(errors, node,
			     "needs a namespace of type %s, which the "
			     "config does not have",
			     oci_namespace_name(ns));
}

static void check_user_namespace(const struct oci_spec *spec,
				 struct doc_errors *errors)
{
	const struct oci_linux *l = spec->linux_;
	const struct oci_namespace *ns = oci_namespace(spec, CLONE_NEWUSER);

	if (ns && !ns->path && (!l->uid_mappings.n || !l->gid_mappings.n))
		doc_error_at(errors, doc_get(l->node, "namespaces"),
			     "a new user namespace needs uidMappings and "
			     "gidMappings");
}

static void check_time_namespace(const struct oci_spec *spec,
				 struct doc_errors *errors)
{
	const struct oci_namespace *ns = oci_namespace(spec, CLONE_NEWTIME);

	if (ns && ns->path && spec->linux_->time_offsets.n)
		doc_error_at(errors, doc_get(spec->linux_->node, "timeOffsets"),
			     "the time namespace is joined: its clocks are "
			     "set already");
}

void oci_spec_check(struct oci_spec *spec, struct doc_errors *errors)
{
	const struct doc_node *sysctl = doc_get(spec->linux_->node, "sysctl");

	check_needs(spec, errors);
	check_user_namespace(spec, errors);
	check_time_namespace(spec, errors);
	if (sysctl && sysctl->kind == DOC_MAP)
		doc_for_each (it, sysctl)
			check_sysctl(spec, it, errors);
}
