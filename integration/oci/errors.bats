#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What a user gets wrong: one clear line that names the action, the object and
# the reason, a status that is not 0, and nothing left behind.

load ../lib
needs root box osh policy nft

# Policies count here.
prepare()
{
	HOST_CONFIG=$OSH_BOX/no-such-rows.yaml
	echo '{}' >"$HOST_CONFIG"
	bundle
}

teardown()
{
	[ -z "${ID-}" ] || rt delete --force "$ID" || :
}

annotation()
{
	config '.annotations["ai.openshell.policy"] = $p' --arg p "$1"
}

# refused LINE: the container is, and says only that.
refused()
{
	in_container
	assert_equal "$output" "osh-runtime: ${1//CONFIG/$BUNDLE/config.json}"
	assert_equal "$status" 1
	assert_nothing_left
}

@test "a policy's error has the annotation's name and a position" {
	annotation 'network: {default: alow}'
	refused 'compile policy: annotation ai.openshell.policy:1:20: network.default: unknown value "alow" (one of: deny)'
}

@test "of several errors in a policy, the first and their number" {
	annotation 'network: {default: deny, allow: [{hots: a.b, port: 1}]}'
	refused 'compile policy: annotation ai.openshell.policy:1:34: network.allow[0]: missing key "host" (and 1 more: osh-policy check shows all)'
}

@test "a policy's file is named like osh-policy check names it" {
	local file=$BUNDLE/policy.yaml
	printf 'network:\n  default: alow\n' >"$file"
	run rt plan --bundle "$BUNDLE" --policy "$file"
	assert_equal "$output" "osh-runtime: compile policy: $("$OSH_POLICY" check "$file" 2>&1)"
	assert_equal "$status" 1
}

@test "a policy's warnings are warnings" {
	local file=$BUNDLE/policy.yaml
	printf 'version: 1\nnetwork_policies: {a: {endpoints: [{host: a.b.c, port: 1}]}}\n' >"$file"
	run rt plan --bundle "$BUNDLE" --policy "$file"
	assert_success
	assert_line --partial "osh-runtime: warning: $file:2:23: network_policies.a: names no binaries"
}
