# SPDX-License-Identifier: Apache-2.0
# Terminals, by --console-socket and in the foreground.

load ../lib

needs root box python3

prepare()
{
	bundle '.process.terminal = true'
}

@test "--console-socket gets the master of the container's terminal" {
	console
	script 'tty; echo on the screen'
	created --console-socket "$BUNDLE/tty"
	rt start "$ID"
	wait "$CONSOLE"
	run cat "$BUNDLE/screen"
	assert_line --regexp '/dev/(console|pts/0)'
	assert_line --partial "on the screen"
}

@test "the program is a session leader with the controlling terminal" {
	console
	script 'sleep 1 & ps -o pid,pgid,sid,tty 2>/dev/null | head -n 3
		: >/dev/tty && echo has a controlling terminal
		cat /proc/self/stat | cut -d" " -f6'
	created --console-socket "$BUNDLE/tty"
	rt start "$ID"
	wait "$CONSOLE"
	run cat "$BUNDLE/screen"
	assert_output --partial "has a controlling terminal"
	assert_line --regexp $'^1\r?$'
}

@test "a terminal loses no byte, also when nobody reads for a while" {
	console --wait 1
	script 'i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done'
	created --console-socket "$BUNDLE/tty"
	rt start "$ID"
	wait "$CONSOLE"
	[ "$(grep -c line "$BUNDLE/screen")" -eq 20000 ]
	grep -q 'line 19999' "$BUNDLE/screen"
}

@test "create does not hang when nobody takes the terminal's bytes" {
	console --wait 3
	script 'yes | head -n 10000; sleep 300'
	RT_TIMEOUT=15 created --console-socket "$BUNDLE/tty"
	rt start "$ID"
	run state_of
	assert_output running
}

@test "what is written to the terminal reaches the program" {
	console --send 'hello\n'
	script 'read x; echo got $x'
	created --console-socket "$BUNDLE/tty"
	rt start "$ID"
	wait "$CONSOLE"
	grep -q 'got hello' "$BUNDLE/screen"
}

@test "process.consoleSize sets the size" {
	config '.process.consoleSize = {height: 33, width: 101}'
	console
	script 'stty size'
	created --console-socket "$BUNDLE/tty"
	rt start "$ID"
	wait "$CONSOLE"
	grep -q '33 101' "$BUNDLE/screen"
}

@test "the terminal belongs to the program's user" {
	config '.process.user = {uid: 1000, gid: 1000}'
	console
	script 'stat -c %u /dev/console; : >/dev/console && echo writable'
	created --console-socket "$BUNDLE/tty"
	rt start "$ID"
	wait "$CONSOLE"
	grep -q '^1000' "$BUNDLE/screen"
	grep -q writable "$BUNDLE/screen"
}

@test "exec --tty with --console-socket" {
	config '.process.terminal = false'
	running
	console
	rt exec --tty --console-socket "$BUNDLE/tty" --detach "$ID" \
		/bin/sh -c 'tty; echo from exec' </dev/null
	wait "$CONSOLE"
	grep -q /dev/pts "$BUNDLE/screen"
	grep -q 'from exec' "$BUNDLE/screen"
}

@test "create with a terminal needs --console-socket" {
	script 'exit 0'
	create
	assert_failure
	assert_output --partial "console"
	assert_nothing_left
}

@test "--console-socket without a terminal is refused" {
	config '.process.terminal = false'
	console
	script 'exit 0'
	create --console-socket "$BUNDLE/tty"
	assert_failure
	assert_output --partial "console"
	kill "$CONSOLE"
	assert_nothing_left
}

@test "a console socket that is not there fails the create cleanly" {
	script 'exit 0'
	create --console-socket "$BUNDLE/no-such-socket"
	assert_failure
	assert_nothing_left
}

@test "run in the foreground puts the terminal through" {
	script 'tty; stty size; exit 6'
	cat >"$BUNDLE/go" <<-END
	#!/bin/bash
	stty rows 22 cols 77
	exec "$OSH_RUNTIME" --root "$STATE" $(is_osh &&
		echo --host-config "$(plain_host_config)") \
		run --bundle "$BUNDLE" "$ID"
	END
	chmod +x "$BUNDLE/go"
	run command script -q -e -c "$BUNDLE/go" /dev/null </dev/null
	[ "$status" -eq 6 ]
	assert_output --partial /dev/
	assert_output --partial "22 77"
}

@test "exec in the foreground has the size of the caller's terminal" {
	config '.process.terminal = false'
	running
	cat >"$BUNDLE/go" <<-END
	#!/bin/bash
	stty rows 23 cols 78
	exec "$OSH_RUNTIME" --root "$STATE" $(is_osh &&
		echo --host-config "$(plain_host_config)") \
		exec --tty "$ID" stty size
	END
	chmod +x "$BUNDLE/go"
	run command script -q -e -c "$BUNDLE/go" /dev/null </dev/null
	assert_success
	assert_output --partial "23 78"
}

@test "/dev/console is the terminal and /dev/tty works" {
	console
	script 'echo by console >/dev/console; echo by tty >/dev/tty'
	created --console-socket "$BUNDLE/tty"
	rt start "$ID"
	wait "$CONSOLE"
	grep -q 'by console' "$BUNDLE/screen"
	grep -q 'by tty' "$BUNDLE/screen"
}

@test "a terminal in a user namespace with an unmapped gid is not fatal" {
	require userns
	bundle '.process.terminal = true |
		.linux.namespaces += [{type: "user"}] |
		.linux.uidMappings = [{containerID: 0, hostID: 100000, size: 1}] |
		.linux.gidMappings = [{containerID: 0, hostID: 100000, size: 1}] |
		(.mounts[] | select(.type == "devpts") | .options) -= ["gid=5"]'
	chown -R 100000:100000 "$ROOTFS"
	console
	script 'echo fine'
	created --console-socket "$BUNDLE/tty"
	rt start "$ID"
	wait "$CONSOLE"
	grep -q fine "$BUNDLE/screen"
}
