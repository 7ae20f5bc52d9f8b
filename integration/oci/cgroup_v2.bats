# SPDX-License-Identifier: Apache-2.0
# Pure cgroup v2: what each resource becomes.

load ../lib

needs root box cgroup_v2

prepare() { bundle; }

value()
{
	cat "/sys/fs/cgroup/osh-test/$ID/$1"
}

@test "memory, swap, cpu and pids" {
	config '.linux.resources += {
		memory: {limit: 67108864, reservation: 33554432,
			swap: 134217728},
		cpu: {quota: 50000, period: 100000}, pids: {limit: 5}}'
	running
	[ "$(value memory.max)" -eq 67108864 ]
	[ "$(value memory.low)" -eq 33554432 ]
	[ "$(value memory.swap.max)" -eq 67108864 ]
	[ "$(value cpu.max)" = "50000 100000" ]
	[ "$(value pids.max)" -eq 5 ]
}

@test "cpu shares become a weight: 1024 is the kernel's default of 100" {
	! is_runc || skip "runc #4772: 1.1 has the older formula"
	config '.linux.resources += {cpu: {shares: 1024}}'
	running
	[ "$(value cpu.weight)" -eq 100 ]
}

@test "resources.unified writes the files that it names" {
	config '.linux.resources += {unified: {"memory.high": "50331648"}}'
	running
	[ "$(value memory.high)" -eq 50331648 ]
}

@test "the device rules are a program on the group" {
	config '.process.capabilities |= map_values(. + ["CAP_MKNOD"])'
	in_container 'mknod /tmp/sda b 8 0; cat /tmp/sda 2>&1 | head -c 100'
	assert_output --partial "not permitted"
}

@test "pause and resume by cgroup.freeze" {
	running
	rt pause "$ID"
	[ "$(value cgroup.freeze)" -eq 1 ]
	run state_of
	assert_output paused
	rt resume "$ID"
	[ "$(value cgroup.freeze)" -eq 0 ]
}

@test "delegation: exec works when processes were moved to a sub-cgroup" {
	running
	mkdir "/sys/fs/cgroup/osh-test/$ID/sub"
	echo "$PID" >"/sys/fs/cgroup/osh-test/$ID/sub/cgroup.procs"
	echo +pids >"/sys/fs/cgroup/osh-test/$ID/cgroup.subtree_control"
	run rt exec "$ID" echo fine
	assert_output fine
}
