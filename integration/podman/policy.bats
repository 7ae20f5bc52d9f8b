# SPDX-License-Identifier: Apache-2.0
# A policy in an annotation, on the network that Podman made.

load ../lib
needs root box osh policy podman nft python3

prepare_file()
{
	online --tls
	p images -q >/dev/null
}

SHORT='network:
  default: deny
  allow:
    - host: api.github.com
      port: 80
      binaries: [/usr/bin/curl]
    - host: other.github.com
      port: 8080'

prepare()
{
	policy "$SHORT"
	internet reset
	ID=
}

teardown()
{
	[ -z "$OSH_MISSING" ] || return 0
	p rm --all --force --time 0 >/dev/null 2>&1 || :
	p pod rm --all --force >/dev/null 2>&1 || :
}

# agent ARG...: podman run in the agent's image, under the policy; the id is
# in ID afterwards.
agent()
{
	rm -f "$OSH_BOX/cid"
	run p run --cidfile "$OSH_BOX/cid" --annotation "$ANNOTATION" \
		"${OPTIONS[@]}" localhost/agent "$@"
	ID=$(cat "$OSH_BOX/cid" 2>/dev/null) || :
}

# sleeper: a container of the policy that sleeps, for exec.
sleeper()
{
	ID=$(p run --detach --annotation "$ANNOTATION" "${OPTIONS[@]}" \
		localhost/agent sleep 300)
}

# nothing_reached HOST: not one packet came there.
nothing_reached()
{
	[ "$(internet counter "$1")" -eq 0 ] || fail "$1 got packets"
}

@test "an allowed host is reached by its name" {
	agent curl -sS -m 10 http://api.github.com/
	assert_success
	assert_output "api here"
	assert_decision "$ID" '.verdict == "allow" and .kind == "connect" and
		.dest.host == "api.github.com" and .dest.port == 80 and
		.binary.path == "/usr/bin/curl" and .reason == "allowed"'
}

@test "an allowed record names its line of the policy" {
	agent curl -sS -m 10 http://api.github.com/
	assert_decision "$ID" ".verdict == \"allow\" and .kind == \"connect\" and
		.policy.line == $(line_of 'host: api.github.com')"
}

@test "TLS to an allowed host is end to end, to another is refused" {
	policy 'network:
  default: deny
  allow:
    - host: api.github.com
      port: 443'
	OPTIONS=(--volume "$(internet folder)/ca.pem:/ca.pem:ro")
	agent curl -sS -m 10 --cacert /ca.pem https://api.github.com/
	assert_output "api here"
	agent curl -sS -m 10 --cacert /ca.pem https://collect.example.net/
	[ "$status" -eq 6 ]
	agent curl -sS -m 10 --cacert /ca.pem --resolve \
		api.github.com:443:192.31.196.77 https://api.github.com/
	[ "$status" -eq 7 ]
	nothing_reached collect
}

@test "the container gets no descriptor and no variable of the filter" {
	agent sh -c 'ls /proc/self/fd; env'
	assert_success
	# 3 is the folder that ls reads
	[ "$(grep -c '^[0-9]' <<<"$output")" -eq 4 ]
	refute_output --regexp '[Pp][Rr][Oo][Xx][Yy]|OPENSHELL|OSH_'
}

@test "a host that is not listed: an error at once" {
	agent curl -sS -m 10 http://collect.example.net/
	# 6: the name does not resolve; 28 would be a timeout
	[ "$status" -eq 6 ]
	nothing_reached collect
	assert_decision "$ID" '.verdict == "deny" and
		.dest.host == "collect.example.net" and .policy.line > 0'
	run "$OSH_RUNTIME" log "$ID"
	assert_output --regexp 'DENY  sandbox=[0-9a-f]+  .*collect\.example\.net'
}

@test "a literal address: an error at once" {
	agent curl -sS -m 10 http://192.31.196.77/
	[ "$status" -eq 7 ]
	nothing_reached collect
	assert_decision "$ID" '.verdict == "deny" and .kind == "connect" and
		.dest.ip == "192.31.196.77" and .dest.port == 80 and
		.binary.path == "/usr/bin/curl" and .policy.line > 0'
}

