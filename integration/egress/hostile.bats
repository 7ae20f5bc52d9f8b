#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154
#
# What a careless operator may do to a filter that is in force.

load ../lib
needs root box osh nft

DENY='network:
  default: deny'

denied_bundle()
{
	policy "$DENY"
	bundle '.annotations["ai.openshell.policy"] = $p' --rawfile p "$POLICY"
}

@test "a create of the same name in another state folder takes no filter away" {
	local table
	denied_bundle
	running
	table=$(nsenter -t "$PID" -n nft list tables)
	assert_equal "$table" "table inet osh"
	config '.linux.cgroupsPath += "-other" |
		(.linux.namespaces[] | select(.type == "network")).path = $p' \
		--arg p "/proc/$PID/ns/net"
	STATE=$OSH_BOX/other-state run rt run --bundle "$BUNDLE" "$ID"
	assert_failure
	assert_output --partial "it is attached"
	run rt exec "$ID" /bin/true
	assert_success
	run nsenter -t "$PID" -n nft list tables
	assert_output "table inet osh"
	rt delete --force "$ID"
	assert_equal "$(ls /run/osh-runtime/.shims)" ""
}
