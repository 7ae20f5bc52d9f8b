/* SPDX-License-Identifier: Apache-2.0 */
/* The egress filter's needs: egress.md. */
#include <errno.h>
#include <linux/sched.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/strbuf.h"
#include "runtime/oci/host_config.h"
#include "runtime/plan/source.h"
#include "runtime/plan/work.h"
#include "runtime/policy/policy.h"

static void add_namespace(struct plan_work *w, uint32_t type)
{
	size_t n = w->linux_->namespaces.n;
	struct oci_namespace *v =
		arena_array(w->a, struct oci_namespace, n + 1);

	for (size_t i = 0; i < n; i++)
		v[i] = w->linux_->namespaces.v[i];
	v[n].type = type;
	w->linux_->namespaces.v = v;
	w->linux_->namespaces.n = n + 1;
}

static void add_check(struct plan_work *w, const struct oci_namespace *ns)
{
	struct pair_list *checks = &w->plan->ns_checks;
	const char *name = oci_namespace_name(ns->type);

	checks->v = arena_grow(w->a, checks->v, checks->n, sizeof(*checks->v));
	checks->v[checks->n++] = (struct pair){name, ns->path};
	work_need(w, work_any(w),
		  "check that the %s namespace %s is not the host's", name,
		  ns->path);
}

/* Is some layer sure to refuse everything? */
static bool has_no_egress(const struct plan_work *w)
{
	return work_layer_with(w, POLICY_NO_EGRESS) < w->plan->n_layers;
}

static int check_namespace(struct plan_work *w, struct err *err)
{
	const struct oci_namespace *ns = oci_namespace(w->spec, CLONE_NEWNET);
	uint32_t line = w->in->policy->header->network_line;

	if (ns && ns->path)
		add_check(w, ns);
	if (ns)
		return 0;
	if (!has_no_egress(w))
		return err_set(err, EPERM,
			       "check network namespace: the config shares "
			       "the host's, which the policy's egress rules "
			       "(%s) can't filter: give the container a "
			       "network of its own",
			       work_cause(w, 0, line));
	add_namespace(w, CLONE_NEWNET);
	work_change(w, work_any(w),
		    "linux.namespaces: network added, a private and empty "
		    "one; the config shares the host's");
	return 0;
}

/* Until there is a gateway: refused, never passed uninspected. */
static int check_inspected(struct plan_work *w, size_t layer, struct err *err)
{
	const struct policy *p = w->plan->layer[layer].policy;
	uint32_t i = policy_first_inspected(p);
	const struct policy_endpoint *e;

	if (i == POLICY_NONE)
		return 0;
	e = &p->endpoint[i];
	return err_set(err, ENOTSUP,
		       "check endpoint %s of %s (%s): it needs inspection "
		       "(%s), and this version has no gateway for that",
		       *policy_text(p, e->host) ? policy_text(p, e->host)
						: "without a host",
		       policy_name_of(p, i), work_cause(w, layer, e->line),
		       policy_text(p, e->inspect));
}

/* The last mount over /etc/resolv.conf is the one that is seen. */
static const char *find_resolv_conf(const struct plan_work *w)
{
	const char *source = NULL;

	for (size_t i = 0; i < w->spec->mounts.n; i++) {
		const struct oci_mount *m = &w->spec->mounts.v[i];

		if (str_eq(work_clean(w, m->destination), "/etc/resolv.conf"))
			source = work_is_bind(m) ? m->source : NULL;
	}
	return source;
}

static void choose_inbound(struct plan_work *w)
{
	bool host_none = w->in->host->inbound == HOST_INBOUND_NONE;
	const char *asked = oci_annotation(w->spec, "ai.openshell.inbound");

	w->plan->inbound_none = host_none || w->in->source->inbound_none;
	if (host_none && asked && !w->in->source->inbound_none)
		work_warn(w, "host configuration inbound: none",
			  "the annotation ai.openshell.inbound asks for %s: "
			  "nothing comes in all the same",
			  asked);
}

int step_network(struct plan_work *w, struct err *err)
{
	const struct oci_seccomp *seccomp = w->linux_->seccomp;
	int r = check_namespace(w, err);

	for (size_t i = 0; r == 0 && i < w->plan->n_layers; i++)
		r = check_inspected(w, i, err);
	if (r < 0)
		return r;
	if (seccomp && seccomp->listener_path)
		return err_set(err, EBUSY,
			       "check linux.seccomp.listenerPath: the "
			       "policy's filter (%s) has a listener, and the "
			       "kernel allows one",
			       w->in->source->label);
	w->plan->resolv_conf = find_resolv_conf(w);
	choose_inbound(w);
	return 0;
}

int step_namespaces(struct plan_work *w, struct err *err)
{
	static const uint32_t types[] = {CLONE_NEWPID, CLONE_NEWIPC,
					 CLONE_NEWUTS, CLONE_NEWNS,
					 CLONE_NEWCGROUP};

	(void)err;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		const struct oci_namespace *ns =
			oci_namespace(w->spec, types[i]);

		if (ns && ns->path)
			add_check(w, ns);
		if (ns)
			continue;
		add_namespace(w, types[i]);
		work_change(w, work_any(w), "linux.namespaces: %s added",
			    oci_namespace_name(types[i]));
	}
	return 0;
}
