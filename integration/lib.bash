# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2016,SC2034,SC2119,SC2120,SC2317
#
# What every bats file of the integration tests shares. A file begins with
#
#	load ../lib
#	needs root box
#
# and is then run by integration/run, each file in a box of its own. Instead
# of setup and setup_file, which are here, a file defines prepare and
# prepare_file; they run only when everything that the file needs is at hand.
#
# The runtime under test is $OSH_RUNTIME, else osh-runtime in $OSH_BUILD.
# Tests of plain OCI behaviour hold for every runtime, so that they can be
# checked themselves against runc: OSH_RUNTIME=/usr/sbin/runc integration/run.

bats_load_library bats-support
bats_load_library bats-assert

INTEGRATION=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$(dirname "$INTEGRATION")
CLIENTS=$TOP/hack/clients
OSH_BUILD=${OSH_BUILD:-$TOP/build/gcc}
OSH_RUNTIME=${OSH_RUNTIME:-$OSH_BUILD/osh-runtime}
OSH_POLICY=${OSH_POLICY:-$OSH_BUILD/osh-policy}
export OSH_BUILD OSH_RUNTIME OSH_POLICY

# The state of the runtime under test, and what is unique to this box: control
# groups are the whole machine's, and another box may run beside.
STATE=${OSH_BOX-}/state
BOX_ID=$(stat -L -c %i /proc/self/ns/pid)

# ------------------------------------------------------------------ needs

