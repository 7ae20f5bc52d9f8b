/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/json.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/doc/doc.h"
#include "runtime/doc/errors.h"
#include "runtime/oci/features.h"
#include "runtime/oci/spec.h"
#include "runtime/oci/state.h"

static const char full[] =
	"{\"version\":1,\"id\":\"c\",\"ociVersion\":\"1.2.0\","
	"\"bundle\":\"/b\",\"rootfs\":\"/b/rootfs\","
	"\"config\":\"config.json\","
	"\"created\":\"2026-01-02T03:04:05.678901234Z\",\"ownerUid\":0,"
	"\"owner\":\"root\",\"pid\":42,\"pidStart\":18446744073709551615,"
	"\"rootless\":true,\"terminal\":true,\"cgroupManager\":\"cgroupfs\","
	"\"cgroups\":[{\"controllers\":\"cpu,cpuacct\","
	"\"path\":\"/sys/fs/cgroup/cpu/a\",\"created\":true},"
	"{\"controllers\":\"\",\"path\":\"/sys/fs/cgroup/unified/a\"}],"
	"\"namespaces\":{\"network\":\"/run/netns/x\",\"pid\":\"\"},"
	"\"annotations\":{\"k\":\"v\"},"
	"\"policy\":{\"egress\":\"policy\",\"source\":\"s\","
	"\"digest\":\"sha256:0\",\"ceiling\":\"sha256:1\","
	"\"netnsCookie\":7,\"landlock\":true,\"hasCeiling\":true},"
	"\"intelRdt\":\"c\"}\n";

static int parse(struct arena *a, const char *text, struct oci_state **ret,
		 struct err *err)
{
	return oci_state_parse(a, "state.json", text, strlen(text), ret, err);
}