@test "the literal address of an allowed host is refused as well" {
	agent curl -sS -m 10 http://192.31.196.10/
	[ "$status" -eq 7 ]
	nothing_reached api
}

@test "another port of an allowed host: an error at once" {
	agent curl -sS -m 10 http://api.github.com:8080/
	[ "$status" -eq 7 ]
	assert_decision "$ID" '.verdict == "deny" and
		.dest.host == "api.github.com" and .dest.port == 8080 and
		.reason == "port-not-allowed" and .policy.line > 0'
}

@test "a binary that is not listed: an error at once" {
	agent python3 -c '
import urllib.request
urllib.request.urlopen("http://api.github.com/", timeout=10)'
	assert_failure
	refute_output --partial "timed out"
	assert_output --partial "Permission denied"
	nothing_reached api
	assert_decision "$ID" ".verdict == \"deny\" and
		.reason == \"binary-not-allowed\" and
		(.binary.path | startswith(\"/usr/bin/python3\")) and
		.policy.line == $(line_of 'host: api.github.com')"
}

@test "an entry without binaries is for any binary" {
	agent python3 -c '
import urllib.request
print(urllib.request.urlopen("http://other.github.com:8080/", timeout=10)
	.read().decode())'
	assert_success
	assert_output --partial "api here"
}

@test "every refusal is there in the text of the log, in order, verified" {
	sleeper
	p exec "$ID" curl -s -m 10 http://collect.example.net/ || :
	p exec "$ID" curl -s -m 10 http://192.31.196.77/ || :
	p exec "$ID" curl -s -m 10 http://api.github.com:8080/ || :
	p exec "$ID" curl -s -m 10 http://api.github.com/
	run "$OSH_RUNTIME" log "$ID"
	assert_success
	assert_line --regexp '^DENY  .*dest=collect\.example\.net'
	assert_line --regexp '^DENY  .*dest=192\.31\.196\.77:80'
	assert_line --regexp '^DENY  .*dest=api\.github\.com:8080'
	assert_line --regexp '^ALLOW  .*dest=api\.github\.com:80'
	decisions "$ID" | holds '[.[].seq] == [range(1; length + 1)]'
	run "$OSH_RUNTIME" log --verify "$ID"
	assert_success
}

@test "the same from podman exec" {
	sleeper
	run p exec "$ID" curl -sS -m 10 http://api.github.com/
	assert_output "api here"
	run p exec "$ID" curl -sS -m 10 http://collect.example.net/
	[ "$status" -eq 6 ]
	run p exec "$ID" curl -sS -m 10 http://192.31.196.77/
	[ "$status" -eq 7 ]
	run p exec "$ID" curl -sS -m 10 http://api.github.com:8080/
	[ "$status" -eq 7 ]
	run p exec "$ID" wget -O- http://api.github.com/
	assert_failure
	nothing_reached collect
	assert_decision "$ID" '.reason == "binary-not-allowed"'
	assert_decision "$ID" '.reason == "port-not-allowed"'
}

@test "stop, start and restart: the policy is in force again" {
	sleeper
	p stop --time 0 "$ID"
	p start "$ID"
	run p exec "$ID" curl -sS -m 10 http://api.github.com/
	assert_output "api here"
	p restart --time 0 "$ID"
	run p exec "$ID" curl -sS -m 10 http://api.github.com/
	assert_output "api here"
	run p exec "$ID" curl -sS -m 10 http://192.31.196.77/
	[ "$status" -eq 7 ]
	nothing_reached collect
	"$OSH_RUNTIME" log --verify "$ID"
}

@test "a healthcheck and a paused container" {
	OPTIONS=(--health-cmd 'curl -sS -m 10 http://api.github.com/'
		--health-interval disable)
	sleeper
	p healthcheck run "$ID"
	p pause "$ID"
	p unpause "$ID"
	p healthcheck run "$ID"
}

@test "exec can't leave the policy: privileged, another user, raw sockets" {
	sleeper
	run p exec --privileged "$ID" curl -sS -m 10 http://192.31.196.77/
	assert_failure
	run p exec --user 1000 "$ID" curl -sS -m 10 http://192.31.196.77/
	[ "$status" -eq 7 ]
	run p exec --privileged "$ID" grep CapEff /proc/self/status
	# NET_ADMIN 12, NET_RAW 13, SYS_ADMIN 21, SYS_PTRACE 19
	[ "$((16#${output##*[[:space:]]} & 0x283000))" -eq 0 ]
	nothing_reached collect
}

@test "with -p, an outside client reaches the container's server" {
	ID=$(p run --detach --publish 18080:8080 --annotation "$ANNOTATION" \
		localhost/agent httpd -f -p 8080 -h /etc)
	wait_for curl -sS -m 5 -o /dev/null http://127.0.0.1:18080/passwd
	internet exec evil /usr/bin/curl -sS -m 10 \
		http://10.77.0.200:18080/passwd | grep root
	assert_decision "$ID" '.kind == "inbound" and .verdict == "allow"'
}

@test "a port that nobody listens on stays closed from outside" {
	sleeper
	local address
	address=$(p inspect --format '{{.NetworkSettings.IPAddress}}' "$ID")
	run curl -sS -m 3 "http://$address:9999/"
	assert_failure
}

@test "without any policy the network is denied, and a warning says how" {
	run p run --cidfile "$OSH_BOX/cid1" localhost/agent \
		curl -sS -m 10 http://192.31.196.10/
	[ "$status" -eq 7 ]
	run p run localhost/agent grep CapEff /proc/self/status
	[ "$((16#${output##*[[:space:]]} & 0x283000))" -eq 0 ]
	nothing_reached api
}

@test "capabilities that would void the filter are taken away" {
	OPTIONS=(--cap-add NET_ADMIN --cap-add NET_RAW --cap-add SYS_ADMIN)
	agent grep Cap /proc/self/status
	assert_success
	local line
	for line in "${lines[@]}"; do
		[[ $line == Cap* ]] || continue
		[ "$((16#${line##*[[:space:]]} & 0x283000))" -eq 0 ]
	done
	[[ $output == *CapBnd* ]]
}

@test "--privileged does not void the filter" {
	OPTIONS=(--privileged)
	agent sh -c 'curl -sS -m 10 http://192.31.196.77/; echo $?
		nft flush ruleset 2>/dev/null; ip link set eth0 down; echo $?'
	nothing_reached collect
}

@test "the host's network under a policy with egress is refused" {
	OPTIONS=(--network host)
	agent true
	assert_failure
	assert_output --partial network
}

@test "a policy with an error is refused with its position" {
	local text
	text=$(printf 'network:\n  default: deny\n  alow: []\n' | base64 -w0)
	run p run --annotation "ai.openshell.policy=base64:$text" \
		localhost/agent true
	assert_failure
	assert_output --regexp '3:[0-9]+.*alow'
}

@test "a policy whose digest is pinned to another is refused" {
	OPTIONS=(--annotation "ai.openshell.policy-digest=sha256:$(printf \
		'%064d' 0)")
	agent true
	assert_failure
	assert_output --partial digest
	OPTIONS=(--annotation "ai.openshell.policy-digest=sha256:$(sha256sum \
		"$POLICY" | cut -d' ' -f1)")
	agent true
	assert_success
}

@test "an endpoint that needs inspection is refused by name, not passed" {
	policy 'version: 1
network_policies:
  github:
    name: github
    endpoints:
      - host: api.github.com
        port: 80
        protocol: rest
        access: read-only
        enforcement: enforce
    binaries:
      - path: /usr/bin/curl'
	agent curl -sS -m 10 http://api.github.com/
	assert_failure
	assert_output --partial api.github.com
	nothing_reached api
}

@test "three denials after a first allowed read are a finding" {
	sleeper
	p exec "$ID" curl -sS -m 10 http://api.github.com/
	local host
	for host in a.example.net b.example.net c.example.net; do
		p exec "$ID" curl -sS -m 10 "http://$host/" || :
	done
	assert_decision "$ID" '.kind == "finding"'
}

@test "a pod: each member has its own policy, on one network" {
	local pod second
	pod=$(p pod create)
	ID=$(p run --detach --pod "$pod" --annotation "$ANNOTATION" \
		localhost/agent sleep 300)
	policy 'network:
  default: deny
  allow:
    - host: other.github.com
      port: 8080'
	second=$(p run --detach --pod "$pod" --annotation "$ANNOTATION" \
		localhost/agent sleep 300)
	run p exec "$ID" curl -sS -m 10 http://api.github.com/
	assert_output "api here"
	run p exec "$second" curl -sS -m 10 http://api.github.com/
	assert_failure
	run p exec "$second" curl -sS -m 10 http://other.github.com:8080/
	assert_output "api here"
	run p exec "$second" curl -sS -m 10 http://192.31.196.77/
	[ "$status" -eq 7 ]
	nothing_reached collect
}

@test "play kube: the pod's annotation names a policy of the operator" {
	# podman before 5 allows an annotation of 63 characters there
	mkdir -p /etc/osh-runtime/policies
	cp "$POLICY" /etc/osh-runtime/policies/agent.yaml
	cat >"$OSH_BOX/pod.yaml" <<-'END'
	apiVersion: v1
	kind: Pod
	metadata:
	  name: kube
	  annotations:
	    ai.openshell.policy-name: agent
	spec:
	  containers:
	  - name: c
	    image: localhost/agent
	    imagePullPolicy: Never
	    command: [sleep, "300"]
	END
	p play kube "$OSH_BOX/pod.yaml"
	run p exec kube-c curl -sS -m 10 http://api.github.com/
	assert_output "api here"
	run p exec kube-c curl -sS -m 10 http://192.31.196.77/
	[ "$status" -eq 7 ]
	nothing_reached collect
}

@test "a network of its own with names: another container by its name" {
	p network exists named || p network create named
	p run --detach --name server --network named \
		localhost/agent httpd -f -p 8080 -h /etc
	policy 'network:
  default: deny
  allow:
    - host: server
      port: 8080'
	OPTIONS=(--network named)
	agent curl -sS -m 10 http://server:8080/passwd
	assert_success
	assert_output --partial root
}

@test "a user namespace: the network comes after create" {
	OPTIONS=(--uidmap 0:100000:65536 --gidmap 0:100000:65536)
	agent curl -sS -m 10 http://api.github.com/
	assert_output "api here"
	agent curl -sS -m 10 http://192.31.196.77/
	[ "$status" -eq 7 ]
	nothing_reached collect
}

@test "--network none: everything is refused at once" {
	OPTIONS=(--network none)
	agent curl -sS -m 10 http://192.31.196.77/
	[ "$status" -eq 7 ]
}

@test "the log is the operator's: it can be read when the container is gone" {
	agent curl -sS -m 10 http://192.31.196.77/
	p rm --force "$ID"
	run "$OSH_RUNTIME" log "$ID"
	assert_success
	assert_output --partial "dest=192.31.196.77:80"
	[ "$(stat -c %a "/var/log/osh-runtime/$ID.jsonl")" = 600 ]
}

@test "a log that was edited does not verify" {
	agent curl -sS -m 10 http://192.31.196.77/
	sed -i 's/192\.31\.196\.77/192.31.196.99/' \
		"/var/log/osh-runtime/$ID.jsonl"
	run "$OSH_RUNTIME" log --verify "$ID"
	assert_failure
}

@test "nothing is left: process, table, namespace, state" {
	sleeper
	p exec "$ID" curl -sS -m 10 http://api.github.com/
	p rm --force --time 0 "$ID"
	none() { [ -z "$(pgrep -f 'osh-(shim|resolver)')" ]; }
	wait_for none
	[ ! -e "/run/osh-runtime/$ID" ]
	run find /sys/fs/cgroup -name "*$ID*"
	assert_output ""
	[ -z "$(ls /run/netns | grep netns-)" ]
}

@test "twenty connections at once are all decided" {
	sleeper
	run p exec "$ID" bash -c 'for i in $(seq 20); do
		curl -sS -m 20 http://api.github.com/ & done; wait'
	assert_success
	assert_equal "${#lines[@]}" 20
}
