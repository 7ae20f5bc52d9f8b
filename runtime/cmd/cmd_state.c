/* SPDX-License-Identifier: Apache-2.0 */
/* state and list. */
#include <errno.h>
#include <stdio.h>

#include "runtime/base/json.h"
#include "runtime/base/log.h"
#include "runtime/base/strbuf.h"
#include "runtime/cmd/cmd.h"
#include "runtime/container/egress.h"
#include "runtime/container/lifecycle.h"

static void put(const struct strbuf *sb)
{
	fwrite(sb->s, 1, sb->len, stdout);
	putchar('\n');
}

int cmd_state(struct cmd_global *g, int argc, char **argv)
{
	own_container struct container c = CONTAINER_INIT;
	own_strbuf struct strbuf sb = STRBUF_HEAP;
	struct json j = json_to(&sb, true);
	char unused;
	struct err err;
	int i = cmd_parse(g, "state", argc, argv, &unused, 1, 1);

	if (i < 0)
		return 1;
	if (container_open(g->arena, g->root, argv[i], false, &c, &err) < 0)
		return cmd_fail(&err);
	oci_state_report(&j, c.record.state,
			 record_status(&c.entry, &c.record), false);
	put(&sb);
	return 0;
}

struct list_options {
	const char *format;
	bool quiet;
};

const struct option_row cmd_list_options[] = {
	{ "format", 'f', OPTION_STRING, offsetof(struct list_options, format),
	  "table|json", "how to print (default table)" },
	{ "quiet", 'q', OPTION_FLAG, offsetof(struct list_options, quiet), NULL,
	  "ids only" },
	{ .name = NULL },
};

static void list_row(const struct container *c, enum oci_status status)
{
	const struct oci_state *s = c->record.state;

	printf("%-28s %-11d %-11s %-40s %-30s %s\n", s->id,
	       status == OCI_STOPPED ? 0 : s->pid, oci_status_name(status),
	       s->bundle, s->created, s->owner);
}

/* One container; one that vanishes meanwhile is left out. */
static void list_one(struct cmd_global *g, const char *id, bool quiet,
		     struct json *j)
{
	own_container struct container c = CONTAINER_INIT;
	enum oci_status status;
	struct err err;

	if (container_open(g->arena, g->root, id, false, &c, &err) < 0) {
		if (err.code != ENOENT)
			log_warning("list container %s: %s", id, err.text);
		return;
	}
	status = record_status(&c.entry, &c.record);
	if (j)
		oci_state_report(j, c.record.state, status, false);
	else if (quiet)
		printf("%s\n", id);
	else
		list_row(&c, status);
}

int cmd_list(struct cmd_global *g, int argc, char **argv)
{
	own_strbuf struct strbuf sb = STRBUF_HEAP;
	struct json j = json_to(&sb, false);
	struct store store = STORE_INIT;
	struct list_options o = { 0 };
	unsigned int n = 0;
	struct err err;
	char **ids;
	bool json;

	if (cmd_parse(g, "list", argc, argv, &o, 0, 0) < 0)
		return 1;
	json = o.format && str_eq(o.format, "json");
	if (o.format && !json && !str_eq(o.format, "table"))
		return cmd_usage("list", "--format is table or json");
	if (store_open(g->arena, g->root, false, &store, &err) < 0 ||
	    store_list(g->arena, &store, &ids, &n, &err) < 0) {
		store_done(&store);
		return cmd_fail(&err);
	}
	store_done(&store);
	if (json && !n) {
		printf("null\n"); /* as runc does */
		return 0;
	}
	if (json)
		json_array(&j, NULL);
	else if (!o.quiet)
		printf("%-28s %-11s %-11s %-40s %-30s %s\n", "ID", "PID",
		       "STATUS", "BUNDLE", "CREATED", "OWNER");
	for (unsigned int i = 0; i < n; i++)
		list_one(g, ids[i], o.quiet, json ? &j : NULL);
	if (json) {
		json_end(&j);
		put(&sb);
	}
	return 0;
}
