# SPDX-License-Identifier: Apache-2.0
# Create fails, or is killed, at each of its numbered steps: nothing is left.

load ../lib
needs root box osh policy nft python3

prepare_file() { online; }

prepare()
{
	policy 'network:
  default: deny
  allow:
    - host: api.github.com
      port: 80'
	agent_bundle
	script 'exec sleep 300'
	config '.hooks = {
		prestart: [{path: "/bin/true"}], createRuntime: [{path: "/bin/true"}],
		createContainer: [{path: "/bin/true"}]}'
}

teardown()
{
	[ -z "$OSH_MISSING" ] || return 0
	remove_containers
	internet unplug "$BATS_TEST_NUMBER" 2>/dev/null || :
}

# What a container leaves while it lives: the world as it is now.
world()
{
	pgrep -af 'osh-(shim|resolver|runtime|policy)' | grep -v pgrep || :
	pgrep -af '^sleep 300' || :
	sed 's/ .*//' /proc/self/mounts | sort | uniq -c
	ls /run/netns
	ls -A /run/osh-runtime 2>/dev/null
	find "$STATE" -mindepth 1 2>/dev/null
	find /sys/fs/cgroup -type d -name "*$ID*" 2>/dev/null
	internet exec "sandbox$SANDBOX" nft list tables
}

# create_at STEP: a create that fails (N) or dies (N:kill) there, or does not
# (none).
create_at()
{
	HOST_CONFIG=$OSH_BOX/steps-host-config.yaml
	echo 'when_missing: refuse' >"$HOST_CONFIG"
	local fault=(--fault "$1")
	[ "$1" != none ] || fault=()
	status=0
	rt "${fault[@]}" create --bundle "$BUNDLE" "$ID" \
		</dev/null >"$BUNDLE/out" 2>&1 || status=$?
	output=$(cat "$BUNDLE/out")
}

# settled: the world is as it was; what ends by a hang-up needs a moment.
settled()
{
	[ "$(world)" = "$before" ]
}

STEPS='1 2 3 4 5 6 7 9 10 11 12'

@test "without a fault, the same create works" {
	create_at none
	assert_success
	rt start "$ID"
	run state_of
	assert_output running
}

@test "create fails at each of its steps: nothing is left" {
	local step before
	before=$(world)
	for step in $STEPS; do
		create_at "$step"
		assert_failure
		assert_output --partial "step $step"
		wait_for settled
	done
}

@test "create is killed at each of its steps: delete --force leaves nothing" {
	local step before
	before=$(world)
	for step in $STEPS; do
		create_at "$step:kill"
		[ "$status" -eq 137 ]
		rt delete --force "$ID"
		wait_for settled ||
			fail "step $step: $(diff <(echo "$before") <(world))"
	done
}

@test "after a killed create at any step, the same id can be created" {
	local step
	for step in $STEPS; do
		create_at "$step:kill"
		rt delete --force "$ID"
		create_at none
		assert_success
		rt delete --force "$ID"
	done
}

@test "a second container of the namespace survives the first's failure" {
	local first=$ID step
	create_at none
	assert_success
	rt start "$ID"
	for step in 7 9 11 12; do
		ID=$first-second
		config '.linux.cgroupsPath = "/osh-test/\($id)"' --arg id "$ID"
		create_at "$step:kill"
		rt delete --force "$ID"
		ID=$first
		run rt exec "$ID" curl -sS -m 10 http://api.github.com/
		assert_output "api here"
		run rt exec "$ID" curl -sS -m 10 http://192.31.196.77/
		[ "$status" -eq 7 ]
	done
}
