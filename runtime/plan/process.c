/* SPDX-License-Identifier: Apache-2.0 */
/* What a policy does to a process: config.process and exec's alike. */
#include <errno.h>
#include <linux/capability.h>
#include <sys/resource.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/num.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/oci/names.h"
#include "runtime/plan/source.h"
#include "runtime/plan/work.h"
#include "runtime/policy/policy.h"

/* -------------------------------------------------------- capabilities */

#define BIT(cap) (UINT64_C(1) << (cap))

/* egress.md, "What must never be in the container while the filter is
 * claimed": each would void it. */
static const uint64_t voiding =
	BIT(CAP_NET_ADMIN) | BIT(CAP_NET_RAW) | BIT(CAP_SYS_ADMIN) |
	BIT(CAP_SYS_PTRACE) | BIT(CAP_SYS_MODULE) | BIT(CAP_BPF) |
	BIT(CAP_PERFMON) | BIT(CAP_SYS_RAWIO) | BIT(CAP_DAC_READ_SEARCH);

static const struct {
	const char *name;
	size_t offset;
} sets[] = {
	{"bounding", offsetof(struct oci_capabilities, bounding)},
	{"effective", offsetof(struct oci_capabilities, effective)},
	{"inheritable", offsetof(struct oci_capabilities, inheritable)},
	{"permitted", offsetof(struct oci_capabilities, permitted)},
	{"ambient", offsetof(struct oci_capabilities, ambient)},
};

static uint64_t *set_of(struct oci_capabilities *caps, size_t i)
{
	return (uint64_t *)(void *)((char *)caps + sets[i].offset);
}

/* Which sets hold @cap: bit i is sets[i]. */
static unsigned int where(struct oci_capabilities *caps, unsigned int cap)
{
	unsigned int found = 0;

	for (size_t i = 0; i < N_ELEMENTS(sets); i++)
		if (*set_of(caps, i) & BIT(cap))
			found |= 1u << i;
	return found;
}

/* One note for all capabilities of @gone that are in just these sets. */
static void note_caps(struct plan_work *w, uint64_t gone, unsigned int in,
		      const char *cause)
{
	own_strbuf struct strbuf names = STRBUF_HEAP, from = STRBUF_HEAP;

	for (unsigned int cap = 0; oci_capability_name(cap); cap++)
		if ((gone & BIT(cap)) &&
		    where(w->process->capabilities, cap) == in)
			strbuf_addf(&names, "%s%s", names.len ? ", " : "",
				    oci_capability_name(cap));
	if (!names.len)
		return;
	for (size_t i = 0; i < N_ELEMENTS(sets); i++)
		if (in & 1u << i)
			strbuf_addf(&from, "%s%s", from.len ? ", " : "",
				    sets[i].name);
	work_change(w, cause, "process.capabilities: %s removed from %s",
		    names.s, from.s);
}

/* Take @gone out of every set. */
static void remove_caps(struct plan_work *w, uint64_t gone, const char *cause)
{
	for (unsigned int in = 1; in < 1u << N_ELEMENTS(sets); in++)
		note_caps(w, gone, in, cause);
	for (size_t i = 0; i < N_ELEMENTS(sets); i++)
		*set_of(w->process->capabilities, i) &= ~gone;
}

static bool has_any_cap(struct oci_capabilities *caps)
{
	uint64_t all = 0;

	for (size_t i = 0; i < N_ELEMENTS(sets); i++)
		all |= *set_of(caps, i);
	return all != 0;
}

int step_capabilities(struct plan_work *w, struct err *err)
{
	(void)err;
	if (w->process->capabilities)
		remove_caps(w, voiding, work_any(w));
	return 0;
}

/* The full OpenShell form: no capability, and none to be had by execve. */
int step_privileges(struct plan_work *w, struct err *err)
{
	size_t layer = work_layer_with(w, POLICY_FULL_FORM);
	const char *cause;

	(void)err;
	if (layer == w->plan->n_layers)
		return 0;
	cause = arena_printf(w->a, "version: 1 (%s)",
			     layer ? "the ceiling" : w->in->source->label);
	if (w->process->capabilities && has_any_cap(w->process->capabilities)) {
		remove_caps(w, UINT64_MAX, cause);
		work_warn(w, cause,
			  "without capabilities, what starts as root and then "
			  "calls chown, su or apt will not work");
	}
	if (!w->process->no_new_privileges) {
		w->process->no_new_privileges = true;
		work_change(w, cause, "process.noNewPrivileges: set");
	}
	return 0;
}

