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

# Who can write into another's memory is that other, to a policy that tells
# binaries apart.
@test "/proc/PID/mem stays closed: behind an image's link, in a second procfs" {
	policy 'filesystem_policy:
  read_only: [/bin, /lib, /dev, /proc]
  read_write: [/tmp, /dev/null]
network:
  default: deny
  allow:
    - host: api.github.com
      port: 443
      binaries: [/bin/wget]'
	bundle '.annotations["ai.openshell.policy"] = $p' --rawfile p "$POLICY"
	local target attempt='sleep 5 & : >>/proc/$!/mem && echo written'
	in_container "$attempt"
	refute_output --partial written
	rm -r "$ROOTFS/tmp"
	for target in / /proc; do
		ln -sfn $target "$ROOTFS/tmp"
		in_container "$attempt"
		assert_error "in this image it leads to / or /proc"
	done
	ln -sfn /bin "$ROOTFS/tmp"
	add_mount /proc2 proc proc
	in_container "$attempt"
	assert_error "a second procfs that can be written"
	config '.mounts[-1].options = ["ro"]'
	in_container 'echo done'
	assert_output done
}

@test "a socket of the host's network is not handed into a sandbox" {
	require python3
	denied_bundle
	program /bin/true
	cat >"$BUNDLE/hand-in" <<-'END'
		import os, socket, sys
		kind = getattr(socket, sys.argv[1])
		handed = socket.socket(kind, socket.SOCK_DGRAM)
		os.dup2(handed.fileno(), 9)
		os.dup2(9, 3, inheritable=True)
		os.execvp(sys.argv[2], sys.argv[2:])
	END
	hand_in()
	{
		run timeout -k 5 60 /usr/bin/python3 "$BUNDLE/hand-in" "$1" \
			"$OSH_RUNTIME" --root "$STATE" --host-config \
			"$(plain_host_config)" run --preserve-fds 1 \
			--bundle "$BUNDLE" "$ID"
	}
	hand_in AF_INET
	assert_error "check descriptor 3: a socket of another network namespace"
	hand_in AF_UNIX
	assert_success
	config 'del(.annotations)'
	hand_in AF_INET
	assert_success
}
