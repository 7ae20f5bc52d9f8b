# SPDX-License-Identifier: Apache-2.0
# create under a policy fails, or is killed, at each of its steps and at any of
# its calls; its helpers are killed. Nothing is left: no process, cgroup, table
# or socket of the filter either. Without a policy: see oci/faults.bats.

load ../lib
load ../faults

needs root box osh policy nft strace python3

prepare_file()
{
	ip netns add faults
	ip -n faults link set lo up
}

prepare()
{
	NETNS=/run/netns/faults
	fault_bundle
	policy 'network: {default: deny, allow: [{host: api.github.com, port: 443}]}'
	under_policy
}

# under_policy: the bundle has the policy, in the namespace of the file.
under_policy()
{
	config '.annotations["ai.openshell.policy"] = $p |
		(.linux.namespaces[] | select(.type == "network")).path = $n' \
		--rawfile p "$POLICY" --arg n "$NETNS"
}

table() { ip netns exec faults nft list tables; }
pids_of() { pgrep -x "$1" || :; }
gone() { [ ! -e "/proc/$1/exe" ]; }

# other: a second container of the namespace, its id in OTHER.
other()
{
	OTHER=$ID-other
	mkdir -p "$BUNDLE/other"
	jq '.linux.cgroupsPath += "-other"' "$BUNDLE/config.json" \
		>"$BUNDLE/other/config.json"
	[ -e "$BUNDLE/other/rootfs" ] ||
		cp -a "$ROOTFS" "$BUNDLE/other/rootfs"
	rt create --bundle "$BUNDLE/other" "$OTHER" </dev/null \
		>"$BUNDLE/other/out" 2>&1
	rt start "$OTHER"
}

@test "create fails at each step: one line, nothing left" {
	fail_at_every_step
}

@test "create dies at each step: delete --force removes everything" {
	die_at_every_step
}

@test "a call of create fails, any of them: one line, nothing left" {
	create_at_every_call error=EIO
}

@test "create is killed at any of its calls: delete removes everything" {
	create_at_every_call signal=KILL
}

@test "delete is killed at any of its calls: a second one finishes" {
	delete_at_every_call
}

@test "exec is killed at any of its calls: nothing of it stays" {
	exec_at_every_call
}

@test "create is killed while the policy is compiled: nothing left" {
	local n
	remember
	for n in 1 2 3; do
		# a text that is in no cache
		policy "network: {default: deny} # $n $BOX_ID"
		under_policy
		TRACE=(-e trace=poll -e "inject=poll:signal=KILL:when=$n")
		traced create --bundle "$BUNDLE" "$ID"
		assert_equal "$n: $status" "$n: 137"
		rt delete --force "$ID"
		assert_nothing_new "create killed at poll $n"
	done
}

@test "two creates of one id at once: one wins, nothing left of the other" {
	creates_at_once
}

@test "delete while create runs: it waits, then removes everything" {
	delete_during_create
}

@test "a create that fails leaves a namespace's other container its filter" {
	local step shim
	remember
	other
	shim=$(pids_of osh-shim)
	[ -n "$shim" ]
	everything >"$BUNDLE/with"
	for step in $(steps); do
		for kind in "$step" "$step:kill"; do
			fault "$kind"
			[ "$status" -ne 0 ]
			rt delete --force "$ID"
			everything | diff "$BUNDLE/with" -
			assert_equal "$kind $(pids_of osh-shim)" "$kind $shim"
		done
	done
	run table
	assert_output 'table inet osh'
	rt delete --force "$OTHER"
	assert_nothing_new "the last container went"
}

@test "many containers come and go in one namespace: the last takes all" {
	local i pids=()
	remember
	for ((i = 0; i < 6; i++)); do
		mkdir "$BUNDLE/$i"
		ln -s "$ROOTFS" "$BUNDLE/$i/rootfs"
		jq --arg i $i '.linux.cgroupsPath += "-" + $i |
			.process.args = ["/bin/true"]' "$BUNDLE/config.json" \
			>"$BUNDLE/$i/config.json"
	done
	for ((i = 0; i < 6; i++)); do
		in_background $i.out run --bundle "$BUNDLE/$i" "$ID-$i"
		pids+=("$JOB")
	done
	for i in "${!pids[@]}"; do
		wait "${pids[i]}" || fail "$i: $(cat "$BUNDLE/$i.out")"
	done
	assert_nothing_new "six containers"
}

