# SPDX-License-Identifier: Apache-2.0
# The calls of a kubelet, in its order: a pod with a RuntimeClass, a policy in
# the pod's annotation.

load ../lib
needs root box containerd cri

prepare_file()
{
	! is_osh || host_config 'when_missing: none'
	! is_osh || [ ! -x "$OSH_POLICY" ] || online
	c start
}

teardown()
{
	[ -z "$OSH_MISSING" ] || return 0
	local id
	for id in $(cri ListPodSandbox | jq -r '.items[]?.id'); do
		cri StopPodSandbox "{\"pod_sandbox_id\": \"$id\"}" >/dev/null || :
		cri RemovePodSandbox "{\"pod_sandbox_id\": \"$id\"}" \
			>/dev/null || :
	done
}

cri() { c cri "$@"; }

# pod [ANNOTATIONS]: run a sandbox with the handler `osh`; its id in POD.
pod()
{
	local annotations=${1-}
	SANDBOX=$(jq -n --arg n "pod$BATS_TEST_NUMBER" \
		--argjson annotations "${annotations:-"{}"}" '{
		metadata: {name: $n, uid: $n, namespace: "default"},
		hostname: $n, log_directory: "/run/pods/\($n)",
		annotations: $annotations,
		linux: {cgroup_parent: "/osh-test/kube",
			security_context: {namespace_options: {}}}}')
	mkdir -p "/run/pods/pod$BATS_TEST_NUMBER"
	POD=$(cri RunPodSandbox "$(jq -n --argjson c "$SANDBOX" \
		'{config: $c, runtime_handler: "osh"}')" |
		jq -re .pod_sandbox_id)
	[ -n "$POD" ]
}

# container NAME FIELDS: create and start one in the pod; its id in CONTAINER.
container()
{
	local request
	request=$(jq -n --arg pod "$POD" --arg name "$1" --argjson f "$2" \
		--argjson sandbox "$SANDBOX" '{pod_sandbox_id: $pod,
		sandbox_config: $sandbox, config: ({metadata: {name: $name},
			image: {image: "localhost/agent:latest"},
			log_path: "\($name).log", linux: {resources: {},
				security_context: {namespace_options: {},
				capabilities: {}}},
			annotations: $sandbox.annotations} + $f)}')
	CONTAINER=$(cri CreateContainer "$request" | jq -re .container_id)
	[ -n "$CONTAINER" ] || return 1
	cri StartContainer "{\"container_id\": \"$CONTAINER\"}" >/dev/null
}

# in_pod ARG...: ExecSync; output and status as bats' run.
in_pod()
{
	local answer
	answer=$(cri ExecSync "$(jq -n --arg id "$CONTAINER" \
		'{container_id: $id, cmd: $ARGS.positional, timeout: 30}' \
		--args -- "$@")")
	status=$(jq -r '.exit_code // 0' <<<"$answer")
	output=$(jq -r '.stdout // ""' <<<"$answer" | base64 -d
		jq -r '.stderr // ""' <<<"$answer" | base64 -d)
}

status_of()
{
	cri ContainerStatus "{\"container_id\": \"$CONTAINER\"}" |
		jq -r .status.state
}

SLEEP='{"command": ["sleep", "300"]}'

@test "a sandbox and a container: run, status, exec, stop, remove" {
	pod
	container c "$SLEEP"
	run status_of
	assert_output CONTAINER_RUNNING
	in_pod sh -c 'echo out; exit 9'
	[ "$status" -eq 9 ]
	assert_output out
	cri StopContainer "{\"container_id\": \"$CONTAINER\"}" >/dev/null
	run status_of
	assert_output CONTAINER_EXITED
	cri RemoveContainer "{\"container_id\": \"$CONTAINER\"}" >/dev/null
}

