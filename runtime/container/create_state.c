/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/container/create_state.h"
#include "runtime/container/record.h"
#include "runtime/oci/spec_linux.h"

static const char *now_text(struct arena *a)
{
	struct timespec ts;
	char when[32];
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &ts);
	gmtime_r(&ts.tv_sec, &tm);
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &tm);
	return arena_printf(a, "%s.%09ldZ", when, ts.tv_nsec);
}

int create_state_init(struct create *c, struct err *err)
{
	struct oci_state *s = arena_new(c->arena, struct oci_state);

	*s = (struct oci_state){
		.version = OCI_STATE_VERSION,
		.id = c->args->id,
		.oci_version = c->b.spec->oci_version,
		.bundle = c->b.bundle,
		.rootfs = c->b.rootfs,
		.config = "config.json",
		.created = now_text(c->arena),
		.owner_uid = geteuid(),
		.owner = geteuid() == 0 ? "root" : "",
		.rootless = geteuid() != 0,
		.no_pivot = c->args->no_pivot,
		.terminal = c->b.spec->process->terminal,
		.cgroup_manager = c->args->no_cgroup ? OCI_CGROUP_NONE :
						       OCI_CGROUP_FS,
		.annotations = c->b.spec->annotations,
	};
	c->state = s;
	return record_save_state(&c->entry, s, err);
}

/* "network" -> path, "" for those that we make */
static void add_namespaces(struct create *c)
{
	const struct oci_linux *l = c->b.plan->spec->linux_;
	struct pair *v = arena_array(c->arena, struct pair, l->namespaces.n);

	for (size_t i = 0; i < l->namespaces.n; i++) {
		const struct oci_namespace *n = &l->namespaces.v[i];

		v[i].key = oci_namespace_name(n->type);
		v[i].value = n->path ? n->path : "";
	}
	c->state->namespaces.v = v;
	c->state->namespaces.n = l->namespaces.n;
}

static const char *digest_of_view(struct create *c, const struct policy *p)
{
	char text[POLICY_DIGEST_TEXT];

	policy_digest_text(p, text);
	return arena_strdup(c->arena, text);
}

int create_state_plan(struct create *c, struct err *err)
{
	struct oci_state_policy *p =
		arena_new(c->arena, struct oci_state_policy);
	const struct plan *plan = c->b.plan;

	*p = (struct oci_state_policy){
		.egress = plan->egress,
		.source = c->b.source.label,
		.has_ceiling = c->b.has_ceiling,
	};
	if (c->b.has_policy)
		p->digest = digest_of_view(c, &c->b.policy.view);
	if (c->b.has_ceiling)
		p->ceiling = digest_of_view(c, &c->b.ceiling.view);
	for (size_t i = 0; i < plan->n_layers; i++)
		if (plan->layer[i].landlock != PLAN_LANDLOCK_NONE)
			p->has_landlock = true;
	c->state->policy = p;
	add_namespaces(c);
	return record_save_state(&c->entry, c->state, err);
}
