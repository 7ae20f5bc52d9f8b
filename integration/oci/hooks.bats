# SPDX-License-Identifier: Apache-2.0
# Hooks of all six kinds: when, where, with what on stdin, and when they fail.

load ../lib

needs root box

# hook KIND TEXT [FIELDS]: a shell script; FIELDS is JSON merged into the hook.
hook()
{
	local fields=${3-}
	config '.hooks[$kind] += [{path: "/bin/sh",
		args: ["sh", "-c", $text]} + $fields]' --arg kind "$1" \
		--arg text "$2" --argjson fields "${fields:-"{}"}"
}

prepare()
{
	bundle
	mkdir "$BUNDLE/shared"
	LOG=$BUNDLE/shared/log
}

# log_hook KIND: appends its name to the log. The hooks that run inside the
# container's mount namespace after its pivot reach the log at /shared.
log_hook()
{
	local path=$LOG
	[ "$1" != startContainer ] || path=/shared/log
	hook "$1" "echo $1 >>$path"
}

@test "hooks of all six kinds run in the specification's order" {
	! is_runc || skip "runc 1.1 runs poststart hooks in create"
	local kind
	add_mount /shared bind "$BUNDLE/shared" bind rw
	for kind in poststop poststart startContainer createContainer \
		createRuntime prestart; do
		log_hook $kind
	done
	script 'echo program >>/shared/log'
	created
	run cat "$LOG"
	assert_output "prestart
createRuntime
createContainer"
	rt start "$ID"
	wait_state stopped
	rt delete "$ID"
	run cat "$LOG"
	assert_line --index 3 startContainer
	# the program and poststart run at the same time
	assert_line poststart
	assert_line program
	assert_line --index 6 poststop
	assert_equal "${#lines[@]}" 7
}

@test "hooks of one kind run in the order of the config" {
	local kind
	for kind in prestart createRuntime createContainer poststop; do
		hook $kind "echo $kind 1 >>$LOG"
		hook $kind "echo $kind 2 >>$LOG"
	done
	script 'exit 0'
	created
	rt delete --force "$ID"
	run cat "$LOG"
	assert_output "prestart 1
prestart 2
createRuntime 1
createRuntime 2
createContainer 1
createContainer 2
poststop 1
poststop 2"
}

@test "a hook gets the state on stdin, with the status of its moment" {
	local kind
	add_mount /shared bind "$BUNDLE/shared" bind rw
	config '.annotations = {"org.example.key": "value"}'
	for kind in prestart createRuntime createContainer poststart poststop; do
		hook $kind "cat >$BUNDLE/shared/$kind"
	done
	hook startContainer "cat >/shared/startContainer"
	script 'exec sleep 300'
	created
	rt start "$ID"
	written() { holds .id <"$BUNDLE/shared/poststart"; }
	wait_for written
	rt delete --force "$ID"
	for kind in prestart createRuntime createContainer startContainer \
		poststart poststop; do
		holds '.id == $id and .bundle == $bundle and .ociVersion and
			.annotations["org.example.key"] == "value"' \
			--arg id "$ID" --arg bundle "$BUNDLE" \
			<"$BUNDLE/shared/$kind"
	done
	# within the container's namespaces, its init may be known as 1
	holds '.pid == $pid or .pid == 1' --argjson pid "$PID" \
		<"$BUNDLE/shared/createContainer"
	for kind in prestart createRuntime; do
		holds '.pid == $pid and
			(.status == "creating" or .status == "created")' \
			--argjson pid "$PID" <"$BUNDLE/shared/$kind"
	done
	holds '.status == "created"' <"$BUNDLE/shared/startContainer"
	is_runc || holds '.status == "running"' <"$BUNDLE/shared/poststart"
	holds '.status == "stopped"' <"$BUNDLE/shared/poststop"
}

@test "createRuntime runs in the runtime's namespaces, createContainer within" {
	hook createRuntime "readlink /proc/self/ns/mnt /proc/self/ns/uts >>$LOG"
	hook createContainer "readlink /proc/self/ns/mnt /proc/self/ns/uts >>$LOG"
	script 'exec sleep 300'
	created
	run cat "$LOG"
	assert_line --index 0 "$(readlink /proc/self/ns/mnt)"
	assert_line --index 1 "$(readlink /proc/self/ns/uts)"
	assert_line --index 2 "$(readlink "/proc/$PID/ns/mnt")"
	assert_line --index 3 "$(readlink "/proc/$PID/ns/uts")"
}

