# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2016,SC2034,SC2185
#
# What the tests of faults share: load it after lib. A test remembers what
# there is, lets a command fail or die, and then wants to find just that again:
# no process, namespace, mount, cgroup, table, state or socket more.

# Control groups are the whole machine's: all that these tests make, osh-shim's
# beside the container's, is beneath a folder of the box.
GROUP=faults-$BOX_ID

# fault_bundle [FILTER]: lib's bundle, its cgroup beneath $GROUP.
fault_bundle()
{
	bundle "$@"
	config '.linux.cgroupsPath = $p' --arg p "/osh-test/$GROUP/$ID"
	script 'exec sleep 300'
}

# One line for everything that a container may leave behind.
everything()
{
	local ours='osh-(runtime|policy|shim|resolver)|busybox'
	# processes come and go while find looks
	find -ignore_readdir_race /proc/[0-9]* -maxdepth 1 -name exe \
		-printf 'process %l\n' 2>/dev/null |
		awk -v ours="$ours" '$0 ~ ours' | sort
	find -ignore_readdir_race /proc/[0-9]*/ns -type l \
		-printf 'namespace %l\n' 2>/dev/null | awk /:/ | sort -u
	# but namespaces of the machine, which others name and unname
	cut -d' ' -f1,4- /proc/self/mountinfo | sed 's/^/mount /' |
		awk '!/ \/run\/netns\//'
	[ -z "${NETNS-}" ] ||
		ip netns exec "$(basename "$NETNS")" nft list tables
	find /sys/fs/cgroup -type d -path "*/$GROUP/*" -printf 'cgroup %p\n' \
		2>/dev/null || :
	find "$STATE" /run/osh-runtime -mindepth 1 -name .shims -o \
		-path '*/.cache*' ! -name '*.tmp' -o -printf 'state %p\n' \
		2>/dev/null || :
}

# remember: what there is, after one container has come and gone (caches).
remember()
{
	created
	rt delete --force "$ID"
	everything >"$BUNDLE/before"
}

# nothing_new: is all as it was? What is more or less goes to $BUNDLE/new.
nothing_new()
{
	everything >"$BUNDLE/after"
	diff "$BUNDLE/before" "$BUNDLE/after" >"$BUNDLE/new"
}

assert_nothing_new()
{
	nothing_new || fail "$1: not as before: $(cat "$BUNDLE/new")"
}

# steps: the numbers of create's steps, as the program itself tells them.
steps()
{
	local numbers
	numbers=$(rt --fault 0 create --bundle "$BUNDLE" "$ID" 2>&1 |
		grep -oE '[0-9]+ [a-z]' | cut -d' ' -f1)
	[ "$(wc -l <<<"$numbers")" -ge 10 ] || fail "no list of steps"
	echo "$numbers"
}

# fault SPEC: create with it, as lib's create does.
fault()
{
	status=0
	rt --fault "$1" create --bundle "$BUNDLE" "$ID" </dev/null \
		>"$BUNDLE/out" 2>&1 || status=$?
	output=$(cat "$BUNDLE/out")
}

# fail_at_every_step: one clear line, and nothing is left by create itself.
fail_at_every_step()
{
	local step numbers
	remember
	numbers=$(steps)
	for step in $numbers; do
		fault "$step"
		assert_equal "$step: $status" "$step: 1"
		assert_output --partial "fault injected at step $step"
		assert_equal "$step: $(wc -l <"$BUNDLE/out") line" \
			"$step: 1 line"
		assert_nothing_new "create failed at step $step"
		rt delete --force "$ID"
	done
}

# die_at_every_step: what is left, delete removes.
die_at_every_step()
{
	local step numbers
	remember
	numbers=$(steps)
	for step in $numbers; do
		fault "$step:kill"
		assert_equal "$step: $status" "$step: 137"
		rt delete --force "$ID"
		assert_nothing_new "create died at step $step"
		# and the id is free
		created
		rt delete --force "$ID"
	done
}

# The calls by which create makes something, or tells another process.
CALLS=(clone clone3 mknodat renameat unlinkat flock socketpair pidfd_getfd
	bind listen connect sendmsg recvmsg wait4)

# traced COMMAND...: the runtime under strace, options in TRACE.
traced()
{
	status=0
	timeout --foreground -k 5 60 strace -o "$BUNDLE/trace" "${TRACE[@]}" \
		"$OSH_RUNTIME" --root "$STATE" \
		--host-config "${HOST_CONFIG:-$(plain_host_config)}" "$@" \
		</dev/null >"$BUNDLE/out" 2>&1 3>&- 4>&- || status=$?
}

# points COMMAND...: CALL N of each of CALLS that the command makes.
points()
{
	local all call n i
	all=$(IFS=,; echo "${CALLS[*]}")
	TRACE=(-e "trace=$all")
	traced "$@"
	[ $status -eq 0 ] || fail "traced $*: $(cat "$BUNDLE/out")"
	for call in "${CALLS[@]}"; do
		n=$(grep -c "^$call(" "$BUNDLE/trace") || :
		for ((i = 1; i <= n; i++)); do
			echo "$call $i"
		done
	done
}