@test "the containers of a pod share its network, ipc and hostname" {
	pod
	container one "$SLEEP"
	in_pod readlink /proc/self/ns/net /proc/self/ns/ipc /proc/self/ns/uts
	local first=$output
	container two "$SLEEP"
	in_pod readlink /proc/self/ns/net /proc/self/ns/ipc /proc/self/ns/uts
	assert_output "$first"
	in_pod hostname
	assert_output "pod$BATS_TEST_NUMBER"
}

@test "a container's log and exit code" {
	pod
	container c '{"command": ["sh", "-c", "echo logged; exit 7"]}'
	ended() { [ "$(status_of)" = CONTAINER_EXITED ]; }
	wait_for ended
	grep -q logged "/run/pods/pod$BATS_TEST_NUMBER/c.log"
	[ "$(cri ContainerStatus "{\"container_id\": \"$CONTAINER\"}" |
		jq .status.exit_code)" -eq 7 ]
}

@test "a container whose program is missing: StartError with the text" {
	pod
	run container c '{"command": ["nosuchprogram"]}'
	assert_failure
	assert_error 'exec: "nosuchprogram": executable file not found in $PATH'
}

@test "limits, and their update while the container runs" {
	require cgroup_v1
	pod
	container c '{"command": ["sleep", "300"], "linux": {"resources":
		{"memory_limit_in_bytes": 67108864, "cpu_quota": 50000,
		"cpu_period": 100000}}}'
	in_pod cat /sys/fs/cgroup/memory/memory.limit_in_bytes
	assert_output 67108864
	cri UpdateContainerResources "{\"container_id\": \"$CONTAINER\",
		\"linux\": {\"memory_limit_in_bytes\": 134217728}}" >/dev/null
	in_pod cat /sys/fs/cgroup/memory/memory.limit_in_bytes
	assert_output 134217728
}

@test "security context: user, read-only root, capabilities, no_new_privs" {
	pod
	container c '{"command": ["sleep", "300"], "linux": {"resources": {},
		"security_context": {"run_as_user": {"value": 1000},
			"readonly_rootfs": true, "no_new_privs": true,
			"capabilities": {"drop_capabilities": ["ALL"]}}}}'
	in_pod sh -c 'id -u; touch /x; grep -E "CapBnd|NoNewPrivs" \
		/proc/self/status'
	assert_output --partial 1000
	assert_output --partial Read-only
	assert_output --regexp 'CapBnd:.0000000000000000'
	assert_output --regexp 'NoNewPrivs:.1'
}

@test "statistics of a container and of the pod" {
	pod
	container c "$SLEEP"
	cri ContainerStats "{\"container_id\": \"$CONTAINER\"}" |
		holds '.stats.memory.working_set_bytes.value | tonumber > 0'
}

@test "a shared pid namespace ends with its pod" {
	pod
	container c '{"command": ["sleep", "300"], "linux": {"resources": {},
		"security_context": {"namespace_options": {"pid": "POD"}}}}'
	in_pod sh -c 'sleep 299 >/dev/null 2>&1 </dev/null & exit 0'
	cri StopPodSandbox "{\"pod_sandbox_id\": \"$POD\"}" >/dev/null
	cri RemovePodSandbox "{\"pod_sandbox_id\": \"$POD\"}" >/dev/null
	run pgrep -f '^sleep 299'
	assert_output ""
}

@test "the node's network" {
	pod
	SANDBOX=$(jq '.linux.security_context.namespace_options.network = "NODE" |
		.metadata.name += "n" | .metadata.uid += "n" | del(.hostname)' \
		<<<"$SANDBOX")
	POD=$(cri RunPodSandbox "$(jq -n --argjson c "$SANDBOX" \
		'{config: $c, runtime_handler: "osh"}')" | jq -re .pod_sandbox_id)
	container c '{"command": ["sleep", "300"], "linux": {"resources": {},
		"security_context": {"namespace_options": {"network": "NODE"}}}}'
	in_pod readlink /proc/self/ns/net
	assert_output "$(readlink /proc/self/ns/net)"
}

