#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154
#
# What a hostile image, or what runs in a container, tries on the runtime; and
# what a careless config would do to the host.

load ../lib
needs root box osh

@test "exec: a program's name that is a link into /proc/self/fd leads nowhere" {
	local n
	bundle
	cp "$ROOTFS/bin/busybox" "$OSH_BOX/hosts-program"
	running
	for n in $(seq 3 24); do
		ln -sfn "/proc/self/fd/$n/..$OSH_BOX/hosts-program" \
			"$ROOTFS/bin/trap"
		run rt exec "$ID" trap true
		assert_failure
		refute_output --partial "applet not found"
		refute_output --partial BusyBox
	done
}
