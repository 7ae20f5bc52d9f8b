# SPDX-License-Identifier: Apache-2.0
# What the container's process is: user, capabilities, limits, environment.

load ../lib

needs root box cc

prepare() { bundle; }

caps_of()
{
	sed -n "s/^Cap$1:[[:space:]]*//p" "/proc/$PID/status"
}

@test "user, group and supplementary groups" {
	config '.process.user = {uid: 1000, gid: 2000,
		additionalGids: [3000, 4000]}'
	in_container 'id -u; id -g; id -G'
	assert_line --index 0 1000
	assert_line --index 1 2000
	assert_line --index 2 "2000 3000 4000"
}

@test "without additionalGids there is no supplementary group" {
	in_container 'grep Groups: /proc/self/status'
	assert_output --regexp '^Groups:[[:space:]]*0?[[:space:]]*$'
}

@test "process.user.umask" {
	config '.process.user.umask = 63'
	in_container 'umask'
	assert_output 0077
}

@test "the default umask is 0022, whatever the caller's" {
	umask 0007
	in_container 'umask'
	assert_output 0022
}

@test "cwd is made current, and made where it is missing" {
	config '.process.cwd = "/made/here"'
	in_container 'pwd'
	assert_output /made/here
}

@test "cwd must be absolute" {
	config '.process.cwd = "relative"'
	create
	assert_failure
	assert_output --regexp -- "[cC]wd"
	assert_nothing_left
}

@test "the environment is the config's and nothing else" {
	config '.process.env = ["PATH=/bin", "A=b c", "EMPTY="]'
	SECRET=value in_container 'env'
	assert_line "A=b c"
	assert_line "EMPTY="
	refute_output --partial SECRET
	refute_output --partial OSH_
	refute_output --partial BATS_
}

@test "HOME is the user's, and / when the user has no entry" {
	in_container 'echo $HOME'
	assert_output /root
	config '.process.user.uid = 1000'
	in_container 'echo $HOME'
	assert_output /home/app
	config '.process.user.uid = 4242'
	in_container 'echo $HOME'
	assert_output /
	config '.process.env += ["HOME=/mine"]'
	in_container 'echo $HOME'
	assert_output /mine
}

@test "capabilities: every set as the config has it" {
	config '.process.capabilities = {
		bounding: ["CAP_CHOWN", "CAP_KILL", "CAP_SETUID"],
		permitted: ["CAP_CHOWN", "CAP_KILL"],
		effective: ["CAP_KILL"],
		inheritable: ["CAP_KILL"], ambient: ["CAP_KILL"]}'
	running
	[ "$(caps_of Bnd)" = 00000000000000a1 ]
	[ "$(caps_of Prm)" = 0000000000000021 ] ||
		[ "$(caps_of Prm)" = 00000000000000a1 ]
	[ "$(caps_of Inh)" = 0000000000000020 ]
	[ "$(caps_of Amb)" = 0000000000000020 ]
}

@test "a user that is not root keeps ambient capabilities only" {
	config '.process.user.uid = 1000 | .process.capabilities = {
		bounding: ["CAP_CHOWN", "CAP_KILL"],
		permitted: ["CAP_CHOWN", "CAP_KILL"],
		effective: ["CAP_CHOWN", "CAP_KILL"],
		inheritable: ["CAP_KILL"], ambient: ["CAP_KILL"]}'
	running
	[ "$(caps_of Eff)" = 0000000000000020 ]
	[ "$(caps_of Prm)" = 0000000000000020 ]
}

@test "absent capabilities: all sets are empty, the bounding set too" {
	config 'del(.process.capabilities)'
	running
	local name
	for name in Eff Prm Inh Amb Bnd; do
		[ "$(caps_of $name)" = 0000000000000000 ] ||
			fail "Cap$name is $(caps_of $name)"
	done
}

@test "an unknown capability is ignored with a warning or refused, by name" {
	config '.process.capabilities.bounding += ["CAP_NO_SUCH"]'
	in_container /bin/true
	[ "$status" -eq 0 ] || assert_output --partial CAP_NO_SUCH
}

@test "a capability that the runtime itself lacks fails with its name or EPERM" {
	grep -q '^CapBnd:.*1ff' /proc/self/status ||
		skip "needs a machine that lacks a capability"
	local lacking
	lacking=$((~16#$(sed -n 's/^CapBnd:[[:space:]]*//p' /proc/self/status) &
		0x1000000))
	[ $lacking -ne 0 ] || skip "needs a machine without CAP_SYS_RESOURCE"
	config '.process.capabilities |= map_values(. + ["CAP_SYS_RESOURCE"])'
	in_container /bin/true
	[ "$status" -eq 0 ] || assert_output --regexp -- \
		"CAP_SYS_RESOURCE|operation not permitted"
	assert_nothing_left
}

@test "noNewPrivileges true and false" {
	in_container 'grep NoNewPrivs /proc/self/status'
	assert_output --partial 1
	config '.process.noNewPrivileges = false'
	in_container 'grep NoNewPrivs /proc/self/status'
	assert_output --partial 0
}

@test "rlimits are set, soft and hard" {
	config '.process.rlimits = [
		{type: "RLIMIT_NOFILE", soft: 111, hard: 222},
		{type: "RLIMIT_CORE", soft: 0, hard: 0},
		{type: "RLIMIT_STACK", soft: 1048576, hard: 2097152}]'
	in_container 'ulimit -Sn; ulimit -Hn; ulimit -c; ulimit -Ss'
	assert_output "111