/* A core file would carry what the sandbox has read to the host. */
int step_core(struct plan_work *w, struct err *err)
{
	struct oci_process *p = w->process;
	struct oci_rlimit *v =
		arena_array(w->a, struct oci_rlimit, p->rlimits.n + 1);
	size_t n = 0;

	(void)err;
	for (size_t i = 0; i < p->rlimits.n; i++) {
		const struct oci_rlimit *r = &p->rlimits.v[i];

		if (r->type != RLIMIT_CORE)
			v[n++] = *r;
		else if (!r->soft && !r->hard)
			return 0;
	}
	v[n++] = (struct oci_rlimit){.type = RLIMIT_CORE};
	p->rlimits.v = v;
	p->rlimits.n = n;
	work_change(w, work_any(w), "process.rlimits: RLIMIT_CORE is 0");
	return 0;
}

/* ---------------------------------------------------------------- user */

struct who {
	const char *text; /* NULL: no layer says */
	uint32_t line;
	size_t layer;
};

static const char *layer_text(const struct plan_work *w, size_t layer,
			      bool group, uint32_t *ret_line)
{
	const struct policy *p = w->plan->layer[layer].policy;
	uint32_t text = group ? p->header->group : p->header->user;

	*ret_line = group ? p->header->group_line : p->header->user_line;
	return text == POLICY_NONE ? NULL : policy_text(p, text);
}

/* The policy's, else the ceiling's; two that differ can't both hold. */
static int find_who(struct plan_work *w, bool group, struct who *ret,
		    struct err *err)
{
	*ret = (struct who){0};
	for (size_t i = 0; i < w->plan->n_layers; i++) {
		uint32_t line;
		const char *text = layer_text(w, i, group, &line);

		if (text && ret->text && !str_eq(text, ret->text))
			return err_set(err, EPERM,
				       "check process.run_as_%s: %s says %s, "
				       "%s says %s",
				       group ? "group" : "user",
				       work_cause(w, ret->layer, ret->line),
				       ret->text, work_cause(w, i, line), text);
		if (text && !ret->text)
			*ret = (struct who){text, line, i};
	}
	return 0;
}

static bool is_mapped(const struct oci_id_map *v, size_t n, uint32_t id)
{
	for (size_t i = 0; i < n; i++)
		if (id >= v[i].container_id &&
		    id - v[i].container_id < v[i].size)
			return true;
	return n == 0;
}

/*
 * A number goes into the config; name or number, the text stays for the root
 * filesystem, which may know a group of that user, and where neither may turn
 * out to be root.
 */
static int apply_who(struct plan_work *w, const struct who *who, bool group,
		     uint32_t *id, const char **ret_name, struct err *err)
{
	const char *kind = group ? "group" : "user";
	const char *cause = work_cause(w, who->layer, who->line);
	uint32_t number;

	*ret_name = who->text;
	if (num_parse_u32(who->text, UINT32_MAX - 1, &number) < 0) {
		work_need(w, cause, "look up %s \"%s\" in /etc/%s", kind,
			  who->text, group ? "group" : "passwd");
		return 0;
	}
	if (group ? !is_mapped(w->linux_->gid_mappings.v,
			       w->linux_->gid_mappings.n, number)
		  : !is_mapped(w->linux_->uid_mappings.v,
			       w->linux_->uid_mappings.n, number))
		return err_set(err, EPERM,
			       "check process.run_as_%s %s (%s): the config's "
			       "linux.%cidMappings has no such id",
			       kind, who->text, cause, group ? 'g' : 'u');
	if (*id != number)
		work_change(w, cause, "process.user: %cid %u instead of %u",
			    group ? 'g' : 'u', number, *id);
	*id = number;
	return 0;
}

int step_user(struct plan_work *w, struct err *err)
{
	struct oci_user *user = &w->process->user;
	struct who uid, gid;
	int r = find_who(w, false, &uid, err);

	if (r == 0)
		r = find_who(w, true, &gid, err);
	if (r == 0 && uid.text)
		r = apply_who(w, &uid, false, &user->uid, &w->plan->user, err);
	if (r == 0 && gid.text)
		r = apply_who(w, &gid, true, &user->gid, &w->plan->group, err);
	if (r < 0 || (!uid.text && !gid.text))
		return r;
	if (user->additional_gids.n) {
		user->additional_gids.n = 0;
		work_change(w,
			    uid.text ? work_cause(w, uid.layer, uid.line)
				     : work_cause(w, gid.layer, gid.line),
			    "process.user: additional groups removed");
	}
	return 0;
}
