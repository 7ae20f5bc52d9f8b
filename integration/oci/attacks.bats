# SPDX-License-Identifier: Apache-2.0
# Bundles and images that try to reach the machine through the runtime: the
# classes of the vulnerabilities that runc, crun and youki have had.

load ../lib

needs root box cc

prepare()
{
	bundle
	HOST=$BUNDLE/host
	mkdir "$HOST"
	echo secret >"$HOST/secret"
}

# host_untouched: what stands beside the root filesystem is as it was.
host_untouched()
{
	[ "$(find "$HOST" -mindepth 1 | wc -l)" -eq 1 ] ||
		fail "on the host: $(find "$HOST" -mindepth 1)"
	[ "$(cat "$HOST/secret")" = secret ]
}

@test "the runtime's program can't be opened for writing (CVE-2019-5736)" {
	# the image's program is the runtime itself, by /proc/self/exe
	ln -s /proc/self/exe "$ROOTFS/bin/again"
	local before
	before=$(sha256sum "$OSH_RUNTIME")
	running 'while :; do for p in /proc/[0-9]*; do
		exe=$(readlink $p/exe) || continue
		case $exe in *busybox*) continue;; esac
		echo "found $exe"
		( : >>$p/exe ) 2>/dev/null && echo "WRITABLE $exe"
		done; done'
	local i
	for ((i = 0; i < 10; i++)); do
		rt exec "$ID" /bin/again >/dev/null 2>&1 || :
		rt exec "$ID" /bin/true >/dev/null 2>&1 || :
	done
	run cat "$BUNDLE/out"
	refute_output --partial WRITABLE
	[ "$(sha256sum "$OSH_RUNTIME")" = "$before" ]
}

@test "cwd in /proc/self/fd reaches nothing of the host (CVE-2024-21626)" {
	local fd
	for fd in 3 4 5 6 7 8 9 10 11 12; do
		config '.process.cwd = "/proc/self/fd/\($n)"' --arg n $fd
		script 'ls; cat ../../../../../../etc/shadow 2>&1 | head -n 1'
		run rt run --bundle "$BUNDLE" "$ID"
		refute_output --partial root:
	done
	ln -s /proc/self/fd/7 "$ROOTFS/link"
	config '.process.cwd = "/link"'
	run rt run --bundle "$BUNDLE" "$ID"
	refute_output --partial root:
}

@test "exec with such a cwd neither (CVE-2024-21626)" {
	local fd
	running
	for fd in 3 4 5 6 7 8 9 10; do
		run rt exec --cwd "/proc/self/fd/$fd" "$ID" \
			cat ../../../../../../../etc/shadow
		refute_output --partial root:
	done
}

@test "a root filesystem whose /proc is a link (CVE-2019-19921, 2023-27561)" {
	rm -rf "$ROOTFS/proc"
	mkdir "$ROOTFS/fake"
	ln -s /fake "$ROOTFS/proc"
	create
	assert_failure
	assert_nothing_left
	host_untouched
}

@test "a root filesystem whose /sys is a link (CVE-2023-28642)" {
	rm -rf "$ROOTFS/sys"
	mkdir "$ROOTFS/fake"
	ln -s /fake "$ROOTFS/sys"
	create
	assert_failure
	assert_nothing_left
}

@test "a root filesystem whose /dev is a link out (CVE-2026-41579)" {
	! is_runc || skip "runc 1.1.5 has this hole"
	rm -rf "$ROOTFS/dev"
	ln -s "$HOST" "$ROOTFS/dev"
	config 'del(.mounts[] | select(.destination | startswith("/dev")))'
	create
	rt delete --force "$ID" || :
	host_untouched
}

@test "a mount target that is a link out stays within the root" {
	ln -s "$HOST" "$ROOTFS/out"
	ln -s ../../../../../../.. "$ROOTFS/up"
	mkdir "$BUNDLE/src"
	add_mount /out bind "$BUNDLE/src" rbind
	add_mount "/out/made" tmpfs tmpfs
	add_mount "/up$HOST/made2" tmpfs tmpfs
	create
	host_untouched
	rt delete --force "$ID" || :
	host_untouched
}

@test "a mount target with .. stays within the root" {
	add_mount "/../../../../../..$HOST/made" tmpfs tmpfs
	create
	host_untouched
}

@test "a mount target swapped for a link meanwhile (CVE-2021-30465)" {
	! is_runc || skip "runc 1.1.5 has this hole"
	local swapper i
	mkdir -p "$BUNDLE/volume/dir" "$BUNDLE/src"
	ln -s "$HOST" "$BUNDLE/volume/link"
	gcc -O1 -o "$BUNDLE/swap" -x c - <<-'END'
	#define _GNU_SOURCE
	#include <stdio.h>
	#include <unistd.h>
	int main(int argc, char **argv)
	{
		if (argc != 2 || chdir(argv[1]) != 0)
			return 1;
		alarm(30);
		for (;;)
			renameat2(-100, "dir", -100, "link", RENAME_EXCHANGE);
	}
	END
	"$BUNDLE/swap" "$BUNDLE/volume" 3>&- 4>&- &
	swapper=$!
	add_mount /volume bind "$BUNDLE/volume" rbind
	add_mount /volume/dir/target tmpfs tmpfs
	script 'cat /volume/dir/secret 2>/dev/null; true'
	for ((i = 0; i < 20; i++)); do
		run rt run --bundle "$BUNDLE" "$ID"
		rt delete --force "$ID" 2>/dev/null || :
	done
	kill $swapper
	host_untouched
	refute grep -q " $HOST" /proc/self/mounts
}

