# SPDX-License-Identifier: Apache-2.0
# Where a policy comes from, who wins, and what the operator's file says.

load ../lib
needs root box osh policy nft python3

prepare_file() { online; }

prepare()
{
	POLICY=
	agent_bundle
	HOST_CONFIG=$BUNDLE/host.yaml
	mkdir -p "$BUNDLE/policies"
	host 'when_missing: deny-network'
	printf '%s\n' 'network:' '  default: deny' '  allow:' \
		'    - host: api.github.com' '      port: 80' \
		>"$BUNDLE/allow.yaml"
	printf '%s\n' 'network:' '  default: deny' '  allow: []' \
		>"$BUNDLE/nothing.yaml"
}

teardown()
{
	[ -z "$OSH_MISSING" ] || return 0
	remove_containers
	rm -rf "$OSH_BOX/agent.rootfs/etc/openshell"
	internet unplug "$BATS_TEST_NUMBER" 2>/dev/null || :
}

host() { printf '%s\n' "$@" >"$HOST_CONFIG"; }

annotate() { config '.annotations[$k] = $v' --arg k "$1" --arg v "$2"; }

# reaches, refused: what the container can do.
reaches()
{
	program curl -sS -m 10 http://api.github.com/
	in_container
	assert_success
	assert_output --partial "api here"
}

refused()
{
	program curl -sS -m 10 http://api.github.com/
	in_container
	# curl ran, and could not resolve or connect
	[[ $status -eq 6 || $status -eq 7 ]] || fail "$status: $output"
}

@test "an annotation: YAML, JSON, base64 of either" {
	annotate ai.openshell.policy "$(cat "$BUNDLE/allow.yaml")"
	reaches
	annotate ai.openshell.policy \
		'{"network": {"default": "deny", "allow":
		[{"host": "api.github.com", "port": 80}]}}'
	reaches
	annotate ai.openshell.policy "base64:$(base64 -w0 "$BUNDLE/allow.yaml")"
	reaches
	annotate ai.openshell.policy "$("$OSH_POLICY" annotation \
		"$BUNDLE/allow.yaml")"
	reaches
}

@test "an annotation that is no policy is refused, not taken for none" {
	local text
	for text in '' ' ' 'base64:!!' 'base64:' 'network: [' '[]' 'null' '~'; do
		annotate ai.openshell.policy "$text"
		create
		assert_failure
		assert_nothing_left
	done
}

@test "a name: a policy of the operator's, never a path" {
	local name
	host "policies: $BUNDLE/policies"
	cp "$BUNDLE/allow.yaml" "$BUNDLE/policies/agent.yaml"
	annotate ai.openshell.policy-name agent
	reaches
	for name in ../allow ./agent agent.yaml /agent nosuch "" . ..; do
		annotate ai.openshell.policy-name "$name"
		create
		assert_failure
		assert_nothing_left
	done
}

@test "a document and the name of one: the document, or an error that names both" {
	host "policies: $BUNDLE/policies"
	cp "$BUNDLE/nothing.yaml" "$BUNDLE/policies/agent.yaml"
	annotate ai.openshell.policy-name agent
	annotate ai.openshell.policy "$(cat "$BUNDLE/allow.yaml")"
	program curl -sS -m 10 http://api.github.com/
	in_container
	if [ "$status" -eq 0 ]; then
		assert_output --partial "api here"
	else
		assert_output --regexp 'policy-name.*ai\.openshell\.policy '
	fi
}

@test "the operator's default, and an annotation before it" {
	host "default_policy: $BUNDLE/allow.yaml"
	reaches
	annotate ai.openshell.policy "$(cat "$BUNDLE/nothing.yaml")"
	refused
}

@test "the image's own policy only where the operator allows it" {
	mkdir -p "$ROOTFS/etc/openshell"
	cp "$BUNDLE/allow.yaml" "$ROOTFS/etc/openshell/policy.yaml"
	refused
	host 'image_policy: allow'
	reaches
	annotate ai.openshell.policy "$(cat "$BUNDLE/nothing.yaml")"
	refused
}

@test "the image's policy can't be a link out of the image" {
	host 'image_policy: allow'
	mkdir -p "$ROOTFS/etc/openshell"
	ln -s "$BUNDLE/allow.yaml" "$ROOTFS/etc/openshell/policy.yaml"
	program curl -sS -m 10 http://api.github.com/
	in_container
	refute_output --partial "api here"
}

@test "when_missing: deny-network is the built-in default, with a warning" {
	host '# nothing set' 'image_policy: refuse'
	program curl -sS -m 10 http://192.31.196.10/
	run rt --log "$BUNDLE/log" --log-format json run --bundle "$BUNDLE" "$ID"
	[ "$status" -eq 7 ]
	grep -q '"level": *"warning"' "$BUNDLE/log"
	grep -q 'ai.openshell.policy' "$BUNDLE/log"
}

@test "when_missing: refuse" {
	host 'when_missing: refuse'
	create
	assert_failure
	assert_output --partial policy
	assert_nothing_left
}

