#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The verdicts of every class of host, port, binary and address, and the line
# that gives each: explain asks the functions that the shim decides with.

load ../lib
load facts

setup_file() { [ -x "$OSH_POLICY" ] || skip "needs $OSH_POLICY: build it by make"; }
teardown() { :; }

explain()
{
	local words
	read -ra words <<<"$1"
	(cd "$BATS_TEST_DIRNAME" && "$OSH_POLICY" explain "${words[@]}" 2>&1)
}

@test "verdicts: hosts, wildcards, ports, binaries, ancestors, addresses" {
	facts explain.txt explain
}

@test "summaries of the corpus" {
	facts summary.txt explain
}

@test "a question that is none is refused" {
	cd "$BATS_TEST_DIRNAME"
	local args
	for args in '--dest x' '--dest :443' '--dest a.b:0' '--dest a.b:70000' \
		'--dest a.b:443 --ip x' '--dest 1.2.3.4:443 --ip 1.2.3.4' \
		'--dest a.b:443 --ancestors /x' '--binary /x' '--ip 1.2.3.4' \
		'--dest a.b:443 --proto ipx' '--ancestors /x' '--proto tcp' \
		'--ceiling ceiling.yaml' '--dest a.b:443 --binary curl' \
		'--dest a.b:443 --binary /x --ancestors /y,sh'; do
		# shellcheck disable=SC2086
		run "$OSH_POLICY" explain explain.yaml $args
		assert_failure 2
		assert_output --partial 'osh-policy: '
	done
	run "$OSH_POLICY" explain
	assert_failure 2
	run "$OSH_POLICY" explain none.yaml
	assert_failure 2
}

@test "the line in the answer is the policy's" {
	cd "$BATS_TEST_DIRNAME"
	run "$OSH_POLICY" explain explain.yaml --dest api.example.com:443 \
		--binary /usr/bin/curl
	assert_line --partial "explain.yaml:$(grep -n api.example.com \
		explain.yaml | cut -d: -f1): "
}
