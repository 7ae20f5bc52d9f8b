#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Attacks by way of others: programs that came in by exec, and containers that
# share the network namespace. How they are judged is in harness.bash.

load ../lib
load harness
needs root box osh policy nft python3 cc

# sleeper: a container under the policy that does nothing, for a while.
sleeper()
{
	stage
	under_policy :
	program /bin/attack kernel sleep
	created
	rt start "$ID"
	"$INTERNET" reset $NET
}

# by_exec CLASS MODE: the attack comes in by exec.
by_exec()
{
	verdict=$(rt exec "$ID" /bin/attack "$@" target=192.31.196.66 \
		allowed=192.31.196.10 port=80 aport=80 || :)
	verdict=${verdict##*$'\n'}
	said=$verdict verdict=${verdict%%:*}
}

@test "exec: what the policy allows" {
	sleeper
	by_exec plain allowed
	[ "$verdict" = through ] || fail "$said"
	clear_stage
}

@test "exec: a literal address" {
	sleeper
	by_exec plain target
	judge
	LOG=$(rt log --format json "$ID")
	clear_stage
	[ "$verdict" = refused ] || fail "$said"
	[ "$packets" -eq 0 ] || fail "packets arrived:$who"
	logged literal-address
}

@test "exec: an unmarked socket" {
	sleeper
	by_exec udp sendmsg
	judge
	clear_stage
	[ "$verdict" = refused ] || fail "$said"
	[ "$packets" -eq 0 ] || fail "packets arrived:$who"
}

# Nobody would answer for what it connects to.
@test "exec: nothing comes in when the shim is dead" {
	sleeper
	kill -KILL $(pgrep -x osh-shim)
	sleep 0.3
	run rt exec "$ID" /bin/attack plain target target=192.31.196.66 port=80
	judge
	clear_stage
	assert_failure
	refute_output --partial through:
	[ "$packets" -eq 0 ] || fail "packets arrived:$who"
}

# neighbour [POLICY]: another bundle in the namespace of the first.
neighbour()
{
	FIRST=$ID
	ID=$ID-neighbour
	[ -n "${1-}" ] || FILTER='del(.annotations)'
	config '.annotations["ai.openshell.policy"] = $policy
		| .linux.cgroupsPath += "-neighbour"' --arg policy "${1-}"
	config "${FILTER:-.}"
}

away()
{
	rt delete --force "$ID" 2>/dev/null || :
	ID=$FIRST
	clear_stage
}

@test "a neighbour without a policy is not let into the namespace" {
	CAPS=(CAP_NET_RAW CAP_NET_ADMIN)
	sleeper
	neighbour
	program /bin/attack raw header target=192.31.196.66 port=80
	run rt run --bundle "$BUNDLE" "$ID"
	judge
	away
	assert_failure
	refute_output --partial through:
	[ "$packets" -eq 0 ] || fail "packets arrived:$who"
}

# What the first may do, and has just done, is not the second's to do.
@test "a neighbour does not get what another's policy allows" {
	local mode
	sleeper
	by_exec plain allowed
	[ "$verdict" = through ] || fail "$said"
	neighbour "${POLICY//api.github.com/other.github.com}"
	for mode in allowed address; do
		"$INTERNET" reset $NET
		program /bin/attack plain $mode allowed=192.31.196.10 aport=80
		run rt run --bundle "$BUNDLE" "$ID"
		JUDGES=api judge
		rt delete --force "$ID"
		assert_failure
		assert_output --partial refused:
		[ "$packets" -eq 0 ] || fail "packets arrived:$who"
	done
	away
}