@test "an unknown handler is refused" {
	run cri RunPodSandbox '{"config": {"metadata": {"name": "x"}},
		"runtime_handler": "nosuch"}'
	assert_failure
}

# ------------------------------------------------------------------ policies

# policy_pod: a pod whose annotation is the policy, verbatim; CRI hands it to
# the sandbox and to its containers.
policy_pod()
{
	require osh policy nft python3
	host_config
	policy 'network:
  default: deny
  allow:
    - host: api.github.com
      port: 80
      binaries: [/usr/bin/curl]'
	internet reset
	pod "$(jq -n --rawfile p "$POLICY" '{"ai.openshell.policy": $p}')"
	container agent "$SLEEP"
}

@test "policy: an allowed host is reached by its name" {
	policy_pod
	in_pod curl -sS -m 10 http://api.github.com/
	assert_output "api here"
	assert_decision "$CONTAINER" ".verdict == \"allow\" and
		.dest.host == \"api.github.com\" and
		.policy.line == $(line_of 'host: api.github.com')"
}

@test "policy: an unlisted host, an address, a port, a binary are refused" {
	policy_pod
	in_pod curl -sS -m 10 http://collect.example.net/
	[ "$status" -eq 6 ]
	in_pod curl -sS -m 10 http://192.31.196.77/
	[ "$status" -eq 7 ]
	in_pod curl -sS -m 10 http://api.github.com:8080/
	[ "$status" -eq 7 ]
	in_pod wget -O- http://api.github.com/
	[ "$status" -ne 0 ]
	assert_decision "$CONTAINER" '.dest.host == "collect.example.net" and
		.verdict == "deny" and .policy.line > 0'
	assert_decision "$CONTAINER" '.dest.ip == "192.31.196.77" and
		.verdict == "deny" and .policy.line > 0'
	assert_decision "$CONTAINER" '.reason == "port-not-allowed"'
	assert_decision "$CONTAINER" '.reason == "binary-not-allowed"'
	[ "$(internet counter collect)" -eq 0 ]
}

@test "policy: a second container of the pod is under it as well" {
	policy_pod
	container second "$SLEEP"
	in_pod curl -sS -m 10 http://192.31.196.77/
	[ "$status" -eq 7 ]
	in_pod curl -sS -m 10 http://api.github.com/
	assert_output "api here"
	[ "$(internet counter collect)" -eq 0 ]
}

@test "policy: a container that ends and starts again is still under it" {
	policy_pod
	cri StopContainer "{\"container_id\": \"$CONTAINER\"}" >/dev/null
	container again "$SLEEP"
	in_pod curl -sS -m 10 http://api.github.com/
	assert_output "api here"
	in_pod curl -sS -m 10 http://192.31.196.77/
	[ "$status" -eq 7 ]
}

@test "policy: a probe from the node reaches the pod's server" {
	policy_pod
	container server '{"command": ["httpd", "-f", "-p", "8080", "-h", "/etc"]}'
	local address
	address=$(cri PodSandboxStatus "{\"pod_sandbox_id\": \"$POD\"}" |
		jq -r .status.network.ip)
	wait_for curl -sS -m 5 -o /dev/null "http://$address:8080/passwd"
}

@test "policy: a pod with a bad policy does not start, and says where" {
	require osh policy
	host_config
	run pod "$(jq -n '{"ai.openshell.policy":
		"network:\n  default: deny\n  alow: []\n"}')"
	assert_failure
	assert_output --regexp '3:[0-9]+.*alow'
}

@test "policy: nothing is left after the pod" {
	policy_pod
	cri StopPodSandbox "{\"pod_sandbox_id\": \"$POD\"}" >/dev/null
	cri RemovePodSandbox "{\"pod_sandbox_id\": \"$POD\"}" >/dev/null
	none() { [ -z "$(pgrep -f 'osh-(shim|resolver)')" ]; }
	wait_for none
	run find /run/osh-runtime /run/containerd/runc -name "$CONTAINER"
	assert_output ""
}
