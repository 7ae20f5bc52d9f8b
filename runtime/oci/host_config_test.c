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
#include "runtime/doc/errors.h"
#include "runtime/oci/host_config.h"

static int parse(struct arena *a, const char *text, struct host_config *ret,
		 struct err *err)
{
	struct doc_errors errors;
	int r;

	doc_errors_init(&errors, a, "config.yaml");
	r = host_config_parse(a, text, strlen(text), ret, &errors);
	return r < 0 ? doc_errors_err(&errors, err) : r;
}

static void test_everything(void **state)
{
	static const char text[] = "default_policy: /p.yaml\n"
				   "when_missing: restrictive\n"
				   "image_policy: allow\n"
				   "ceiling: /c.yaml\n"
				   "policies: /policies\n"
				   "inbound: none\n"
				   "on_shim_death: kill\n"
				   "dial_from_host: true\n"
				   "log:\n"
				   "  dir: /log\n"
				   "  max_bytes: 100000\n"
				   "  max_files: 3\n"
				   "credentials: {any: [thing]}\n";
	own_arena struct arena a = ARENA_INIT;
	struct err err = ERR_INIT;
	struct host_config h;

	(void)state;
	if (parse(&a, text, &h, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(h.default_policy, "/p.yaml");
	assert_int_equal(h.when_missing, HOST_RESTRICTIVE);
	assert_int_equal(h.image_policy, HOST_IMAGE_ALLOW);
	assert_string_equal(h.ceiling, "/c.yaml");
	assert_string_equal(h.policies, "/policies");
	assert_int_equal(h.inbound, HOST_INBOUND_NONE);
	assert_int_equal(h.on_shim_death, HOST_SHIM_DEATH_KILL);
	assert_true(h.dial_from_host);
	assert_string_equal(h.log.dir, "/log");
	assert_int_equal(h.log.max_bytes, 100000);
	assert_int_equal(h.log.max_files, 3);
	assert_int_equal(h.credentials->n, 1);
	assert_string_equal(h.file, "config.yaml");
}

static void test_defaults(void **state)
{
	own_arena struct arena a = ARENA_INIT;
	struct err err = ERR_INIT;
	struct host_config h;

	(void)state;
	assert_int_equal(parse(&a, "{}", &h, &err), 0);
	assert_int_equal(h.when_missing, HOST_DENY_NETWORK);
	assert_int_equal(h.image_policy, HOST_IMAGE_REFUSE);
	assert_int_equal(h.inbound, HOST_INBOUND_LISTENING);
	assert_null(h.default_policy);
	assert_null(h.credentials);
	assert_string_equal(host_when_missing_name(h.when_missing),
			    "deny-network");
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"when_mising: none",
		 "config.yaml:1:1: unknown key \"when_mising\", did you mean "
		 "\"when_missing\"?"},
		{"when_missing: deny",
		 "config.yaml:1:15: when_missing: unknown value \"deny\" (one "
		 "of: deny-network, refuse, restrictive, none)"},
		{"default_policy: p.yaml",
		 "config.yaml:1:17: default_policy: must be an absolute path: "
		 "\"p.yaml\""},
		{"ceiling: ''", "config.yaml:1:10: ceiling: must not be empty"},
		{"policies: x",
		 "config.yaml:1:11: policies: must be an absolute path: "
		 "\"x\""},
		{"image_policy: true",
		 "config.yaml:1:15: image_policy: expected a string, found a "
		 "boolean"},
		{"log: {dir: x}",
		 "config.yaml:1:12: log.dir: must be an absolute path: "
		 "\"x\""},
		{"log: {max_bytes: 1}",
		 "config.yaml:1:18: log.max_bytes: 1 is out of range (65536 "
		 "to 18446744073709551615)"},
		{"log: {level: debug}",
		 "config.yaml:1:7: log: unknown key \"level\""},
		{"when_missing: none\nwhen_missing: refuse",
		 "config.yaml:2:1: duplicate key \"when_missing\": first at "
		 "line 1, column 1"},
		{"- a", "config.yaml:1:1: expected a map, found a list"},
		{"", "config.yaml:1:1: empty document"},
	};

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
		own_arena struct arena a = ARENA_INIT;
		struct err err = ERR_INIT;
		struct host_config h;

		assert_int_equal(parse(&a, cases[i].text, &h, &err), -EINVAL);
		if (!str_eq(err.text, cases[i].message))
			fail_msg("%s: %s", cases[i].text, err.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
