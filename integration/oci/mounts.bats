# SPDX-License-Identifier: Apache-2.0
# Mounts with their options, propagation, masked and read-only paths.

load ../lib

needs root box

prepare()
{
	bundle
	mkdir "$BUNDLE/src"
	echo content >"$BUNDLE/src/file"
}

# options_of PATH: a mount's own options, then its filesystem's.
options_of()
{
	sed -n "s|^[^ ]* [^ ]* [^ ]* [^ ]* $1 \([^ ]*\) .*- [^ ]* [^ ]* \(.*\)|\1 \2|p" \
		"/proc/$PID/mountinfo" | tail -n 1
}

# assert_option PATH OPTION, refute_option PATH OPTION
assert_option()
{
	local have
	have=$(options_of "$1")
	[[ " ${have//,/ } " == *" $2 "* ]] || fail "$1: no $2 in: $have"
}

refute_option()
{
	local have
	have=$(options_of "$1")
	[[ " ${have//,/ } " != *" $2 "* ]] || fail "$1: $2 in: $have"
}

propagation_of()
{
	sed -n "s|^[^ ]* [^ ]* [^ ]* [^ ]* $1 [^ ]* \(.*\) - .*|\1|p" \
		"/proc/$PID/mountinfo" | tail -n 1
}

@test "the default mounts are there, of the right types" {
	running
	local row
	for row in /proc:proc /dev:tmpfs /dev/pts:devpts /dev/shm:tmpfs \
		/dev/mqueue:mqueue /sys:sysfs; do
		grep -q " ${row%:*} .* - ${row#*:} " "/proc/$PID/mountinfo"
	done
	assert_option /dev/shm nosuid
	assert_option /dev/shm noexec
	assert_option /sys ro
}

@test "a bind mount of a folder and of a file, targets made where missing" {
	add_mount /made/dir bind "$BUNDLE/src" rbind rw
	add_mount /made/file bind "$BUNDLE/src/file" bind ro
	in_container 'cat /made/dir/file /made/file; echo >/made/dir/new
		echo 2>&1 >/made/file || :'
	assert_line --index 0 content
	assert_line --index 1 content
	assert_output --partial "Read-only file system"
	[ -e "$BUNDLE/src/new" ]
}

@test "a bind mount is known by its option, whatever type says" {
	add_mount /a none "$BUNDLE/src" bind
	add_mount /b "" "$BUNDLE/src" rbind
	config '.mounts[-1] |= del(.type)'
	in_container 'cat /a/file /b/file'
	assert_success
	assert_equal "${#lines[@]}" 2
}

@test "a relative source is taken from the bundle" {
	add_mount /a bind src rbind
	in_container 'cat /a/file'
	assert_output content
}

@test "a bind mount whose source is missing is refused by name" {
	add_mount /a bind "$BUNDLE/no-such-source" rbind
	create
	assert_failure
	assert_output --partial no-such-source
	assert_nothing_left
}

@test "mount options: ro nosuid nodev noexec noatime nodiratime sync ..." {
	local option
	for option in ro nosuid nodev noexec noatime nodiratime relatime; do
		config 'del(.mounts[] | select(.destination == "/m"))'
		add_mount /m tmpfs tmpfs $option
		running
		assert_option /m $option
		rt delete --force "$ID"
	done
}

@test "the same options on a bind mount, which needs a remount" {
	add_mount /m bind "$BUNDLE/src" bind ro nosuid nodev noexec noatime
	running
	local option
	for option in ro nosuid nodev noexec noatime; do
		assert_option /m $option
	done
}

@test "opposite options undo: dev suid exec rw after ro" {
	add_mount /m tmpfs tmpfs nosuid noexec nodev ro suid exec dev rw
	running
	local option
	for option in ro nosuid nodev noexec; do
		refute_option /m $option
	done
}

@test "recursive options: rro reaches the mounts below" {
	mkdir "$BUNDLE/src/sub"
	mount -t tmpfs sub "$BUNDLE/src/sub"
	add_mount /m bind "$BUNDLE/src" rbind rro
	running
	umount "$BUNDLE/src/sub"
	assert_option /m ro
	assert_option /m/sub ro
}

@test "ro without rro leaves the mounts below writable" {
	mkdir "$BUNDLE/src/sub"
	mount -t tmpfs sub "$BUNDLE/src/sub"
	add_mount /m bind "$BUNDLE/src" rbind ro
	running
	umount "$BUNDLE/src/sub"
	assert_option /m ro
	refute_option /m/sub ro
}

