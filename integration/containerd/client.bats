# SPDX-License-Identifier: Apache-2.0
# What ctr's users do with any runtime: no policy, nothing denied.

load ../lib
needs root box containerd

prepare_file()
{
	host_config 'when_missing: none'
	c start
}

prepare() { ID=t$BATS_TEST_NUMBER; }

teardown()
{
	[ -z "$OSH_MISSING" ] || return 0
	c ctr task kill --signal KILL "$ID" >/dev/null 2>&1 || :
	c ctr task delete --force "$ID" >/dev/null 2>&1 || :
	c ctr container delete "$ID" >/dev/null 2>&1 || :
}

IMAGE=localhost/busybox:latest

# c_run OPTION... ID ARG...
c_run()
{
	c ctr run --runc-binary "$OSH_RUNTIME" "$@"
}

sleeper()
{
	c_run --detach "$@" $IMAGE "$ID" sleep 300
}

@test "run: output and exit status" {
	run c_run --rm $IMAGE "$ID" sh -c 'echo out; exit 42'
	assert_failure
	assert_output --partial out
}

@test "run: a missing program" {
	run c_run --rm $IMAGE "$ID" nosuchprogram
	assert_failure
	assert_error 'exec: "nosuchprogram": executable file not found in $PATH'
}

@test "run: environment, cwd, mounts, read-only" {
	mkdir -p "$OSH_BOX/volume"
	echo content >"$OSH_BOX/volume/file"
	run c_run --rm --env A=b --cwd /tmp --read-only \
		--mount "type=bind,src=$OSH_BOX/volume,dst=/v,options=rbind:ro" \
		$IMAGE "$ID" sh -c 'echo $A; pwd; cat /v/file; touch /x'
	assert_line b
	assert_line /tmp
	assert_line content
	assert_output --partial "Read-only"
}

@test "run: a terminal" {
	run command script -q -e -c "'$CLIENTS/containerd' ctr run --rm --tty \
		--runc-binary '$OSH_RUNTIME' $IMAGE $ID tty" /dev/null
	assert_output --partial /dev/pts/0
}

@test "run: memory, cpus" {
	require cgroup_v1
	sleeper --memory-limit 67108864 --cpus 0.5
	run cat /sys/fs/cgroup/memory/default/"$ID"/memory.limit_in_bytes \
		/sys/fs/cgroup/cpu/default/"$ID"/cpu.cfs_quota_us
	assert_output "67108864
50000"
}

@test "run: privileged" {
	run c_run --rm --privileged $IMAGE "$ID" \
		sh -c 'mount -t tmpfs x /tmp && echo did'
	assert_output did
}

@test "run: --net-host, --with-ns, --cni" {
	run c_run --rm --net-host $IMAGE "$ID" readlink /proc/self/ns/net
	assert_output "$(readlink /proc/self/ns/net)"
	ip netns add mine
	ip -n mine link add marker type bridge
	run c_run --rm --with-ns network:/run/netns/mine $IMAGE "$ID" \
		cat /proc/net/dev
	ip netns del mine
	assert_output --partial marker
	run c_run --rm --cni $IMAGE "$ID" ip -o addr
	assert_output --partial 10.99.
}

@test "exec: output, status, terminal" {
	sleeper
	run c ctr task exec --exec-id e1 "$ID" sh -c 'echo out; exit 9'
	assert_output --partial out
	[ "$status" -ne 0 ]
	run command script -q -e -c "'$CLIENTS/containerd' ctr task exec --tty \
		--exec-id e2 $ID tty" /dev/null
	assert_output --partial /dev/pts
}

@test "pause, resume, metrics, ps, kill" {
	sleeper
	c ctr task pause "$ID"
	run c ctr task ls
	assert_output --regexp "$ID +[0-9]+ +PAUSED"
	c ctr task resume "$ID"
	run c ctr task metrics "$ID"
	assert_success
	run c ctr task ps "$ID"
	assert_success
	assert_equal "${#lines[@]}" 2
	c ctr task kill --signal TERM "$ID"
	c ctr task kill --signal KILL "$ID"
	gone() { c ctr task ls | grep -q "$ID .*STOPPED"; }
	wait_for gone
}

@test "a task can be deleted and the container started again" {
	sleeper
	c ctr task kill --signal KILL "$ID"
	gone() { c ctr task ls | grep -q "$ID .*STOPPED"; }
	wait_for gone
	c ctr task delete "$ID"
	c ctr task start --detach "$ID"
	run c ctr task ls
	assert_output --regexp "$ID +[0-9]+ +RUNNING"
}

@test "a shim that was killed: the next delete cleans up" {
	sleeper
	local pid
	pid=$(c ctr task ls | awk -v id="$ID" '$1 == id { print $2 }')
	kill -KILL "$(pgrep -f "containerd-shim.* -id $ID ")"
	gone() { [ ! -d "/proc/$pid" ]; }
	wait_for gone
	empty() { [ -z "$(find /sys/fs/cgroup -path "*default/$ID")" ]; }
	wait_for empty
}

@test "a user namespace by --uidmap" {
	run c_run --rm --uidmap 0:100000:65536 --gidmap 0:100000:65536 \
		--remap-labels $IMAGE "$ID" cat /proc/self/uid_map
	[ "$status" -eq 0 ] || skip "needs a ctr that can remap: $output"
	assert_output --regexp '0 +100000 +65536'
}