@test "when_missing: restrictive is OpenShell's default" {
	host 'when_missing: restrictive'
	refused
	script 'touch /etc/x 2>/dev/null && echo wrote; touch /tmp/x && echo tmp'
	in_container
	assert_output --partial tmp
	refute_output --partial wrote
}

@test "when_missing: none is a plain OCI runtime" {
	host 'when_missing: none'
	program curl -sS -m 10 http://192.31.196.10/
	in_container
	assert_output --partial "api here"
	script 'exec sleep 300'
	created
	run pgrep -f osh-shim
	assert_output ""
}

@test "the ceiling: both must allow" {
	host "ceiling: $BUNDLE/nothing.yaml"
	annotate ai.openshell.policy "$(cat "$BUNDLE/allow.yaml")"
	refused
	run "$OSH_RUNTIME" --host-config "$HOST_CONFIG" log --format json "$ID"
	assert_output --partial '"ceiling"'
	host "ceiling: $BUNDLE/allow.yaml"
	reaches
}

@test "no environment variable and no file of the bundle is the operator's" {
	printf 'when_missing: none\n' >"$BUNDLE/config.yaml"
	program curl -sS -m 10 http://192.31.196.10/
	cd "$BUNDLE"
	OSH_HOST_CONFIG=$BUNDLE/config.yaml XDG_CONFIG_HOME=$BUNDLE \
		in_container
	[ "$status" -eq 7 ]
}

@test "an unknown key or value of the host configuration is refused" {
	local text
	for text in 'when_mising: none' 'when_missing: nothing' \
		'image_policy: true' 'default_policy: /no/such/file' \
		'ceiling: /no/such/file'; do
		host "$text"
		create
		assert_failure
		assert_nothing_left
	done
}

@test "a digest that is pinned must be the document's" {
	annotate ai.openshell.policy "$(cat "$BUNDLE/allow.yaml")"
	annotate ai.openshell.policy-digest "sha256:$(printf %s \
		"$(cat "$BUNDLE/allow.yaml")" | sha256sum | cut -d' ' -f1)"
	reaches
	annotate ai.openshell.policy-digest "sha256:$(printf %064d 1)"
	create
	assert_failure
	assert_output --partial digest
	assert_nothing_left
}

@test "plan prints the same lookup and touches nothing" {
	annotate ai.openshell.policy "$(cat "$BUNDLE/allow.yaml")"
	run rt plan --bundle "$BUNDLE"
	assert_success
	assert_output --partial annotation
	assert_nothing_left
	run rt plan --bundle "$BUNDLE" --policy "$BUNDLE/nothing.yaml"
	assert_success
	assert_output --partial nothing.yaml
}

@test "inbound: none closes what listens" {
	local address
	annotate ai.openshell.policy "$(cat "$BUNDLE/allow.yaml")"
	address=$(internet exec "sandbox$SANDBOX" ip -o -4 addr show eth0 |
		sed 's/.*inet \([0-9.]*\).*/\1/')
	running 'exec httpd -f -p 8080 -h /etc'
	wait_for internet exec evil /usr/bin/curl -sS -m 5 -o /dev/null \
		"http://$address:8080/passwd"
	rt delete --force "$ID"
	annotate ai.openshell.inbound none
	running 'exec httpd -f -p 8080 -h /etc'
	sleep 0.5
	run internet exec evil /usr/bin/curl -sS -m 2 \
		"http://$address:8080/passwd"
	assert_failure
}

@test "log --follow prints what comes, and ends with the container" {
	annotate ai.openshell.policy "$(cat "$BUNDLE/allow.yaml")"
	running
	"$OSH_RUNTIME" --root "$STATE" --host-config "$HOST_CONFIG" \
		log --follow "$ID" >"$BUNDLE/followed" 2>&1 3>&- 4>&- &
	local follower=$!
	rt exec "$ID" curl -sS -m 5 http://192.31.196.77/ || :
	seen() { grep -q '192\.31\.196\.77' "$BUNDLE/followed"; }
	wait_for seen
	kill $follower 2>/dev/null || :
}

@test "what a hostile program prints into the log is escaped" {
	annotate ai.openshell.policy "$(cat "$BUNDLE/allow.yaml")"
	running
	cp "$ROOTFS/usr/bin/curl" "$ROOTFS/tmp/"$'a\nDENY  b\e[31m'
	rt exec "$ID" "/tmp/"$'a\nDENY  b\e[31m' -sS -m 5 http://192.31.196.77/ || :
	rm -f "$ROOTFS/tmp/"a*
	"$OSH_RUNTIME" log "$ID" >"$BUNDLE/log"
	refute grep -q $'\e' "$BUNDLE/log"
	refute grep -q '^DENY  b' "$BUNDLE/log"
	grep -q 192.31.196.77 "$BUNDLE/log"
}

@test "log takes its options on both sides of the id" {
	annotate ai.openshell.policy "$(cat "$BUNDLE/allow.yaml")"
	reaches
	run rt log "$ID" --format json
	assert_success
	jq -e .seq <<<"${lines[0]}" >/dev/null
	run rt log --format json "$ID"
	assert_success
	run rt log "$ID" --verify
	assert_success
	run rt log "$ID" more
	assert_failure
}
