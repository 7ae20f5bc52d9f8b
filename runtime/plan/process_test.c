/* SPDX-License-Identifier: Apache-2.0 */
/* What a policy does to a process, and to exec's. */
#include "runtime/plan/test_world.h"

static void test_short_form_leaves_capabilities(void **state)
{
	struct world *w = *state;

	config_with(w, "", CAPS, "");
	make_good(w);
	assert_int_equal(w->plan->spec->process->capabilities->bounding,
			 UINT64_C(1) << CAP_CHOWN);
	assert_int_equal(w->plan->spec->process->capabilities->ambient, 0);
	assert_false(w->plan->spec->process->no_new_privileges);
	assert_note(&w->plan->changes,
		    "process.capabilities: CAP_SYS_ADMIN removed from "
		    "bounding, inheritable, permitted, ambient",
		    ANY);
}

static void test_capabilities_are_grouped(void **state)
{
	struct world *w = *state;

	config_with(w, "",
		    ",'capabilities':{'bounding':['CAP_BPF','CAP_NET_RAW',"
		    "'CAP_PERFMON'],'permitted':['CAP_BPF','CAP_NET_RAW']}",
		    "");
	make_good(w);
	assert_note(&w->plan->changes,
		    "process.capabilities: CAP_PERFMON removed from bounding",
		    ANY);
	assert_note(&w->plan->changes,
		    "process.capabilities: CAP_NET_RAW, CAP_BPF removed from "
		    "bounding, permitted",
		    ANY);
}

static void test_full_form(void **state)
{
	struct world *w = *state;

	config_with(w, "", CAPS, "");
	w->build.header.flags |= POLICY_FULL_FORM;
	make_good(w);
	assert_int_equal(w->plan->spec->process->capabilities->bounding, 0);
	assert_true(w->plan->spec->process->no_new_privileges);
	assert_note(&w->plan->changes,
		    "process.capabilities: CAP_CHOWN removed from bounding",
		    "version: 1 (p.yaml)");
	assert_note(&w->plan->changes, "process.noNewPrivileges: set",
		    "version: 1 (p.yaml)");
	assert_int_equal(w->plan->warnings.n, 1);
}

static void test_full_form_with_nothing_to_take(void **state)
{
	struct world *w = *state;

	config_with(w, "", ",'noNewPrivileges':true", "");
	w->build.header.flags |= POLICY_FULL_FORM;
	make_good(w);
	assert_null(w->plan->spec->process->capabilities);
	assert_int_equal(w->plan->warnings.n, 0);
}

static void test_core(void **state)
{
	struct world *w = *state;
	const struct oci_process *p;

	config_with(w, "",
		    ",'rlimits':[{'type':'RLIMIT_CORE','soft':1,'hard':2},"
		    "{'type':'RLIMIT_CPU','soft':1,'hard':2}]",
		    "");
	make_good(w);
	p = w->plan->spec->process;
	assert_int_equal(p->rlimits.n, 2);
	assert_int_equal(p->rlimits.v[0].type, RLIMIT_CPU);
	assert_int_equal(p->rlimits.v[1].type, RLIMIT_CORE);
	assert_int_equal(p->rlimits.v[1].hard, 0);
	assert_int_equal(w->spec->process->rlimits.v[0].hard, 2);
	config_with(w, "",
		    ",'rlimits':[{'type':'RLIMIT_CORE','soft':0,'hard':0}]",
		    "");
	make_good(w);
	assert_false(has_note(&w->plan->changes,
			      "process.rlimits: RLIMIT_CORE is 0", ANY));
}

static void test_user_by_number(void **state)
{
	struct world *w = *state;
	const struct oci_user *u;

	config_with(w, "", ",'user':{'uid':0,'gid':7,'additionalGids':[1]}",
		    "");
	run_as(&w->build, "1000", "7");
	make_good(w);
	u = &w->plan->spec->process->user;
	assert_int_equal(u->uid, 1000);
	assert_int_equal(u->gid, 7);
	assert_int_equal(u->additional_gids.n, 0);
	assert_int_equal(w->spec->process->user.additional_gids.n, 1);
	assert_note(&w->plan->changes, "process.user: uid 1000 instead of 0",
		    "p.yaml:20");
	assert_note(&w->plan->changes,
		    "process.user: additional groups removed", "p.yaml:20");
	assert_string_equal(w->plan->user, "1000");
}

