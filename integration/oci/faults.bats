# SPDX-License-Identifier: Apache-2.0
# create fails, or is killed, at each of its steps and at any of its calls;
# delete is; two commands meet. Nothing is left. Without a policy: with one,
# see egress/faults.bats.

load ../lib
load ../faults

needs root box osh strace

prepare() { fault_bundle; }

# A user namespace, hooks, a seccomp filter: other paths of the same steps.
full_config()
{
	config '.linux.namespaces += [{type: "user"}, {type: "cgroup"}] |
		.linux.uidMappings = [{containerID: 0, hostID: 100000,
			size: 65536}] |
		.linux.gidMappings = .linux.uidMappings |
		.mounts |= map(select(.destination | startswith("/sys") | not)) |
		.linux.maskedPaths = [] | .linux.readonlyPaths = [] |
		.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW"} |
		.hooks = {prestart: [{path: "/bin/true"}],
			createContainer: [{path: "/bin/true"}],
			poststop: [{path: "/bin/true"}]}'
}

@test "--fault with a step that is none is refused, and lists the steps" {
	local spec
	for spec in 0 8 13 7x 7:die 7: : -1 +7 007 99999999999 ''; do
		fault "$spec"
		assert_failure 1
		assert_output --partial 'parse option --fault:'
		assert_output --partial '1 read config, 2 compile policy'
		[ ! -e "$STATE/$ID" ]
	done
}

@test "create fails at each step: one line, nothing left" {
	fail_at_every_step
	full_config
	fail_at_every_step
}

@test "create dies at each step: delete --force removes everything" {
	die_at_every_step
	full_config
	die_at_every_step
}

@test "a call of create fails, any of them: one line, nothing left" {
	create_at_every_call error=EIO
}

@test "create is killed at any of its calls: delete removes everything" {
	create_at_every_call signal=KILL
	full_config
	create_at_every_call signal=KILL
}

@test "delete is killed at any of its calls: a second one finishes" {
	delete_at_every_call
}

@test "exec is killed at any of its calls: nothing of it stays" {
	exec_at_every_call
}

@test "two creates of one id at once: one wins, nothing left of the other" {
	creates_at_once
}

@test "delete while create runs: it waits, then removes everything" {
	delete_during_create
}

@test "the init killed while create waits for it: one line, nothing left" {
	remember
	config '.hooks = {createRuntime: [{path: "/bin/sh",
		args: ["sh", "-c", $t]}]}' --arg t \
		"kill -9 \$(sed -n 's/.*\"pid\": *\\([0-9]*\\).*/\\1/p')"
	create
	assert_failure 1
	assert_output --partial 'ended unexpectedly'
	assert_equal "$(wc -l <"$BUNDLE/out")" 1
	assert_nothing_new "the init killed in a hook"
}

@test "the init killed while its program runs: delete removes everything" {
	remember
	running
	kill -KILL "$PID"
	wait_state stopped
	rt delete "$ID"
	assert_nothing_new "the init killed"
}

@test "a process of the container that outlives its init goes, too" {
	config '.linux.namespaces |= map(select(.type != "pid"))'
	remember
	running 'sleep 300 & sleep 301 & exec sleep 302'
	kill -KILL "$PID"
	wait_state stopped
	rt delete "$ID"
	assert_nothing_new "the init killed, its children not"
}