is_osh() { [[ ${OSH_RUNTIME##*/} == osh-runtime ]]; }
is_runc() { [[ ${OSH_RUNTIME##*/} == runc ]]; }

have()
{
	command -v "$1" >/dev/null
}

# needs_X is true, or prints what would make the file run.
needs_root() { [ "$(id -u)" -eq 0 ] || echo "run it as root"; }
needs_box() { [ -n "${OSH_BOX-}" ] || echo "run it by integration/run"; }
needs_runtime()
{
	[ -x "$OSH_RUNTIME" ] || echo "build it: make; no $OSH_RUNTIME"
}
needs_osh() { is_osh || echo "it tests what only osh-runtime does"; }
needs_policy() { [ -x "$OSH_POLICY" ] || echo "build it: make"; }
needs_amd64() { [ "$(uname -m)" = x86_64 ] || echo "an x86-64 machine"; }
needs_podman() { have podman && have conmon || echo "hack/bootstrap test"; }
needs_containerd() { have containerd || echo "hack/bootstrap test"; }
needs_nft() { have nft || echo "hack/bootstrap test"; }
needs_python3() { [ -x /usr/bin/python3 ] || echo "hack/bootstrap test"; }
needs_strace() { have strace || echo "hack/bootstrap test"; }
needs_cc() { have gcc || echo "hack/bootstrap build"; }
needs_cri()
{
	/usr/bin/python3 -c 'import grpc, google.protobuf' 2>/dev/null ||
		echo "hack/bootstrap test"
}
needs_userns()
{
	unshare --user --map-root-user true 2>/dev/null ||
		echo "a kernel that allows user namespaces"
}
needs_cgroup_v1()
{
	grep -q ' cgroup .*[ ,]memory' /proc/self/mounts ||
		echo "a machine with cgroup v1 (this one: hack/vm has v2)"
}
needs_cgroup_v2()
{
	[ "$(stat -f -c %T /sys/fs/cgroup)" = cgroup2fs ] ||
		echo "a machine with pure cgroup v2, as hack/vm gives"
}
needs_systemd()
{
	[ -d /run/systemd/system ] || echo "systemd as init, as hack/vm gives"
}

# missing WORD...: the first word that is not at hand, with what would help.
missing()
{
	local word reason
	for word in "$@"; do
		reason=$("needs_$word")
		[ -z "$reason" ] || { echo "needs $word: $reason"; return; }
	done
}

# needs WORD...: at the top of a file. Without these, all its tests are
# skipped, and say why.
needs() { NEEDS=(runtime "$@"); }

# require WORD: the same for one test.
require()
{
	local reason
	reason=$(missing "$@")
	[ -z "$reason" ] || skip "$reason"
}

setup_file()
{
	OSH_MISSING=$(missing "${NEEDS[@]}")
	export OSH_MISSING
	[ -n "$OSH_MISSING" ] || ! declare -F prepare_file >/dev/null ||
		prepare_file
}

setup()
{
	[ -z "$OSH_MISSING" ] || skip "$OSH_MISSING"
	! declare -F prepare >/dev/null || prepare
}

# ---------------------------------------------------------------- runtime

# rt ARG...: the runtime under test. Nothing may wait for it for ever.
rt()
{
	local flags=(--root "$STATE")
	if is_osh; then
		flags+=(--host-config "${HOST_CONFIG:-$(plain_host_config)}")
	fi
	timeout --foreground -k 5 "${RT_TIMEOUT:-60}" \
		"$OSH_RUNTIME" "${flags[@]}" "$@" 3>&- 4>&-
}

# Without a policy, osh-runtime would deny the network: a plain OCI runtime
# is what `when_missing: none` makes of it.
plain_host_config()
{
	local file=$OSH_BOX/plain-host-config.yaml
	[ -e "$file" ] || echo 'when_missing: none' >"$file"
	echo "$file"
}

# bundle [FILTER]: a fresh busybox bundle in $BUNDLE, its config changed by a
# jq filter; $ID is the container's id. The root filesystem is a copy of
# $IMAGE_ROOTFS, or $SHARED_ROOTFS itself.
bundle()
{
	ID=t$BATS_TEST_NUMBER-$BOX_ID
	BUNDLE=$OSH_BOX/bundle/$BATS_TEST_NUMBER
	ROOTFS=${SHARED_ROOTFS:-$BUNDLE/rootfs}
	mkdir -p "$BUNDLE"
	[ -e "$ROOTFS" ] ||
		cp -a "${IMAGE_ROOTFS:-$OSH_BOX/busybox.rootfs}" "$ROOTFS"
	jq --arg id "$ID" '.linux.cgroupsPath = "/osh-test/\($id)"' \
		"$INTEGRATION/fixture/config.json" >"$BUNDLE/config.json"
	[ -z "${SHARED_ROOTFS-}" ] ||
		config '.root.path = $p' --arg p "$SHARED_ROOTFS"
	[ $# -eq 0 ] || config "$@"
}

# config FILTER [JQ-OPTION...]: change the bundle's config.
config()
{
	local filter=$1
	shift
	jq "$filter" "$@" <"$BUNDLE/config.json" >"$BUNDLE/config.new"
	mv "$BUNDLE/config.new" "$BUNDLE/config.json"
}

# add_probe: fixture/probe.c as /bin/probe of the bundle.
add_probe()
{
	[ -x "$OSH_BOX/probe" ] || gcc -O1 -static -o "$OSH_BOX/probe" \
		"$INTEGRATION/fixture/probe.c"
	cp "$OSH_BOX/probe" "$ROOTFS/bin/probe"
}

# program ARG...: what the container runs.
program()
{
	config '.process.args = $ARGS.positional' --args -- "$@"
}

# script TEXT: the container runs it by sh.
script()
{
	program /bin/sh -c "$1"
}

# add_mount DESTINATION TYPE SOURCE [OPTION...]
add_mount()
{
	local destination=$1 type=$2 source=$3
	shift 3
	config '.mounts += [{destination: $d, type: $t, source: $s,
		options: $ARGS.positional}]' --arg d "$destination" \
		--arg t "$type" --arg s "$source" --args -- "$@"
}

# in_container TEXT: run it to its end in a new container, as bats' run does.
in_container()
{
	[ $# -eq 0 ] || script "$1"
	run rt run --bundle "$BUNDLE" "$ID"
}

# create [OPTION...]: the container's stdio goes to $BUNDLE/out, as the
# container outlives the command. Sets status and output like bats' run.
create()
{
	status=0
	rt create --bundle "$BUNDLE" --pid-file "$BUNDLE/pid" "$@" "$ID" \
		</dev/null >"$BUNDLE/out" 2>&1 || status=$?
	output=$(cat "$BUNDLE/out")
}

# created: create it, and fail the test if that fails.
created()
{
	create "$@"
	assert_success
	PID=$(cat "$BUNDLE/pid")
}

# console [OPTION...]: fixture/console.py on $BUNDLE/tty in the background,
# what it prints in $BUNDLE/screen; wait for it with `wait $CONSOLE`.
console()
{
	/usr/bin/python3 "$INTEGRATION/fixture/console.py" "$BUNDLE/tty" "$@" \
		>"$BUNDLE/screen" 2>"$BUNDLE/screen.err" </dev/null 3>&- 4>&- &
	CONSOLE=$!
	wait_for test -S "$BUNDLE/tty"
}

# running [TEXT]: a container that runs; by default one that sleeps.
running()
{
	script "${1:-exec sleep 300}"
	created
	rt start "$ID"
}

# assert_error TEXT: the command failed, and says this. A text log escapes
# the quotes that a client sees after it has read the JSON log.
assert_error()
{
	assert_failure
	output=${output//\\\"/\"}
	assert_output --partial "$1"
}

# holds FILTER [JQ-OPTION...]: of the document on stdin. (jq -e alone succeeds
# when there is no document at all.)
holds()
{
	local filter=$1
	shift
	jq -es "length > 0 and all(.[]; $filter)" "$@" >/dev/null
}

state_of()
{
	rt state "$ID" | jq -r .status
}

# wait_for COMMAND...: until it succeeds, ten seconds at most.
wait_for()
{
	local i
	for ((i = 0; i < 100; i++)); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.1
	done
	fail "ten seconds passed waiting for: $*"
}

wait_state()
{
	state_is() { [ "$(state_of)" = "$1" ]; }
	wait_for state_is "$1"
}

# cgroup CONTROLLER: the container's folder of a v1 controller, or of v2.
cgroup()
{
	local mount=/sys/fs/cgroup/$1
	[ -d "$mount" ] || mount=/sys/fs/cgroup
	echo "$mount/osh-test/$ID"
}

# leftovers: processes, mounts, groups and state that the container left.
leftovers()
{
	grep -F "$BUNDLE" /proc/self/mounts
	find /sys/fs/cgroup -type d -name "*$ID*" 2>/dev/null
	find "$STATE" -mindepth 1 -maxdepth 1 -name "$ID" 2>/dev/null
	pgrep -f "^(sleep 300|.*$ID)" | while read -r pid; do
		[ "$pid" = $$ ] || ps -o pid=,args= -p "$pid"
	done
	return 0
}

assert_nothing_left()
{
	local left
	left=$(leftovers)
	[ -z "$left" ] || fail "left behind: $left"
}

# ---------------------------------------------------------------- clients

p() { "$CLIENTS/podman" "$@" 3>&- 4>&-; }
c() { "$CLIENTS/containerd" "$@" 3>&- 4>&-; }

# host_config [TEXT]: the operator's configuration for what a client starts;
# none without TEXT.
host_config()
{
	mkdir -p /etc/osh-runtime
	rm -f /etc/osh-runtime/config.yaml
	[ $# -gt 0 ] || return 0
	printf '%s\n' "$1" >/etc/osh-runtime/config.yaml
}

# online: the small internet, with the box as one of its neighbours: what a
# client connects by a bridge reaches it, behind the box's address.
online()
{
	local world=$INTEGRATION/internet/internet
	"$world" up world "$@" 3>&- 4>&-
	ip link add uplink type veth peer name box netns world-hub
	ip -n world-hub link set box master lan up
	ip addr add 10.77.0.200/16 dev uplink
	ip addr add fd77::200/64 dev uplink nodad
	ip link set uplink up
	ip route replace default via 10.77.0.1
	ip -6 route replace default via fd77::1
	rm -f /etc/resolv.conf
	cp "$("$world" folder world)/resolv.conf" /etc/resolv.conf
}

internet() { "$INTEGRATION/internet/internet" "$1" world "${@:2}"; }

# agent_bundle: the agent's image in a fresh sandbox of the small internet,
# as a client configures one; the policy is in an annotation.
agent_bundle()
{
	SANDBOX=$BATS_TEST_NUMBER
	SHARED_ROOTFS=$OSH_BOX/agent.rootfs bundle
	config '(.linux.namespaces[] | select(.type == "network")).path = $p' \
		--arg p "$(internet sandbox "$SANDBOX")"
	add_mount /etc/resolv.conf bind \
		"$(internet folder)/resolv.conf" bind ro
	[ -z "${POLICY-}" ] || config \
		'.annotations["ai.openshell.policy"] = $p' --rawfile p "$POLICY"
	internet reset
}

# policy TEXT: written to $POLICY; $ANNOTATION is what gives it to a client.
policy()
{
	POLICY=$OSH_BOX/policy-$BATS_TEST_NUMBER.yaml
	printf '%s\n' "$1" >"$POLICY"
	ANNOTATION=ai.openshell.policy=$("$OSH_POLICY" annotation "$POLICY")
}

# line_of TEXT: where it stands in the policy.
line_of()
{
	grep -n -m 1 -F -- "$1" "$POLICY" | cut -d: -f1
}

# decisions ID: the decision log as one JSON array.
decisions()
{
	"$OSH_RUNTIME" log --format json "$1" | jq -s .
}

# assert_decision ID FILTER: some record of the log is as the filter wants.
assert_decision()
{
	local all
	all=$(decisions "$1")
	jq -e "any(.[]; $2)" <<<"$all" >/dev/null ||
		fail "no record with $2 in: $(jq -c '.[]' <<<"$all")"
}

# Every test ends here: whatever it made is removed, also when it failed.
remove_containers()
{
	local dir
	for dir in "$STATE"/*/; do
		[ -d "$dir" ] || continue
		rt delete --force "$(basename "$dir")" >/dev/null 2>&1 || :
	done
	[ -z "${BUNDLE-}" ] || rm -rf "$BUNDLE"
}

teardown()
{
	[ -n "$OSH_MISSING" ] || remove_containers
}
