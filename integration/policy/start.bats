# SPDX-License-Identifier: Apache-2.0
# Real policies in front of a real container: those without layer 7 endpoints
# start; the others are refused at create, by the name of an endpoint, because
# what needs inspection never passes uninspected.

load ../lib
needs root box osh policy

teardown()
{
	[ -z "$OSH_MISSING" ] || return 0
	remove_containers
}

prepare()
{
	bundle
	# as distributions have it, and real policies expect it
	mkdir -p "$ROOTFS/usr/bin"
	cp -a "$ROOTFS/bin/." "$ROOTFS/usr/bin/"
	rm -rf "$ROOTFS/bin"
	ln -s usr/bin "$ROOTFS/bin"
	HOST_CONFIG=$BUNDLE/host.yaml
	echo 'when_missing: refuse' >"$HOST_CONFIG"
	config '.annotations["ai.openshell.policy"] = $p' --arg p ''
}

# of FILE: the config with this policy in its annotation.
with_policy()
{
	config '.annotations["ai.openshell.policy"] = $p' \
		--arg p "base64:$(base64 -w0 "$1")"
}

@test "a policy without layer 7 endpoints starts" {
	local name n=0
	for name in openshell-transparent-tcp-redis seed-code-review; do
		with_policy "$INTEGRATION/policy/corpus/$name.yaml"
		in_container 'echo started'
		assert_success
		assert_line started
		n=$((n + 1))
	done
	[ $n -eq 2 ]
}

@test "a policy with layer 7 endpoints is refused, and names one" {
	local file n=0
	for file in "$INTEGRATION"/policy/corpus/*.yaml; do
		case $file in
		*redis.yaml | *seed-code-review.yaml) continue ;;
		esac
		with_policy "$file"
		in_container 'echo started'
		assert_failure
		refute_line started
		[[ $output == *"check endpoint "*"needs"* ]] ||
			fail "$file: $output"
		n=$((n + 1))
	done
	[ $n -eq 8 ]
}