@test "no folder appears on the host outside a shared volume (CVE-2024-45310)" {
	! is_runc || skip "runc 1.1.5 has this hole"
	local swapper i
	mkdir -p "$BUNDLE/volume/a"
	ln -s "$HOST" "$BUNDLE/volume/l"
	(
		for ((i = 0; i < 2000; i++)); do
			mv -T "$BUNDLE/volume/a" "$BUNDLE/volume/t" 2>/dev/null
			mv -T "$BUNDLE/volume/l" "$BUNDLE/volume/a" 2>/dev/null
			mv -T "$BUNDLE/volume/a" "$BUNDLE/volume/l" 2>/dev/null
			mv -T "$BUNDLE/volume/t" "$BUNDLE/volume/a" 2>/dev/null
		done
	) 3>&- 4>&- &
	swapper=$!
	add_mount /volume bind "$BUNDLE/volume" rbind
	add_mount /volume/a/deep/dir tmpfs tmpfs
	for ((i = 0; i < 15; i++)); do
		run rt run --bundle "$BUNDLE" "$ID"
		rt delete --force "$ID" 2>/dev/null || :
	done
	kill $swapper 2>/dev/null || :
	host_untouched
}

@test "/dev/null as a link does not unmask what is masked (CVE-2025-31133)" {
	mkdir "$ROOTFS/realdev"
	echo secret >"$ROOTFS/masked"
	config 'del(.mounts[] | select(.destination | startswith("/dev"))) |
		.linux.maskedPaths = ["/masked", "/proc/sys/kernel/core_pattern"]'
	ln -sf /proc/sys/kernel/core_pattern "$ROOTFS/dev/null"
	in_container 'cat /masked; echo attack >/proc/sys/kernel/core_pattern'
	refute_output --partial secret
	refute grep -q attack /proc/sys/kernel/core_pattern
}

@test "a masked path that is a link masks nothing outside (CVE-2025-31133)" {
	ln -s "$HOST/secret" "$ROOTFS/masked"
	config '.linux.maskedPaths += ["/masked"]'
	in_container /bin/true
	host_untouched
	refute grep -q " $HOST" /proc/self/mounts
}

@test "/dev/console and /dev/pts as links of the image (CVE-2025-52565)" {
	require python3
	config '.process.terminal = true |
		del(.mounts[] | select(.destination == "/dev"))'
	rm -rf "$ROOTFS/dev"
	mkdir "$ROOTFS/dev"
	ln -s "$HOST/secret" "$ROOTFS/dev/console"
	console
	script 'echo overwritten >/dev/console'
	create --console-socket "$BUNDLE/tty"
	[ "$status" -ne 0 ] || rt start "$ID"
	sleep 0.5
	kill "$CONSOLE" 2>/dev/null || :
	host_untouched
}

@test "a sysctl that goes through a faked /proc is refused (CVE-2025-52881)" {
	mkdir -p "$BUNDLE/fake/self" "$BUNDLE/fake/sys/net/ipv4"
	echo 0 >"$BUNDLE/fake/sys/net/ipv4/ip_default_ttl"
	add_mount /proc/sys bind "$BUNDLE/fake/sys" rbind
	config '.linux.sysctl = {"net.ipv4.ip_default_ttl": "42"}'
	create
	assert_failure
	[ "$(cat "$BUNDLE/fake/sys/net/ipv4/ip_default_ttl")" = 0 ]
	assert_nothing_left
}

@test "a volume over /proc is refused (CVE-2019-16884)" {
	local target
	mkdir -p "$BUNDLE/fake/self/attr"
	for target in /proc /proc/self /proc/self/attr; do
		bundle
		mkdir -p "$BUNDLE/fake/self/attr"
		add_mount $target bind "$BUNDLE/fake" rbind
		create
		assert_failure
		assert_nothing_left
	done
}

@test "rootfs/.. and links in root.path do not confuse the roots" {
	ln -s / "$BUNDLE/link"
	config '.root.path = "rootfs/../rootfs/."'
	in_container 'ls -d /proc'
	assert_success
}

@test "a passwd of the image that is a link out is not read" {
	printf 'evil:x:0:0::/evil-home:/bin/sh\n' >"$HOST/passwd"
	rm "$ROOTFS/etc/passwd"
	ln -s "$HOST/passwd" "$ROOTFS/etc/passwd"
	in_container 'echo $HOME'
	refute_output --partial evil
	rm "$HOST/passwd"
}

@test "a passwd of the image that is a pipe or endless does not hang" {
	rm "$ROOTFS/etc/passwd"
	mkfifo "$ROOTFS/etc/passwd"
	RT_TIMEOUT=20 in_container 'echo fine'
	[ "$status" -ne 124 ]
	rm "$ROOTFS/etc/passwd"
	ln -s /dev/zero "$ROOTFS/etc/passwd"
	RT_TIMEOUT=20 in_container 'echo fine'
	[ "$status" -ne 124 ]
}

@test "cgroup mounts are read-only without a cgroup namespace (CVE-2023-25809)" {
	config '(.mounts[] | select(.type == "cgroup") | .options) -= ["ro"]'
	in_container 'mkdir /sys/fs/cgroup/pids/inside 2>&1; true'
	find /sys/fs/cgroup -type d -name inside | grep -q . || return 0
	find /sys/fs/cgroup -type d -path "*/$ID/inside" | grep -q .
}

@test "state, once created, holds no environment of the program" {
	config '.process.env += ["TOKEN=very-secret"]'
	running
	run rt state "$ID"
	refute_output --partial very-secret
	run find "$STATE/$ID" -type f -perm /077
	is_runc || assert_output ""
}

@test "the state's folder is closed to others" {
	running
	[ "$(stat -c %a "$STATE/$ID")" -le 711 ]
}
