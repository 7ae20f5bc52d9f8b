/* SPDX-License-Identifier: Apache-2.0 */
/* The ceiling, every captured config, and what is printed. */
#include "runtime/plan/test_world.h"

#define SAMPLES "runtime/oci/testdata/config"

static void test_ceiling(void **state)
{
	struct world *w = *state;

	config_with(w, "", CAPS, "");
	fs(&w->build);
	rw(&w->build, "/a", 12);
	rw(&w->build, "/b/x", 13);
	fs(&w->ceiling_build);
	w->ceiling_build.header.flags |= POLICY_FULL_FORM;
	rw(&w->ceiling_build, "/b", 30);
	rw(&w->ceiling_build, "/a/y", 31);
	run_as(&w->ceiling_build, "5", NULL);
	w->in.ceiling = load(w, &w->ceiling_build, &w->ceiling);
	make_good(w);
	assert_int_equal(w->plan->n_layers, 2);
	assert_ptr_equal(w->plan->layer[1].policy, &w->ceiling);
	/* what both make writable */
	assert_int_equal(w->plan->writable.n, 2);
	assert_string_equal(w->plan->writable.v[0].path, "/a/y");
	assert_string_equal(w->plan->writable.v[1].path, "/b/x");
	assert_int_equal(w->plan->spec->process->user.uid, 5);
	assert_note(&w->plan->changes, "process.user: uid 5 instead of 0",
		    "/ceiling.yaml:20");
	assert_note(&w->plan->changes, "process.noNewPrivileges: set",
		    "version: 1 (the ceiling)");
}

static void test_ceiling_conflict(void **state)
{
	struct world *w = *state;

	config(w, minimal);
	run_as(&w->build, "5", NULL);
	run_as(&w->ceiling_build, "sandbox", NULL);
	w->in.ceiling = load(w, &w->ceiling_build, &w->ceiling);
	make_bad(w, "check process.run_as_user: p.yaml:20 says 5, "
		    "/ceiling.yaml:20 says sandbox");
}

static void test_ceiling_over_deny(void **state)
{
	struct world *w = *state;

	config(w, minimal);
	w->source.kind = PLAN_SOURCE_DENY;
	w->source.label = "when_missing: deny-network";
	w->host.ceiling = NULL;
	fs(&w->ceiling_build);
	ro(&w->ceiling_build, "/usr", 3);
	w->in.ceiling = load(w, &w->ceiling_build, &w->ceiling);
	make_good(w);
	assert_int_equal(w->plan->egress, OCI_EGRESS_DENY_ALL);
	assert_int_equal(w->plan->layer[1].landlock, PLAN_LANDLOCK_PATHS);
	assert_non_null(oci_namespace(w->plan->spec, CLONE_NEWPID));
	assert_note(&w->plan->changes, "root.readonly: set", "ceiling:10");
}

static void read_sample(struct world *w, const char *name)
{
	struct doc_errors errors;
	char *text;
	size_t len;

	if (io_read_file(&w->arena, AT_FDCWD,
			 arena_printf(&w->arena, SAMPLES "/%s", name),
			 DOC_BYTES_MAX, &text, &len, &w->err) < 0)
		fail_msg("%s", w->err.text);
	doc_errors_init(&errors, &w->arena, name);
	assert_int_equal(
		oci_spec_parse(&w->arena, text, len, &w->spec, &errors), 0);
	w->in.spec = w->spec;
}

