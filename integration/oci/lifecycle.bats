# SPDX-License-Identifier: Apache-2.0
# The life of a container through the runtime's command line.

load ../lib

needs root box

@test "create, start, kill and delete walk through the states" {
	bundle
	script 'exec sleep 300'
	created
	run state_of
	assert_output created
	rt start "$ID"
	run state_of
	assert_output running
	rt kill "$ID" KILL
	wait_state stopped
	rt delete "$ID"
	run rt state "$ID"
	assert_failure
	assert_output --partial "container does not exist"
	assert_nothing_left
}

@test "state has what the specification asks for" {
	bundle '.annotations = {"org.example.key": "a value"}'
	running
	run rt state "$ID"
	assert_success
	holds '(.ociVersion | test("^1\\.[0-9]+\\.[0-9]+")) and .id == $id and
		.status == "running" and .pid == $pid and
		.bundle == $bundle and
		.annotations["org.example.key"] == "a value"' --arg id "$ID" --arg bundle "$BUNDLE" \
		--argjson pid "$PID" <<<"$output"
}

@test "state of a stopped container has ociVersion and no live pid" {
	bundle
	running 'exit 0'
	wait_state stopped
	run rt state "$ID"
	assert_success
	holds <<<"$output" '.ociVersion and .status == "stopped" and
		((.pid // 0) == 0)'
}

@test "the pid file holds the init's pid, without a newline" {
	bundle
	script 'exec sleep 300'
	created
	[ "$(stat -c %s "$BUNDLE/pid")" -eq ${#PID} ]
	grep -q "^NSpid:.*[[:space:]]1$" "/proc/$PID/status"
	[ "$PID" = "$(rt state "$ID" | jq .pid)" ]
}

@test "no program of the image runs before start" {
	bundle
	add_mount /shared bind "$BUNDLE/shared" bind,rw
	mkdir "$BUNDLE/shared"
	script 'touch /shared/ran; exec sleep 300'
	config '.mounts[-1].options = ["bind", "rw"]'
	created
	[ ! -e "$BUNDLE/shared/ran" ]
	rt start "$ID"
	wait_for test -e "$BUNDLE/shared/ran"
}

@test "a change of config.json after create has no effect" {
	bundle
	script 'echo as created'
	created
	script 'echo as changed'
	rt start "$ID"
	wait_state stopped
	run cat "$BUNDLE/out"
	assert_output "as created"
}

@test "the second create of an id is refused and harms nothing" {
	bundle
	running
	create
	assert_failure
	assert_output --partial "exists"
	run state_of
	assert_output running
}

@test "start of a running container is refused" {
	bundle
	running
	run rt start "$ID"
	assert_failure
	run state_of
	assert_output running
}

@test "start of a stopped container is refused" {
	bundle
	running 'exit 0'
	wait_state stopped
	run rt start "$ID"
	assert_failure
	assert_output --partial "stopped"
}

@test "delete of a running container is refused, delete --force works" {
	bundle
	running
	run rt delete "$ID"
	assert_failure
	assert_output --partial "not stopped"
	run state_of
	assert_output running
	rt delete --force "$ID"
	assert_nothing_left
}

@test "delete --force of a created container leaves nothing" {
	bundle
	script 'exec sleep 300'
	created
	rt delete --force "$ID"
	assert_nothing_left
}

@test "a created container can be deleted after kill" {
	bundle
	script 'exec sleep 300'
	created
	rt kill "$ID" KILL
	wait_state stopped
	rt delete "$ID"
	assert_nothing_left
}

@test "a missing container: state, start, kill and delete say so" {
	local command
	for command in state start kill delete pause resume ps; do
		run rt $command no-such-container
		assert_failure
		assert_output --partial "container does not exist"
	done
}

@test "delete --force of a missing container succeeds" {
	run rt delete --force no-such-container
	assert_success
}

@test "kill of a stopped container says container not running" {
	bundle
	running 'exit 0'
	wait_state stopped
	run rt kill "$ID" TERM
	assert_failure
	assert_output --partial "container not running"
}

@test "kill --all of a stopped container succeeds" {
	bundle
	running 'exit 0'
	wait_state stopped
	run rt kill --all "$ID" KILL
	assert_success
}

@test "kill takes numbers and names with and without SIG; TERM by default" {
	local signal
	bundle
	running 'trap "echo usr1" USR1; trap "echo hup" HUP
		trap "echo term; exit" TERM; echo up
		while :; do sleep 0.1; done'
	wait_for grep -q up "$BUNDLE/out"
	rt kill "$ID" 10
	wait_for grep -q usr1 "$BUNDLE/out"
	rt kill "$ID" SIGHUP
	wait_for grep -q hup "$BUNDLE/out"
	rt kill "$ID" hup
	rt kill "$ID"
	wait_for grep -q term "$BUNDLE/out"
	wait_state stopped
}

@test "kill refuses a signal that does not exist" {
	local signal
	bundle
	running
	for signal in NOSUCH SIGNOSUCH 65 99 -1 12x; do
		run rt kill "$ID" -- "$signal"
		assert_failure
	done
	run state_of
	assert_output running
}

@test "kill --all reaches every process where the pid namespace is shared" {
	bundle '.linux.namespaces |= map(select(.type != "pid"))'
	running 'sleep 300 & sleep 300 & exec sleep 300'
	three() { [ "$(wc -l <"$(cgroup pids)/cgroup.procs")" -ge 3 ]; }
	wait_for three
	rt kill --all "$ID" KILL
	wait_state stopped
	rt delete "$ID"
	assert_nothing_left
}

@test "delete ends the processes that outlive an init without a pid namespace" {
	bundle '.linux.namespaces |= map(select(.type != "pid"))'
	running 'sleep 300 & exit 0'
	wait_state stopped
	rt delete --force "$ID"
	assert_nothing_left
}

@test "run gives the program's exit status" {
	bundle
	in_container 'exit 42'
	[ "$status" -eq 42 ]
	assert_nothing_left
}

@test "run gives 128 and the signal that ended the program" {
	bundle
	in_container 'kill -TERM $$; sleep 1; kill -KILL $$'
	# The init of a pid namespace is immune to its own signals.
	in_container '(kill -KILL $(sh -c "echo \$PPID")); exit $?'
	bundle '.linux.namespaces |= map(select(.type != "pid"))'
	in_container 'kill -KILL $$'
	[ "$status" -eq 137 ]
}

@test "run passes stdin, stdout and stderr through" {
	bundle
	script 'read line; echo "out $line"; echo err >&2'
	echo input | rt run --bundle "$BUNDLE" "$ID" >"$BUNDLE/o" 2>"$BUNDLE/e"
	[ "$(cat "$BUNDLE/o")" = "out input" ]
	[ "$(cat "$BUNDLE/e")" = err ]
}

@test "run --detach returns at once and leaves the container running" {
	bundle
	script 'exec sleep 300'
	rt run --detach --bundle "$BUNDLE" --pid-file "$BUNDLE/pid" "$ID" \
		</dev/null >"$BUNDLE/out" 2>&1
	run state_of
	assert_output running
}

@test "run --keep leaves a stopped container, as runc does from 1.1" {
	bundle
	script 'exit 3'
	run rt run --keep --bundle "$BUNDLE" "$ID"
	[ "$status" -eq 3 ]
	run state_of
	assert_output stopped
}

@test "run forwards signals to the container" {
	local pid
	bundle
	script 'trap "echo got it; exit 5" TERM; echo up
		while :; do sleep 0.1; done'
	timeout 60 "$OSH_RUNTIME" --root "$STATE" \
		$(is_osh && echo --host-config "$(plain_host_config)") \
		run --bundle "$BUNDLE" --pid-file "$BUNDLE/pid" "$ID" \
		</dev/null >"$BUNDLE/out" 2>&1 3>&- 4>&- &
	pid=$!
	wait_for grep -q up "$BUNDLE/out"
	kill -TERM $pid
	status=0
	wait $pid || status=$?
	run cat "$BUNDLE/out"
	assert_output --partial "got it"
}

@test "run and exec of a process that ends at once never hang" {
	local i
	bundle
	for ((i = 0; i < 20; i++)); do
		program /bin/true
		run rt run --bundle "$BUNDLE" "$ID"
		assert_success
		program /bin/false
		run rt run --bundle "$BUNDLE" "$ID"
		[ "$status" -eq 1 ]
	done
	running
	for ((i = 0; i < 20; i++)); do
		run rt exec "$ID" /bin/sh -c 'exit 7'
		[ "$status" -eq 7 ]
	done
}

@test "the bundle is the current folder unless --bundle names one" {
	bundle
	script 'echo here'
	cd "$BUNDLE"
	run rt run "$ID"
	assert_output here
}

@test "a bundle without config.json is refused" {
	bundle
	rm "$BUNDLE/config.json"
	create
	assert_failure
	assert_output --partial "config.json"
	assert_nothing_left
}

@test "a config.json that is no JSON is refused with its position" {
	bundle
	echo '{"ociVersion": "1.0.2", ' >"$BUNDLE/config.json"
	create
	assert_failure
	is_osh && assert_output --regexp 'config\.json:[0-9]+:[0-9]+'
	assert_nothing_left
}

@test "a missing root filesystem is refused" {
	bundle '.root.path = "no-such-folder"'
	create
	assert_failure
	assert_output --partial "no such file or directory"
	assert_nothing_left
}

@test "root.path may be absolute" {
	bundle
	config '.root.path = $p' --arg p "$ROOTFS"
	in_container 'echo fine'
	assert_output fine
}

@test "root.readonly makes the root read-only, its mounts stay writable" {
	bundle '.root.readonly = true'
	add_mount /tmp tmpfs tmpfs rw
	in_container 'touch /x 2>&1; touch /tmp/x && echo tmp writable'
	assert_output --partial "Read-only file system"
	assert_output --partial "tmp writable"
}

@test "a container id is checked" {
	local id
	bundle
	for id in '' . .. a/b '../a' 'a b' $'a\nb' "$(printf '%01025d' 0)"; do
		run rt create --bundle "$BUNDLE" -- "$id"
		assert_failure
	done
	for id in a_b a-b+c.d _x +x 0; do
		script 'echo fine'
		run rt run --bundle "$BUNDLE" "$id"
		assert_output fine
	done
}

@test "a program that does not exist: the text that clients match" {
	bundle
	program nosuchprogram
	in_container
	assert_error 'exec: "nosuchprogram": executable file not found in $PATH'
	assert_nothing_left
	program /no/such/program
	in_container
	assert_failure
	assert_output --partial "no such file or directory"
	assert_nothing_left
}

@test "a program that may not be run: the text that clients match" {
	bundle
	echo 'not a program' >"$ROOTFS/etc/data"
	program /etc/data
	in_container
	assert_failure
	assert_output --partial "permission denied"
	program /etc
	in_container
	assert_failure
	assert_output --regexp "permission denied|is a directory"
	assert_nothing_left
}

@test "create reports a program that does not exist, not start" {
	bundle
	program nosuchprogram
	create
	assert_failure
	assert_output --partial 'executable file not found in $PATH'
	assert_nothing_left
}

@test "a relative program is looked up in the container's PATH" {
	bundle
	mkdir -p "$ROOTFS/opt/bin"
	printf '#!/bin/sh\necho found\n' >"$ROOTFS/opt/bin/mine"
	chmod +x "$ROOTFS/opt/bin/mine"
	config '.process.env = ["PATH=/nowhere:/opt/bin"]'
	program mine
	in_container
	assert_output found
}

@test "an error is the last line of the log, as JSON with msg, level, time" {
	bundle
	program nosuchprogram
	run rt --log "$BUNDLE/log" --log-format json create \
		--bundle "$BUNDLE" "$ID"
	assert_failure
	tail -n 1 "$BUNDLE/log" | holds '.level == "error" and .time and
		(.msg | contains("executable file not found in $PATH"))'
}

@test "options are taken as --x v, --x=v and with one dash" {
	bundle
	script 'echo fine'
	run rt run --bundle="$BUNDLE" "$ID"
	assert_output fine
	run rt run -bundle "$BUNDLE" "$ID"
	assert_output fine
	run rt run -b "$BUNDLE" "$ID"
	assert_output fine
}

@test "an unknown option or command and a missing argument are refused" {
	bundle
	run rt create --no-such-option --bundle "$BUNDLE" "$ID"
	assert_failure
	run rt no-such-command
	assert_failure
	run rt state
	assert_failure
	run rt create
	assert_failure
	run rt kill
	assert_failure
	[ ! -e "$STATE/$ID" ]
}

@test "list shows what is there, as a table, as JSON and as ids" {
	bundle
	running
	run rt list
	assert_output --regexp '^ID +PID +STATUS +BUNDLE +CREATED +OWNER'
	assert_line --regexp "^$ID +$PID +running +$BUNDLE "
	rt list --format json | holds 'any(.[]; .id == $id and
		.status == "running" and .pid > 0 and .bundle and .created and
		.ociVersion and has("owner"))' --arg id "$ID"
	run rt list --quiet
	assert_line "$ID"
}

@test "list with a missing --root is empty and succeeds" {
	STATE=$OSH_BOX/no/such/root
	run rt list --format json
	assert_success
	assert_output --regexp '^(null|\[\])$'
	run rt list --quiet
	assert_success
	assert_output ""
}

@test "ps shows the processes, as ps does and as a JSON array of host pids" {
	bundle
	running 'sleep 300 & exec sleep 300'
	run rt ps "$ID"
	assert_success
	assert_output --partial "sleep 300"
	[ "$(rt ps --format json "$ID" | jq -e length)" -eq 2 ]
	[ "$(rt ps --format json "$ID" | jq --argjson pid "$PID" \
		'index($pid) != null')" = true ]
	run rt ps "$ID" -o pid,comm
	assert_output --partial sleep
	refute_output --partial UID
}

@test "ps of a stopped container does not fail for a missing pid" {
	bundle
	running 'exit 0'
	wait_state stopped
	run rt ps --format json "$ID"
	[[ $status -ne 0 || $output =~ ^(null|\[\])$ ]]
}

@test "ps of a stopped container keeps delete possible" {
	bundle
	running 'exit 0'
	wait_state stopped
	rt ps "$ID" || :
	rt delete "$ID"
	assert_nothing_left
}

@test "state and list survive a cgroup that has vanished" {
	bundle
	running 'exit 0'
	wait_state stopped
	find /sys/fs/cgroup -depth -type d -name "$ID" -exec rmdir {} +
	run state_of
	assert_output stopped
	run rt list
	assert_success
	rt delete "$ID"
	assert_nothing_left
}

@test "create and delete race on the same id: one wins, nothing is left" {
	! is_runc || skip "runc #4735: 1.1 leaves cgroups of the losers"
	local i pids pid won=0
	bundle
	script 'exec sleep 300'
	for ((i = 0; i < 5; i++)); do
		pids=
		for _ in 1 2 3; do
			rt create --bundle "$BUNDLE" "$ID" \
				</dev/null >/dev/null 2>&1 3>&- 4>&- &
			pids+=" $!"
		done
		won=0
		for pid in $pids; do
			! wait "$pid" || won=$((won + 1))
		done
		[ "$won" -eq 1 ]
		rt delete --force "$ID"
		assert_nothing_left
	done
}
