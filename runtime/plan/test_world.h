/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of plan/ share: a config and policies built by hand
 * (policy/build.h: the language is the compiler's affair), and looking at the
 * plan that they give. In texts ' stands for ".
 */
#ifndef OSH_PLAN_TEST_WORLD_H
#define OSH_PLAN_TEST_WORLD_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <cmocka.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/doc/errors.h"
#include "runtime/oci/host_config.h"
#include "runtime/oci/spec_linux.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/source.h"
#include "runtime/policy/build.h"
#include "runtime/policy/policy.h"

/* One test's world; everything is in one arena. */
struct world {
	struct arena arena;
	struct oci_spec *spec;
	struct host_config host;
	struct plan_source source;
	struct policy_build build, ceiling_build;
	struct policy policy, ceiling;
	const char *private_dirs[2];
	struct plan_input in;
	struct plan *plan;
	struct err err;
};

static const char minimal[] = "{'ociVersion':'1.0.0','root':{'path':'rootfs'},"
			      "'process':{'args':['sh'],'cwd':'/work'},"
			      "'linux':{'namespaces':[{'type':'network'}]}}";

static inline int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	arena_init(&w->arena);
	host_config_default(&w->host);
	w->host.ceiling = "/ceiling.yaml";
	w->source = (struct plan_source){.kind = PLAN_SOURCE_OPTION,
					 .label = "p.yaml"};
	policy_build_init(&w->build, &w->arena);
	policy_build_init(&w->ceiling_build, &w->arena);
	w->private_dirs[0] = "/run/osh-runtime";
	w->private_dirs[1] = "/etc/osh-runtime";
	w->in = (struct plan_input){
		.host = &w->host,
		.source = &w->source,
		.private_dirs = {w->private_dirs, 2},
	};
	*state = w;
	return 0;
}

static inline int teardown(void **state)
{
	struct world *w = *state;

	arena_done(&w->arena);
	free(w);
	return 0;
}

static inline void config(struct world *w, const char *text)
{
	char *json = arena_strdup(&w->arena, text);
	struct doc_errors errors;

	for (char *c = json; *c; c++)
		if (*c == '\'')
			*c = '"';
	doc_errors_init(&errors, &w->arena, "config.json");
	if (oci_spec_parse(&w->arena, json, strlen(json), &w->spec, &errors) <
	    0)
		fail_msg("%s", errors.v[0].text);
	w->in.spec = w->spec;
}

/* A member of "linux", "process" or the outermost level replaces nothing. */
static inline void config_with(struct world *w, const char *top,
			       const char *process, const char *lin)
{
	config(w, arena_printf(&w->arena,
			       "{'ociVersion':'1.0.0','root':{'path':'r'}%s,"
			       "'process':{'args':['sh'],'cwd':'/work'%s},"
			       "'linux':{'namespaces':[{'type':'network'},"
			       "{'type':'mount'}]%s}}",
			       top, process, lin));
}

static inline const struct policy *load(struct world *w, struct policy_build *b,
					struct policy *ret)
{
	size_t len;
	void *data;

	if (policy_build_finish(b, &data, &len, &w->err) < 0 ||
	    policy_load(data, len, ret, &w->err) < 0)
		fail_msg("%s", w->err.text);
	return ret;
}

/* An endpoint on line 7, with a binary on line 8. */
static inline void allow(struct policy_build *b, const char *host)
{
	policy_build_entry(b, "web", "web", 5, 0);
	policy_build_endpoint(b, POLICY_HOST_EXACT, host, 7, 3);
	policy_build_port(b, 443);
	policy_build_binary(b, "/usr/bin/curl", 8);
	b->header.network_line = 4;
}

static inline int make(struct world *w)
{
	if (!w->in.policy && w->source.kind != PLAN_SOURCE_PLAIN)
		w->in.policy = load(w, &w->build, &w->policy);
	return plan_make(&w->arena, &w->in, &w->plan, &w->err);
}

static inline void make_good(struct world *w)
{
	if (make(w) < 0)
		fail_msg("%s", w->err.text);
}

static inline void make_bad(struct world *w, const char *message)
{
	if (make(w) >= 0)
		fail_msg("no error instead of: %s", message);
	assert_string_equal(w->err.text, message);
}

static inline bool has_note(const struct plan_note_list *list, const char *text,
			    const char *cause)
{
	for (size_t i = 0; i < list->n; i++)
		if (str_eq(list->v[i].text, text) &&
		    str_eq(list->v[i].cause, cause))
			return true;
	return false;
}

static inline void assert_note(const struct plan_note_list *list,
			       const char *text, const char *cause)
{
	if (has_note(list, text, cause))
		return;
	for (size_t i = 0; i < list->n; i++)
		print_message("  %s | %s\n", list->v[i].text, list->v[i].cause);
	fail_msg("missing: %s | %s", text, cause);
}

#define ANY "any policy (p.yaml)"

static inline void fs(struct policy_build *b)
{
	b->header.flags |= POLICY_FS_PRESENT | POLICY_FS_ENFORCE;
	b->header.filesystem_line = 10;
}

static inline void ro(struct policy_build *b, const char *path, uint32_t line)
{
	policy_build_path(b, path, line, 0);
}

static inline void rw(struct policy_build *b, const char *path, uint32_t line)
{
	policy_build_path(b, path, line, POLICY_PATH_WRITE);
}

static inline void run_as(struct policy_build *b, const char *user,
			  const char *group)
{
	if (user)
		b->header.user = policy_build_text(b, user);
	if (group)
		b->header.group = policy_build_text(b, group);
	b->header.user_line = user ? 20 : 0;
	b->header.group_line = group ? 21 : 0;
}

#define CAPS                                                         \
	",'capabilities':{'bounding':['CAP_CHOWN','CAP_SYS_ADMIN']," \
	"'inheritable':['CAP_SYS_ADMIN'],"                           \
	"'permitted':['CAP_SYS_ADMIN'],'ambient':['CAP_SYS_ADMIN']}"

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