/* The effective config is itself a good config. */
static void check_effective(struct world *w, const char *name)
{
	own_strbuf struct strbuf text = STRBUF_HEAP, json = STRBUF_HEAP;
	const struct doc_node *root;
	struct doc_errors errors;
	struct oci_spec *again;
	const char *config_at, *config_end;

	plan_render_text(&text, w->plan, &w->source);
	plan_render_json(&json, w->plan, &w->source);
	doc_errors_init(&errors, &w->arena, name);
	assert_int_equal(doc_parse(&w->arena, json.s, json.len, DOC_JSON, &root,
				   &errors),
			 0);
	assert_int_equal(doc_get(root, "changes")->n, w->plan->changes.n);
	config_at = strstr(text.s, "\nconfig:\n");
	assert_non_null(config_at);
	config_at += strlen("\nconfig:\n");
	config_end = strstr(config_at, "\nchanges:");
	assert_non_null(config_end);
	if (oci_spec_parse(&w->arena, config_at,
			   (size_t)(config_end - config_at), &again,
			   &errors) < 0)
		fail_msg("%s: %s", name, errors.v[0].text);
}

static void plan_sample(const char *name, enum plan_source_kind kind,
			bool egress)
{
	void *state;
	struct world *w;

	setup(&state);
	w = state;
	read_sample(w, name);
	w->source.kind = kind;
	if (egress) {
		allow(&w->build, "a.example");
		w->build.header.flags |= POLICY_FULL_FORM;
		fs(&w->build);
		ro(&w->build, "/usr", 12);
		rw(&w->build, "/tmp", 13);
	}
	if (egress && !oci_namespace(w->spec, CLONE_NEWNET)) {
		assert_string_equal(name, "podman-run-host.json");
		assert_true(make(w) < 0);
	} else {
		if (make(w) < 0)
			fail_msg("%s: %s", name, w->err.text);
		check_effective(w, name);
	}
	teardown(&state);
}

static void test_samples(void **state)
{
	own_dir DIR *d = opendir(SAMPLES);
	unsigned int n = 0;
	struct dirent *e;

	(void)state;
	if (!d)
		fail_msg("no folder " SAMPLES
			 ": run this from the top of the tree");
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		plan_sample(e->d_name, PLAN_SOURCE_PLAIN, false);
		plan_sample(e->d_name, PLAN_SOURCE_DENY, false);
		plan_sample(e->d_name, PLAN_SOURCE_OPTION, false);
		plan_sample(e->d_name, PLAN_SOURCE_OPTION, true);
		n++;
	}
	assert_true(n >= 21);
}

/* Whatever is decoded and not done is refused, with a policy or without. */
static void test_unsupported(void **state)
{
	static const struct {
		const char *json, *key;
	} cases[] = {
		{",'intelRdt':{'closID':'c'}", "intelRdt"},
		{",'memoryPolicy':{'mode':'MPOL_LOCAL'}", "memoryPolicy"},
		{",'mountLabel':'l'", "mountLabel"},
	};
	struct world *w = *state;

	for (size_t i = 0; i < N_ELEMENTS(cases) * 2; i++) {
		config_with(w, "", "", cases[i / 2].json);
		w->source.kind = i % 2 ? PLAN_SOURCE_OPTION : PLAN_SOURCE_PLAIN;
		make_bad(w, arena_printf(&w->arena,
					 "check linux.%s: this version does "
					 "not have it",
					 cases[i / 2].key));
	}
	config_with(w, "", "", ",'mountLabel':''");
	make_good(w);
}

static void test_render(void **state)
{
	struct world *w = *state;
	own_strbuf struct strbuf sb = STRBUF_HEAP;

	config(w, minimal);
	make_good(w);
	plan_render_text(&sb, w->plan, &w->source);
	assert_non_null(str_after(sb.s, "policy: p.yaml\ndigest: sha256:"));
	assert_non_null(strstr(sb.s, "egress: policy\ninbound: listening\n"
				     "nameservers: of the host's resolv.conf\n"
				     "\nconfig:\n{\n"));
	assert_non_null(strstr(sb.s, "\nchanges:\n"
				     "  linux.namespaces: pid added\n"
				     "      from any policy (p.yaml)\n"));
	assert_non_null(strstr(sb.s, "\nwarnings: none\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_ceiling),
		TEST(test_ceiling_conflict),
		TEST(test_ceiling_over_deny),
		TEST(test_samples),
		TEST(test_unsupported),
		TEST(test_render),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
