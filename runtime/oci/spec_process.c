/* SPDX-License-Identifier: Apache-2.0 */
/* config.md, "Process". */
#include <linux/sched.h>

#include "runtime/base/arena.h"
#include "runtime/base/json.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/oci/names.h"
#include "runtime/oci/spec.h"
#include "runtime/oci/tables.h"

/* -1 is no id: to setresuid(2) it means to stay who one is, that is root. */
#define ID_MAX (UINT32_MAX - 1)

static const struct decode_row user_rows[] = {
	DECODE_ROW(struct oci_user, uid, "uid", DECODE_U32,
		   .flags = DECODE_ZERO, .max = ID_MAX),
	DECODE_ROW(struct oci_user, gid, "gid", DECODE_U32,
		   .flags = DECODE_ZERO, .max = ID_MAX),
	DECODE_ROW(struct oci_user, umask, "umask", DECODE_U32,
		   .flags = DECODE_OPT, .max = 0777),
	DECODE_ROW(struct oci_user, additional_gids, "additionalGids",
		   DECODE_LIST, .elem = DECODE_U32),
};
static const struct decode_table user_table =
	OCI_TABLE(struct oci_user, user_rows);

/* ------------------------------------------------------- capabilities */

static void keep_unknown(struct decode *d, struct oci_capabilities *caps,
			 const char *name)
{
	for (size_t i = 0; i < caps->unknown.n; i++)
		if (str_eq(caps->unknown.v[i], name))
			return;
	caps->unknown.v = arena_grow(d->arena, caps->unknown.v, caps->unknown.n,
				     sizeof(char *));
	caps->unknown.v[caps->unknown.n++] = name;
}

static void take_caps(struct decode *d, const struct decode_row *row,
		      const struct doc_node *node, void *at)
{
	struct oci_capabilities *caps = (void *)((char *)at - row->offset);
	uint64_t *mask = at, cap;

	if (node->kind != DOC_LIST) {
		doc_error_at(d->errors, node, "expected a list, found %s",
			     doc_kind_text(node->kind));
		return;
	}
	doc_for_each (it, node) {
		if (it->kind != DOC_STRING)
			doc_error_at(d->errors, it,
				     "expected a string, found %s",
				     doc_kind_text(it->kind));
		else if (decode_value_of(oci_capability_names, it->text, &cap))
			*mask |= UINT64_C(1) << cap;
		else
			keep_unknown(d, caps, it->text);
	}
}

static void put_caps(struct json *j, const struct decode_row *row,
		     const void *at)
{
	uint64_t mask = *(const uint64_t *)at;

	json_array(j, row->key);
	for (unsigned int cap = 0; oci_capability_name(cap); cap++)
		if (mask & UINT64_C(1) << cap)
			json_str(j, NULL, oci_capability_name(cap));
	json_end(j);
}

#define CAPS_ROW(set)                                             \
	DECODE_ROW(struct oci_capabilities, set, #set, DECODE_FN, \
		   .fn = take_caps, .write = put_caps)

static const struct decode_row capabilities_rows[] = {
	CAPS_ROW(bounding),  CAPS_ROW(effective), CAPS_ROW(inheritable),
	CAPS_ROW(permitted), CAPS_ROW(ambient),
};
/*
 * The kernel raises an ambient capability only where it is permitted and
 * inheritable (capabilities(7)). Configs that ask for more are common: what
 * "can not be granted" is to be warned of, not to fail (config.md).
 */
static void check_capabilities(struct decode *d, const struct doc_node *node,
			       void *obj)
{
	struct oci_capabilities *caps = obj;
	uint64_t possible = caps->inheritable & caps->permitted;

	if (caps->ambient & ~possible)
		doc_warning_at(d->errors, doc_get(node, "ambient"),
			       "left out where it is not inheritable and "
			       "permitted as well");
	caps->ambient &= possible;
}

static const struct decode_table capabilities_table =
	OCI_TABLE(struct oci_capabilities, capabilities_rows,
		  .check = check_capabilities);

/* ------------------------------------------------------------- limits */

static const struct decode_row rlimit_rows[] = {
	DECODE_ROW(struct oci_rlimit, type, "type", DECODE_ENUM,
		   .names = oci_rlimit_names, .flags = DECODE_REQUIRED),
	DECODE_ROW(struct oci_rlimit, hard, "hard", DECODE_U64,
		   .flags = DECODE_REQUIRED),
	DECODE_ROW(struct oci_rlimit, soft, "soft", DECODE_U64,
		   .flags = DECODE_REQUIRED),
};

