/* SPDX-License-Identifier: Apache-2.0 */
/* The filter's needs, and all namespaces. */
#include "runtime/plan/test_world.h"

static void test_plain(void **state)
{
	struct world *w = *state;

	config(w, minimal);
	w->source.kind = PLAN_SOURCE_PLAIN;
	w->source.label = "when_missing: none";
	make_good(w);
	assert_int_equal(w->plan->n_layers, 0);
	assert_int_equal(w->plan->egress, OCI_EGRESS_PLAIN);
	assert_int_equal(w->plan->changes.n, 0);
	assert_note(&w->plan->warnings,
		    "the ceiling /ceiling.yaml is not enforced: a container "
		    "without a policy has no filter",
		    "when_missing: none");
}

static void test_deny_network(void **state)
{
	struct world *w = *state;
	const uint64_t raw = UINT64_C(1) << CAP_NET_RAW;

	config_with(w, "",
		    ",'capabilities':{'bounding':['CAP_NET_RAW',"
		    "'CAP_KILL'],'effective':['CAP_NET_RAW']}",
		    "");
	w->source.kind = PLAN_SOURCE_DENY;
	w->source.label = "when_missing: deny-network";
	make_good(w);
	assert_int_equal(w->plan->egress, OCI_EGRESS_DENY_ALL);
	assert_int_equal(w->plan->changes.n, 1);
	assert_note(&w->plan->changes,
		    "process.capabilities: CAP_NET_RAW removed from bounding, "
		    "effective",
		    "when_missing: deny-network");
	assert_int_equal(w->plan->spec->process->capabilities->bounding,
			 UINT64_C(1) << CAP_KILL);
	/* the config itself is never touched */
	assert_true(w->spec->process->capabilities->bounding & raw);
	assert_null(oci_namespace(w->plan->spec, CLONE_NEWPID));
}

static void test_host_network_refused(void **state)
{
	struct world *w = *state;

	config(w, "{'ociVersion':'1.0.0','root':{'path':'r'},"
		  "'process':{'args':['sh'],'cwd':'/'}}");
	allow(&w->build, "example.com");
	make_bad(w, "check network namespace: the config shares the host's, "
		    "which the policy's egress rules (p.yaml:4) can't filter: "
		    "give the container a network of its own");
	assert_int_equal(w->err.code, EPERM);
}

static void test_host_network_without_egress(void **state)
{
	struct world *w = *state;
	const struct oci_namespace *ns;

	config(w, "{'ociVersion':'1.0.0','root':{'path':'r'},"
		  "'process':{'args':['sh'],'cwd':'/'}}");
	make_good(w);
	ns = oci_namespace(w->plan->spec, CLONE_NEWNET);
	assert_non_null(ns);
	assert_null(ns->path);
	assert_null(oci_namespace(w->spec, CLONE_NEWNET));
	assert_note(&w->plan->changes,
		    "linux.namespaces: network added, a private and empty one; "
		    "the config shares the host's",
		    ANY);
}

static void test_namespaces(void **state)
{
	static const uint32_t added[] = {CLONE_NEWPID, CLONE_NEWIPC,
					 CLONE_NEWUTS, CLONE_NEWNS,
					 CLONE_NEWCGROUP};
	struct world *w = *state;

	config(w, minimal);
	make_good(w);
	for (size_t i = 0; i < N_ELEMENTS(added); i++)
		assert_non_null(oci_namespace(w->plan->spec, added[i]));
	assert_note(&w->plan->changes, "linux.namespaces: pid added", ANY);
	assert_note(&w->plan->changes, "linux.namespaces: cgroup added", ANY);
	assert_null(oci_namespace(w->plan->spec, CLONE_NEWUSER));
	assert_int_equal(w->spec->linux_->namespaces.n, 1);
}

