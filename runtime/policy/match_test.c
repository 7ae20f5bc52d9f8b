/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/policy/limits.h"
#include "runtime/policy/match.h"

struct fact {
	const char *pattern, *text;
	bool match;
};

/* The tested facts about OpenShell's engine, and what follows from them. */
static const struct fact paths[] = {
	{"/repos/*/issues", "/repos/a/issues", true},
	{"/repos/*/issues", "/repos/a/b/issues", false},
	{"/repos/**", "/repos/", true},
	{"/repos/**", "/repos/a/b", true},
	{"/repos/**", "/repos", false},
	{"/**/info/refs*", "/info/refs", true},
	{"/**/info/refs*", "/a/b.git/info/refs?service=x", true},
	{"/**/info/refs*", "/a/info/refs/x", false},
	{"/a**", "/ab", true},
	{"/a**", "/a/b", false},
	{"/**", "/", true},
	{"/**", "/usr/bin/python3", true},
	{"**", "", true},
	{"**", "/x/y", true},
	{"**/x", "x", true},
	{"**/x", "/a/x", true},
	{"**/x", "/ax", false},
	{"/a/**/b", "/a/b", true},
	{"/a/**/b", "/a/x/y/b", true},
	{"/a/**/b", "/ab", false},
	{"/a/**/b", "/a/xb", false},
	{"/a/**/**/b", "/a/b", true},
	{"/a***", "/abc", true},
	{"/***", "/abc", true},
	{"/***", "/a/c", false},
	{"{a,b}", "a", true},
	{"{a,b}", "b", true},
	{"{a,b}", "c", false},
	{"/{a,bc}/*", "/bc/x", true},
	{"/{a,bc}x", "/bx", false},
	{"/x{,a}", "/xa", true},
	{"/x{,a}", "/x", false}, /* empty alternatives are ignored */
	{"/x{}", "/x", true},
	{"/{usr/**,bin/*}", "/usr/a/b", true},
	{"/{usr/**,bin/*}", "/bin/a/b", false},
	{"/{**/x,y}", "/a/b/x", true},
	{"/{**,y}", "/a/b", false}, /* not a component there */
	{"a,b", "a,b", true},
	{"/v?", "/v1", true},
	{"/v?", "/v", false},
	{"/v?x", "/v/x", false},
	{"/v[12]", "/v2", true},
	{"/v[12]", "/v3", false},
	{"/v[!12]", "/v3", true},
	{"/v[^0-9]", "/v5", false},
	{"/v[]]", "/v]", true},
	{"/v[a-]", "/v-", true},
	{"/v[!a]x", "/v/x", true}, /* as the engine has it */
	{"/a\\*b", "/a*b", true},
	{"/a\\*b", "/axb", false},
	{"/usr/lib/node_modules/@github/copilot/node_modules/@github/**/"
	 "copilot",
	 "/usr/lib/node_modules/@github/copilot/node_modules/@github/"
	 "copilot-linux/copilot",
	 true},
	{"/home/*/.local/bin/copilot", "/home/a/.local/bin/copilot", true},
	{"/home/*/.local/bin/copilot", "/home/a/b/.local/bin/copilot", false},
	{"/x", "/X", false},
	{"", "", true},
	{"", "/", false},
	/* not globs at all */
	{"/a[", "/a[", false},
	{"/a{", "/a{", false},
	{"/a}", "/a}", false},
	{"/a\\", "/a\\", false},
	{"/{a,{b,c}}", "/a", false},
};

static const struct fact hosts[] = {
	{"*.example.com", "a.example.com", true},
	{"*.example.com", "A.Example.COM", true},
	{"*.Example.com", "a.example.com", true},
	{"*.example.com", "a.b.example.com", false},
	{"*.example.com", "example.com", false},
	{"*.example.com", ".example.com", false}, /* empty label */
	{"*.example.com", "a.example.com.", false},
	{"*.example.com", "evilexample.com", false},
	{"**.example.com", "a.b.example.com", true},
	{"**.example.com", "a.example.com", true},
	{"**.example.com", "example.com", false},
	{"**.example.com", "evilexample.com", false},
	{"a*.x", "a.x", true},
	{"a*.x", "ab.x", true},
	{"a*.x", "a.b.x", false},
	{"*-aiplatform.googleapis.com", "us-aiplatform.googleapis.com", true},
	{"*-aiplatform.googleapis.com", "aiplatform.googleapis.com", false},
	{"api.*.example.com", "api.eu.example.com", true},
	{"api.*.example.com", "api.a.b.example.com", false},
	{"{a,b}*.example.com", "bc.example.com", true},
	{"*.example.com", "a..example.com", false},
	{"*", "", false},
	{"*.x", "a\nb.x", false},
};

static void test_paths(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(paths); i++)
		if (match_path(paths[i].pattern, paths[i].text) !=
		    paths[i].match)
			fail_msg("%s on %s", paths[i].pattern, paths[i].text);
}

