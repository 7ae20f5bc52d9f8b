# SPDX-License-Identifier: Apache-2.0
# A policy in an annotation, by ctr: the network that CNI made.

load ../lib
needs root box osh policy containerd nft python3

prepare_file()
{
	online
	c start
}

prepare()
{
	ID=p$BATS_TEST_NUMBER
	internet reset
	policy 'network:
  default: deny
  allow:
    - host: api.github.com
      port: 80
      binaries: [/usr/bin/curl]'
}

teardown()
{
	[ -z "$OSH_MISSING" ] || return 0
	c ctr task kill --signal KILL "$ID" >/dev/null 2>&1 || :
	c ctr task delete --force "$ID" >/dev/null 2>&1 || :
	c ctr container delete "$ID" >/dev/null 2>&1 || :
}

# agent ARG...
agent()
{
	run c ctr run --rm --cni --runc-binary "$OSH_RUNTIME" \
		--annotation "$ANNOTATION" localhost/agent:latest "$ID" "$@"
}

sleeper()
{
	c ctr run --detach --cni --runc-binary "$OSH_RUNTIME" \
		--annotation "$ANNOTATION" localhost/agent:latest "$ID" \
		sleep 300
}

@test "an allowed host is reached by its name" {
	agent curl -sS -m 10 http://api.github.com/
	assert_success
	assert_output --partial "api here"
	assert_decision "$ID" ".verdict == \"allow\" and
		.dest.host == \"api.github.com\" and
		.policy.line == $(line_of 'host: api.github.com')"
}

@test "an unlisted host, a literal address, another port, another binary" {
	sleeper
	run c ctr task exec --exec-id e1 "$ID" \
		curl -sS -m 10 http://collect.example.net/
	assert_output --partial "Could not resolve"
	run c ctr task exec --exec-id e2 "$ID" \
		curl -sS -m 10 http://192.31.196.77/
	assert_failure
	refute_output --partial "timed out"
	run c ctr task exec --exec-id e3 "$ID" \
		curl -sS -m 10 http://api.github.com:8080/
	assert_failure
	refute_output --partial "timed out"
	run c ctr task exec --exec-id e4 "$ID" \
		wget -O- http://api.github.com/
	assert_failure
	assert_decision "$ID" '.dest.host == "collect.example.net" and
		.verdict == "deny" and .policy.line > 0'
	assert_decision "$ID" '.dest.ip == "192.31.196.77" and
		.verdict == "deny" and .policy.line > 0'
	assert_decision "$ID" '.reason == "port-not-allowed" and
		.policy.line > 0'
	assert_decision "$ID" '.reason == "binary-not-allowed" and
		.policy.line > 0'
	[ "$(internet counter collect)" -eq 0 ]
}

@test "the policy as plain YAML in the annotation, as ctr hands it on" {
	ANNOTATION="ai.openshell.policy=$(cat "$POLICY")"
	agent curl -sS -m 10 http://api.github.com/
	assert_output --partial "api here"
}

@test "a network namespace of ctr's own, by --with-ns" {
	local ns
	ns=$("$INTEGRATION/internet/internet" sandbox world 3)
	run c ctr run --rm --with-ns "network:$ns" \
		--runc-binary "$OSH_RUNTIME" --annotation "$ANNOTATION" \
		localhost/agent:latest "$ID" \
		sh -c 'curl -sS -m 10 http://api.github.com/
			curl -sS -m 10 http://192.31.196.77/'
	assert_output --partial "api here"
	[ "$(internet counter sandbox3)" -eq 0 ]
}

@test "an inbound connection to a server of the container" {
	sleeper
	c ctr task exec --detach --exec-id e1 "$ID" \
		httpd -f -p 8080 -h /etc
	local pid
	pid=$(c ctr task ls | awk -v id="$ID" '$1 == id { print $2 }')
	local address
	address=$(nsenter -t "$pid" -n ip -o -4 addr show eth0 |
		sed 's/.*inet \([0-9.]*\).*/\1/')
	wait_for curl -sS -m 5 -o /dev/null "http://$address:8080/passwd"
	assert_decision "$ID" '.kind == "inbound"'
}

@test "nothing is left after the container: process, state, group" {
	agent true
	none() { [ -z "$(pgrep -f 'osh-(shim|resolver)')" ]; }
	wait_for none
	run find /run/containerd/runc /run/osh-runtime -name "$ID"
	assert_output ""
	run find /sys/fs/cgroup -name "$ID"
	assert_output ""
}
