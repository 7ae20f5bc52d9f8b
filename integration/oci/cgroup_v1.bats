# SPDX-License-Identifier: Apache-2.0
# Control groups of version 1 by cgroupfs: limits, joins, pause, update.

load ../lib

needs root box cgroup_v1

prepare() { bundle; }

# value CONTROLLER FILE
value()
{
	cat "$(cgroup "$1")/$2"
}

limits()
{
	config ".linux.resources += $1"
}

@test "the init is in the config's cgroup of every hierarchy" {
	running
	local row
	while IFS=: read -r _ row path; do
		case $row in
		*hugetlb* | '') continue ;;
		esac
		[ "$path" = "/osh-test/$ID" ] || fail "$row is at $path"
	done <"/proc/$PID/cgroup"
}

@test "memory: limit, reservation, swap, swappiness" {
	limits '{memory: {limit: 67108864, reservation: 33554432,
		swappiness: 20}}'
	running
	[ "$(value memory memory.limit_in_bytes)" -eq 67108864 ]
	[ "$(value memory memory.soft_limit_in_bytes)" -eq 33554432 ]
	[ "$(value memory memory.swappiness)" -eq 20 ]
}

@test "memory: limit and swap together, and -1 for none" {
	[ -e /sys/fs/cgroup/memory/memory.memsw.limit_in_bytes ] ||
		skip "needs swap accounting"
	limits '{memory: {limit: 67108864, swap: 134217728}}'
	running
	[ "$(value memory memory.memsw.limit_in_bytes)" -eq 134217728 ]
	rt delete --force "$ID"
	limits '{memory: {limit: 67108864, swap: -1}}'
	running
	[ "$(value memory memory.memsw.limit_in_bytes)" -gt 134217728 ]
}

@test "memory: disableOOMKiller" {
	limits '{memory: {limit: 67108864, disableOOMKiller: true}}'
	running
	value memory memory.oom_control | grep -q "oom_kill_disable 1"
}

@test "memory: a program that takes too much is killed" {
	limits '{memory: {limit: 16777216}}'
	in_container 'tail /dev/zero; echo $?'
	assert_output --partial 137
}

@test "cpu: shares, quota, period" {
	limits '{cpu: {shares: 512, quota: 50000, period: 100000}}'
	running
	[ "$(value cpu cpu.shares)" -eq 512 ]
	[ "$(value cpu cpu.cfs_quota_us)" -eq 50000 ]
	[ "$(value cpu cpu.cfs_period_us)" -eq 100000 ]
}

@test "cpu: cpus and mems of the cpuset" {
	limits '{cpu: {cpus: "0", mems: "0"}}'
	in_container 'grep Cpus_allowed_list /proc/self/status'
	assert_output --regexp 'Cpus_allowed_list:[[:space:]]0$'
}

@test "without a cpuset the container has the parent's processors" {
	in_container 'grep Cpus_allowed_list /proc/self/status'
	assert_output "$(grep Cpus_allowed_list /proc/self/status)"
}

@test "pids.limit is set and in force" {
	limits '{pids: {limit: 5}}'
	running
	[ "$(value pids pids.max)" = 5 ]
	run rt exec "$ID" /bin/sh -c 'for i in 1 2 3 4 5 6 7; do sleep 1 & done'
	assert_output --partial "fork"
}

@test "pids.limit: -1 is no limit, 0 is not taken for none by accident" {
	limits '{pids: {limit: -1}}'
	running
	[ "$(value pids pids.max)" = max ]
	rt delete --force "$ID"
	! is_runc || skip "runc #4949: 1.1 ignores 0"
	limits '{pids: {limit: 0}}'
	create
	if [ "$status" -eq 0 ]; then
		[ "$(value pids pids.max)" != max ]
	fi
}