@test "recursive options: rnosuid rnodev rnoexec rnoatime" {
	mkdir "$BUNDLE/src/sub"
	mount -t tmpfs sub "$BUNDLE/src/sub"
	add_mount /m bind "$BUNDLE/src" rbind rnosuid rnodev rnoexec rnoatime
	running
	umount "$BUNDLE/src/sub"
	local option
	for option in nosuid nodev noexec noatime; do
		assert_option /m/sub $option
	done
}

@test "recursive option rrelatime with a noatime mount below" {
	! is_runc || skip "runc #5098: 1.1 refuses or ignores it"
	mkdir "$BUNDLE/src/sub"
	mount -t tmpfs -o noatime sub "$BUNDLE/src/sub"
	add_mount /m bind "$BUNDLE/src" rbind rrelatime
	running
	umount "$BUNDLE/src/sub"
	assert_option /m/sub relatime
}

@test "an unknown mount option is handed to the filesystem, which refuses it" {
	add_mount /m tmpfs tmpfs nosuchoption=1
	create
	assert_failure
	assert_output --partial "/m"
	assert_nothing_left
}

@test "tmpfs data options: size and mode" {
	add_mount /m tmpfs tmpfs size=1024k mode=1750
	in_container 'stat -c %a /m; df -k /m | tail -n 1'
	assert_line --index 0 1750
	assert_line --index 1 --regexp 'tmpfs +1024 '
}

@test "tmpfs takes the mode of a target that exists, 0755 or 1777 otherwise" {
	mkdir -m 0710 "$ROOTFS/there"
	add_mount /there tmpfs tmpfs
	add_mount /fresh tmpfs tmpfs
	in_container 'stat -c %a /there /fresh'
	assert_line --index 0 710
	assert_line --index 1 --regexp '^(755|1777)$'
}

@test "tmpcopyup copies what was there" {
	mkdir "$ROOTFS/data"
	echo old >"$ROOTFS/data/file"
	add_mount /data tmpfs tmpfs tmpcopyup
	in_container 'cat /data/file; echo new >/data/file; cat /data/file'
	assert_line --index 0 old
	assert_line --index 1 new
	[ "$(cat "$ROOTFS/data/file")" = old ]
}

@test "mounts are made in the order of the config" {
	add_mount /a tmpfs tmpfs
	add_mount /a/b bind "$BUNDLE/src" rbind
	add_mount /a/b/c tmpfs tmpfs
	mkdir "$BUNDLE/src/c"
	in_container 'cat /a/b/file; ls -d /a/b/c'
	assert_success
	assert_line content
}

@test "rootfsPropagation and a mount's own propagation are as given" {
	add_mount /p bind "$BUNDLE/src" rbind private
	add_mount /s bind "$BUNDLE/src" rbind rslave
	add_mount /h bind "$BUNDLE/src" rbind shared
	mount --bind "$BUNDLE/src" "$BUNDLE/src"
	mount --make-shared "$BUNDLE/src"
	running
	[[ $(propagation_of /p) != *shared* && $(propagation_of /p) != *master* ]]
	[[ $(propagation_of /s) == *master:* ]]
	[[ $(propagation_of /h) == *shared:* ]]
	umount -l "$BUNDLE/src"
}

@test "rootfsPropagation is the propagation of the container's root" {
	! is_runc || skip "runc #1755: 1.1 leaves the root private"
	local value
	for value in shared slave private unbindable; do
		config '.linux.rootfsPropagation = $v' --arg v $value
		running
		case $value in
		shared) [[ $(propagation_of /) == *shared:* ]] ;;
		unbindable) [[ $(propagation_of /) == *unbindable* ]] ;;
		*) [[ $(propagation_of /) != *shared:* ]] ;;
		esac
		rt delete --force "$ID"
	done
}

@test "private by default: the container's mounts stay inside" {
	config '.process.capabilities |= map_values(. + ["CAP_SYS_ADMIN"])'
	add_mount /m bind "$BUNDLE/src" rbind
	mkdir "$BUNDLE/src/sub"
	in_container 'mount -t tmpfs x /m/sub && touch /m/sub/inside'
	assert_success
	[ ! -e "$BUNDLE/src/sub/inside" ]
}

@test "hundreds of mounts do not run into RLIMIT_NOFILE" {
	config 'del(.process.rlimits)'
	config '.mounts += [range(400) | {destination: "/m/\(.)", type: "bind",
		source: $s, options: ["rbind", "ro"]}]' --arg s "$BUNDLE/src"
	script 'grep -c " /m/" /proc/self/mountinfo'
	run prlimit --nofile=256:256 timeout 60 "$OSH_RUNTIME" --root "$STATE" \
		$(is_osh && echo --host-config "$(plain_host_config)") \
		run --bundle "$BUNDLE" "$ID"
	assert_output 400
}

