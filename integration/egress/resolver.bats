# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# osh-resolver as a process, confined as the shim starts it: its system calls
# and its messages are real, shim and upstream are resolver_rig.c.
load ../lib

setup_file()
{
	needs cc userns
	export RIG=$BATS_FILE_TMPDIR/rig
	gcc -D_GNU_SOURCE -std=gnu11 -O1 -I"$TOP" -o "$RIG" \
		"$BATS_TEST_DIRNAME/resolver_rig.c" \
		"$OSH_BUILD/runtime_policy.a" "$OSH_BUILD/runtime_base.a" \
		-lresolv -lsodium
}

setup()
{
	OUT=$BATS_TEST_TMPDIR/out
	mkfifo "$BATS_TEST_TMPDIR/in"
	"$RIG" serve "$OSH_BUILD/osh-resolver" api.x.org nx.x.org big.x.org \
		'*.wild.org' <"$BATS_TEST_TMPDIR/in" >"$OUT" \
		2> >(cat >"$OUT.err" 3>&-) 3>&- & # it may not write to files
	RIG_PID=$!
	exec 7>"$BATS_TEST_TMPDIR/in"
	wait_for grep -q '^policy ok$' "$OUT"
	PORT=$(sed -n 's/^port //p' "$OUT")
	# the rig's child waits for the resolver
	RESOLVER=$(sed -n 's/^resolver //p' "$OUT")
	RESOLVER=$(tr -d ' ' <"/proc/$RESOLVER/task/$RESOLVER/children")
}

teardown()
{
	exec 7>&-
	wait "$RIG_PID" || :
}

ask()
{
	run timeout 20 "$RIG" ask "$PORT" "$@"
}

said()
{
	wait_for grep -qx "$1" "$OUT"
}

@test "an allowed name is answered after the shim has its addresses" {
	ask api.x.org
	assert_success
	assert_output "rcode 0 answers 1
api.x.org 9 93.184.216.34"
	said "answer api.x.org 1 addresses ttl 9"
}

@test "by TCP as well" {
	ask api.x.org a tcp
	assert_line "api.x.org 9 93.184.216.34"
}

@test "a name that no policy covers does not exist, at once" {
	SECONDS=0
	ask api.x.org.evil.org
	assert_output "rcode 3 answers 0"
	said "query api.x.org.evil.org type 1 name-not-allowed"
	[ $SECONDS -lt 3 ]
}

@test "other types of an allowed name are empty" {
	ask api.x.org txt
	assert_output "rcode 0 answers 0"
	said "query api.x.org type 16 dns-type"
}

@test "what an upstream truncates is asked for by TCP" {
	ask big.x.org
	assert_line "rcode 0 answers 16"
	said "answer big.x.org 16 addresses ttl 9"
}

@test "an internal address below a wildcard is kept back" {
	ask private.wild.org
	assert_output "rcode 0 answers 0"
	said "query private.wild.org type 1 private-address"
}

@test "an upstream's NXDOMAIN is passed on" {
	ask nx.x.org
	assert_output "rcode 3 answers 0"
	said "query nx.x.org type 1 allowed"
}

@test "it has no capability, a filter, and nothing open by path" {
	run cat "/proc/$RESOLVER/status"
	assert_line --regexp '^CapPrm:.0{16}$'
	assert_line --regexp '^CapEff:.0{16}$'
	assert_line --regexp '^NoNewPrivs:.1$'
	assert_line --regexp '^Seccomp:.2$'
	assert_line --regexp '^NSpid:.*[^0-9]1$'
	for ns in user pid net mnt; do
		[ "$(readlink "/proc/$RESOLVER/ns/$ns")" != \
			"$(readlink "/proc/self/ns/$ns")" ]
	done
	run find "/proc/$RESOLVER/fd" -lname '/*' -not -name '[012]'
	assert_output ""
}

@test "it ends with the shim" {
	exec 7>&-
	said "end 0"
	[ ! -e "/proc/$RESOLVER" ]
}

@test "it ends at what the protocol does not have" {
	echo nonsense >&7
	said "end 1"
	wait_for grep -qx 'osh-resolver: read from the shim: .* no message' \
		"$OUT.err"
}

@test "without its container, a name is nobody's" {
	echo remove >&7
	ask api.x.org
	assert_output "rcode 3 answers 0"
	said "query api.x.org type 1 name-not-allowed"
}

@test "a flood of nonsense leaves it as it was" {
	for i in {1..200}; do
		head -c $((i * 7)) /dev/urandom >"/dev/udp/127.0.0.1/$PORT"
		head -c $((i * 7)) /dev/urandom >"/dev/tcp/127.0.0.1/$PORT"
	done
	ask api.x.org
	assert_line "api.x.org 9 93.184.216.34"
}
