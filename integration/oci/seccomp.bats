# SPDX-License-Identifier: Apache-2.0
# The config's own seccomp filter: actions, operators, flags, the listener.

load ../lib

needs root box cc amd64

prepare()
{
	bundle
	add_probe
}

# seccomp RULES [FIELDS]: the config's filter, JSON of its syscalls.
seccomp()
{
	local fields=${2-}
	config '.linux.seccomp = ({defaultAction: "SCMP_ACT_ALLOW",
		architectures: ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86",
			"SCMP_ARCH_X32"], syscalls: $rules} + $fields)' \
		--argjson rules "$1" --argjson fields "${fields:-"{}"}"
}

@test "the filter is in force and its mode shows" {
	seccomp '[{"names": ["mkdir"], "action": "SCMP_ACT_ERRNO"}]'
	in_container 'grep ^Seccomp: /proc/self/status
		/bin/probe call mkdir s:/tmp/x 0755'
	assert_line --index 0 --partial 2
	assert_line --index 1 EPERM
}

@test "SCMP_ACT_ERRNO gives EPERM, or errnoRet" {
	seccomp '[{"names": ["mkdir"], "action": "SCMP_ACT_ERRNO",
			"errnoRet": 28},
		{"names": ["chmod"], "action": "SCMP_ACT_ERRNO"}]'
	in_container '/bin/probe call mkdir s:/tmp/x 0755
		/bin/probe call chmod s:/tmp 0755'
	assert_output "ENOSPC
EPERM"
}

@test "defaultAction ERRNO with defaultErrnoRet and a list of what is allowed" {
	local allowed
	allowed=$(jq -nc '[{names: ["execve", "brk", "mmap", "munmap",
		"mprotect", "read", "write", "close", "fstat", "newfstatat",
		"exit", "exit_group", "arch_prctl", "set_tid_address",
		"set_robust_list", "rseq", "prlimit64", "readlink",
		"readlinkat", "getrandom", "uname", "access", "fcntl",
		"futex", "rt_sigreturn", "capget", "capset", "prctl",
		"setgroups", "setuid", "setgid", "chdir", "fchdir", "openat",
		"openat2", "getdents64", "getcwd", "getpid", "getppid",
		"gettid", "epoll_pwait", "nanosleep", "sched_yield", "stat",
		"statx", "fstatfs", "faccessat2", "faccessat", "tgkill",
		"rt_sigaction", "rt_sigprocmask", "sigaltstack", "close_range",
		"epoll_ctl", "seccomp", "dup3", "poll", "ppoll", "sendto",
		"recvmsg", "sendmsg", "madvise", "lseek", "writev", "statfs",
		"umask", "setresuid", "setresgid", "getuid", "getgid",
		"geteuid", "getegid", "ioctl", "execveat", "setsid"],
		action: "SCMP_ACT_ALLOW"}]')
	seccomp "$allowed" '{"defaultAction": "SCMP_ACT_ERRNO",
		"defaultErrnoRet": 61}'
	program /bin/probe call mkdir s:/tmp/x 0755
	in_container
	assert_output ENODATA
}

@test "a call that the list does not know is ENOSYS, not EPERM" {
	# what is newer than the profile must look absent to programs
	seccomp '[{"names": ["mkdir", "getcwd"], "action": "SCMP_ACT_ALLOW"}]' \
		'{"defaultAction": "SCMP_ACT_ALLOW"}'
	in_container '/bin/probe call unknown'
	assert_output ENOSYS
}

@test "SCMP_ACT_KILL_PROCESS and SCMP_ACT_KILL end the program by SIGSYS" {
	local action
	for action in SCMP_ACT_KILL SCMP_ACT_KILL_THREAD SCMP_ACT_KILL_PROCESS; do
		seccomp "[{\"names\": [\"mkdir\"], \"action\": \"$action\"}]"
		in_container '/bin/probe call mkdir s:/tmp/x 0755; echo $?'
		assert_output --partial 159
	done
}

@test "SCMP_ACT_TRAP sends SIGSYS" {
	seccomp '[{"names": ["mkdir"], "action": "SCMP_ACT_TRAP"}]'
	in_container '/bin/probe call mkdir s:/tmp/x 0755; echo $?'
	assert_output --partial 159
}

@test "SCMP_ACT_LOG and SCMP_ACT_ALLOW let the call through" {
	seccomp '[{"names": ["mkdir"], "action": "SCMP_ACT_LOG"}]'
	in_container '/bin/probe call mkdir s:/tmp/x 0755'
	assert_output "ok 0"
}

@test "SCMP_ACT_TRACE without a tracer gives ENOSYS" {
	seccomp '[{"names": ["mkdir"], "action": "SCMP_ACT_TRACE",
		"errnoRet": 5}]'
	in_container '/bin/probe call mkdir s:/tmp/x 0755'
	assert_output ENOSYS
}