@test "startContainer runs within the container's root" {
	add_mount /shared bind "$BUNDLE/shared" bind rw
	hook startContainer 'ls / >/shared/log'
	script 'exit 0'
	created
	rt start "$ID"
	wait_state stopped
	run cat "$LOG"
	assert_line shared
}

@test "prestart sees the new network namespace of the container" {
	hook prestart 'pid=$(tr -d " " | sed "s/.*\"pid\":\([0-9]*\).*/\1/")
		nsenter -t $pid -n ip link add from-hook type bridge'
	in_container 'cat /proc/net/dev'
	assert_success
	assert_output --partial from-hook
}

@test "what createRuntime and createContainer mount shows in the container" {
	mkdir "$ROOTFS/m"
	hook createContainer "mount -t tmpfs hook $ROOTFS/m && touch $ROOTFS/m/by-hook"
	in_container 'ls /m'
	assert_success
	assert_output by-hook
}

@test "a failing hook stops the create and everything is undone" {
	local kind
	for kind in prestart createRuntime createContainer; do
		config 'del(.hooks)'
		hook $kind 'echo the reason >&2; exit 3'
		create
		assert_failure
		assert_output --partial "hook"
		assert_nothing_left
	done
}

@test "a failing startContainer hook stops the start: the program never runs" {
	add_mount /shared bind "$BUNDLE/shared" bind rw
	hook startContainer 'exit 3'
	script 'echo ran >/shared/log'
	created
	run rt start "$ID"
	wait_state stopped
	[ ! -e "$LOG" ]
}

@test "poststop hooks run when the create fails after the first hook" {
	! is_runc || skip "runc 1.1 runs them on a failed prestart hook only"
	hook createRuntime 'exit 0'
	hook createContainer 'exit 1'
	hook poststop "echo poststop >>$LOG"
	create
	assert_failure
	[ "$(cat "$LOG")" = poststop ]
}

@test "a failing poststop hook keeps neither the container nor the next hook" {
	! is_runc || skip "runc 1.1 skips the hooks after the failing one"
	hook poststop 'exit 3'
	hook poststop "echo second >>$LOG"
	running
	rt delete --force "$ID"
	[ "$(cat "$LOG")" = second ]
	assert_nothing_left
}

@test "a failing poststart hook does not hang" {
	! is_runc || skip "runc 1.1 runs poststart hooks in create"
	hook poststart 'exit 3'
	script 'exec sleep 300'
	created
	RT_TIMEOUT=20 rt start "$ID" || [ $? -ne 124 ]
}

@test "a hook that outlives its timeout is ended and fails the create" {
	! is_runc || skip "runc 1.1 leaves the hook and the container"
	hook createRuntime 'sleep 300' '{"timeout": 1}'
	RT_TIMEOUT=20 create
	assert_failure
	[ "$status" -ne 124 ]
	assert_nothing_left
}

@test "a hook has its own environment and nothing of the caller's" {
	hook createRuntime "env >>$LOG" '{"env": ["ONLY=this"]}'
	SECRET=value create
	run cat "$LOG"
	assert_line "ONLY=this"
	refute_output --partial SECRET
}

@test "a hook whose program does not exist fails the create by name" {
	config '.hooks.createRuntime = [{path: "/no/such/hook"}]'
	create
	assert_failure
	assert_output --partial "/no/such/hook"
	assert_nothing_left
}

@test "a hook with a relative path is refused" {
	! is_runc || skip "runc 1.1 takes it"
	config '.hooks.createRuntime = [{path: "true"}]'
	create
	assert_failure
	assert_nothing_left
}

@test "hooks get no descriptor of the runtime" {
	require cc
	! is_runc || skip "runc 1.1 leaves some open"
	add_probe
	config '.hooks.createRuntime = [{path: "/bin/sh", args: ["sh", "-c",
		$text]}]' --arg text "$OSH_BOX/probe fds >$LOG"
	created
	run cat "$LOG"
	assert_equal "${#lines[@]}" 3
}