@test "osh-shim killed: its helpers end, the namespace stays shut" {
	local helpers
	remember
	running
	helpers=$(pids_of osh-shim; pids_of osh-resolver)
	kill -KILL "$(head -n 1 <<<"$helpers")"
	for pid in $helpers; do
		wait_for gone "$pid"
	done
	# nobody decides any more: nothing gets out
	run table
	assert_output 'table inet osh'
	run rt exec "$ID" /bin/true
	assert_error 'osh-shim'
	rt delete --force "$ID"
	nothing_new || :
	# fail closed: the table goes with the namespace, or the next container
	run cat "$BUNDLE/new"
	assert_output --regexp '^[0-9a,]+
> table inet osh$'
	created
	rt delete --force "$ID"
	assert_nothing_new "the next container of the namespace"
}

@test "osh-shim killed: the namespace's next container has one again" {
	local shim
	remember
	running
	shim=$(pids_of osh-shim)
	kill -KILL $shim
	wait_for gone "${shim%%$'\n'*}"
	other
	[ -n "$(pids_of osh-shim)" ]
	rt delete --force "$ID"
	run table
	assert_output 'table inet osh'
	[ -n "$(pids_of osh-shim)" ]
	rt delete --force "$OTHER"
	assert_nothing_new "both went"
}

@test "osh-resolver killed: it comes again, delete removes everything" {
	local resolver
	remember
	running
	resolver=$(pids_of osh-resolver)
	[ -n "$resolver" ]
	kill -KILL "$resolver"
	wait_for gone "$resolver"
	again() { [ -n "$(pids_of osh-resolver)" ]; }
	wait_for again
	run state_of
	assert_output running
	rt delete --force "$ID"
	assert_nothing_new "osh-resolver killed"
}

@test "the init killed: the filter ends by itself, delete removes the rest" {
	remember
	running
	kill -KILL "$PID"
	wait_state stopped
	ended() { [ -z "$(pids_of osh-shim)$(table)" ]; }
	wait_for ended
	rt delete "$ID"
	assert_nothing_new "the init killed"
}

@test "everything killed at once: delete removes the rest" {
	remember
	running
	# the shim first: it would end in order when the init does
	kill -KILL $(pids_of osh-shim) $(pids_of osh-resolver) "$PID"
	wait_state stopped
	rt delete "$ID"
	nothing_new || :
	run cat "$BUNDLE/new"
	assert_output --regexp '^[0-9a,]+
> table inet osh$'
}

@test "osh-shim stays longer than delete waits: the next delete cleans up" {
	local visitor
	remember
	running
	# whoever is connected keeps it
	/usr/bin/python3 -c 'import glob, signal, socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(glob.glob("/run/osh-runtime/.shims/*/sock")[0])
signal.pause()' 3>&- 4>&- &
	visitor=$!
	wait_for grep -q 'python3' "/proc/$visitor/cmdline"
	connected() { ss -xp | grep -q "pid=$visitor,"; }
	wait_for connected
	rt delete --force "$ID"
	[ -n "$(pids_of osh-shim)" ]
	kill "$visitor"
	ended() { [ -z "$(pids_of osh-shim)$(table)" ]; }
	wait_for ended
	run nothing_new
	assert_failure
	created
	rt delete --force "$ID"
	assert_nothing_new "the next delete"
}

@test "without a cgroup of its own, too" {
	# --cgroup-manager disabled: nothing is made for osh-shim either
	remember
	rt --cgroup-manager disabled create --bundle "$BUNDLE" "$ID" \
		</dev/null >"$BUNDLE/out" 2>&1
	run find /sys/fs/cgroup -type d -path "*/$GROUP/*"
	assert_output ''
	rt delete --force "$ID"
	wait_for nothing_new
}
