/* SPDX-License-Identifier: Apache-2.0 */
/* config.md: the outermost level, root, mounts, hooks. */
#include <errno.h>

#include "runtime/base/arena.h"
#include "runtime/base/json.h"
#include "runtime/base/num.h"
#include "runtime/base/strbuf.h"
#include "runtime/oci/spec_linux.h"
#include "runtime/oci/tables.h"

void oci_check_absolute(struct decode *d, const struct doc_node *map,
			const char *key)
{
	const struct doc_node *node = doc_get(map, key);

	if (node && node->kind == DOC_STRING && node->len && *node->text != '/')
		doc_error_at(d->errors, node,
			     "must be an absolute path: \"%s\"", node->text);
}

static const struct decode_row root_rows[] = {
	DECODE_ROW(struct oci_root, path, "path", DECODE_STR,
		   .flags = DECODE_REQUIRED | DECODE_NONEMPTY),
	DECODE_ROW(struct oci_root, readonly, "readonly", DECODE_BOOL),
};
static const struct decode_table root_table =
	OCI_TABLE(struct oci_root, root_rows);

static const struct decode_row mount_rows[] = {
	DECODE_ROW(struct oci_mount, destination, "destination", DECODE_STR,
		   .flags = DECODE_REQUIRED | DECODE_NONEMPTY),
	DECODE_ROW(struct oci_mount, type, "type", DECODE_STR),
	DECODE_ROW(struct oci_mount, source, "source", DECODE_STR),
	DECODE_ROW(struct oci_mount, options, "options", DECODE_LIST,
		   .elem = DECODE_STR),
	DECODE_ROW(struct oci_mount, uid_mappings, "uidMappings", DECODE_LIST,
		   .elem = DECODE_STRUCT, .table = &oci_id_map_table),
	DECODE_ROW(struct oci_mount, gid_mappings, "gidMappings", DECODE_LIST,
		   .elem = DECODE_STRUCT, .table = &oci_id_map_table),
};

/* config.md: a relative destination "MUST be interpreted as relative to /". */
static void check_mount(struct decode *d, const struct doc_node *node,
			void *obj)
{
	struct oci_mount *m = obj;

	if (*m->destination != '/')
		m->destination = arena_printf(d->arena, "/%s", m->destination);
	if (!m->uid_mappings.n != !m->gid_mappings.n)
		doc_error_at(d->errors, node,
			     "uidMappings and gidMappings go together");
}

static const struct decode_table mount_table = OCI_TABLE(
	struct oci_mount, mount_rows,
	.node_at = DECODE_AT(struct oci_mount, node), .check = check_mount);

static const struct decode_row hook_rows[] = {
	DECODE_ROW(struct oci_hook, path, "path", DECODE_STR,
		   .flags = DECODE_REQUIRED | DECODE_NONEMPTY),
	DECODE_ROW(struct oci_hook, args, "args", DECODE_LIST,
		   .elem = DECODE_STR),
	DECODE_ROW(struct oci_hook, env, "env", DECODE_LIST,
		   .elem = DECODE_STR),
	DECODE_ROW(struct oci_hook, timeout_s, "timeout", DECODE_I64, .min = 1,
		   .max = INT64_MAX, .flags = DECODE_OPT),
};

static void check_hook(struct decode *d, const struct doc_node *node, void *obj)
{
	(void)obj;
	oci_check_absolute(d, node, "path");
}

static const struct decode_table hook_table =
	OCI_TABLE(struct oci_hook, hook_rows, .check = check_hook);

#define HOOK_ROW(member, key)                                  \
	DECODE_ROW(struct oci_hooks, member, key, DECODE_LIST, \
		   .elem = DECODE_STRUCT, .table = &hook_table)

static const struct decode_row hooks_rows[] = {
	HOOK_ROW(prestart, "prestart"),
	HOOK_ROW(create_runtime, "createRuntime"),
	HOOK_ROW(create_container, "createContainer"),
	HOOK_ROW(start_container, "startContainer"),
	HOOK_ROW(poststart, "poststart"),
	HOOK_ROW(poststop, "poststop"),
};
static const struct decode_table hooks_table =
	OCI_TABLE(struct oci_hooks, hooks_rows);