@test "every operator compares as it says" {
	local row op value two probe want
	# operator value valueTwo argument expected
	while read -r op value two probe want; do
		seccomp "[{\"names\": [\"getpriority\"],
			\"action\": \"SCMP_ACT_ERRNO\", \"errnoRet\": 5,
			\"args\": [{\"index\": 0, \"op\": \"SCMP_CMP_$op\",
				\"value\": $value, \"valueTwo\": $two}]}]"
		in_container "/bin/probe call getpriority $probe 0"
		[ "$output" = "$want" ] ||
			fail "$op $value $two with $probe: $output, not $want"
	done <<-END
	EQ 2 0 2 EIO
	EQ 2 0 1 ok 20
	NE 2 0 1 EIO
	NE 2 0 2 ok 20
	LT 2 0 1 EIO
	LT 2 0 2 ok 20
	LE 1 0 1 EIO
	LE 1 0 2 ok 20
	GT 1 0 2 EIO
	GT 1 0 1 ok 20
	GE 2 0 2 EIO
	GE 2 0 1 ok 20
	MASKED_EQ 2 2 2 EIO
	MASKED_EQ 2 2 1 ok 20
	END
}

@test "comparisons are of 64 bits and unsigned" {
	seccomp '[{"names": ["lseek"], "action": "SCMP_ACT_ERRNO",
		"errnoRet": 5, "args": [{"index": 1,
			"op": "SCMP_CMP_GT", "value": 4294967296}]}]'
	in_container '/bin/probe call lseek 99 4294967297 0
		/bin/probe call lseek 99 1 0
		/bin/probe call lseek 99 0xffffffffffffffff 0'
	assert_output "EIO
EBADF
EIO"
}

@test "several arguments of one rule must all match" {
	seccomp '[{"names": ["lseek"], "action": "SCMP_ACT_ERRNO",
		"errnoRet": 5, "args": [
			{"index": 1, "op": "SCMP_CMP_EQ", "value": 7},
			{"index": 2, "op": "SCMP_CMP_EQ", "value": 1}]}]'
	in_container '/bin/probe call lseek 99 7 1
		/bin/probe call lseek 99 7 0
		/bin/probe call lseek 99 6 1'
	assert_output "EIO
EBADF
EBADF"
}

@test "several comparisons of the same argument: any of them matches" {
	# what runc does with such a rule, since libseccomp refuses it
	seccomp '[{"names": ["lseek"], "action": "SCMP_ACT_ERRNO",
		"errnoRet": 5, "args": [
			{"index": 1, "op": "SCMP_CMP_EQ", "value": 7},
			{"index": 1, "op": "SCMP_CMP_EQ", "value": 8}]}]'
	in_container '/bin/probe call lseek 99 7 1
		/bin/probe call lseek 99 8 0
		/bin/probe call lseek 99 6 1'
	assert_output "EIO
EIO
EBADF"
}

@test "a syscall name that is not known is skipped, not fatal" {
	seccomp '[{"names": ["no_such_call", "mkdir"],
		"action": "SCMP_ACT_ERRNO"}]'
	in_container '/bin/probe call mkdir s:/tmp/x 0755'
	assert_line EPERM
}

@test "an unknown action, operator or architecture is refused by name" {
	seccomp '[{"names": ["mkdir"], "action": "SCMP_ACT_NO_SUCH"}]'
	create
	assert_failure
	assert_output --partial SCMP_ACT_NO_SUCH
	seccomp '[{"names": ["mkdir"], "action": "SCMP_ACT_ERRNO",
		"args": [{"index": 0, "op": "SCMP_CMP_NO_SUCH", "value": 1}]}]'
	create
	assert_failure
	assert_output --partial SCMP_CMP_NO_SUCH
	seccomp '[]' '{"architectures": ["SCMP_ARCH_NO_SUCH"]}'
	create
	assert_failure
	assert_output --partial SCMP_ARCH_NO_SUCH
	assert_nothing_left
}

@test "an argument index above five is refused" {
	seccomp '[{"names": ["mkdir"], "action": "SCMP_ACT_ERRNO",
		"args": [{"index": 6, "op": "SCMP_CMP_EQ", "value": 1}]}]'
	create
	assert_failure
	assert_nothing_left
}

@test "the flags of the specification are taken" {
	! is_runc || skip "runc 1.1 takes none"
	seccomp '[{"names": ["mkdir"], "action": "SCMP_ACT_ERRNO"}]' \
		'{"flags": ["SECCOMP_FILTER_FLAG_LOG",
			"SECCOMP_FILTER_FLAG_SPEC_ALLOW"]}'
	in_container '/bin/probe call mkdir s:/tmp/x 0755'
	assert_output EPERM
}

