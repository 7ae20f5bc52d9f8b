# SPDX-License-Identifier: Apache-2.0
# What clients really hand to a runtime, captured: every config gives a plan,
# without a root filesystem, and with a policy the plan says what it changes.

load ../lib
needs osh policy

teardown() { :; }

prepare()
{
	B=$BATS_TEST_TMPDIR
	printf '%s\n' 'version: 1' 'network_policies:' '  github:' \
		'    name: github' '    endpoints:' \
		'      - host: api.github.com' '        port: 443' \
		'    binaries:' '      - path: /usr/bin/curl' >"$B/policy.yaml"
	echo 'when_missing: none' >"$B/host.yaml"
}

# plan FILE ARG...
plan()
{
	cp "$1" "$B/config.json"
	shift
	"$OSH_RUNTIME" --root "$B/state" --host-config "$B/host.yaml" plan \
		--bundle "$B" "$@"
}

configs() { find "$TOP/runtime/oci/testdata/config" -name '*.json' | sort; }

@test "every config of a client gives a plan" {
	local file n=0
	for file in $(configs); do
		run plan "$file"
		[ "$status" -eq 0 ] || fail "$file: $output"
		n=$((n + 1))
	done
	[ $n -gt 20 ]
}

@test "as JSON, the plan's config is a config" {
	local file
	for file in $(configs); do
		plan "$file" --format json | holds 'any(.. | objects;
			.ociVersion and .process.args)' || fail "$file"
	done
}

@test "with a policy: the plan names the cause of each change" {
	local file
	for file in $(configs); do
		run plan "$file" --policy "$B/policy.yaml"
		case $file in
		# the host's network under a policy with egress
		*run-host* | *build* | *slirp* | *pasta*) continue ;;
		esac
		[ "$status" -eq 0 ] || fail "$file: ${lines[0]}"
		# each change says what it comes from
		[ "$(sed -n '/^changes:/,/^[a-z]*:$/p' <<<"$output" |
			grep -c '^  [a-z]')" -eq "$(sed -n \
			'/^changes:/,/^warnings:\|^needs/p' <<<"$output" |
			grep -c '^      from ')" ] || fail "$file"
	done
}

@test "the host's network under a policy with egress is refused" {
	run plan "$TOP/runtime/oci/testdata/config/podman-run-host.json" \
		--policy "$B/policy.yaml"
	assert_failure
	assert_output --partial network
}

@test "plan changes nothing and needs no root" {
	local before
	before=$(find "$B" | sort)
	cp "$TOP/runtime/oci/testdata/config/podman-run-bridge.json" \
		"$B/config.json"
	plan "$B/../$(basename "$B")/config.json" 2>/dev/null || :
	rm -f "$B/config.json"
	[ "$(find "$B" | sort)" = "$before" ]
}
