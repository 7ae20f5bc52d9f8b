#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What osh-policy check says, to the letter: facts/ holds questions and
# answers, made by FACTS_UPDATE=1 and then read by a person.

load ../lib
load facts

setup_file() { needs_policy_program; }
teardown() { :; }

needs_policy_program()
{
	[ -x "$OSH_POLICY" ] || skip "needs $OSH_POLICY: build it by make"
}

@test "every policy of the corpus passes" {
	local file
	for file in "$BATS_TEST_DIRNAME"/corpus/*.yaml; do
		run "$OSH_POLICY" check "$file"
		assert_success
		refute_output --partial 'error'
	done
	[ "$(find "$BATS_TEST_DIRNAME/corpus" -name '*.yaml' | wc -l)" -ge 10 ]
}

endpoint()
{
	said "version: 1
network_policies:
  p:
    endpoints:
    - {$1}
    binaries: [{path: /x}]" | sed 's/network_policies.p.endpoints\[0\]/@/'
}

@test "endpoints: hosts, ports, addresses, protocols, rules" {
	facts endpoint.txt endpoint
}

short()
{
	said "network: {$1}"
}

@test "the short form" {
	facts short.txt short
}

document()
{
	said "--- {version: 1, $1}"
}

@test "everything else of a document" {
	facts document.txt document
}

pair()
{
	said "version: 1
network_policies:
  a:
    endpoints: [{${1%% | *}}]
    binaries: [{path: /a}]
  b:
    endpoints: [{${1##* | }}]
    binaries: [{path: /b}]" | grep ambiguous |
		sed 's/network_policies/np/g'
}

@test "ambiguity: pairs of endpoints" {
	facts ambiguity.txt pair
}

@test "all errors in one run, in order of their lines" {
	run "$OSH_POLICY" check - <<'END'
version: 2
filesystem_policy:
  read_only: [relative]
  colour: blue
network_policies:
  p:
    endpoints:
    - host: "*.com"
      port: 70000
    - host: a.example.com
    binaries:
    - {path: curl}
END
	assert_failure 1
	assert_line --index 0 --partial ':1:10: version: '
	assert_line --index 1 --partial ':3:15: filesystem_policy.read_only[0]: '
	assert_line --index 2 --partial ':4:3: filesystem_policy: unknown key'
	assert_line --index 3 --partial ':8:13: '
	assert_line --index 4 --partial ':9:13: '
	assert_line --index 5 --partial ':10:7: '
	assert_line --index 6 --partial ':12:14: '
	assert_equal "${#lines[@]}" 7
}

@test "several files: each is checked, one error fails all" {
	printf 'version: 1\n' >"$BATS_TEST_TMPDIR/good.yaml"
	printf 'version: 3\n' >"$BATS_TEST_TMPDIR/bad.yaml"
	run "$OSH_POLICY" check "$BATS_TEST_TMPDIR/good.yaml"
	assert_success
	run "$OSH_POLICY" check "$BATS_TEST_TMPDIR/bad.yaml" \
		"$BATS_TEST_TMPDIR/good.yaml"
	assert_failure 1
	run "$OSH_POLICY" check "$BATS_TEST_TMPDIR/none.yaml"
	assert_failure 2
	assert_output --partial 'no such file or directory'
}

@test "JSON is the same language" {
	run "$OSH_POLICY" check - <<<'{"version": 1, "network_policies": {}}'
	assert_success
	run "$OSH_POLICY" check - <<<'{"network": {"default": "deny", "x": 1}}'
	assert_failure 1
	assert_output --partial ':1:33: network: unknown key "x"'
}