@test "blkio: weight and throttles" {
	local device
	device=$(stat -c '%Hd' /) || device=254
	[ -e /sys/fs/cgroup/blkio/blkio.throttle.read_bps_device ] ||
		skip "needs blkio throttling"
	device=$(lsblk -ndro MAJ:MIN 2>/dev/null | head -n 1)
	[ -n "$device" ] || skip "needs a block device"
	limits "{blockIO: {throttleReadBpsDevice: [{major: ${device%:*},
		minor: ${device#*:}, rate: 1048576}]}}"
	running
	value blkio blkio.throttle.read_bps_device |
		grep -q "^$device 1048576"
}

@test "a resource that this machine has no file for is refused by name" {
	[ ! -e /sys/fs/cgroup/hugetlb ] || skip "needs a machine without hugetlb"
	limits '{hugepageLimits: [{pageSize: "2MB", limit: 2097152}]}'
	create
	[ "$status" -eq 0 ] || assert_output --partial hugetlb
}

@test "a value that the kernel refuses fails the create by file and value" {
	limits '{cpu: {cpus: "4095"}}'
	create
	assert_failure
	assert_output --partial cpuset
	assert_nothing_left
}

@test "update changes memory, cpu and pids by options" {
	limits '{memory: {limit: 67108864}}'
	running
	rt update --memory 33554432 --cpu-share 200 --cpu-quota 30000 \
		--cpu-period 100000 --pids-limit 44 "$ID"
	[ "$(value memory memory.limit_in_bytes)" -eq 33554432 ]
	[ "$(value cpu cpu.shares)" -eq 200 ]
	[ "$(value cpu cpu.cfs_quota_us)" -eq 30000 ]
	[ "$(value pids pids.max)" -eq 44 ]
}

@test "update takes a file, and stdin for a dash" {
	running
	echo '{"memory": {"limit": 50331648}, "pids": {"limit": 55}}' \
		>"$BUNDLE/resources.json"
	rt update --resources="$BUNDLE/resources.json" "$ID"
	[ "$(value memory memory.limit_in_bytes)" -eq 50331648 ]
	[ "$(value pids pids.max)" -eq 55 ]
	echo '{"pids": {"limit": 66}}' | rt update --resources - "$ID"
	[ "$(value pids pids.max)" -eq 66 ]
	[ "$(value memory memory.limit_in_bytes)" -eq 50331648 ]
	echo '{"pids": {"limit": 77}}' | rt update --resources=- "$ID"
	[ "$(value pids pids.max)" -eq 77 ]
}

@test "update keeps the device rules" {
	running
	local before
	before=$(value devices devices.list)
	rt update --pids-limit 44 "$ID"
	[ "$(value devices devices.list)" = "$before" ]
}

@test "update of a missing container and of nonsense is refused" {
	run rt update --pids-limit 5 no-such-container
	assert_failure
	assert_output --partial "container does not exist"
	running
	echo '{"memory": {"limit": "much"}}' >"$BUNDLE/resources.json"
	run rt update --resources "$BUNDLE/resources.json" "$ID"
	assert_failure
	run rt update --memory abc "$ID"
	assert_failure
}

@test "pause freezes, resume thaws, the states say so" {
	running 'i=0; while :; do i=$((i+1)); echo $i; sleep 0.05; done'
	wait_for test -s "$BUNDLE/out"
	rt pause "$ID"
	run state_of
	assert_output paused
	local size
	size=$(stat -c %s "$BUNDLE/out")
	sleep 0.3
	[ "$(stat -c %s "$BUNDLE/out")" -eq "$size" ]
	rt resume "$ID"
	run state_of
	assert_output running
	more() { [ "$(stat -c %s "$BUNDLE/out")" -gt "$size" ]; }
	wait_for more
}

@test "a paused container: exec is refused, kill and delete --force work" {
	running
	rt pause "$ID"
	run rt exec "$ID" /bin/true
	assert_failure
	assert_output --partial paused
	RT_TIMEOUT=20 rt delete --force "$ID"
	assert_nothing_left
}

@test "pause of a stopped, resume of a running container are refused" {
	running
	run rt resume "$ID"
	assert_failure
	rt kill "$ID" KILL
	wait_state stopped
	run rt pause "$ID"
	assert_failure
}

@test "without cgroupsPath the container gets a group of its own" {
	config 'del(.linux.cgroupsPath)'
	running
	local path
	path=$(sed -n 's/^[0-9]*:pids://p' "/proc/$PID/cgroup")
	[ "$path" != / ]
	[ "$(wc -l <"/sys/fs/cgroup/pids$path/cgroup.procs")" -eq 1 ]
	rt delete --force "$ID"
	[ ! -e "/sys/fs/cgroup/pids$path" ]
}

@test "two containers of one cgroup path do not kill each other" {
	running
	local first=$PID second=$ID-second
	script 'exit 0'
	run rt run --bundle "$BUNDLE" "$second"
	rt delete --force "$second" || :
	kill -0 "$first"
	run state_of
	assert_output running
}

@test "a cgroup path of / or that climbs out never harms the machine" {
	local path
	for path in / /../../ ../../.. /osh-test/../..; do
		config '.linux.cgroupsPath = $p' --arg p "$path"
		create
		rt kill --all "$ID" KILL 2>/dev/null || :
		rt delete --force "$ID" 2>/dev/null || :
		kill -0 $$
	done
	require osh
	config '.linux.cgroupsPath = "/"'
	create
	assert_failure
}

@test "a folder that is no hierarchy is not taken for one" {
	# net_prio, net_cls and perf_event may be plain folders of a tmpfs
	mkdir -p /sys/fs/cgroup/net_cls
	[ "$(stat -f -c %T /sys/fs/cgroup/net_cls)" = tmpfs ] ||
		skip "needs a machine without net_cls"
	running
	[ ! -e "/sys/fs/cgroup/net_cls/osh-test/$ID" ]
}

@test "the machine's cgroup v2 side with controllers of its own is accepted" {
	[ -e /sys/fs/cgroup/unified/cgroup.controllers ] ||
		skip "needs a hybrid machine"
	running
	grep -q "^0::/osh-test/$ID$" "/proc/$PID/cgroup"
}

@test "events --stats prints one record of JSON" {
	rt events --help >/dev/null 2>&1 ||
		skip "needs a runtime with events: this one has no such command"
	running
	rt events --stats "$ID" | holds '.type == "stats" and
		.data.pids.current >= 1 and .data.memory.usage.usage > 0'
}
