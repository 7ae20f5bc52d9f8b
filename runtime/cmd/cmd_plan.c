/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "runtime/base/log.h"
#include "runtime/base/strbuf.h"
#include "runtime/cmd/cmd.h"
#include "runtime/container/blueprint.h"
#include "runtime/container/store.h"

struct plan_options {
	const char *bundle, *policy, *format;
};

#define PLAN_OPTION(member) offsetof(struct plan_options, member)

const struct option_row cmd_plan_options[] = {
	{ "bundle", 'b', OPTION_STRING, PLAN_OPTION(bundle), "DIR",
	  "folder with config.json (default: this one)" },
	{ "policy", 0, OPTION_STRING, PLAN_OPTION(policy), "FILE",
	  "this policy instead of the one that create would find" },
	{ "format", 'f', OPTION_STRING, PLAN_OPTION(format), "text|json",
	  "how to print (default text)" },
	{ .name = NULL },
};

static int make(struct cmd_global *g, const struct plan_options *o,
		struct blueprint *b, struct err *err)
{
	struct store store = STORE_INIT;
	int r = blueprint_host(b, g->host_config, err);

	/* a plan needs no root filesystem: it says which steps would */
	if (r == 0)
		r = blueprint_config(b, o->bundle ? o->bundle : ".", false,
				     log_warning, err);
	if (r == 0)
		r = blueprint_policy(b, o->policy, log_warning, err);
	if (r == 0)
		r = store_open(g->arena, g->root, false, &store, err);
	if (r == 0)
		r = blueprint_plan(b, &store, err);
	store_done(&store);
	return r;
}

int cmd_plan(struct cmd_global *g, int argc, char **argv)
{
	own_strbuf struct strbuf sb = STRBUF_HEAP;
	struct blueprint b = BLUEPRINT_INIT(g->arena);
	struct plan_options o = { 0 };
	struct err err;
	bool json;
	int r;

	if (cmd_parse(g, "plan", argc, argv, &o, 0, 0) < 0)
		return 1;
	json = o.format && str_eq(o.format, "json");
	if (o.format && !json && !str_eq(o.format, "text"))
		return cmd_usage("plan", "--format is text or json");
	r = make(g, &o, &b, &err);
	if (r == 0) {
		if (json)
			plan_render_json(&sb, b.plan, &b.source);
		else
			plan_render_text(&sb, b.plan, &b.source);
		fwrite(sb.s, 1, sb.len, stdout);
	}
	blueprint_done(&b);
	return r < 0 ? cmd_fail(&err) : 0;
}