static void test_hosts(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(hosts); i++)
		if (match_host(hosts[i].pattern, hosts[i].text) !=
		    hosts[i].match)
			fail_msg("%s on %s", hosts[i].pattern, hosts[i].text);
}

static void test_glob_check(void **state)
{
	static const struct {
		const char *pattern, *reason;
	} bad[] = {
		{"/a[", "a [ is not closed"},
		{"/a[]", "a [ is not closed"},
		{"/a[z-a]", "a range in [ ] is the wrong way"},
		{"/{a", "a { is not closed"},
		{"/a}", "a } was never opened"},
		{"/{a,{b}}", "a { is within another"},
		{"/a\\", "it ends in a backslash"},
	};
	char longest[POLICY_GLOB_BYTES_MAX + 2];
	struct err err;

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(bad); i++) {
		assert_int_equal(match_glob_check(bad[i].pattern, &err),
				 -EINVAL);
		assert_string_equal(err.text, bad[i].reason);
	}
	for (size_t i = 0; i < N_ELEMENTS(paths); i++)
		if (paths[i].match)
			assert_int_equal(
				match_glob_check(paths[i].pattern, &err), 0);

	memset(longest, '*', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(match_glob_check(longest, &err), -EINVAL);
	longest[sizeof(longest) - 2] = '\0';
	assert_int_equal(match_glob_check(longest, &err), 0);
	/* exponential for a matcher that backtracks */
	longest[sizeof(longest) - 3] = 'b';
	assert_false(match_path(longest, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
					 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac"));
}

static void test_is_glob(void **state)
{
	(void)state;
	assert_true(match_is_glob("/a/*"));
	assert_false(match_is_glob("/a/[b]?{c}"));
}

static void test_names(void **state)
{
	char label[80], name[400] = "";

	(void)state;
	assert_true(match_name_ok("a"));
	assert_true(match_name_ok("_srv._tcp.example-1.com"));
	assert_false(match_name_ok(""));
	assert_false(match_name_ok("."));
	assert_false(match_name_ok("a."));
	assert_false(match_name_ok(".a"));
	assert_false(match_name_ok("a..b"));
	assert_false(match_name_ok("a b"));
	assert_false(match_name_ok("a/b"));
	assert_false(match_name_ok("\xc3\xa9.com"));

	memset(label, 'a', sizeof(label));
	label[63] = '\0';
	assert_true(match_name_ok(label));
	label[63] = 'a';
	label[64] = '\0';
	assert_false(match_name_ok(label));

	for (size_t i = 0; i < 253; i++)
		name[i] = i % 2 ? '.' : 'a';
	assert_true(match_name_ok(name));
	name[253] = '.';
	name[254] = 'a';
	assert_false(match_name_ok(name));
}

static void test_casecmp(void **state)
{
	(void)state;
	assert_int_equal(match_casecmp("aBc", "AbC"), 0);
	assert_int_equal(match_casecmp("a", "b"), -1);
	assert_int_equal(match_casecmp("ab", "a"), 1);
	assert_int_equal(match_casecmp("", "a"), -1);
}

static void test_classes(void **state)
{
	static const struct {
		const char *ip;
		enum match_class class;
	} facts[] = {
		{"127.0.0.1", MATCH_BLOCKED},
		{"127.255.255.255", MATCH_BLOCKED},
		{"128.0.0.1", MATCH_PUBLIC},
		{"169.254.169.254", MATCH_BLOCKED},
		{"169.253.255.255", MATCH_PUBLIC},
		{"0.0.0.0", MATCH_BLOCKED},
		{"0.1.2.3", MATCH_BLOCKED},
		{"224.0.0.1", MATCH_BLOCKED},
		{"239.255.255.255", MATCH_BLOCKED},
		{"::", MATCH_BLOCKED},
		{"::1", MATCH_BLOCKED},
		{"::2", MATCH_BLOCKED},
		{"::7f00:1", MATCH_BLOCKED},
		{"fe80::1", MATCH_BLOCKED},
		{"febf::1", MATCH_BLOCKED},
		{"ff02::1", MATCH_BLOCKED},
		{"::ffff:127.0.0.1", MATCH_BLOCKED},
		{"::ffff:169.254.169.254", MATCH_BLOCKED},
		{"64:ff9b::169.254.169.254", MATCH_BLOCKED},
		{"2002:7f00:1::", MATCH_BLOCKED},
		{"2002:0a00:1::", MATCH_INTERNAL},
		{"10.0.0.1", MATCH_INTERNAL},
		{"11.0.0.1", MATCH_PUBLIC},
		{"172.16.0.1", MATCH_INTERNAL},
		{"172.31.255.255", MATCH_INTERNAL},
		{"172.32.0.1", MATCH_PUBLIC},
		{"192.168.1.1", MATCH_INTERNAL},
		{"100.64.0.1", MATCH_INTERNAL},
		{"100.128.0.1", MATCH_PUBLIC},
		{"192.0.0.1", MATCH_INTERNAL},
		{"192.0.1.1", MATCH_PUBLIC},
		{"192.0.2.1", MATCH_INTERNAL},
		{"198.18.0.1", MATCH_INTERNAL},
		{"198.19.255.255", MATCH_INTERNAL},
		{"198.51.100.7", MATCH_INTERNAL},
		{"203.0.113.7", MATCH_INTERNAL},
		{"255.255.255.255", MATCH_INTERNAL},
		{"fc00::1", MATCH_INTERNAL},
		{"fdff::1", MATCH_INTERNAL},
		{"fec0::1", MATCH_INTERNAL},
		{"2001:db8::1", MATCH_INTERNAL},
		{"::ffff:10.1.2.3", MATCH_INTERNAL},
		{"64:ff9b::10.1.2.3", MATCH_INTERNAL},
		{"64:ff9b:1::1", MATCH_INTERNAL},
		{"64:ff9b::1.1.1.1", MATCH_PUBLIC},
		{"1.1.1.1", MATCH_PUBLIC},
		{"::ffff:1.1.1.1", MATCH_PUBLIC},
		{"2606:4700::1111", MATCH_PUBLIC},
	};
	struct match_ip ip;

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(facts); i++) {
		assert_int_equal(match_ip_parse(facts[i].ip, &ip), 0);
		if (match_ip_class(&ip) != facts[i].class)
			fail_msg("%s is class %d", facts[i].ip,
				 (int)match_ip_class(&ip));
	}
}

static void test_ip_text(void **state)
{
	static const char *const bad[] = {
		"",	    "1.2.3",	"1.2.3.4.5",  "1.2.3.256", "01.2.3.4",
		" 1.2.3.4", "1.2.3.4 ", "fe80::1%lo", "[::1]"};
	char text[MATCH_IP_TEXT];
	struct match_ip a, b;

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(bad); i++)
		assert_int_equal(match_ip_parse(bad[i], &a), -EINVAL);
	assert_int_equal(match_ip_parse("1.2.3.4", &a), 0);
	assert_int_equal(match_ip_parse("::ffff:102:304", &b), 0);
	assert_memory_equal(&a, &b, sizeof(a));
	assert_true(match_ip_is_v4(&b));
	match_ip_text(&b, text);
	assert_string_equal(text, "1.2.3.4");
	assert_int_equal(match_ip_parse("2001:DB8:0::1", &a), 0);
	match_ip_text(&a, text);
	assert_string_equal(text, "2001:db8::1");
	b = match_ip_v6(a.b);
	assert_memory_equal(&a, &b, sizeof(a));
}