static void check_rlimit(struct decode *d, const struct doc_node *node,
			 void *obj)
{
	const struct oci_rlimit *r = obj;

	if (r->soft > r->hard)
		doc_error_at(d->errors, doc_get(node, "soft"),
			     "above the hard limit");
}

static const struct decode_table rlimit_table =
	OCI_TABLE(struct oci_rlimit, rlimit_rows, .check = check_rlimit);

/* --------------------------------------------------------- scheduling */

static const struct decode_row scheduler_rows[] = {
	DECODE_ROW(struct oci_scheduler, policy, "policy", DECODE_ENUM,
		   .names = oci_sched_names, .flags = DECODE_REQUIRED),
	DECODE_ROW(struct oci_scheduler, nice, "nice", DECODE_I32, .min = -20,
		   .max = 19),
	DECODE_ROW(struct oci_scheduler, priority, "priority", DECODE_I32),
	DECODE_ROW(struct oci_scheduler, flags, "flags", DECODE_BITS,
		   .names = oci_sched_flag_names),
	DECODE_ROW(struct oci_scheduler, runtime_ns, "runtime", DECODE_U64),
	DECODE_ROW(struct oci_scheduler, deadline_ns, "deadline", DECODE_U64),
	DECODE_ROW(struct oci_scheduler, period_ns, "period", DECODE_U64),
};

/* What sched(7) allows for each policy. */
static void check_scheduler(struct decode *d, const struct doc_node *node,
			    void *obj)
{
	const struct oci_scheduler *s = obj;
	bool realtime = s->policy == SCHED_FIFO || s->policy == SCHED_RR;
	bool deadline = s->policy == SCHED_DEADLINE;

	if (realtime && (s->priority < 1 || s->priority > 99))
		doc_error_at(d->errors, node,
			     "a real-time policy needs a priority of 1 to 99");
	if (!realtime && s->priority)
		doc_error_at(d->errors, node,
			     "priority is for SCHED_FIFO and SCHED_RR");
	if (deadline && s->nice)
		doc_error_at(d->errors, node, "nice with SCHED_DEADLINE");
	if (!deadline && (s->runtime_ns || s->deadline_ns || s->period_ns))
		doc_error_at(d->errors, node,
			     "runtime, deadline and period are for "
			     "SCHED_DEADLINE");
	if (deadline && !(s->runtime_ns && s->deadline_ns && s->period_ns))
		doc_error_at(d->errors, node,
			     "SCHED_DEADLINE needs runtime, deadline and "
			     "period");
}

static const struct decode_table scheduler_table = OCI_TABLE(
	struct oci_scheduler, scheduler_rows, .check = check_scheduler);

static const struct decode_row io_priority_rows[] = {
	DECODE_ROW(struct oci_io_priority, class, "class", DECODE_ENUM,
		   .names = oci_io_class_names, .flags = DECODE_REQUIRED),
	DECODE_ROW(struct oci_io_priority, priority, "priority", DECODE_I32,
		   .min = 0, .max = 7, .flags = DECODE_ZERO),
};
static const struct decode_table io_priority_table =
	OCI_TABLE(struct oci_io_priority, io_priority_rows);

static void check_affinity(struct decode *d, const struct doc_node *node,
			   void *obj)
{
	const struct oci_cpu_affinity *a = obj;
	const char *const texts[] = {a->initial, a->final};
	const char *const keys[] = {"initial", "final"};

	for (size_t i = 0; i < N_ELEMENTS(texts); i++)
		if (texts[i] && texts[i][strspn(texts[i], "0123456789, -")])
			doc_error_at(d->errors, doc_get(node, keys[i]),
				     "not a list of CPUs: \"%s\"", texts[i]);
}

static const struct decode_row cpu_affinity_rows[] = {
	DECODE_ROW(struct oci_cpu_affinity, initial, "initial", DECODE_STR),
	DECODE_ROW(struct oci_cpu_affinity, final, "final", DECODE_STR),
};
static const struct decode_table cpu_affinity_table = OCI_TABLE(
	struct oci_cpu_affinity, cpu_affinity_rows, .check = check_affinity);

