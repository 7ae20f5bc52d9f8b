# SPDX-License-Identifier: Apache-2.0
# Namespaces: new ones, the host's, joined by path; user namespaces.

load ../lib

needs root box userns cc

prepare() { bundle; }

declare -gA FILES=([network]=net [mount]=mnt [pid]=pid [ipc]=ipc [uts]=uts
	[cgroup]=cgroup [user]=user [time]=time)

# user_namespace [SIZE]: mapped to 100000 and up, with the owner of the root.
user_namespace()
{
	config '.linux.namespaces += [{type: "user"}] |
		.linux.uidMappings = [{containerID: 0, hostID: 100000, size: $n}] |
		.linux.gidMappings = [{containerID: 0, hostID: 100000, size: $n}]' \
		--argjson n "${1:-65536}"
	chown -R 100000:100000 "$ROOTFS"
}

# unlike_ours PID FILE: that process is in another namespace than we are.
unlike_ours()
{
	[ "$(readlink "/proc/$1/ns/$2")" != "$(readlink "/proc/self/ns/$2")" ]
}

@test "each namespace of the config is new, the others are the caller's" {
	local type
	config '.linux.namespaces += [{type: "cgroup"}]'
	running
	for type in network mount pid ipc uts cgroup; do
		[ "$(readlink "/proc/$PID/ns/${FILES[$type]}")" != \
			"$(readlink "/proc/self/ns/${FILES[$type]}")" ] ||
			fail "$type is the caller's"
	done
	[ "$(readlink "/proc/$PID/ns/user")" = "$(readlink /proc/self/ns/user)" ]
}

@test "a namespace that the config leaves out is the caller's" {
	local type
	config '.linux.namespaces = [{type: "mount"}, {type: "pid"}] |
		del(.hostname) | .mounts |= map(select(.type != "sysfs" and
		.type != "mqueue"))'
	running
	for type in network ipc uts cgroup; do
		[ "$(readlink "/proc/$PID/ns/${FILES[$type]}")" = \
			"$(readlink "/proc/self/ns/${FILES[$type]}")" ] ||
			fail "$type is not the caller's"
	done
}

@test "the loopback interface of a new network namespace is up" {
	in_container 'ip -o addr show lo'
	assert_output --partial 127.0.0.1/8
}

@test "namespaces are joined by path" {
	local type holder
	unshare --net --ipc --uts sleep 60 3>&- 4>&- &
	holder=$!
	wait_for unlike_ours $holder uts
	nsenter -t $holder -u hostname joined
	for type in network ipc uts; do
		config '(.linux.namespaces[] | select(.type == $t)).path = $p' \
			--arg t $type --arg p "/proc/$holder/ns/${FILES[$type]}"
	done
	config 'del(.hostname)'
	running
	for type in network ipc uts; do
		[ "$(readlink "/proc/$PID/ns/${FILES[$type]}")" = \
			"$(readlink "/proc/$holder/ns/${FILES[$type]}")" ]
	done
	run rt exec "$ID" hostname
	assert_output joined
	kill $holder
}

@test "the pid namespace of another container is joined by path" {
	local first
	running
	first=$PID
	config '(.linux.namespaces[] | select(.type == "pid")).path = $p' \
		--arg p "/proc/$PID/ns/pid"
	config '.linux.cgroupsPath += "-second"'
	script 'ps | grep -q "[s]leep 300" && echo sees it'
	run rt run --bundle "$BUNDLE" "$ID-second"
	assert_success
	assert_output "sees it"
	kill -0 "$first"
}

@test "a network namespace by a bound file, as clients give it" {
	ip netns add "n$BATS_TEST_NUMBER"
	ip -n "n$BATS_TEST_NUMBER" link add marker type bridge
	config '(.linux.namespaces[] | select(.type == "network")).path = $p' \
		--arg p "/run/netns/n$BATS_TEST_NUMBER"
	in_container 'cat /proc/net/dev'
	ip netns del "n$BATS_TEST_NUMBER"
	assert_success
	assert_output --partial marker
}