static void test_joined_namespaces(void **state)
{
	struct world *w = *state;

	config(w, "{'ociVersion':'1.0.0','root':{'path':'r'},"
		  "'process':{'args':['sh'],'cwd':'/'},"
		  "'linux':{'namespaces':[{'type':'network','path':'/n'},"
		  "{'type':'pid','path':'/p'}]}}");
	make_good(w);
	assert_int_equal(w->plan->ns_checks.n, 2);
	assert_string_equal(w->plan->ns_checks.v[0].key, "network");
	assert_string_equal(w->plan->ns_checks.v[1].value, "/p");
	assert_note(&w->plan->steps,
		    "check that the network namespace /n is not the host's",
		    ANY);
}

static void test_inspection_refused(void **state)
{
	struct world *w = *state;
	struct policy_endpoint *e;

	config(w, minimal);
	policy_build_entry(&w->build, "api", "the-api", 5, 0);
	e = policy_build_endpoint(&w->build, POLICY_HOST_EXACT, "a.example", 9,
				  3);
	e->protocol = POLICY_PROTO_REST;
	e->inspect = policy_build_text(&w->build, "protocol: rest");
	policy_build_port(&w->build, 443);
	make_bad(w, "check endpoint a.example of the-api (p.yaml:9): it needs "
		    "inspection (protocol: rest), and this version has no "
		    "gateway for that");
}

static void test_listener_refused(void **state)
{
	struct world *w = *state;

	config_with(w, "", "",
		    ",'seccomp':{'defaultAction':'SCMP_ACT_ALLOW',"
		    "'listenerPath':'/l'}");
	make_bad(w, "check linux.seccomp.listenerPath: the policy's filter "
		    "(p.yaml) has a listener, and the kernel allows one");
}

static void test_resolv_conf(void **state)
{
	struct world *w = *state;

	config_with(w,
		    ",'mounts':[{'destination':'/etc/./resolv.conf',"
		    "'type':'bind','source':'/a'},"
		    "{'destination':'/etc/resolv.conf/','source':'/b',"
		    "'options':['rbind']}]",
		    "", "");
	make_good(w);
	assert_string_equal(w->plan->resolv_conf, "/b");
	config_with(w,
		    ",'mounts':[{'destination':'/etc/resolv.conf',"
		    "'type':'tmpfs','source':'x'}]",
		    "", "");
	make_good(w);
	assert_null(w->plan->resolv_conf);
}

static void test_inbound(void **state)
{
	struct world *w = *state;

	config_with(w, ",'annotations':{'ai.openshell.inbound':'listening'}",
		    "", "");
	make_good(w);
	assert_false(w->plan->inbound_none);
	w->source.inbound_none = true;
	make_good(w);
	assert_true(w->plan->inbound_none);
	/* an annotation can only narrow */
	w->source.inbound_none = false;
	w->host.inbound = HOST_INBOUND_NONE;
	make_good(w);
	assert_true(w->plan->inbound_none);
	assert_note(&w->plan->warnings,
		    "the annotation ai.openshell.inbound asks for listening: "
		    "nothing comes in all the same",
		    "host configuration inbound: none");
	/* what can't be had is refused, not left out */
	w->host.on_shim_death = HOST_SHIM_DEATH_KILL;
	make_bad(w, "check host configuration: on_shim_death: kill is not "
		    "supported by this version; with keep the container lives "
		    "on without any egress");
	w->host.on_shim_death = HOST_SHIM_DEATH_KEEP;
	w->host.dial_from_host = true;
	make_bad(w, "check host configuration: dial_from_host: true is not "
		    "supported by this version; egress is always that of the "
		    "container's network");
	w->host.dial_from_host = false;
	w->host.log.max_files = 5;
	make_bad(w, "check host configuration: log.max_files is not supported "
		    "by this version; there are always 8");
	w->host.log.max_files = 8;
	make_good(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_plain),
		TEST(test_deny_network),
		TEST(test_host_network_refused),
		TEST(test_host_network_without_egress),
		TEST(test_namespaces),
		TEST(test_joined_namespaces),
		TEST(test_inspection_refused),
		TEST(test_listener_refused),
		TEST(test_resolv_conf),
		TEST(test_inbound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
