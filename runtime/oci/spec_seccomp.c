/* SPDX-License-Identifier: Apache-2.0 */
/* config-linux.md, "Seccomp". */
#include <linux/seccomp.h>

#include "runtime/base/strbuf.h"
#include "runtime/oci/names.h"
#include "runtime/oci/spec_seccomp.h"
#include "runtime/oci/tables.h"

static const struct decode_row arg_rows[] = {
	DECODE_ROW(struct oci_seccomp_arg, index, "index", DECODE_U32,
		   .max = OCI_SECCOMP_ARGS - 1, .flags = DECODE_REQUIRED),
	DECODE_ROW(struct oci_seccomp_arg, value, "value", DECODE_U64,
		   .flags = DECODE_REQUIRED),
	DECODE_ROW(struct oci_seccomp_arg, value_two, "valueTwo", DECODE_U64),
	DECODE_ROW(struct oci_seccomp_arg, op, "op", DECODE_ENUM,
		   .names = oci_seccomp_op_names, .flags = DECODE_REQUIRED),
};
static const struct decode_table arg_table =
	OCI_TABLE(struct oci_seccomp_arg, arg_rows);

static const struct decode_row rule_rows[] = {
	DECODE_ROW(struct oci_seccomp_rule, names, "names", DECODE_LIST,
		   .elem = DECODE_STR,
		   .flags = DECODE_REQUIRED | DECODE_NONEMPTY),
	DECODE_ROW(struct oci_seccomp_rule, action, "action", DECODE_ENUM,
		   .names = oci_seccomp_action_names, .flags = DECODE_REQUIRED),
	DECODE_ROW(struct oci_seccomp_rule, errno_ret, "errnoRet", DECODE_U32,
		   .max = SECCOMP_RET_DATA, .flags = DECODE_OPT),
	DECODE_ROW(struct oci_seccomp_rule, args, "args", DECODE_LIST,
		   .elem = DECODE_STRUCT, .table = &arg_table),
};

/* A listener that has to use write(2) itself would wait for itself. */
static void check_rule(struct decode *d, const struct doc_node *node, void *obj)
{
	const struct oci_seccomp_rule *rule = obj;

	if (rule->action != SECCOMP_RET_USER_NOTIF)
		return;
	for (size_t i = 0; i < rule->names.n; i++)
		if (str_eq(rule->names.v[i], "write"))
			doc_error_at(d->errors, node,
				     "SCMP_ACT_NOTIFY can't be used for "
				     "write");
}

static const struct decode_table rule_table =
	OCI_TABLE(struct oci_seccomp_rule, rule_rows, .check = check_rule);

static const struct decode_row seccomp_rows[] = {
	DECODE_ROW(struct oci_seccomp, default_action, "defaultAction",
		   DECODE_ENUM, .names = oci_seccomp_action_names,
		   .flags = DECODE_REQUIRED),
	DECODE_ROW(struct oci_seccomp, default_errno_ret, "defaultErrnoRet",
		   DECODE_U32, .max = SECCOMP_RET_DATA, .flags = DECODE_OPT),
	DECODE_ROW(struct oci_seccomp, architectures, "architectures",
		   DECODE_LIST, .elem = DECODE_ENUM,
		   .names = oci_seccomp_arch_names),
	DECODE_ROW(struct oci_seccomp, flags, "flags", DECODE_BITS,
		   .names = oci_seccomp_flag_names, .flags = DECODE_OPT),
	DECODE_ROW(struct oci_seccomp, listener_path, "listenerPath",
		   DECODE_STR),
	DECODE_ROW(struct oci_seccomp, listener_metadata, "listenerMetadata",
		   DECODE_STR),
	DECODE_ROW(struct oci_seccomp, syscalls, "syscalls", DECODE_LIST,
		   .elem = DECODE_STRUCT, .table = &rule_table),
};

static void check_seccomp(struct decode *d, const struct doc_node *node,
			  void *obj)
{
	const struct oci_seccomp *s = obj;
	bool notifies = false;

	for (size_t i = 0; i < s->syscalls.n; i++)
		if (s->syscalls.v[i].action == SECCOMP_RET_USER_NOTIF)
			notifies = true;
	if (s->default_action == SECCOMP_RET_USER_NOTIF)
		doc_error_at(d->errors, doc_get(node, "defaultAction"),
			     "SCMP_ACT_NOTIFY can't be the default");
	if (notifies && !s->listener_path)
		doc_error_at(d->errors, node,
			     "SCMP_ACT_NOTIFY needs listenerPath");
	if (s->listener_metadata && !s->listener_path)
		doc_error_at(d->errors, node,
			     "listenerMetadata needs listenerPath");
}

const struct decode_table oci_seccomp_table =
	OCI_TABLE(struct oci_seccomp, seccomp_rows, .check = check_seccomp);
