# SPDX-License-Identifier: Apache-2.0
# What Podman's users do with any runtime: no policy, nothing denied.

load ../lib
needs root box podman

prepare_file()
{
	host_config 'when_missing: none'
	p images -q >/dev/null
}

teardown()
{
	[ -z "$OSH_MISSING" ] || return 0
	p rm --all --force --time 0 >/dev/null 2>&1 || :
	p pod rm --all --force >/dev/null 2>&1 || :
}

B=localhost/busybox

@test "run: output and exit status" {
	run p run --rm $B sh -c 'echo out; exit 42'
	[ "$status" -eq 42 ]
	assert_output out
}

@test "run: 127 for a missing program, 126 for one that may not be run" {
	run p run --rm $B nosuchprogram
	[ "$status" -eq 127 ]
	run p run --rm $B /etc
	[ "$status" -eq 126 ]
}

@test "run: stdin" {
	run bash -c "echo input | '$CLIENTS/podman' run --rm -i $B cat"
	assert_output input
}

@test "run: a terminal" {
	run command script -q -e -c "'$CLIENTS/podman' run --rm -it $B tty" \
		/dev/null </dev/null
	assert_success
	assert_output --partial /dev/pts/0
}

@test "run: user, workdir, environment, hostname" {
	run p run --rm --user 1000:1000 --workdir /tmp --env A=b \
		--hostname named $B sh -c 'id -u; pwd; echo $A; hostname'
	assert_output "1000
/tmp
b
named"
}

@test "run: volumes, read-only and tmpfs" {
	mkdir -p "$OSH_BOX/volume"
	echo content >"$OSH_BOX/volume/file"
	run p run --rm --read-only --volume "$OSH_BOX/volume:/v:ro" \
		--tmpfs /scratch $B sh -c \
		'cat /v/file; touch /scratch/x; touch /x 2>&1; touch /v/x 2>&1'
	assert_line --index 0 content
	assert_line --index 1 --partial "Read-only"
	assert_line --index 2 --partial "Read-only"
}

@test "run: a named volume keeps its data" {
	p run --rm --volume data:/v $B sh -c 'echo kept >/v/file'
	run p run --rm --volume data:/v $B cat /v/file
	assert_output kept
}

@test "run: capabilities" {
	run p run --rm --cap-drop all --cap-add CHOWN $B \
		grep CapEff /proc/self/status
	assert_output --partial 0000000000000001
}

@test "run: limits of memory, processes, processors" {
	require cgroup_v1
	run p run --rm --memory 64m --pids-limit 33 --cpus 0.5 $B sh -c \
		'cat /sys/fs/cgroup/memory/memory.limit_in_bytes \
			/sys/fs/cgroup/pids/pids.max \
			/sys/fs/cgroup/cpu/cpu.cfs_quota_us'
	assert_output "67108864
33
50000"
}

@test "run: ulimit, sysctl, shm-size" {
	run p run --rm --ulimit nofile=99:99 --ulimit nproc=1000:1000 \
		--sysctl net.ipv4.ip_default_ttl=33 --shm-size 1m $B sh -c \
		'ulimit -n; cat /proc/sys/net/ipv4/ip_default_ttl
			df -k /dev/shm | tail -n 1'
	assert_line --index 0 99
	assert_line --index 1 33
	assert_line --index 2 --partial 1024
}

@test "run: a device" {
	run p run --rm --device /dev/zero:/dev/mine $B \
		sh -c 'head -c 2 /dev/mine | wc -c'
	assert_output 2
}

@test "run: --privileged" {
	run p run --rm --privileged $B sh -c 'mount -t tmpfs x /tmp && echo did'
	assert_output did
}

@test "run: no-new-privileges and the default seccomp profile" {
	run p run --rm --security-opt no-new-privileges $B \
		grep -E '^(NoNewPrivs|Seccomp):' /proc/self/status
	assert_line --regexp 'NoNewPrivs:.1'
	assert_line --regexp 'Seccomp:.2'
	run p run --rm --security-opt seccomp=unconfined $B \
		grep ^Seccomp: /proc/self/status
	assert_line --regexp 'Seccomp:.0'
}

@test "run: masked paths and unmask" {
	run p run --rm $B sh -c 'wc -c </proc/timer_list'
	assert_output 0
	run p run --rm --security-opt unmask=ALL $B \
		sh -c 'touch /proc/sys/kernel/shmmax && echo fine'
	assert_output fine
}

@test "run: --pid host, --ipc host, --uts host, --network host" {
	run p run --rm --pid host --ipc host --uts host --network host $B sh -c \
		'readlink /proc/self/ns/net; readlink /proc/self/ns/ipc'
	assert_line --index 0 "$(readlink /proc/self/ns/net)"
	assert_line --index 1 "$(readlink /proc/self/ns/ipc)"
}

@test "run: --init reaps and forwards" {
	run p run --rm --init $B sh -c 'cat /proc/1/comm'
	assert_output --regexp '^(catatonit|podman-init)$'
}

@test "run: user namespaces" {
	run p run --rm --uidmap 0:100000:65536 --gidmap 0:100000:65536 $B sh -c \
		'cat /proc/self/uid_map; touch /x && stat -c %u /x'
	assert_success
	assert_line --index 0 --regexp '0 +100000 +65536'
	assert_line --index 1 0
}

@test "run: --cgroups disabled" {
	! is_runc || skip "podman refuses it for runc by name"
	run p run --rm --cgroups disabled $B echo fine
	assert_output fine
}

