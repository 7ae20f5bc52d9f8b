#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The compiled file, the annotation, and the compiler's own sandbox.

load ../lib

setup_file() { [ -x "$OSH_POLICY" ] || skip "needs $OSH_POLICY: build it by make"; }
setup()
{
	cd "$BATS_TEST_DIRNAME"
	T=$BATS_TEST_TMPDIR
}
teardown() { :; }

@test "the same document gives the same bytes, confined or not" {
	local file
	for file in corpus/*.yaml; do
		"$OSH_POLICY" compile "$file" -o "$T/one" 2>/dev/null
		"$OSH_POLICY" compile - <"$file" >"$T/two" 2>/dev/null
		"$OSH_POLICY" compile --sandboxed - -o - <"$file" \
			>"$T/three" 2>/dev/null
		cmp "$T/one" "$T/two"
		cmp "$T/one" "$T/three"
		# magic, digest and version, four sizes and flags, then the
		# digest of the document
		assert_equal "$(tail -c +57 "$T/one" | head -c 32 | od -An -v -tx1 | tr -d " \n")" \
			"$(sha256sum <"$file" | cut -d ' ' -f 1)"
	done
}

@test "a document with errors gives no output, and leaves the old file" {
	echo old >"$T/out"
	run "$OSH_POLICY" compile - -o "$T/out" <<<'version: 2'
	assert_failure 1
	assert_equal "$(cat "$T/out")" old
	run bash -c '"$OSH_POLICY" compile --sandboxed <<<"version: 2" 2>/dev/null | wc -c'
	assert_output 0
}

@test "the output is never put in the place of a device or a link" {
	mkfifo "$T/fifo"
	ln -s /dev/null "$T/link"
	local file
	for file in "$T/fifo" "$T/link"; do
		run "$OSH_POLICY" compile corpus/seed-code-review.yaml -o "$file"
		assert_failure 2
		assert_output "osh-policy: write $file: not a regular file"
	done
	[ -p "$T/fifo" ]
	[ -L "$T/link" ]
}

@test "the annotation is the document, after a check" {
	run "$OSH_POLICY" annotation corpus/seed-code-review.yaml
	assert_success
	assert_output --regexp '^base64:[A-Za-z0-9+/]+=*$'
	base64 -d <<<"${output#base64:}" | cmp - corpus/seed-code-review.yaml
	for n in 0 1 2 3 4 5; do
		printf 'network: {default: deny}%*s' "$n" '' >"$T/p"
		"$OSH_POLICY" annotation "$T/p" | sed 's/^base64://' |
			base64 -d | cmp - "$T/p"
	done
	run "$OSH_POLICY" annotation - <<<'version: 2'
	assert_failure 1
	refute_output --partial base64:
}

@test "10,000 endpoints compile and are explained" {
	{
		echo 'network:'
		echo '  default: deny'
		echo '  allow:'
		for ((i = 0; i < 10000; i++)); do
			echo "    - {host: host-$i.example.com, port: 443}"
		done
	} >"$T/many.yaml"
	"$OSH_POLICY" compile --sandboxed <"$T/many.yaml" >"$T/many.bin"
	[ "$(stat -c %s "$T/many.bin")" -lt 4000000 ]
	run "$OSH_POLICY" explain "$T/many.yaml" \
		--dest host-7777.example.com:443 --binary /x
	assert_line --index 0 --partial 'ALLOW'
	assert_line --index 1 --partial ':7781: '
}

@test "limits are errors, with a position" {
	{
		printf 'version: 1\nfilesystem_policy:\n  read_only:\n'
		for ((i = 0; i < 257; i++)); do echo "  - /p$i"; done
	} >"$T/paths.yaml"
	run "$OSH_POLICY" check "$T/paths.yaml"
	assert_failure 1
	assert_output --partial ':3:3: filesystem_policy: 257 paths, more than 256'
	printf 'version: 1\nfilesystem_policy: {read_only: [/%04096d]}\n' 0 \
		>"$T/long.yaml"
	run "$OSH_POLICY" check "$T/long.yaml"
	assert_failure 1
	assert_output --partial 'longer than 4096 bytes'
	{
		printf 'network:\n  default: deny\n  allow:\n'
		for ((i = 0; i < 1025; i++)); do
			echo "  - {host: '*.h$i.example.com', port: 443}"
		done
	} >"$T/globs.yaml"
	run "$OSH_POLICY" check "$T/globs.yaml"
	assert_failure 1
	assert_output --partial '1025 hosts with wildcards in all, more than 1024'
	{
		printf 'version: 1\nnetwork_middlewares:\n'
		for ((i = 0; i < 11; i++)); do
			echo "  m$i: {middleware: x, order: $i," \
				"endpoints: {include: [a.b]}}"
		done
	} >"$T/middlewares.yaml"
	run "$OSH_POLICY" check "$T/middlewares.yaml"
	assert_failure 1
	assert_output --partial 'more than 10 entries'
	head -c 4194305 /dev/zero | tr '\0' '#' >"$T/big.yaml"
	run "$OSH_POLICY" check "$T/big.yaml"
	assert_failure 2
	assert_output --partial 'larger than 4194304 bytes'
}

@test "confined: after its filter, nothing but reading and writing" {
	command -v strace >/dev/null || skip "needs strace: hack/bootstrap test"
	strace -f -o "$T/trace" "$OSH_POLICY" compile --sandboxed \
		<corpus/community-base.yaml >"$T/out" 2>/dev/null
	[ -s "$T/out" ]
	run bash -c "sed '1,/PR_SET_SECCOMP/d' '$T/trace' |
		sed 's/^[0-9]* *//; s/(.*//' |
		grep -vxE 'read|write|sysinfo|brk|mmap|munmap|mremap|madvise|futex|exit_group|close|\+.*'"
	assert_output ''
	run grep -c landlock_restrict_self "$T/trace"
	assert_output 1
}

@test "confined: it takes no other file" {
	run "$OSH_POLICY" compile --sandboxed corpus/seed-code-review.yaml
	assert_failure 2
	run "$OSH_POLICY" compile --sandboxed - -o "$T/out"
	assert_failure 2
}

@test "--version and --help" {
	run "$OSH_POLICY" --version
	assert_output "osh-policy $(cat ../../VERSION)"
	run "$OSH_POLICY" --help
	assert_success
	for command in check compile annotation explain; do
		run "$OSH_POLICY" "$command" --help
		assert_success
		assert_output --partial "usage: osh-policy $command"
	done
	run "$OSH_POLICY" nonsense
	assert_failure 2
	run "$OSH_POLICY" compile --nonsense
	assert_failure 2
}
