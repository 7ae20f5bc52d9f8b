#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Attacks on names, and by forged sources.
# How they are judged is in harness.bash; in each test the first line shows
# that the attack works where the control is not, the second that it fails
# where it is. `attack` without arguments lists them all.

load ../lib
load harness
needs root box osh policy nft python3 cc

# ----------------------------------------------------------------- names

@test "a question to another name server: UDP" {
	succeeds no_policy dns other-udp
	refused dns other-udp
	logged name-not-allowed
}

@test "a question to another name server: TCP" {
	succeeds no_policy dns other-tcp
	refused dns other-tcp
	logged name-not-allowed
}

@test "a question to another name server: IPv6" {
	succeeds no_policy dns other6-udp
	refused dns other6-udp
	logged name-not-allowed
	succeeds no_policy dns other6-tcp
	refused dns other6-tcp
	logged name-not-allowed
}

@test "data in the questions to the sandbox's own name server" {
	succeeds no_policy dns tunnel
	refused dns tunnel
	logged name-not-allowed
}

# A slow upstream keeps the sandbox's resolver from reading on.
@test "questions that nobody has read when the sandbox ends" {
	succeeds no_policy dns orphans
	"$INTERNET" mute $NET dns
	AFTER=2 BLIND=1 refused dns orphans
	"$INTERNET" unmute $NET dns
}

@test "an allowed name by a name server of the agent's own, on port 53" {
	succeeds no_policy dns own-53
	refused dns own-53
}

@test "an allowed name by a name server of the agent's own, on another port" {
	succeeds no_policy dns own-5353
	refused dns own-5353
}

@test "an allowed name by a name server of the attacker's" {
	succeeds no_policy dns theirs
	refused dns theirs
}

@test "an allowed name by a server in the resolver's place" {
	refused dns takeover
}

@test "an allowed name by a resolv.conf that the agent wrote" {
	succeeds no_policy dns resolv.conf
	refused dns resolv.conf
}

@test "an allowed name by /etc/hosts" {
	succeeds no_policy dns hosts
	refused dns hosts
}

# The control of those: an upstream that create recorded is believed. The agent
# must not be able to choose it.
their_upstream()
{
	under_policy :
	echo "nameserver 192.31.196.66" >"$BUNDLE/resolv.conf"
}

@test "an allowed name by a name server that the client gave: the control" {
	succeeds their_upstream dns own-53
	succeeds their_upstream dns theirs
	succeeds their_upstream dns resolv.conf
	succeeds their_upstream dns takeover
}

# The host's is used instead, as for every container without one.
@test "a resolv.conf of the image's is not trusted" {
	local packets who
	rm -f /etc/resolv.conf
	cp "$INTERNET_DIR/$NET/resolv.conf" /etc/resolv.conf
	stage
	under_policy :
	config '.mounts |= map(select(.destination != "/etc/resolv.conf"))'
	echo "nameserver 192.31.196.66" >"$ROOTFS/etc/resolv.conf"
	act dns resolv.conf
	judge
	clear_stage
	[ "$verdict" = refused ] || fail "$said"
	[ "$packets" -eq 0 ] || fail "packets arrived:$who"
}

# -------------------------------------------------------- forged sources

@test "a reply to a datagram with a forged source" {
	succeeds loose_replies freebind reply
	refused freebind reply
}

@test "the resolver's answer to a question with a forged source" {
	succeeds loose_replies freebind resolver
	BLIND=1 refused freebind resolver
}

@test "the refusal of a packet with a forged source: UDP" {
	succeeds loose_replies freebind refusal-udp
	BLIND=1 refused freebind refusal-udp
}

@test "the refusal of a packet with a forged source: TCP" {
	succeeds loose_replies freebind refusal-tcp
	BEFORE=fast_open BLIND=1 refused freebind refusal-tcp
}

# The true answer is kept from coming: the forged ones have a second each.
@test "answers to the resolver in its upstream's name" {
	"$INTERNET" mute $NET dns
	refused freebind poison
	"$INTERNET" unmute $NET dns
}
