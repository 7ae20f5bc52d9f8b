/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/json.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/oci/spec.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/source.h"
#include "runtime/policy/policy.h"

static const char *const landlock_names[] = {
	[PLAN_LANDLOCK_NONE] = "none",
	[PLAN_LANDLOCK_PATHS] = "paths",
	[PLAN_LANDLOCK_PROC] = "proc",
};

static void add_notes(struct strbuf *sb, const char *title,
		      const struct plan_note_list *list)
{
	strbuf_addf(sb, "\n%s:%s\n", title, list->n ? "" : " none");
	for (size_t i = 0; i < list->n; i++) {
		strbuf_addf(sb, "  %s\n", list->v[i].text);
		strbuf_addf(sb, "      from %s\n", list->v[i].cause);
	}
}

static void add_policy(struct strbuf *sb, const struct plan *plan,
		       const struct plan_source *source)
{
	char digest[POLICY_DIGEST_TEXT];

	strbuf_addf(sb, "policy: %s\n", source->label);
	for (size_t i = 0; i < plan->n_layers; i++) {
		policy_digest_text(plan->layer[i].policy, digest);
		strbuf_addf(sb, "%s: %s\n", i ? "ceiling" : "digest", digest);
	}
	strbuf_addf(sb, "egress: %s\n", oci_egress_name(plan->egress));
	if (plan->n_layers) {
		strbuf_addf(sb, "inbound: %s\n",
			    plan->inbound_none ? "none" : "listening");
		strbuf_addf(sb, "nameservers: of %s\n",
			    plan->resolv_conf ? plan->resolv_conf
					      : "the host's resolv.conf");
	}
}

void plan_render_text(struct strbuf *sb, const struct plan *plan,
		      const struct plan_source *source)
{
	struct json j = json_to(sb, true);

	add_policy(sb, plan, source);
	strbuf_adds(sb, "\nconfig:\n");
	oci_spec_write(&j, NULL, plan->spec);
	strbuf_addc(sb, '\n');
	add_notes(sb, "changes", &plan->changes);
	add_notes(sb, "warnings", &plan->warnings);
	add_notes(sb, "needs the root filesystem", &plan->steps);
}

static void put_notes(struct json *j, const char *key,
		      const struct plan_note_list *list)
{
	json_array(j, key);
	for (size_t i = 0; i < list->n; i++) {
		json_object(j, NULL);
		json_str(j, "text", list->v[i].text);
		json_str(j, "cause", list->v[i].cause);
		json_end(j);
	}
	json_end(j);
}

static void put_path(struct json *j, const struct plan_path *p)
{
	json_object(j, NULL);
	json_str(j, "path", p->path);
	json_bool(j, "write", p->write);
	json_bool(j, "optional", p->optional);
	if (p->line)
		json_u64(j, "line", p->line);
	json_end(j);
}

static void put_layer(struct json *j, const struct plan_layer *l)
{
	char digest[POLICY_DIGEST_TEXT];

	policy_digest_text(l->policy, digest);
	json_object(j, NULL);
	json_str(j, "digest", digest);
	json_str(j, "landlock", landlock_names[l->landlock]);
	json_str(j, "compatibility",
		 l->hard ? "hard_requirement" : "best_effort");
	json_array(j, "paths");
	for (size_t i = 0; i < l->paths.n; i++)
		put_path(j, &l->paths.v[i]);
	json_end(j);
	json_end(j);
}

void plan_render_json(struct strbuf *sb, const struct plan *plan,
		      const struct plan_source *source)
{
	struct json j = json_to(sb, true);

	json_object(&j, NULL);
	json_str(&j, "policy", source->label);
	json_str(&j, "egress", oci_egress_name(plan->egress));
	json_str(&j, "inbound", plan->inbound_none ? "none" : "listening");
	json_str(&j, "resolvConf", plan->resolv_conf);
	json_str(&j, "user", plan->user);
	json_str(&j, "group", plan->group);
	json_array(&j, "layers");
	for (size_t i = 0; i < plan->n_layers; i++)
		put_layer(&j, &plan->layer[i]);
	json_end(&j);
	json_array(&j, "writable");
	for (size_t i = 0; i < plan->writable.n; i++)
		put_path(&j, &plan->writable.v[i]);
	json_end(&j);
	put_notes(&j, "changes", &plan->changes);
	put_notes(&j, "warnings", &plan->warnings);
	put_notes(&j, "steps", &plan->steps);
	oci_spec_write(&j, "config", plan->spec);
	json_end(&j);
	strbuf_addc(sb, '\n');
}
