# SPDX-License-Identifier: Apache-2.0
# Another process in a container that runs.

load ../lib

needs root box cc

prepare()
{
	bundle
	add_probe
}

@test "exec runs a program and gives its output and exit status" {
	running
	run rt exec "$ID" /bin/sh -c 'echo out; exit 9'
	[ "$status" -eq 9 ]
	assert_output out
}

@test "exec gives 128 and the signal that ended the process" {
	running
	run rt exec "$ID" /bin/sh -c 'kill -KILL $$'
	[ "$status" -eq 137 ]
}

@test "exec joins every namespace of the container" {
	local name
	running
	for name in cgroup ipc mnt net pid uts; do
		run rt exec "$ID" readlink "/proc/self/ns/$name"
		assert_output "$(readlink "/proc/$PID/ns/$name")"
	done
}

@test "exec joins every cgroup of the container" {
	running
	run rt exec "$ID" cat /proc/self/cgroup
	assert_output "$(rt exec "$ID" cat /proc/1/cgroup)"
}

@test "exec takes user, cwd, environment and capabilities from its options" {
	running
	mkdir "$ROOTFS/work"
	run rt exec --user 1000:2000 --cwd /work --env A=b --env C=d "$ID" \
		/bin/sh -c 'id -u; id -g; pwd; echo $A$C; echo $PATH'
	assert_line --index 0 1000
	assert_line --index 1 2000
	assert_line --index 2 /work
	assert_line --index 3 bd
	assert_line --index 4 --partial /usr/bin
}

@test "exec --user: every spelling gives the right ids or an error, never root" {
	local user
	running
	run rt exec --user 1 "$ID" /bin/sh -c 'echo $(id -u):$(id -g)'
	assert_output 1:0
	run rt exec --user 1:2 "$ID" /bin/sh -c 'echo $(id -u):$(id -g)'
	assert_output 1:2
	for user in 1: :1 a -1 1:a 1:2:3 4294967296; do
		# runc 1.1 takes the number modulo 2^32
		! is_runc || [ "$user" != 4294967296 ] || continue
		run rt exec --user "$user" "$ID" /bin/sh -c 'id -u'
		[[ $status -ne 0 || $output = 1 ]] ||
			fail "--user '$user' gave: $output"
	done
}

@test "exec does not inherit the caller's environment" {
	running
	SECRET=value run rt exec "$ID" env
	refute_output --partial SECRET
	run rt exec "$ID" /bin/sh -c 'cat /proc/1/environ | tr "\0" "\n"'
	refute_output --partial OSH_BOX
}

@test "exec --additional-gids gives supplementary groups" {
	running
	run rt exec --additional-gids 2000 --additional-gids 3000 "$ID" id -G
	assert_output "0 2000 3000"
}