static const struct decode_row spec_rows[] = {
	DECODE_ROW(struct oci_spec, oci_version, "ociVersion", DECODE_STR,
		   .flags = DECODE_REQUIRED),
	DECODE_ROW(struct oci_spec, process, "process", DECODE_STRUCT,
		   .table = &oci_process_table),
	DECODE_ROW(struct oci_spec, root, "root", DECODE_STRUCT,
		   .table = &root_table, .flags = DECODE_REQUIRED),
	DECODE_ROW(struct oci_spec, hostname, "hostname", DECODE_STR),
	DECODE_ROW(struct oci_spec, domainname, "domainname", DECODE_STR),
	DECODE_ROW(struct oci_spec, mounts, "mounts", DECODE_LIST,
		   .elem = DECODE_STRUCT, .table = &mount_table),
	DECODE_ROW(struct oci_spec, hooks, "hooks", DECODE_STRUCT,
		   .table = &hooks_table),
	DECODE_ROW(struct oci_spec, annotations, "annotations", DECODE_DICT,
		   .elem = DECODE_STR),
	DECODE_ROW(struct oci_spec, linux_, "linux", DECODE_STRUCT,
		   .table = &oci_linux_table),
};

/* "1.MINOR.PATCH", perhaps with "-dev" or the like (semver.org 2.0). */
static bool is_version_1(const char *s)
{
	char number[2][12];
	uint64_t v;

	for (int i = 0; i < 2; i++) {
		size_t n;

		s = str_after(s, i ? "." : "1.");
		n = s ? strspn(s, "0123456789") : 0;
		if (!n || n >= sizeof(number[i]))
			return false;
		memcpy(number[i], s, n);
		number[i][n] = '\0';
		if (num_parse_u64(number[i], &v) < 0)
			return false;
		s += n;
	}
	return !*s || *s == '-' || *s == '+';
}

static void check_top(struct decode *d, const struct doc_node *node, void *obj)
{
	struct oci_spec *spec = obj;
	const struct doc_node *annotations = doc_get(node, "annotations");

	if (!is_version_1(spec->oci_version))
		doc_error_at(d->errors, doc_get(node, "ociVersion"),
			     "\"%s\" is not a version 1.x.y of the "
			     "specification",
			     spec->oci_version);
	if (annotations && annotations->kind == DOC_MAP)
		doc_for_each (it, annotations)
			if (!*it->key)
				doc_error_at(d->errors, it,
					     "a key must not be empty");
	if (!spec->linux_)
		spec->linux_ = arena_new(d->arena, struct oci_linux);
	oci_spec_check(spec, d->errors);
}

const struct decode_table oci_spec_table = OCI_TABLE(
	struct oci_spec, spec_rows, .node_at = DECODE_AT(struct oci_spec, node),
	.check = check_top);

int oci_parse(struct arena *a, const char *data, size_t len,
	      const struct decode_table *table, void *obj,
	      struct doc_errors *errors)
{
	const struct doc_node *root;
	int r = doc_parse(a, data, len, DOC_JSON, &root, errors);

	return r < 0 ? r : decode(a, table, root, obj, errors);
}

int oci_spec_parse(struct arena *a, const char *data, size_t len,
		   struct oci_spec **ret_spec, struct doc_errors *errors)
{
	struct oci_spec *spec = arena_new(a, struct oci_spec);

	*ret_spec = spec;
	return oci_parse(a, data, len, &oci_spec_table, spec, errors);
}

int oci_process_parse(struct arena *a, const char *data, size_t len,
		      struct oci_process **ret_process,
		      struct doc_errors *errors)
{
	struct oci_process *p = arena_new(a, struct oci_process);

	*ret_process = p;
	return oci_parse(a, data, len, &oci_process_table, p, errors);
}

void oci_spec_write(struct json *j, const char *key,
		    const struct oci_spec *spec)
{
	decode_write(j, key, &oci_spec_table, spec);
}

void oci_process_write(struct json *j, const char *key,
		       const struct oci_process *process)
{
	decode_write(j, key, &oci_process_table, process);
}

const char *oci_annotation(const struct oci_spec *spec, const char *key)
{
	for (size_t i = 0; i < spec->annotations.n; i++)
		if (str_eq(spec->annotations.v[i].key, key))
			return spec->annotations.v[i].value;
	return NULL;
}
