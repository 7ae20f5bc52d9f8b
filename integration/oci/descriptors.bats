# SPDX-License-Identifier: Apache-2.0
# What is open in the container: stdio, --preserve-fds, and nothing else.

load ../lib

needs root box cc

prepare()
{
	bundle
	add_probe
}

@test "the container sees descriptors 0 to 2 only" {
	program /bin/probe fds
	in_container
	assert_success
	assert_equal "${#lines[@]}" 3
}

@test "descriptors that the caller leaked do not reach the container" {
	program /bin/probe fds
	exec 11</etc/hostname 12</etc 57</dev/null
	in_container
	exec 11<&- 12<&- 57<&-
	assert_success
	assert_equal "${#lines[@]}" 3
}

@test "--preserve-fds hands on so many, and no more" {
	program /bin/probe fds
	run bash -c 'exec 3<"$1" 4<"$1" 5<"$1"; shift; exec "$@"' - \
		/etc/passwd timeout 60 "$OSH_RUNTIME" --root "$STATE" \
		$(is_osh && echo --host-config "$(plain_host_config)") \
		run --bundle "$BUNDLE" --preserve-fds 2 "$ID"
	assert_success
	assert_line --regexp '^3 .*passwd$'
	assert_line --regexp '^4 .*passwd$'
	assert_equal "${#lines[@]}" 5
}

@test "exec --preserve-fds hands on so many" {
	running
	run bash -c 'exec 3<"$1" 4<"$1"; shift; exec "$@"' - \
		/etc/passwd timeout 60 "$OSH_RUNTIME" --root "$STATE" \
		exec --preserve-fds 1 "$ID" /bin/probe fds
	assert_success
	assert_line --regexp '^3 .*passwd$'
	assert_equal "${#lines[@]}" 4
}

@test "LISTEN_FDS hands on the sockets of socket activation" {
	script '/bin/probe fds; echo $LISTEN_FDS'
	run bash -c 'exec 3</etc/passwd
		export LISTEN_FDS=1 LISTEN_PID=$$
		exec "$@"' - "$OSH_RUNTIME" --root "$STATE" \
		$(is_osh && echo --host-config "$(plain_host_config)") \
		run --bundle "$BUNDLE" "$ID"
	assert_success
	assert_line --regexp '^3 .*passwd$'
	assert_line 1
}

@test "closed stdio of the caller does not break run" {
	script 'exit 5'
	status=0
	rt run --bundle "$BUNDLE" "$ID" <&- >&- 2>&- || status=$?
	[ "$status" -eq 5 ]
}

@test "the created init holds nothing of the host but its stdio" {
	! is_runc || skip "runc's init keeps its own program and sockets"
	program /bin/probe sleep
	created
	local fd target
	for fd in "/proc/$PID/fd"/*; do
		target=$(readlink "$fd") || continue
		case $target in
		/dev/null | "$BUNDLE/out" | pipe:* | socket:* | anon_inode:*) ;;
		/memfd:* | *"$STATE"* | /proc/* | "$OSH_BOX"*) ;;
		*) fail "the init holds $target" ;;
		esac
	done
	rt start "$ID"
	sleep 0.3
	[ "$(find "/proc/$PID/fd" -mindepth 1 | wc -l)" -eq 3 ]
}