@test "a namespace path of the wrong kind or that is missing is refused" {
	config '(.linux.namespaces[] | select(.type == "network")).path =
		"/proc/self/ns/uts"'
	create
	assert_failure
	config '(.linux.namespaces[] | select(.type == "network")).path =
		"/no/such/ns"'
	create
	assert_failure
	assert_output --partial "/no/such/ns"
	config '(.linux.namespaces[] | select(.type == "network")).path =
		"/etc/passwd"'
	create
	assert_failure
	assert_nothing_left
}

@test "a namespace given twice or of an unknown type is refused" {
	config '.linux.namespaces += [{type: "pid"}]'
	create
	assert_failure
	config '.linux.namespaces |= map(select(.type != "pid")) +
		[{type: "nosuch"}]'
	create
	assert_failure
	assert_nothing_left
}

@test "hostname without a uts namespace is refused" {
	config '.linux.namespaces |= map(select(.type != "uts"))'
	create
	assert_failure
	[ "$(hostname)" != osh-test ]
	assert_nothing_left
}

@test "a cgroup namespace hides the path" {
	config '.linux.namespaces += [{type: "cgroup"}]'
	in_container 'cat /proc/self/cgroup'
	assert_success
	refute_output --partial osh-test
}

@test "a time namespace with offsets" {
	! is_runc || skip "runc 1.1 does not know time namespaces"
	[ -e /proc/self/ns/time ] || skip "needs a kernel with time namespaces"
	config '.linux.namespaces += [{type: "time"}] |
		.linux.timeOffsets = {monotonic: {secs: 7000000},
			boottime: {secs: 8000000}}'
	in_container 'cat /proc/uptime'
	assert_success
	[ "${output%%.*}" -ge 8000000 ]
}

@test "a user namespace: ids are mapped both ways" {
	user_namespace
	running
	[ "$(stat -c %u "/proc/$PID")" = 100000 ]
	run rt exec "$ID" cat /proc/self/uid_map /proc/self/gid_map
	assert_line --index 0 --regexp '^ +0 +100000 +65536$'
	assert_line --index 1 --regexp '^ +0 +100000 +65536$'
	run rt exec "$ID" /bin/sh -c 'id -u; touch /made; stat -c %u /made'
	assert_output "0
0"
	[ "$(stat -c %u "$ROOTFS/made")" = 100000 ]
}

@test "a user namespace: several mappings and another user" {
	config '.linux.namespaces += [{type: "user"}] |
		.linux.uidMappings = [
			{containerID: 0, hostID: 100000, size: 10},
			{containerID: 1000, hostID: 200000, size: 1}] |
		.linux.gidMappings = .linux.uidMappings |
		.process.user = {uid: 1000, gid: 1000} |
		(.mounts[] | select(.type == "devpts") | .options) -= ["gid=5"]'
	chown -R 100000:100000 "$ROOTFS"
	running
	[ "$(stat -c %u "/proc/$PID")" = 200000 ]
}

@test "a user namespace: devices work and can't be made" {
	user_namespace
	config '.process.capabilities |= map_values(. + ["CAP_MKNOD"])'
	in_container 'echo x >/dev/null && head -c 2 /dev/zero | wc -c
		mknod /tmp/n c 1 3 2>&1'
	assert_line --index 0 2
	assert_output --partial "Operation not permitted"
}

@test "a user namespace with every default mount and masked path" {
	user_namespace
	in_container 'mount | grep -c /; wc -c </proc/keys
		echo 1 >/proc/sys/kernel/panic || echo refused'
	assert_line 0
	assert_line refused
}

@test "a user namespace: sources in folders that its root may not enter" {
	mkdir -p "$BUNDLE/closed/src"
	echo content >"$BUNDLE/closed/src/file"
	chmod 700 "$BUNDLE/closed"
	user_namespace
	add_mount /m bind "$BUNDLE/closed/src" rbind ro
	in_container 'cat /m/file'
	assert_output content
}

@test "a user namespace of many mappings" {
	config '.linux.namespaces += [{type: "user"}] |
		.linux.uidMappings = [range(200) | {containerID: (. * 2),
			hostID: (100000 + . * 2), size: 1}] |
		.linux.gidMappings = .linux.uidMappings |
		(.mounts[] | select(.type == "devpts") | .options) -= ["gid=5"]'
	chown -R 100000:100000 "$ROOTFS"
	in_container 'wc -l </proc/self/uid_map'
	assert_output 200
}

