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

@test "an image's link does not make a read-only volume writable" {
	policy 'filesystem_policy:
  read_only: [/bin, /lib, /proc, /dev, /data]
  read_write: [/tmp, /work/out, /dev/null]
network:
  default: deny'
	bundle '.annotations["ai.openshell.policy"] = $p' --rawfile p "$POLICY"
	mkdir -p "$BUNDLE/data" "$BUNDLE/work/out" "$ROOTFS/data"
	add_mount /data bind "$BUNDLE/data" bind ro
	add_mount /work bind "$BUNDLE/work" bind rw
	in_container 'echo x >/tmp/a; echo x >/work/out/b; echo x >/work/c'
	assert [ -e "$ROOTFS/tmp/a" ]
	assert [ -e "$BUNDLE/work/out/b" ]
	assert [ ! -e "$BUNDLE/work/c" ]

	rm -r "$ROOTFS/tmp" "$BUNDLE/work/out"
	ln -s /data "$ROOTFS/tmp"
	ln -s /data "$BUNDLE/work/out"
	in_container 'echo x >/tmp/a; echo x >/work/out/b; echo x >/data/d'
	assert_output --partial "Read-only file system"
	assert [ -z "$(ls "$BUNDLE/data")" ]
}

@test "a mount namespace is never joined: the host would get another root" {
	local before
	before=$(cat /proc/self/mountinfo)
	bundle '(.linux.namespaces[] | select(.type == "mount")).path = $p' \
		--arg p /proc/1/ns/mnt
	in_container 'echo ran'
	assert_error "a mount namespace can't be joined"
	assert_equal "$(cat /proc/self/mountinfo)" "$before"
}

@test "our own state is masked, by whatever link or root it would be seen" {
	policy 'network:
  default: deny'
	bundle '.annotations["ai.openshell.policy"] = $p' --rawfile p "$POLICY"
	ln -sfn /run "$OSH_BOX/link-to-run"
	add_mount /host bind "$OSH_BOX/link-to-run" rbind
	add_mount /up bind ../../../../../../../../run rbind
	in_container 'ls -A /host/osh-runtime /up/osh-runtime | grep -v :'
	refute_output --partial shims
	add_mount /own bind "$OSH_BOX/link-to-run/osh-runtime" bind
	in_container 'ls /own'
	assert_error "is osh-runtime's own"

	bundle '.annotations["ai.openshell.policy"] = $p | .root.path = "/"
		| .root.readonly = true' --rawfile p "$POLICY"
	in_container 'ls -A /run/osh-runtime; echo done'
	assert_output done
}

@test "a FIFO where a file is read holds nobody up" {
	policy 'network:
  default: deny'
	bundle '.annotations["ai.openshell.policy"] = $p' --rawfile p "$POLICY"
	rm -f "$ROOTFS"/etc/{passwd,group}
	mkfifo "$BUNDLE/fifo" "$ROOTFS"/etc/{passwd,group}
	in_container 'echo done'
	assert_output done
	add_mount /etc/resolv.conf bind "$BUNDLE/fifo" bind
	RT_TIMEOUT=10 in_container 'echo done'
	assert_error "find nameservers: $BUNDLE/fifo is not a regular file"
}

# Else the runtime's own have those numbers: the state folder was open in the
# container until its program ran, and the container's lock never released.
@test "--preserve-fds beyond what the caller has open is refused" {
	local n
	bundle
	script 'echo done'
	# bats itself has a few open
	for n in 60 4294967295; do
		RT_TIMEOUT=10 run rt run --preserve-fds $n --bundle "$BUNDLE" "$ID"
		assert_error "is not open"
		assert_nothing_left
	done
	running
	run rt exec --preserve-fds 60 "$ID" /bin/true
	assert_error "is not open"
}

@test "the id 4294967295, which is -1, is nobody: above all not root" {
	bundle '.process.user.uid = 4294967295'
	in_container id
	assert_error "process.user.uid: 4294967295 is out of range"
	bundle '.process.user = {uid: 1, gid: 4294967295}'
	in_container id
	assert_error "process.user.gid: 4294967295 is out of range"

	policy 'process:
  run_as_user: sandbox
network:
  default: deny'
	bundle '.annotations["ai.openshell.policy"] = $p' --rawfile p "$POLICY"
	echo sandbox:x:4294967295:100::/:/bin/sh >"$ROOTFS/etc/passwd"
	in_container id
	assert_error "find user 'sandbox': it is not in the container's"
}

@test "under a policy no namespace is the host's, by its path either" {
	local type
	policy 'network:
  default: deny'
	for type in pid network ipc uts cgroup; do
		bundle '.annotations["ai.openshell.policy"] = $p |
			.linux.namespaces |= map(select(.type != $t)) +
			[{type: $t, path: "/proc/1/ns/\($file)"}]' \
			--rawfile p "$POLICY" --arg t $type \
			--arg file "$(sed s/work// <<<$type)"
		in_container 'echo ran'
		assert_error "check $type namespace"
		assert_output --partial "it is the host's"
	done
}
