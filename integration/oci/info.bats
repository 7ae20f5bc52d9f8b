# SPDX-License-Identifier: Apache-2.0
# What the runtime says about itself: --version, --help, spec, features.

load ../lib

needs root box

@test "--version names the program, its version and the specification's" {
	run rt --version
	assert_success
	assert_line --index 0 --regexp \
		"^${OSH_RUNTIME##*/} version [0-9]+\.[0-9]+"
	assert_line --regexp '^spec: 1\.[0-9]+\.[0-9]+'
	run rt -v
	assert_success
}

@test "--version of osh-runtime is the VERSION file" {
	require osh
	run rt --version
	assert_line --index 0 "osh-runtime version $(cat "$TOP/VERSION")"
}

@test "--help and the help of a command succeed" {
	run rt --help
	assert_success
	assert_output --partial create
	run rt create -h
	assert_success
	run rt create --help
	assert_success
	assert_output --partial bundle
}

@test "checkpoint --help tells podman whether checkpoints work" {
	# exit 0 means "supports checkpoint": podman asks before it tries
	run rt checkpoint --help
	if is_osh; then
		run rt checkpoint no-such-container
		assert_failure
	fi
}

@test "spec writes a config.json that runs" {
	bundle
	cd "$BUNDLE"
	rm config.json
	rt spec
	holds '.ociVersion and .process.args and .linux.namespaces' <config.json
	script 'id -u'
	config '.process.terminal = false'
	in_container
	assert_success
	assert_output 0
}

@test "spec refuses to overwrite a config.json" {
	bundle
	run rt spec --bundle "$BUNDLE"
	assert_failure
	assert_output --partial "exists"
}

@test "spec --rootless maps the caller's user" {
	bundle
	rm "$BUNDLE/config.json"
	rt spec --rootless --bundle "$BUNDLE"
	holds '.linux.uidMappings[0].size == 1 and
		any(.linux.namespaces[]; .type == "user")' <"$BUNDLE/config.json"
}

@test "features is JSON that ends with a newline and has the schema's keys" {
	rt features >"$OSH_BOX/features.json"
	[ "$(tail -c 1 "$OSH_BOX/features.json" | od -An -tx1)" = ' 0a' ]
	holds '(.ociVersionMin | test("^1\\.")) and
		(.ociVersionMax | test("^1\\.")) and
		(.hooks | length == 6) and
		(.mountOptions | index("rbind") and index("ro")) and
		(.linux.namespaces | index("user") and index("mount")) and
		(.linux.capabilities | index("CAP_SYS_ADMIN")) and
		.linux.cgroup.v1 and .linux.cgroup.v2 and
		.linux.seccomp.enabled and
		(.linux.seccomp.actions | index("SCMP_ACT_ERRNO")) and
		(.linux.seccomp.operators | index("SCMP_CMP_MASKED_EQ"))' \
		<"$OSH_BOX/features.json"
}

@test "features lists exactly the mount options that create takes" {
	require osh
	local option source=$BUNDLE failed=
	bundle
	mkdir "$ROOTFS/m"
	for option in $(rt features | jq -r '.mountOptions[]'); do
		case $option in
		bind | rbind | remount | idmap | ridmap | tmpcopyup) continue ;;
		esac
		bundle
		mkdir -p "$ROOTFS/m"
		add_mount /m tmpfs tmpfs "$option"
		in_container /bin/true
		[ "$status" -eq 0 ] || failed+=" $option: $output"
	done
	[ -z "$failed" ] || fail "$failed"
}
