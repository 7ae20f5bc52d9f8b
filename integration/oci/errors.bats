#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What a user gets wrong: one clear line that names the action, the object and
# the reason, a status that is not 0, and nothing left behind.

load ../lib
needs root box osh policy nft

prepare() { bundle; }

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

@test "what is decoded and not done is refused" {
	local row
	for row in 'mountLabel = "l"' 'intelRdt = {closID: "c"}' \
		'memoryPolicy = {mode: "MPOL_LOCAL"}'; do
		config ".linux.$row"
		refused "check linux.${row%% *}: this version does not have it"
		config "del(.linux.${row%% *})"
	done
}

@test "a network namespace that is none, or the host's" {
	local path='(.linux.namespaces[] | select(.type == "network").path)'
	config "$path = \"/etc/passwd\""
	refused 'open network namespace /etc/passwd: it is none'
	config "$path = \"/run/netns/none\""
	refused 'open network namespace /run/netns/none: no such file or directory'
	annotation 'network: {default: deny, allow: [{host: a.b, port: 1}]}'
	config "$path = \"/proc/self/ns/net\""
	refused "check network namespace /proc/self/ns/net: it is the host's; give the container one of its own"
}

@test "a pid file that can't be written" {
	run rt run --bundle "$BUNDLE" --pid-file "$BUNDLE/none/pid" "$ID"
	assert_equal "$output" "osh-runtime: write $BUNDLE/none/pid: no such file or directory"
	assert_failure 1
	assert_nothing_left
	mkfifo "$BUNDLE/fifo"
	run rt run --bundle "$BUNDLE" --pid-file "$BUNDLE/fifo" "$ID"
	assert_equal "$output" "osh-runtime: write $BUNDLE/fifo: not a regular file"
	assert_failure 1
	assert_nothing_left
	[ -p "$BUNDLE/fifo" ]
}

# says ARG... -- LINE
says()
{
	local words=()
	while [ "$1" != -- ]; do words+=("$1"); shift; done
	run rt "${words[@]}"
	assert_equal "$output" "osh-runtime: $2"
	assert_failure 1
}

@test "words and options that are too many, or in the wrong place" {
	says kill x KILL --all -- "kill: '--all' is an option, which has to come earlier (usage: osh-runtime kill [options] ID [SIGNAL])"
	says log x more -- "log: 'more' is one argument too many (usage: osh-runtime log [options] ID)"
	says state x y -- "state: 'y' is one argument too many (usage: osh-runtime state ID)"
	says state -- "state: an argument is missing (usage: osh-runtime state ID)"
	says list --nothing -- "parse options: unknown option '--nothing'"
	says nothing -- "find command: there is no 'nothing' (osh-runtime --help lists them)"
}

@test "output that does not arrive is an error" {
	local command
	for command in features list --help --version "plan --bundle $BUNDLE"; do
		# shellcheck disable=SC2086
		run bash -c '"$@" >/dev/full' - "$OSH_RUNTIME" --root "$STATE" $command
		assert_line 'osh-runtime: write output: no space left on device'
		assert_failure 1
	done
}

@test "a decision log that was cut at its beginning, or emptied" {
	local file=/var/log/osh-runtime/$ID.jsonl
	annotation 'network: {default: deny}'
	program /bin/true
	in_container
	assert_success
	rt log --verify "$ID"
	says log --verify nothing -- "open log: container nothing has none in /var/log/osh-runtime"
	sed -i 1d "$file"
	says log --verify "$ID" -- "verify log $ID: its records before 2 are missing"
	: >"$file"
	says log --verify "$ID" -- "verify log $ID: it has no record"
	echo junk >"$file"
	says log --verify "$ID" -- "verify log $ID: line 1: read record: no record of the decision log"
	says log "$ID" -- "print log $ID: read record: no record of the decision log"
}

@test "a program that the policy's files leave out" {
	annotation '{"version": 1, "filesystem_policy": {"read_only": ["/etc"]}}'
	program /bin/true
	in_container
	assert_line 'osh-runtime: exec: "/bin/true": permission denied'
	assert_equal "$status" 126
	assert_nothing_left
}