static void test_user_by_name(void **state)
{
	struct world *w = *state;

	config(w, minimal);
	run_as(&w->build, "sandbox", "sandbox");
	make_good(w);
	assert_string_equal(w->plan->user, "sandbox");
	assert_string_equal(w->plan->group, "sandbox");
	assert_note(&w->plan->steps, "look up user \"sandbox\" in /etc/passwd",
		    "p.yaml:20");
	assert_note(&w->plan->steps, "look up group \"sandbox\" in /etc/group",
		    "p.yaml:21");
}

static void test_group_alone(void **state)
{
	struct world *w = *state;

	config_with(w, "", ",'user':{'uid':5,'additionalGids':[1]}", "");
	run_as(&w->build, NULL, "9");
	make_good(w);
	assert_int_equal(w->plan->spec->process->user.uid, 5);
	assert_note(&w->plan->changes,
		    "process.user: additional groups removed", "p.yaml:21");
}

static void test_user_not_mapped(void **state)
{
	struct world *w = *state;
	static const char lin[] =
		"{'ociVersion':'1.0.0','root':{'path':'r'},"
		"'process':{'args':['sh'],'cwd':'/'},"
		"'linux':{'namespaces':[{'type':'network'},{'type':'user'}],"
		"'uidMappings':[{'containerID':0,'hostID':0,'size':1000}],"
		"'gidMappings':[{'containerID':0,'hostID':0,'size':1000}]}}";

	config(w, lin);
	run_as(&w->build, "1000", NULL);
	make_bad(w, "check process.run_as_user 1000 (p.yaml:20): the config's "
		    "linux.uidMappings has no such id");
}

static void test_group_not_mapped(void **state)
{
	struct world *w = *state;

	config(w, "{'ociVersion':'1.0.0','root':{'path':'r'},"
		  "'process':{'args':['sh'],'cwd':'/'},"
		  "'linux':{'namespaces':[{'type':'network'},"
		  "{'type':'user'}],"
		  "'uidMappings':[{'containerID':0,'hostID':0,'size':9}],"
		  "'gidMappings':[{'containerID':5,'hostID':0,'size':1}]}}");
	run_as(&w->build, "8", "4");
	make_bad(w, "check process.run_as_group 4 (p.yaml:21): the config's "
		    "linux.gidMappings has no such id");
}

static void test_exec(void **state)
{
	struct world *w = *state;
	struct oci_process process = {.cwd = "/"};
	struct oci_capabilities caps = {.bounding = UINT64_MAX >> 23};
	struct oci_process *p;

	process.capabilities = &caps;
	config(w, minimal);
	w->in.policy = load(w, &w->build, &w->policy);
	assert_int_equal(plan_exec(&w->arena, &w->in, &process, &p, &w->err),
			 0);
	assert_false(p->capabilities->bounding & UINT64_C(1) << CAP_NET_ADMIN);
	assert_true(p->capabilities->bounding & UINT64_C(1) << CAP_CHOWN);
	assert_true(caps.bounding & UINT64_C(1) << CAP_NET_ADMIN);
	assert_int_equal(p->rlimits.n, 1);
	w->source.kind = PLAN_SOURCE_DENY;
	assert_int_equal(plan_exec(&w->arena, &w->in, &process, &p, &w->err),
			 0);
	assert_int_equal(p->rlimits.n, 0);
	w->source.kind = PLAN_SOURCE_PLAIN;
	assert_int_equal(plan_exec(&w->arena, &w->in, &process, &p, &w->err),
			 0);
	assert_true(p->capabilities->bounding & UINT64_C(1) << CAP_NET_ADMIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_short_form_leaves_capabilities),
		TEST(test_capabilities_are_grouped),
		TEST(test_full_form),
		TEST(test_full_form_with_nothing_to_take),
		TEST(test_core),
		TEST(test_user_by_number),
		TEST(test_user_by_name),
		TEST(test_group_alone),
		TEST(test_user_not_mapped),
		TEST(test_group_not_mapped),
		TEST(test_exec),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