222
0
1024"
}

@test "an unknown or a doubled rlimit is refused" {
	config '.process.rlimits = [{type: "RLIMIT_NOSUCH", soft: 1, hard: 1}]'
	create
	assert_failure
	assert_output --partial RLIMIT_NOSUCH
	! is_runc || skip "runc 1.1 takes doubled ones"
	config '.process.rlimits = [
		{type: "RLIMIT_CORE", soft: 1, hard: 1},
		{type: "RLIMIT_CORE", soft: 2, hard: 2}]'
	create
	assert_failure
	assert_nothing_left
}

@test "an rlimit above what the caller may set fails by name" {
	[ "$((16#$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status) &
		0x1000000))" -eq 0 ] || skip "needs a machine without CAP_SYS_RESOURCE"
	config '.process.rlimits = [{type: "RLIMIT_NOFILE",
		soft: 1000000000, hard: 1000000000}]'
	create
	assert_failure
	assert_output --regexp -- "(RLIMIT_NOFILE|rlimit).*not permitted"
	assert_nothing_left
}

@test "oomScoreAdj is set" {
	config '.process.oomScoreAdj = 456'
	in_container 'cat /proc/self/oom_score_adj'
	assert_output 456
}

@test "without oomScoreAdj it is the caller's" {
	in_container 'cat /proc/self/oom_score_adj'
	assert_output "$(cat /proc/self/oom_score_adj)"
}

@test "hostname and domainname" {
	in_container 'hostname; cat /proc/sys/kernel/hostname'
	assert_output "osh-test
osh-test"
	! is_runc || skip "runc 1.1 does not know domainname"
	config '.domainname = "example.test"'
	in_container 'cat /proc/sys/kernel/domainname'
	assert_output example.test
}

@test "the machine's own hostname is not touched" {
	local before
	before=$(hostname)
	in_container 'hostname'
	[ "$(hostname)" = "$before" ]
}

@test "sysctl is set in the container only" {
	config '.linux.sysctl = {"net.ipv4.ip_forward": "0",
		"kernel.shm_rmid_forced": "1", "net.ipv4.ip_default_ttl": "42"}'
	in_container 'cat /proc/sys/net/ipv4/ip_default_ttl \
		/proc/sys/kernel/shm_rmid_forced'
	assert_output "42
1"
	[ "$(cat /proc/sys/net/ipv4/ip_default_ttl)" != 42 ]
}

@test "a sysctl that is not of a namespace of the container is refused" {
	config '.linux.sysctl = {"kernel.panic": "7"}'
	create
	assert_failure
	assert_output --partial kernel.panic
	config '.linux.sysctl = {"net.ipv4.ip_default_ttl": "42"} |
		.linux.namespaces |= map(select(.type != "network"))'
	create
	assert_failure
	[ "$(cat /proc/sys/net/ipv4/ip_default_ttl)" != 42 ]
	assert_nothing_left
}

@test "personality is set before the seccomp filter is" {
	! is_runc || skip "runc 1.1 does not know personality"
	add_probe
	config '.linux.personality = {domain: "LINUX32"} |
		.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [
		{names: ["personality"], action: "SCMP_ACT_ERRNO"}]}'
	in_container 'uname -m; /bin/probe call personality 0xffffffff'
	assert_line --index 0 i686
	assert_line --index 1 EPERM
}

@test "scheduler and ioPriority are set" {
	! is_runc || skip "runc 1.1 does not know them"
	add_probe
	config '.process.scheduler = {policy: "SCHED_BATCH", nice: 5}'
	program /bin/probe nice
	in_container
	assert_output "3 5"
	config 'del(.process.scheduler) | .process.ioPriority =
		{class: "IOPRIO_CLASS_BE", priority: 6}'
	script 'exec sleep 300'
	created
	[ "$(ionice -p "$PID")" = "best-effort: prio 6" ]
}

@test "execCPUAffinity narrows exec'd processes" {
	! is_runc || skip "runc 1.1 does not know it"
	[ "$(nproc)" -gt 1 ] || skip "needs a second processor"
	add_probe
	config '.process.execCPUAffinity = {initial: "0", final: "0"}'
	running
	run rt exec "$ID" /bin/probe affinity
	assert_output 1
}

@test "more than 1024 processors" {
	[ "$(nproc --all)" -gt 1024 ] ||
		skip "needs a machine of more than 1024 processors"
	add_probe
	program /bin/probe affinity
	in_container
	assert_success
}

@test "the runtime's environment and memory stay out of the container" {
	running
	run tr '\0' '\n' <"/proc/$PID/environ"
	refute_output --partial OSH_
	[ "$(readlink "/proc/$PID/exe")" != "$OSH_RUNTIME" ]
	[ "$(tr '\0' ' ' <"/proc/$PID/cmdline")" = "sleep 300 " ]
}

@test "process.args may be empty only with a clear error" {
	config '.process.args = []'
	create
	assert_failure
	assert_output --partial "args"
	assert_nothing_left
}

@test "a script with an interpreter that is missing is reported" {
	printf '#!/no/such/interpreter\n' >"$ROOTFS/bin/broken"
	chmod +x "$ROOTFS/bin/broken"
	program broken
	in_container
	assert_failure
	assert_output --partial "no such file or directory"
}
