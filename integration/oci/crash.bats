# SPDX-License-Identifier: Apache-2.0
# The runtime is killed at any moment: what it made can be removed.

load ../lib

needs root box

prepare() { bundle; }

# create_in_background: its pid in CREATE
create_in_background()
{
	"$OSH_RUNTIME" --root "$STATE" \
		$(is_osh && echo --host-config "$(plain_host_config)") \
		create --bundle "$BUNDLE" "$ID" </dev/null >"$BUNDLE/out" 2>&1 \
		3>&- 4>&- &
	CREATE=$!
}

@test "killed while a hook runs: delete --force removes everything" {
	! is_runc || skip "runc 1.1 leaves cgroups behind"
	local kind
	for kind in prestart createRuntime createContainer; do
		config '.hooks = {($k): [{path: "/bin/sh",
			args: ["sh", "-c", $t]}]}' --arg k $kind \
			--arg t "touch $BUNDLE/in-hook; exec sleep 300"
		create_in_background
		wait_for test -e "$BUNDLE/in-hook"
		kill -KILL "$CREATE"
		wait "$CREATE" || :
		rt delete --force "$ID"
		pkill -KILL -f '^sleep 300' || :
		assert_nothing_left
		rm "$BUNDLE/in-hook"
	done
}

@test "killed at random moments of create: delete --force removes everything" {
	! is_runc || skip "runc 1.1 leaves cgroups behind"
	local i
	script 'exec sleep 300'
	for ((i = 0; i < 30; i++)); do
		create_in_background
		sleep "0.0$(printf '%02d' $i)"
		kill -KILL "$CREATE" 2>/dev/null || :
		wait "$CREATE" || :
		rt delete --force "$ID"
		assert_nothing_left
	done
}

@test "after a killed create the same id can be created again" {
	script 'echo fine'
	create_in_background
	kill -KILL "$CREATE"
	wait "$CREATE" || :
	rt delete --force "$ID"
	run rt run --bundle "$BUNDLE" "$ID"
	assert_success
	assert_output --partial fine
}

@test "killed in start: no false state, delete works" {
	script 'exec sleep 300'
	created
	"$OSH_RUNTIME" --root "$STATE" start "$ID" >/dev/null 2>&1 3>&- 4>&- &
	kill -KILL $! || :
	wait $! || :
	run state_of
	assert_output --regexp '^(created|running)$'
	[ "$output" = running ] || rt start "$ID"
	rt delete --force "$ID"
	assert_nothing_left
}

@test "killed in delete: a second delete finishes it" {
	script 'exec sleep 300'
	created
	"$OSH_RUNTIME" --root "$STATE" delete --force "$ID" >/dev/null 2>&1 \
		3>&- 4>&- &
	sleep 0.005
	kill -KILL $! || :
	wait $! || :
	rt delete --force "$ID"
	assert_nothing_left
}

@test "the init killed from outside is stopped, and delete removes it" {
	script 'exec sleep 300'
	created
	kill -KILL "$PID"
	wait_state stopped
	rt delete "$ID"
	assert_nothing_left
}

@test "a pid that was used again is not taken for the container's" {
	running 'exit 0'
	wait_state stopped
	# the state remembers when its process began
	run rt kill "$ID" KILL
	assert_failure
	run state_of
	assert_output stopped
}

@test "a state file that is damaged: an error by name, delete --force works" {
	local file
	running
	rt kill "$ID" KILL
	wait_state stopped
	for file in "$STATE/$ID"/*.json; do
		echo '{"half": ' >"$file"
	done
	run rt state "$ID"
	assert_failure
	rt delete --force "$ID" || :
	is_runc || [ ! -e "$STATE/$ID" ]
	rm -rf "${STATE:?}/$ID"
}

@test "a failing step of create undoes all before it" {
	local filter
	for filter in '.mounts += [{destination: "/m", type: "nosuchfs"}]' \
		'.linux.sysctl = {"net.no.such": "1"}' \
		'.process.args = ["nosuchprogram"]' \
		'.process.rlimits = [{type: "RLIMIT_NOFILE", soft: 9, hard: 3}]' \
		'.linux.resources.cpu = {cpus: "4095"}' \
		'.linux.devices = [{path: "/dev/x", type: "c", major: -1}]' \
		'.hooks = {createContainer: [{path: "/bin/false"}]}' \
		'.linux.seccomp = {defaultAction: "SCMP_ACT_NO_SUCH"}'; do
		bundle "$filter"
		create
		assert_failure
		assert_nothing_left
	done
}
