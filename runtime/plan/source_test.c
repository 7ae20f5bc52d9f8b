/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/oci/host_config.h"
#include "runtime/oci/spec.h"
#include "runtime/plan/base64.h"
#include "runtime/plan/source.h"

#define POLICY	"ai.openshell.policy"
#define NAME	"ai.openshell.policy-name"
#define DIGEST	"ai.openshell.policy-digest"
#define INBOUND "ai.openshell.inbound"
#define ZEROS                                                                  \
	"sha256:0000000000000000000000000000000000000000000000000000000000000" \
	"000"

struct input {
	struct pair annotations[3]; /* up to a NULL key */
	struct host_config host;
	const char *option;
};

static int find(struct arena *a, const struct input *in,
		struct plan_source *ret, struct err *err)
{
	struct pair v[3];
	struct oci_spec spec = {.annotations = {.v = v}};

	for (size_t i = 0; i < 3 && in->annotations[i].key; i++)
		v[spec.annotations.n++] = in->annotations[i];
	return plan_source_find(a, &spec, &in->host, in->option, ret, err);
}

struct found_case {
	struct input in;
	enum plan_source_kind kind;
	const char *label, *path, *text; /* text: its beginning */
};

static void test_order(void **state)
{
	static const struct found_case cases[] = {
		{{.annotations = {{POLICY, "a: 1"}},
		  .host = {.default_policy = "/d"}},
		 PLAN_SOURCE_ANNOTATION,
		 "annotation " POLICY,
		 NULL,
		 "a: 1"},
		{{.annotations = {{"other", "x"}, {POLICY, "base64:YTogMQo="}}},
		 PLAN_SOURCE_ANNOTATION,
		 "annotation " POLICY,
		 NULL,
		 "a: 1\n"},
		{{.annotations = {{NAME, "web"}},
		  .host = {.default_policy = "/d"}},
		 PLAN_SOURCE_NAME,
		 "/etc/osh-runtime/policies/web.yaml",
		 "/etc/osh-runtime/policies/web.yaml",
		 NULL},
		{{.annotations = {{NAME, "web"}}, .host = {.policies = "/p"}},
		 PLAN_SOURCE_NAME,
		 "/p/web.yaml",
		 "/p/web.yaml",
		 NULL},
		{{.host = {.default_policy = "/d", .image_policy = 1}},
		 PLAN_SOURCE_DEFAULT,
		 "/d",
		 "/d",
		 NULL},
		{{.host = {.image_policy = HOST_IMAGE_ALLOW}},
		 PLAN_SOURCE_IMAGE,
		 "image /etc/openshell/policy.yaml",
		 "/etc/openshell/policy.yaml",
		 NULL},
		{{.host = {.when_missing = HOST_DENY_NETWORK}},
		 PLAN_SOURCE_DENY,
		 "when_missing: deny-network",
		 NULL,
		 "network:\n"},
		{{.host = {.when_missing = HOST_RESTRICTIVE}},
		 PLAN_SOURCE_RESTRICTIVE,
		 "when_missing: restrictive",
		 NULL,
		 "version: 1\n"},
		{{.host = {.when_missing = HOST_NONE}},
		 PLAN_SOURCE_PLAIN,
		 "when_missing: none",
		 NULL,
		 NULL},
		{{.annotations = {{POLICY, "a: 1"}}, .option = "/o"},
		 PLAN_SOURCE_OPTION,
		 "/o",
		 "/o",
		 NULL},
	};

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
		const struct found_case *c = &cases[i];
		own_arena struct arena a = ARENA_INIT;
		struct err err = ERR_INIT;
		struct plan_source s;

		if (find(&a, &c->in, &s, &err) < 0)
			fail_msg("%zu: %s", i, err.text);
		assert_int_equal(s.kind, c->kind);
		assert_string_equal(s.label, c->label);
		assert_int_equal(s.path != NULL, c->path != NULL);
		if (c->path)
			assert_string_equal(s.path, c->path);
		assert_int_equal(s.text != NULL, c->text != NULL);
		if (c->text) {
			assert_non_null(str_after(s.text, c->text));
			assert_int_equal(s.len, strlen(s.text));
		}
		assert_int_equal(s.warning != NULL,
				 s.kind == PLAN_SOURCE_DENY ||
					 s.kind == PLAN_SOURCE_RESTRICTIVE);
	}
}