@test "masked files read empty, masked folders are empty and read-only" {
	mkdir "$ROOTFS/secret"
	echo s >"$ROOTFS/secret/file"
	echo s >"$ROOTFS/secret-file"
	config '.linux.maskedPaths += ["/secret", "/secret-file"]'
	in_container 'ls /secret; cat /secret-file; touch /secret/x 2>&1 || :
		cat /proc/kcore | wc -c'
	assert_success
	refute_output --partial s$
	assert_output --partial "Read-only file system"
	assert_line 0
}

@test "a masked path that is missing is ignored" {
	config '.linux.maskedPaths += ["/no/such/path"]
		| .linux.readonlyPaths += ["/no/such/path"]'
	in_container /bin/true
	assert_success
	[ ! -e "$ROOTFS/no" ]
}

@test "masking many folders shares one tmpfs" {
	! is_runc || skip "runc #5275: 1.1 mounts one for each"
	local i
	for i in 1 2 3 4 5 6 7 8; do
		mkdir "$ROOTFS/secret$i"
		config '.linux.maskedPaths += [$p]' --arg p "/secret$i"
	done
	running
	[ "$(grep " /secret[0-9] " "/proc/$PID/mountinfo" | cut -d' ' -f3 |
		sort -u | wc -l)" -eq 1 ]
	[ "$(grep -c " /secret[0-9] " "/proc/$PID/mountinfo")" -eq 8 ]
}

@test "read-only paths can be read and not be written" {
	mkdir "$ROOTFS/data"
	echo readable >"$ROOTFS/data/file"
	config '.linux.readonlyPaths += ["/data"]'
	in_container 'cat /data/file; echo 2>&1 >/data/file || :
		echo 2>&1 1 >/proc/sys/kernel/panic || :'
	assert_line --index 0 readable
	assert_line --index 1 --partial "Read-only file system"
	assert_line --index 2 --partial "Read-only file system"
}

@test "cgroup mounts of v1 show the container's own groups" {
	require cgroup_v1
	in_container 'ls /sys/fs/cgroup; cat /sys/fs/cgroup/pids/cgroup.procs
		mkdir /sys/fs/cgroup/pids/x 2>&1'
	assert_line memory
	assert_line pids
	assert_line 1
	assert_output --partial "Read-only file system"
}

@test "the root is pivoted: the old one can't be reached" {
	in_container 'cat /proc/self/mountinfo'
	assert_success
	refute_output --partial "/overlay/"
	refute_line --regexp ' /oldroot'
	assert_line --index 0 --regexp ' / / | /[^ ]*rootfs / '
}

@test "--no-pivot works for a root that can't be pivoted" {
	script 'ls /; touch /made'
	run rt run --no-pivot --bundle "$BUNDLE" "$ID"
	assert_success
	[ -e "$ROOTFS/made" ]
}

@test "a mount whose destination is the root of the container is refused" {
	! is_runc || skip "runc 1.1 mounts it"
	add_mount / tmpfs tmpfs
	create
	assert_failure
	assert_nothing_left
}

@test "a mount over /proc/sys is refused, one over /proc/meminfo is not" {
	echo faked >"$BUNDLE/src/meminfo"
	add_mount /proc/meminfo bind "$BUNDLE/src/meminfo" bind ro
	in_container 'cat /proc/meminfo'
	assert_output faked
	config '.mounts[-1].destination = "/proc/sys"'
	config '.mounts[-1].source = $s' --arg s "$BUNDLE/src"
	create
	assert_failure
	assert_nothing_left
}

@test "the files that lxcfs mounts over are allowed: /proc/net/dev and others" {
	! is_runc || skip "runc #4817: 1.1 refuses /proc/net/dev"
	local name
	echo faked >"$BUNDLE/src/faked"
	for name in cpuinfo diskstats loadavg stat swaps uptime net/dev; do
		add_mount "/proc/$name" bind "$BUNDLE/src/faked" bind ro
	done
	# /proc/net is a link to the reader's own: over there it does nothing
	in_container 'cat /proc/cpuinfo /proc/stat /proc/1/net/dev'
	assert_success
	assert_line --index 0 faked
	assert_line --index 1 faked
}

@test "a mount whose type the kernel lacks is refused by name" {
	add_mount /m nosuchfs nosuchfs
	create
	assert_failure
	assert_output --partial "no such device"
	assert_nothing_left
}