/* ------------------------------------------------------------ process */

static const struct decode_row console_size_rows[] = {
	DECODE_ROW(struct oci_console_size, height, "height", DECODE_U64,
		   .flags = DECODE_REQUIRED),
	DECODE_ROW(struct oci_console_size, width, "width", DECODE_U64,
		   .flags = DECODE_REQUIRED),
};
static const struct decode_table console_size_table =
	OCI_TABLE(struct oci_console_size, console_size_rows);

static const struct decode_row process_rows[] = {
	DECODE_ROW(struct oci_process, terminal, "terminal", DECODE_BOOL),
	DECODE_ROW(struct oci_process, console_size, "consoleSize",
		   DECODE_STRUCT, .table = &console_size_table),
	DECODE_ROW(struct oci_process, user, "user", DECODE_STRUCT,
		   .table = &user_table, .flags = DECODE_INLINE | DECODE_ZERO),
	DECODE_ROW(struct oci_process, args, "args", DECODE_LIST,
		   .elem = DECODE_STR),
	DECODE_ROW(struct oci_process, env, "env", DECODE_LIST,
		   .elem = DECODE_STR),
	DECODE_ROW(struct oci_process, cwd, "cwd", DECODE_STR,
		   .flags = DECODE_REQUIRED | DECODE_NONEMPTY),
	DECODE_ROW(struct oci_process, capabilities, "capabilities",
		   DECODE_STRUCT, .table = &capabilities_table),
	DECODE_ROW(struct oci_process, rlimits, "rlimits", DECODE_LIST,
		   .elem = DECODE_STRUCT, .table = &rlimit_table),
	DECODE_ROW(struct oci_process, no_new_privileges, "noNewPrivileges",
		   DECODE_BOOL),
	DECODE_ROW(struct oci_process, apparmor_profile, "apparmorProfile",
		   DECODE_STR),
	DECODE_ROW(struct oci_process, oom_score_adj, "oomScoreAdj", DECODE_I32,
		   .min = -1000, .max = 1000, .flags = DECODE_OPT),
	DECODE_ROW(struct oci_process, selinux_label, "selinuxLabel",
		   DECODE_STR),
	DECODE_ROW(struct oci_process, scheduler, "scheduler", DECODE_STRUCT,
		   .table = &scheduler_table),
	DECODE_ROW(struct oci_process, io_priority, "ioPriority", DECODE_STRUCT,
		   .table = &io_priority_table),
	DECODE_ROW(struct oci_process, exec_cpu_affinity, "execCPUAffinity",
		   DECODE_STRUCT, .table = &cpu_affinity_table),
};

static void check_env(struct decode *d, const struct oci_process *p,
		      const struct doc_node *env)
{
	const struct doc_node *it = env ? env->first : NULL;

	for (size_t i = 0; i < p->env.n; i++, it = it->next) {
		const char *equals = strchr(p->env.v[i], '=');

		if (!equals || equals == p->env.v[i])
			doc_error_at(d->errors, it, "not NAME=value: \"%s\"",
				     p->env.v[i]);
	}
}

static void check_rlimits(struct decode *d, const struct oci_process *p,
			  const struct doc_node *rlimits)
{
	const struct doc_node *it = rlimits ? rlimits->first : NULL;
	uint32_t seen = 0;

	for (size_t i = 0; i < p->rlimits.n; i++, it = it->next) {
		uint32_t bit = UINT32_C(1) << p->rlimits.v[i].type;

		if (seen & bit)
			doc_error_at(d->errors, doc_get(it, "type"),
				     "%s a second time",
				     doc_get(it, "type")->text);
		seen |= bit;
	}
}

static void check_process(struct decode *d, const struct doc_node *node,
			  void *obj)
{
	const struct oci_process *p = obj;

	oci_check_absolute(d, node, "cwd");
	if (!p->args.n)
		doc_error_at(d->errors, node, "args must not be empty");
	else if (!*p->args.v[0])
		doc_error_at(d->errors, doc_get(node, "args")->first,
			     "the program must not be empty");
	check_env(d, p, doc_get(node, "env"));
	check_rlimits(d, p, doc_get(node, "rlimits"));
}

const struct decode_table oci_process_table = OCI_TABLE(
	struct oci_process, process_rows,
	.node_at = DECODE_AT(struct oci_process, node), .check = check_process);