@test "overlong lists of mappings give a clean error" {
	config '.linux.namespaces += [{type: "user"}] |
		.linux.uidMappings = [range(20000) | {containerID: .,
			hostID: (100000 + .), size: 1}] |
		.linux.gidMappings = .linux.uidMappings'
	create
	assert_failure
	refute_output --partial panic
	[ "$status" -lt 128 ]
	assert_nothing_left
}

@test "mappings without a user namespace, and overlapping ones, are refused" {
	! is_runc || skip "runc 1.1 ignores mappings without a namespace"
	config '.linux.uidMappings = [{containerID: 0, hostID: 1, size: 1}]'
	create
	assert_failure
	config '.linux.namespaces += [{type: "user"}] |
		.linux.uidMappings = [{containerID: 0, hostID: 1, size: 5},
			{containerID: 3, hostID: 100, size: 5}] |
		.linux.gidMappings = .linux.uidMappings'
	create
	assert_failure
	assert_nothing_left
}

@test "a bind mount in a user namespace keeps the flags that were locked" {
	! is_runc || skip "youki #3536: runc 1.1 fails"
	mkdir "$BUNDLE/src"
	mount -t tmpfs -o nosuid,nodev,noexec,mode=755 locked "$BUNDLE/src"
	user_namespace
	add_mount /m bind "$BUNDLE/src" bind ro
	running
	umount -l "$BUNDLE/src"
	run grep ' /m ' "/proc/$PID/mountinfo"
	assert_output --regexp ' /m ro,nosuid,nodev,noexec'
}

@test "user.* sysctls may be set in a user namespace of the container" {
	! is_runc || skip "runc #4889: 1.1 refuses them"
	user_namespace
	config '.linux.sysctl = {"user.max_net_namespaces": "7"}'
	in_container 'cat /proc/sys/user/max_net_namespaces'
	assert_output 7
}

@test "a user namespace is joined by path, with exec" {
	! is_runc || skip "runc 1.1 wants mappings as well"
	local holder
	unshare --user --net --fork sleep 60 3>&- 4>&- &
	holder=$!
	wait_for unlike_ours $holder user
	echo "0 100000 65536" >/proc/$holder/uid_map
	echo "0 100000 65536" >/proc/$holder/gid_map
	chown -R 100000:100000 "$ROOTFS"
	config '.linux.namespaces |= map(select(.type != "network")) + [
		{type: "user", path: "/proc/\($h)/ns/user"},
		{type: "network", path: "/proc/\($h)/ns/net"}]' --arg h $holder
	running
	[ "$(readlink "/proc/$PID/ns/user")" = \
		"$(readlink /proc/$holder/ns/user)" ]
	run rt exec "$ID" id -u
	assert_output 0
	kill $holder
}

@test "idmapped mounts by the mount's own mappings" {
	! is_runc || skip "runc 1.1 does not know idmapped mounts"
	# tmpfs can be idmapped from kernel 6.3 on
	mkdir "$BUNDLE/src"
	touch "$BUNDLE/src/file"
	chown 1234:1234 "$BUNDLE/src/file"
	add_mount /m bind "$BUNDLE/src" rbind idmap
	config '.mounts[-1] += {
		uidMappings: [{containerID: 1234, hostID: 777, size: 1}],
		gidMappings: [{containerID: 1234, hostID: 777, size: 1}]}'
	in_container 'stat -c %u:%g /m/file'
	assert_success
	assert_output 777:777
}

@test "linux.netDevices moves a device of the host into the container" {
	! is_runc || skip "runc #4538: 1.1 does not know netDevices"
	ip link add "v$BATS_TEST_NUMBER" type veth peer name "w$BATS_TEST_NUMBER"
	config '.ociVersion = "1.3.0" |
		.linux.netDevices = {($n): {name: "inside"}}' \
		--arg n "v$BATS_TEST_NUMBER"
	in_container 'cat /proc/net/dev'
	ip link del "w$BATS_TEST_NUMBER" 2>/dev/null || :
	assert_output --partial inside:
}