# create_at_every_call KIND: KIND is what strace does at the call, signal=KILL
# or error=EIO. A create that succeeds all the same is fine, too.
create_at_every_call()
{
	local call n
	local create=(create --bundle "$BUNDLE" "$ID")
	remember
	points "${create[@]}" >"$BUNDLE/points"
	rt delete --force "$ID"
	while read -r call n; do
		TRACE=(-e "trace=$call" -e "inject=$call:$1:when=$n")
		traced "${create[@]}"
		case $status in
		0 | 137) ;;
		1)
			[ "$(wc -l <"$BUNDLE/out")" -eq 1 ] ||
				fail "$call $n: $(cat "$BUNDLE/out")"
			assert_nothing_new "create failed at $call $n"
			;;
		*) fail "$call $n: status $status: $(cat "$BUNDLE/out")" ;;
		esac
		rt delete --force "$ID" 3>&- ||
			fail "delete after $1 at $call $n"
		assert_nothing_new "create at $call $n, $1"
	done <"$BUNDLE/points"
	[ "$(wc -l <"$BUNDLE/points")" -ge 10 ]
}

# delete_at_every_call: killed there, a second delete finishes it.
delete_at_every_call()
{
	local call n
	local delete=(delete --force "$ID")
	local CALLS=(unlinkat pidfd_send_signal connect sendmsg recvmsg flock
		mkdirat poll)
	remember
	created
	points "${delete[@]}" >"$BUNDLE/points"
	assert_nothing_new "delete, traced"
	while read -r call n; do
		created
		TRACE=(-e "trace=$call" -e "inject=$call:signal=KILL:when=$n")
		traced "${delete[@]}"
		case $status in
		0 | 137) ;;
		*) fail "$call $n: status $status: $(cat "$BUNDLE/out")" ;;
		esac
		rt delete --force "$ID"
		assert_nothing_new "delete killed at $call $n"
	done <"$BUNDLE/points"
	[ "$(wc -l <"$BUNDLE/points")" -ge 10 ]
}

# exec_at_every_call: killed there, nothing of it stays in the container.
exec_at_every_call()
{
	local call n
	local exec=(exec "$ID" /bin/true)
	running
	everything >"$BUNDLE/before"
	points "${exec[@]}" >"$BUNDLE/points"
	while read -r call n; do
		TRACE=(-e "trace=$call" -e "inject=$call:signal=KILL:when=$n")
		traced "${exec[@]}"
		case $status in
		0 | 137) ;;
		*) fail "$call $n: status $status: $(cat "$BUNDLE/out")" ;;
		esac
		# the child ends when it finds its parent gone
		wait_for nothing_new
	done <"$BUNDLE/points"
	[ "$(wc -l <"$BUNDLE/points")" -ge 5 ]
	run rt exec "$ID" /bin/echo well
	assert_output well
}

# in_background NAME COMMAND...: its pid in JOB, what it says in $BUNDLE/$1.
in_background()
{
	local out=$BUNDLE/$1
	shift
	"$OSH_RUNTIME" --root "$STATE" \
		--host-config "${HOST_CONFIG:-$(plain_host_config)}" "$@" \
		</dev/null >"$out" 2>&1 3>&- 4>&- &
	JOB=$!
}

# creates_at_once: of two for one id, one wins, nothing is left of the other.
creates_at_once()
{
	local i a b won
	remember
	for ((i = 0; i < 10; i++)); do
		in_background a create --bundle "$BUNDLE" "$ID"
		a=$JOB
		in_background b create --bundle "$BUNDLE" "$ID"
		b=$JOB
		won=0
		! wait "$a" || won=$((won + 1))
		! wait "$b" || won=$((won + 1))
		assert_equal $won 1
		run cat "$BUNDLE/a" "$BUNDLE/b"
		assert_output --partial "container with id $ID already exists"
		run state_of
		assert_output created
		rt delete --force "$ID"
		assert_nothing_new "two creates of one id"
	done
}

# delete_during_create: delete waits for it, then removes all.
delete_during_create()
{
	local create
	remember
	config '.hooks = {createRuntime: [{path: "/bin/sh",
		args: ["sh", "-c", $t]}]}' --arg t \
		"touch $BUNDLE/in-hook; while [ -e $BUNDLE/in-hook ]; do
			sleep 0.05; done"
	in_background a create --bundle "$BUNDLE" "$ID"
	create=$JOB
	wait_for test -e "$BUNDLE/in-hook"
	in_background b delete --force "$ID"
	kill -0 "$JOB"
	[ -e "$STATE/$ID" ]
	rm "$BUNDLE/in-hook"
	wait "$create"
	wait "$JOB"
	run cat "$BUNDLE/a" "$BUNDLE/b"
	assert_output ''
	assert_nothing_new "delete during create"
}