@test "exec --cap adds capabilities" {
	running
	run rt exec --cap CAP_NET_RAW --cap CAP_SYS_TIME "$ID" \
		grep CapEff /proc/self/status
	# NET_RAW is bit 13, SYS_TIME is bit 25
	local mask=$((16#${output##*[[:space:]]}))
	[ $((mask & 1 << 13)) -ne 0 ]
	[ $((mask & 1 << 25)) -ne 0 ]
	[ $((mask & 1 << 21)) -eq 0 ]
}

@test "exec has the capabilities and limits of the config" {
	running
	run rt exec "$ID" grep Cap /proc/self/status
	assert_output "$(grep Cap "/proc/$PID/status")"
	run rt exec "$ID" /bin/sh -c 'ulimit -n'
	assert_output 1024
}

@test "inheritable and ambient capabilities are empty in init and exec" {
	running
	grep -q '^CapInh:[[:space:]]*0000000000000000$' "/proc/$PID/status"
	grep -q '^CapAmb:[[:space:]]*0000000000000000$' "/proc/$PID/status"
	run rt exec "$ID" grep -E 'CapInh|CapAmb' /proc/self/status
	assert_line --regexp 'CapInh:.0000000000000000'
	assert_line --regexp 'CapAmb:.0000000000000000'
}

@test "exec --no-new-privs sets it" {
	config '.process.noNewPrivileges = false'
	running
	run rt exec "$ID" grep NoNewPrivs /proc/self/status
	assert_output --partial 0
	run rt exec --no-new-privs "$ID" grep NoNewPrivs /proc/self/status
	assert_output --partial 1
}

@test "exec --process takes everything from the file" {
	running
	jq '.process | .args = ["/bin/sh", "-c", "id -u; pwd; echo $X"] |
		.user.uid = 1000 | .cwd = "/tmp" | .env += ["X=y"]' \
		"$BUNDLE/config.json" >"$BUNDLE/process.json"
	run rt exec --process "$BUNDLE/process.json" "$ID"
	assert_line --index 0 1000
	assert_line --index 1 /tmp
	assert_line --index 2 y
}

@test "exec --detach returns and writes the pid of the process" {
	running
	rt exec --detach --pid-file "$BUNDLE/exec.pid" "$ID" \
		/bin/sh -c 'sleep 300' </dev/null >/dev/null 2>&1
	local pid
	pid=$(cat "$BUNDLE/exec.pid")
	[ "$(readlink "/proc/$pid/ns/mnt")" = "$(readlink "/proc/$PID/ns/mnt")" ]
	[ "$(rt ps --format json "$ID" | jq "index($pid) != null")" = true ]
}

@test "exec of a program that does not exist: the text that clients match" {
	running
	run rt exec "$ID" nosuchprogram
	assert_error 'exec: "nosuchprogram": executable file not found in $PATH'
	run rt exec "$ID" /no/such
	assert_failure
	assert_output --partial "no such file or directory"
	run rt exec "$ID" /etc
	assert_failure
	assert_output --regexp "permission denied|is a directory"
}

@test "exec in a stopped or missing container is refused" {
	running 'exit 0'
	wait_state stopped
	run rt exec "$ID" /bin/true
	assert_failure
	run rt exec no-such-container /bin/true
	assert_failure
	assert_output --partial "container does not exist"
}

@test "exec without a program is refused" {
	running
	run rt exec "$ID"
	assert_failure
}

@test "exec works in a created container" {
	script 'exec sleep 300'
	created
	run rt exec "$ID" echo early
	assert_success
	assert_output early
	run state_of
	assert_output created
}

@test "exec neither duplicates nor adds mounts" {
	local before
	running
	before=$(wc -l <"/proc/$PID/mountinfo")
	rt exec "$ID" /bin/true
	rt exec "$ID" /bin/true
	[ "$(wc -l <"/proc/$PID/mountinfo")" -eq "$before" ]
}

@test "exec works when processes were moved to a sub-cgroup" {
	require cgroup_v1
	local dir
	running
	for dir in /sys/fs/cgroup/{pids,memory,cpu,freezer}/osh-test/$ID; do
		mkdir "$dir/sub"
		echo "$PID" >"$dir/sub/cgroup.procs"
	done
	run rt exec "$ID" echo fine
	assert_success
	assert_output fine
}

@test "exec and init run on every processor of the cpuset, whatever the caller's" {
	# runc 1.1 hands its caller's affinity on
	! is_runc || skip "runc 1.1 hands its caller's affinity on"
	[ "$(nproc)" -gt 1 ] || skip "needs a second processor"
	program /bin/probe sleep
	taskset -c 0 bash -c "$(declare -f rt is_osh plain_host_config)
		OSH_RUNTIME='$OSH_RUNTIME' STATE='$STATE' OSH_BOX='$OSH_BOX'
		rt run --detach --bundle '$BUNDLE' '$ID'" </dev/null >/dev/null 2>&1
	[ "$(taskset -p "$(rt state "$ID" | jq .pid)" | grep -o '[^ ]*$')" != 1 ]
	run taskset -c 0 "$OSH_RUNTIME" --root "$STATE" exec "$ID" \
		/bin/probe affinity
	assert_output "$(nproc)"
}

@test "exec gives its process no descriptor of the runtime" {
	running
	run rt exec "$ID" /bin/probe fds
	assert_success
	assert_equal "${#lines[@]}" 3
}

@test "exec has the seccomp filter of the container" {
	config '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [
		{names: ["mkdir"], action: "SCMP_ACT_ERRNO", errnoRet: 5}]}'
	running
	run rt exec "$ID" /bin/probe call mkdir s:/tmp/x 0755
	assert_output EIO
}

@test "exec keeps the process's own exit status when it prints a lot" {
	running
	run rt exec "$ID" /bin/sh -c 'yes | head -n 100000; exit 4'
	[ "$status" -eq 4 ]
	assert_equal "${#lines[@]}" 100000
}

@test "exec with closed stdio does not fail" {
	running
	rt exec "$ID" /bin/sh -c 'exit 0' <&- >&- 2>&-
}