@test "run: --preserve-fds" {
	run bash -c "exec 3<<<hello; '$CLIENTS/podman' run --rm --preserve-fds 1 \
		$B sh -c 'cat <&3'"
	assert_output hello
}

@test "exec: output, status, user, environment, detached" {
	p run --detach --name c $B sleep 300
	run p exec c sh -c 'echo out; exit 9'
	[ "$status" -eq 9 ]
	assert_output out
	run p exec --user 1000 --env A=b --workdir /tmp c \
		sh -c 'id -u; echo $A; pwd'
	assert_output "1000
b
/tmp"
	p exec --detach c sh -c 'touch /marker; sleep 300'
	wait_for p exec c test -e /marker
	run p exec c nosuchprogram
	[ "$status" -eq 127 ]
}

@test "exec: a terminal" {
	p run --detach --name c $B sleep 300
	run command script -q -e -c "'$CLIENTS/podman' exec -it c tty" \
		/dev/null </dev/null
	assert_success
	assert_output --partial /dev/pts/
}

@test "logs: what the container wrote" {
	p run --name c $B sh -c 'echo one; echo two >&2'
	run p logs c
	assert_output "one
two"
}

@test "stop, start, restart, wait" {
	p run --detach --name c $B sh -c 'trap "exit 3" TERM
		while :; do sleep 0.1; done'
	p stop --time 10 c
	run p wait c
	assert_output 3
	p start c
	p restart --time 0 c
	run p inspect --format '{{.State.Status}}' c
	assert_output running
}

@test "kill by name and number" {
	p run --detach --name c $B sleep 300
	p kill --signal KILL c
	run p wait c
	assert_output 137
}

@test "pause and unpause" {
	p run --detach --name c $B sleep 300
	p pause c
	run p inspect --format '{{.State.Status}}' c
	assert_output paused
	p unpause c
	run p exec c echo fine
	assert_output fine
}

@test "top and stats" {
	require cgroup_v1
	p run --detach --name c $B sleep 300
	run p top c
	assert_output --partial "sleep 300"
	run p stats --no-stream --format '{{.PIDS}}' c
	assert_success
}

@test "update changes a limit" {
	require cgroup_v1
	p run --detach --name c --memory 64m $B sleep 300
	p update --memory 32m --memory-swap 64m c || skip "podman can't update"
	run p exec c cat /sys/fs/cgroup/memory/memory.limit_in_bytes
	assert_output 33554432
}

# `podman diff` is left out: it compares layers without the runtime, and takes
# the image for added where its storage lies on an overlay.
@test "cp and commit" {
	p run --name c $B sh -c 'echo made >/made'
	p cp c:/made "$OSH_BOX/copied"
	[ "$(cat "$OSH_BOX/copied")" = made ]
	p commit -q c localhost/committed
	run p run --rm localhost/committed cat /made
	assert_output made
}

@test "a healthcheck" {
	p run --detach --name c --health-cmd 'test -e /etc/passwd' \
		--health-interval disable $B sleep 300
	run p healthcheck run c
	assert_success
}

@test "a pod shares network, ipc and hostname" {
	local pod
	pod=$(p pod create --name shared)
	p run --detach --pod shared --name one $B sleep 300
	p run --detach --pod shared --name two $B sleep 300
	[ "$(p exec one readlink /proc/self/ns/net)" = \
		"$(p exec two readlink /proc/self/ns/net)" ]
	[ "$(p exec one readlink /proc/self/ns/ipc)" = \
		"$(p exec two readlink /proc/self/ns/ipc)" ]
}

@test "a bridge network: one container reaches another, -p from outside" {
	p run --detach --name server --publish 18081:8080 $B \
		httpd -f -p 8080 -h /etc
	local address
	address=$(p inspect --format '{{.NetworkSettings.IPAddress}}' server)
	run p run --rm $B wget -qO- "http://$address:8080/passwd"
	assert_output --partial root
	run curl -sS -m 10 http://127.0.0.1:18081/passwd
	assert_output --partial root
}

@test "a restart policy" {
	p run --detach --name c --restart on-failure:2 $B false
	p wait c
	run p inspect --format '{{.RestartCount}}' c
	assert_output 2
}

@test "build: RUN steps go through the runtime" {
	mkdir -p "$OSH_BOX/build"
	printf 'FROM %s\nRUN echo built >/built\n' $B >"$OSH_BOX/build/Containerfile"
	p build -q --pull=never --runtime "$OSH_RUNTIME" --network none \
		--ulimit nofile=1024:1024 --ulimit nproc=1024:1024 \
		-t localhost/built "$OSH_BOX/build"
	run p run --rm localhost/built cat /built
	assert_output built
}

@test "podman info names the runtime and its version" {
	run p info --format '{{.Host.OCIRuntime.Path}} {{.Host.OCIRuntime.Version}}'
	assert_success
	assert_output --partial "$OSH_RUNTIME"
	assert_output --partial version
}

@test "a conmon that was killed: podman rm --force cleans up" {
	p run --detach --name c $B sleep 300
	kill -KILL "$(p inspect --format '{{.State.ConmonPid}}' c)"
	p rm --force --time 0 c
	run p container exists c
	assert_failure
	run pgrep -f '^sleep 300'
	assert_output ""
}

@test "many containers at once" {
	local i
	for i in 1 2 3 4 5 6; do
		p run --rm $B sh -c "echo number $i" >"$OSH_BOX/many.$i" &
	done
	wait
	run cat "$OSH_BOX"/many.*
	assert_equal "${#lines[@]}" 6
}
