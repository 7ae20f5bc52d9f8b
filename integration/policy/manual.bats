#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The manual describes what the tables hold.

load ../lib

setup_file() { :; }
setup() { cd "$TOP/policy-compiler" || return; }
teardown() { :; }

# The manual's text, without its requests.
manual()
{
	sed 's/\\-/-/g; s/\\f[BIR]//g; s/\\e/\\/g' "$1"
}

@test "osh-policy.yaml.5 has every key of the schema" {
	local key keys
	keys=$(cat schema*.c | tr -d '\n\t' |
		grep -oE '(DECODE_ROW|STR|BOOLEAN|OPT_BOOLEAN|NAMES|BYTES|TEXTS|MAP|TREE)\(struct spec[a-z_]*, *[a-z_.0-9]*(, *"[a-z_]+")?' |
		sed -E 's/.*"([a-z_]+)"$/\1/; s/.*, *//' | sort -u)
	[ "$(wc -w <<<"$keys")" -gt 50 ]
	for key in $keys; do
		manual osh-policy.yaml.5 | grep -qw -- "$key" ||
			fail "osh-policy.yaml.5 lacks $key"
	done
}

@test "osh-policy.yaml.5 has every word that a value can be" {
	local word
	while read -r word; do
		manual osh-policy.yaml.5 | grep -qF -- "$word" ||
			fail "osh-policy.yaml.5 lacks $word"
	done < <(sed -nE 's/^	\{"([^"]+)", .*/\1/p' schema*.c)
}

@test "osh-policy.1 has every command and option" {
	[ -x "$OSH_POLICY" ] || skip "needs $OSH_POLICY: build it by make"
	local command option
	for command in check compile annotation explain; do
		manual osh-policy.1 | grep -qw "$command"
		for option in $("$OSH_POLICY" "$command" --help |
			grep -oE '\-\-[a-z]+'); do
			manual osh-policy.1 | grep -qF -- "$option" ||
				fail "osh-policy.1 lacks $option"
		done
	done
}

@test "the examples of the manual are policies" {
	[ -x "$OSH_POLICY" ] || skip "needs $OSH_POLICY: build it by make"
	manual osh-policy.yaml.5 |
		awk '/^\.nf/ { n++; on = 1; next } /^\.fi/ { on = 0 }
			on { print > ENVIRON["BATS_TEST_TMPDIR"] "/" n }'
	for example in 1 2; do
		run "$OSH_POLICY" check "$BATS_TEST_TMPDIR/$example"
		assert_success
		assert_output ''
	done
}

@test "the manuals format without complaint" {
	have man || have groff || skip "needs groff"
	local page
	for page in osh-policy.1 osh-policy.yaml.5 ../runtime/cmd/osh-runtime.8; do
		run groff -man -Tutf8 -ww -z "$page"
		assert_success
		assert_output ''
	done
}
