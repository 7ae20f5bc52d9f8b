# SPDX-License-Identifier: Apache-2.0
# Device nodes and the links that every container has.

load ../lib

needs root box

prepare() { bundle; }

@test "the default devices are there with their numbers and modes" {
	in_container 'cd /dev; stat -c "%n %t:%T %a" null zero full random \
		urandom tty'
	assert_output "null 1:3 666
zero 1:5 666
full 1:7 666
random 1:8 666
urandom 1:9 666
tty 5:0 666"
}

@test "the default links are there" {
	in_container 'cd /dev; for l in fd stdin stdout stderr ptmx; do
		readlink $l; done'
	assert_output "/proc/self/fd
/proc/self/fd/0
/proc/self/fd/1
/proc/self/fd/2
pts/ptmx"
}

@test "null, zero and urandom work for every user" {
	config '.process.user = {uid: 1000, gid: 1000}'
	in_container 'echo >/dev/null; head -c 3 /dev/zero | wc -c
		head -c 3 /dev/urandom | wc -c'
	assert_success
	assert_output "3
3"
}

@test "linux.devices makes nodes with owner and mode" {
	config '.linux.devices = [
		{path: "/dev/mine", type: "c", major: 1, minor: 3,
			fileMode: 416, uid: 1000, gid: 2000},
		{path: "/dev/sub/fifo", type: "p", fileMode: 438},
		{path: "/dev/block", type: "b", major: 7, minor: 9}]'
	in_container 'stat -c "%n %F %t:%T %a %u:%g" /dev/mine /dev/sub/fifo \
		/dev/block'
	assert_success
	assert_line --index 0 "/dev/mine character special file 1:3 640 1000:2000"
	assert_line --index 1 --regexp '/dev/sub/fifo fifo .* 666 0:0'
	assert_line --index 2 --regexp '/dev/block block special file 7:9'
}

@test "the umask of the caller does not change the modes" {
	umask 077
	config '.linux.devices = [{path: "/dev/mine", type: "c", major: 1,
		minor: 3, fileMode: 438}]'
	in_container 'stat -c "%a" /dev/mine /dev/null'
	assert_output "666
666"
}

@test "a device outside /dev is made where it is asked for" {
	config '.linux.devices = [{path: "/run/node", type: "c", major: 1,
		minor: 5, fileMode: 438}]'
	in_container 'stat -c "%t:%T" /run/node'
	assert_output 1:5
}

@test "the device cgroup refuses what the config does not allow" {
	require cgroup_v1
	config '.process.capabilities |= map_values(. + ["CAP_MKNOD"])'
	in_container 'mknod /tmp/sda b 8 0 && echo made
		cat /tmp/sda 2>&1 | head -c 100
		mknod /tmp/null c 1 3 && echo x >/tmp/null && echo null works'
	assert_output --partial "Operation not permitted"
	assert_output --partial "null works"
}

@test "resources.devices allows what it names" {
	require cgroup_v1
	config '.linux.resources.devices += [{allow: true, type: "c",
		major: 10, minor: 229, access: "rwm"}]'
	running
	run cat "$(cgroup devices)/devices.list"
	assert_line "c 10:229 rwm"
	refute_line "a *:* rwm"
}

@test "a config of no device rules denies by default what runc denies" {
	require cgroup_v1
	config 'del(.linux.resources.devices)'
	running
	run cat "$(cgroup devices)/devices.list"
	assert_line "c 1:3 rwm"
}

@test "a device with an unknown type is refused" {
	config '.linux.devices = [{path: "/dev/x", type: "z", major: 1,
		minor: 3}]'
	create
	assert_failure
	assert_nothing_left
}