static void test_networks(void **state)
{
	static const struct {
		const char *net;
		uint32_t prefix_bits;
		const char *ip;
		bool within, blocked;
	} facts[] = {
		{"10.0.0.0", 96 + 8, "10.255.0.1", true, false},
		{"10.0.0.0", 96 + 8, "11.0.0.1", false, false},
		{"10.1.2.3", 128, "10.1.2.3", true, false},
		{"10.1.2.3", 128, "10.1.2.2", false, false},
		{"0.0.0.0", 96, "1.2.3.4", true, true},
		{"0.0.0.0", 96, "2001::1", false, true},
		{"127.0.0.0", 96 + 24, "127.0.0.1", true, true},
		{"126.0.0.0", 96 + 7, "127.0.0.1", true, true},
		{"169.254.169.254", 128, "169.254.169.254", true, true},
		{"168.0.0.0", 96 + 8, "168.1.1.1", true, false},
		{"::", 0, "8.8.8.8", true, true},
		{"fe80::", 64, "fe80::1", true, true},
		{"fc00::", 7, "fd00::1", true, false},
		{"2000::", 3, "2606::1", true, false},
		{"172.16.0.0", 96 + 12, "172.31.1.1", true, false},
		{"172.16.0.0", 96 + 12, "172.32.1.1", false, false},
	};
	struct match_ip net, ip;

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(facts); i++) {
		assert_int_equal(match_ip_parse(facts[i].net, &net), 0);
		assert_int_equal(match_ip_parse(facts[i].ip, &ip), 0);
		if (match_ip_within(&ip, net.b, facts[i].prefix_bits) !=
			    facts[i].within ||
		    match_net_has_blocked(net.b, facts[i].prefix_bits) !=
			    facts[i].blocked)
			fail_msg("%s/%u", facts[i].net, facts[i].prefix_bits);
	}
	assert_false(match_ip_within(&ip, ip.b, 129));
}

static void test_ports(void **state)
{
	(void)state;
	assert_true(match_port_is_control_plane(2379));
	assert_true(match_port_is_control_plane(2380));
	assert_true(match_port_is_control_plane(6443));
	assert_true(match_port_is_control_plane(10250));
	assert_true(match_port_is_control_plane(10255));
	assert_false(match_port_is_control_plane(443));
	assert_false(match_port_is_control_plane(10251));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_glob_check),
		cmocka_unit_test(test_is_glob),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_casecmp),
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_ip_text),
		cmocka_unit_test(test_networks),
		cmocka_unit_test(test_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