@test "WAIT_KILLABLE_RECV is taken where a listener is" {
	! is_runc || skip "runc #5172: 1.1 does not know it"
	listener
	seccomp '[{"names": ["mkdir"], "action": "SCMP_ACT_NOTIFY"}]' \
		"{\"listenerPath\": \"$BUNDLE/agent\",
		\"flags\": [\"SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV\"]}"
	in_container '/bin/probe call mkdir s:/tmp/x 0755'
	assert_output EXDEV
}

# listener [--close]: an agent on $BUNDLE/agent that answers each notified
# call with EXDEV; --close: it hangs up as soon as it has the descriptor.
listener()
{
	/usr/bin/python3 "$INTEGRATION/fixture/seccomp_agent.py" "$@" \
		"$BUNDLE/agent" >"$BUNDLE/agent.out" 2>&1 </dev/null 3>&- 4>&- &
	AGENT=$!
	wait_for test -S "$BUNDLE/agent"
}

@test "SCMP_ACT_NOTIFY: the agent at listenerPath gets state and descriptor" {
	listener
	seccomp '[{"names": ["mkdir"], "action": "SCMP_ACT_NOTIFY"}]' \
		"{\"listenerPath\": \"$BUNDLE/agent\",
		\"listenerMetadata\": \"some words\"}"
	in_container '/bin/probe call mkdir s:/tmp/x 0755'
	assert_output EXDEV
	wait "$AGENT" || :
	head -n 1 "$BUNDLE/agent.out" | holds '.metadata == "some words" and
		.state.id == $id and .pid > 0 and .ociVersion and
		(.fds | index("seccompFd") != null)' --arg id "$ID"
}

@test "calls that the set-up itself makes may be notified: no hang" {
	listener
	seccomp '[{"names": ["fcntl", "mkdir", "setsid", "getuid"],
		"action": "SCMP_ACT_NOTIFY"}]' \
		"{\"listenerPath\": \"$BUNDLE/agent\"}"
	RT_TIMEOUT=20 in_container '/bin/probe call mkdir s:/tmp/x 0755'
	[ "$status" -ne 124 ]
}

@test "an agent that is not there fails the create" {
	seccomp '[{"names": ["mkdir"], "action": "SCMP_ACT_NOTIFY"}]' \
		"{\"listenerPath\": \"$BUNDLE/no-such-agent\"}"
	RT_TIMEOUT=20 create
	assert_failure
	[ "$status" -ne 124 ]
	assert_nothing_left
}

@test "a listener that is gone: the call is ENOSYS, nothing hangs" {
	listener --close
	seccomp '[{"names": ["mkdir"], "action": "SCMP_ACT_NOTIFY"}]' \
		"{\"listenerPath\": \"$BUNDLE/agent\"}"
	RT_TIMEOUT=20 in_container 'sleep 0.5
		/bin/probe call mkdir s:/tmp/x 0755'
	assert_output ENOSYS
}

@test "SCMP_ACT_NOTIFY without listenerPath is refused" {
	seccomp '[{"names": ["mkdir"], "action": "SCMP_ACT_NOTIFY"}]'
	create
	assert_failure
	assert_nothing_left
}

@test "a filter without no_new_privs and as another user" {
	config '.process.noNewPrivileges = false | .process.user.uid = 1000'
	seccomp '[{"names": ["mkdir"], "action": "SCMP_ACT_ERRNO"}]'
	in_container 'id -u; /bin/probe call mkdir s:/tmp/x 0755'
	assert_output "1000
EPERM"
}

@test "Podman's default profile runs an ordinary program" {
	[ -e /usr/share/containers/seccomp.json ] ||
		skip "needs golang-github-containers-common: hack/bootstrap test"
	config '.linux.seccomp = $p[0]' --slurpfile p <(jq '{
		defaultAction, defaultErrnoRet,
		architectures: ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86"],
		syscalls: [.syscalls[] | select((.includes.caps // []) == [] and
			(.includes.arches // ["amd64"] | index("amd64")) and
			((.excludes.arches // []) | index("amd64") | not)) |
			{names, action} + (if .errnoRet then {errnoRet} else {} end)
			+ (if .args then {args} else {} end)]}' \
		/usr/share/containers/seccomp.json)
	in_container 'ls / >/dev/null && echo fine
		/bin/probe call mount s:a s:/tmp s:tmpfs 0 0
		/bin/probe call keyctl 0 0 0 0
		/bin/probe call unknown'
	assert_line --index 0 fine
	assert_line --index 1 EPERM
	assert_line --index 3 ENOSYS
}