static void test_round_trip(void **state)
{
	own_arena struct arena a = ARENA_INIT;
	own_strbuf struct strbuf sb = STRBUF_HEAP;
	struct err err = ERR_INIT;
	struct oci_state *s;

	(void)state;
	if (parse(&a, full, &s, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(s->cgroup_manager, OCI_CGROUP_FS);
	assert_true(s->cgroups.v[0].created);
	assert_false(s->cgroups.v[1].created);
	assert_true(s->pid_start == UINT64_MAX);
	assert_int_equal(s->policy->egress, OCI_EGRESS_POLICY);
	oci_state_write(&sb, s);
	assert_string_equal(sb.s, full);
}

/* @from in the good text becomes @to: that must be refused. */
static void test_refused(void **state)
{
	static const struct {
		const char *from, *to, *message;
	} cases[] = {
		{"\"version\":1", "\"version\":2",
		 "state.json:1:12: version: 2 is out of range (1 to 1)"},
		{"\"id\":\"c\",", "", "state.json:1:1: missing key \"id\""},
		{"\"config\"", "\"konfig\"",
		 "state.json:1:79: unknown key \"konfig\", did you mean \"config\"? (and 1 more)"},
		{"\"pid\":42", "\"pid\":-1",
		 "state.json:1:179: pid: -1 is out of range (0 to "
		 "2147483647)"},
		{"/sys/fs/cgroup/cpu/a", "/",
		 "state.json:1:284: cgroups[0]: not a path of a cgroup: "
		 "\"/\""},
		{"/sys/fs/cgroup/cpu/a", "///",
		 "state.json:1:284: cgroups[0]: not a path of a cgroup: "
		 "\"///\""},
		{"/sys/fs/cgroup/cpu/a", "a",
		 "state.json:1:284: cgroups[0]: not a path of a cgroup: "
		 "\"a\""},
		{"/sys/fs/cgroup/cpu/a", "/sys/../etc",
		 "state.json:1:284: cgroups[0]: not a path of a cgroup: "
		 "\"/sys/../etc\""},
		{"\"rootless\":true", "\"rootless\":1",
		 "state.json:1:225: rootless: expected a boolean, found a "
		 "number"},
		{"cgroupfs", "x",
		 "state.json:1:262: cgroupManager: unknown value \"x\" (one "
		 "of: none, cgroupfs, systemd)"},
		{"}\n", "", "state.json:1:633: invalid JSON: premature EOF"},
	};

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
		own_arena struct arena a = ARENA_INIT;
		struct err err = ERR_INIT;
		struct oci_state *s;
		const char *at = strstr(full, cases[i].from);
		int before = (int)(at - full);

		assert_non_null(at);
		assert_int_equal(parse(&a,
				       arena_printf(&a, "%.*s%s%s", before,
						    full, cases[i].to,
						    at + strlen(cases[i].from)),
				       &s, &err),
				 -EINVAL);
		if (!str_eq(err.text, cases[i].message))
			fail_msg("%s", err.text);
	}
}

static void test_report(void **state)
{
	own_arena struct arena a = ARENA_INIT;
	own_strbuf struct strbuf sb = STRBUF_HEAP;
	struct json j = json_to(&sb, false);
	struct err err = ERR_INIT;
	struct oci_state *s;

	(void)state;
	assert_int_equal(parse(&a, full, &s, &err), 0);
	oci_state_report(&j, s, OCI_RUNNING, false);
	assert_string_equal(
		sb.s,
		"{\"ociVersion\":\"" OCI_VERSION "\",\"id\":\"c\",\"pid\":42,"
		"\"status\":\"running\",\"bundle\":\"/b\","
		"\"rootfs\":\"/b/rootfs\","
		"\"created\":\"2026-01-02T03:04:05.678901234Z\","
		"\"annotations\":{\"k\":\"v\"},\"owner\":\"root\"}");
	strbuf_reset(&sb);
	j = json_to(&sb, false);
	s->annotations.n = 0;
	oci_state_report(&j, s, OCI_STOPPED, true);
	assert_string_equal(sb.s, "{\"ociVersion\":\"" OCI_VERSION
				  "\",\"id\":\"c\",\"pid\":0,"
				  "\"status\":\"stopped\",\"bundle\":\"/b\"}");
}

static void test_names(void **state)
{
	(void)state;
	for (int i = 0; i < OCI_STATUS_N; i++)
		assert_non_null(oci_status_name((enum oci_status)i));
	for (uint32_t i = 0; i < OCI_EGRESS_N; i++)
		assert_non_null(oci_egress_name(i));
}

/* Every list of the specification's own example is covered by ours. */
static void assert_covers(const struct doc_node *ours,
			  const struct doc_node *theirs)
{
	doc_for_each (it, theirs) {
		bool found = false;

		doc_for_each (have, ours)
			found |= str_eq(have->text, it->text);
		if (!found)
			fail_msg("%s is missing", it->text);
	}
}

static void test_features(void **state)
{
	static const char *const paths[][2] = {
		{NULL, "hooks"},	{"linux", "namespaces"},
		{"seccomp", "actions"}, {"seccomp", "operators"},
		{"seccomp", "archs"},
	};
	const char *options[] = {"bind", "ro"};
	struct oci_features f = {.mount_options = {options, 2},
				 .seccomp = true,
				 .cgroup_v1 = true};
	own_arena struct arena a = ARENA_INIT;
	own_strbuf struct strbuf sb = STRBUF_HEAP;
	struct json j = json_to(&sb, true);
	const struct doc_node *ours, *theirs;
	struct doc_errors errors;
	struct err err = ERR_INIT;
	size_t len;
	char *text;

	(void)state;
	doc_errors_init(&errors, &a, "features");
	oci_features_write(&j, &f);
	assert_int_equal(doc_parse(&a, sb.s, sb.len, DOC_JSON, &ours, &errors),
			 0);
	assert_string_equal(doc_get(ours, "ociVersionMax")->text, OCI_VERSION);
	assert_int_equal(doc_get(ours, "mountOptions")->n, 2);
	if (io_read_file(&a, AT_FDCWD,
			 "runtime/oci/testdata/schema/features/good/runc.json",
			 1 << 20, &text, &len, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(doc_parse(&a, text, len, DOC_JSON, &theirs, &errors),
			 0);
	for (size_t i = 0; i < N_ELEMENTS(paths); i++) {
		const struct doc_node *o = ours, *t = theirs;

		if (paths[i][0]) {
			o = doc_get(o, "linux");
			t = doc_get(t, "linux");
		}
		if (paths[i][0] && str_eq(paths[i][0], "seccomp")) {
			o = doc_get(o, "seccomp");
			t = doc_get(t, "seccomp");
		}
		assert_covers(doc_get(o, paths[i][1]), doc_get(t, paths[i][1]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_features),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