static void test_refused(void **state)
{
	static const struct {
		struct input in;
		const char *message;
	} cases[] = {
		{{.annotations = {{"ai.openshell.polcy", "x"}}},
		 "check annotation ai.openshell.polcy: no annotation of that "
		 "name is known"},
		{{.annotations = {{POLICY, "a"}, {NAME, "b"}}},
		 "check annotation " NAME ": " POLICY
		 " gives a policy already"},
		{{.annotations = {{POLICY, ""}}},
		 "check annotation " POLICY ": empty"},
		{{.annotations = {{POLICY, "base64:"}}},
		 "check annotation " POLICY ": empty"},
		{{.annotations = {{POLICY, "base64:YQ"}}},
		 "check annotation " POLICY ": not valid base64"},
		{{.annotations = {{NAME, "../x"}}},
		 "check annotation " NAME ": \"../x\" is not a name"},
		{{.annotations = {{NAME, "a/b"}}},
		 "check annotation " NAME ": \"a/b\" is not a name"},
		{{.annotations = {{NAME, ""}}},
		 "check annotation " NAME ": \"\" is not a name"},
		{{.annotations = {{DIGEST, "sha256:00"}}},
		 "check annotation " DIGEST ": not sha256: and 64 hexadecimal "
		 "digits"},
		{{.annotations = {{INBOUND, "all"}}},
		 "check annotation " INBOUND ": \"all\" is neither listening "
		 "nor none"},
		{{.host = {.when_missing = HOST_REFUSE}},
		 "find policy: there is none, and the host configuration says "
		 "when_missing: refuse"},
		{{.annotations = {{DIGEST, ZEROS}}},
		 "find policy: " DIGEST " pins one, and there is none"},
	};

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
		own_arena struct arena a = ARENA_INIT;
		struct err err = ERR_INIT;
		struct plan_source s;

		assert_true(find(&a, &cases[i].in, &s, &err) < 0);
		if (!str_eq(err.text, cases[i].message))
			fail_msg("%zu: %s", i, err.text);
	}
}

static void test_image_without_policy(void **state)
{
	struct input in = {.host = {.image_policy = HOST_IMAGE_ALLOW,
				    .when_missing = HOST_NONE}};
	own_arena struct arena a = ARENA_INIT;
	struct err err = ERR_INIT;
	struct plan_source s;

	(void)state;
	assert_int_equal(find(&a, &in, &s, &err), 0);
	assert_int_equal(plan_source_missing(&a, &in.host, &s, &err), 0);
	assert_int_equal(s.kind, PLAN_SOURCE_PLAIN);
	assert_null(s.path);
	in.host.when_missing = HOST_REFUSE;
	assert_int_equal(plan_source_missing(&a, &in.host, &s, &err), -ENOENT);
}

static void test_pin_and_inbound(void **state)
{
	struct input in = {.annotations = {{POLICY, "x"},
					   {DIGEST, ZEROS},
					   {INBOUND, "none"}}};
	own_arena struct arena a = ARENA_INIT;
	struct digest d = {{0}};
	struct err err = ERR_INIT;
	struct plan_source s;

	(void)state;
	assert_int_equal(find(&a, &in, &s, &err), 0);
	assert_true(s.inbound_none);
	assert_int_equal(plan_source_check(&s, &d, &err), 0);
	d.b[31] = 1;
	assert_int_equal(plan_source_check(&s, &d, &err), -EPERM);
	assert_non_null(strstr(err.text, "0001, the annotation"));
	s.pinned = false;
	assert_int_equal(plan_source_check(&s, &d, &err), 0);
	in.annotations[2].value = "listening";
	assert_int_equal(find(&a, &in, &s, &err), 0);
	assert_false(s.inbound_none);
}

/* RFC 4648, section 10, and what section 3 lets a strict reader refuse. */
static void test_base64(void **state)
{
	static const struct {
		const char *text, *data; /* NULL: refused */
	} cases[] = {
		{"", ""},
		{"Zg==", "f"},
		{"Zm8=", "fo"},
		{"Zm9v", "foo"},
		{"Zm9vYg==", "foob"},
		{"Zm9vYmE=", "fooba"},
		{"+/+/", "\xfb\xff\xbf"},
		{"Zg", NULL},
		{"Zg=", NULL},
		{"Zh==", NULL},
		{"Zm9=", NULL},
		{"Zm9v\n", NULL},
		{"Zm 9", NULL},
		{"Z===", NULL},
		{"====", NULL},
		{"Zg==Zm9v", NULL},
		{"Zm9-", NULL},
		{"Zm=v", NULL},
	};

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
		own_arena struct arena a = ARENA_INIT;
		size_t len;
		char *data;
		int r = base64_decode(&a, cases[i].text, strlen(cases[i].text),
				      &data, &len);

		if ((r == 0) != (cases[i].data != NULL))
			fail_msg("%s: %d", cases[i].text, r);
		if (r < 0)
			continue;
		assert_int_equal(len, strlen(cases[i].data));
		assert_string_equal(data, cases[i].data);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_image_without_policy),
		cmocka_unit_test(test_pin_and_inbound),
		cmocka_unit_test(test_base64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
