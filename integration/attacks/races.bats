#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Attacks on the moment between the check and the use.
# How they are judged is in harness.bash; in each test the first line shows
# that the attack works where the control is not, the second that it fails
# where it is. `attack` without arguments lists them all.

load ../lib
load harness
needs root box osh policy nft python3 cc

# ----------------------------------------------------------------- races

@test "the address is swapped after the check: TCP" {
	asked succeeds loose_marks swap tcp
	asked refused swap tcp
}

@test "the address is swapped after the check: UDP" {
	succeeds no_table swap udp
	refused swap udp
}

@test "the address is swapped after the check: sendto" {
	succeeds no_table swap sendto
	refused swap sendto
}

@test "the descriptor is swapped after the check: TCP" {
	asked succeeds loose_marks dup2 tcp
	BEFORE=fast_open asked refused dup2 tcp
}

@test "the descriptor is swapped after the check: UDP" {
	succeeds no_table dup2 udp
	asked refused dup2 udp
}

# ------------------------------------------------------- allowed sockets

@test "an allowed socket is connected again: TCP" {
	succeeds no_policy reconnect tcp
	asked refused reconnect tcp
	logged literal-address
}

@test "an allowed socket is connected again: UDP" {
	succeeds no_policy reconnect udp
	asked refused reconnect udp
}

@test "a socket is connected again without a disconnect: UDP" {
	succeeds no_policy reconnect udp-direct
	asked refused reconnect udp-direct
}

@test "a socket that was connected to itself" {
	succeeds no_policy reconnect self
	refused reconnect self
	logged literal-address
}

@test "an allowed socket is used for Fast Open to another host" {
	asked succeeds loose_marks fastopen marked
	BEFORE=fast_open asked refused fastopen marked
}

@test "an allowed socket that was refused is used for Fast Open" {
	asked succeeds loose_marks fastopen refused-first
	BEFORE=fast_open asked refused fastopen refused-first
}

@test "an allowed socket is used for a datagram to another host" {
	succeeds no_policy udp marked
	asked refused udp marked
}

@test "an allowed IPv6 socket becomes an IPv4 socket" {
	succeeds no_policy ipv6 addrform
	asked refused ipv6 addrform
}

@test "a permitted program hands its socket to another" {
	PROGRAM=/usr/bin/permitted POLICY=$POLICY_OF_ONE
	asked succeeds loose_marks identity bequeath
	BEFORE=fast_open asked refused identity bequeath
}

# ---------------------------------------------------- routes in the packet

@test "a source route through the allowed host" {
	CAPS=(CAP_NET_RAW)
	succeeds no_policy route lsrr tries=3000
	asked refused route lsrr
}

@test "a segment routing header through the allowed host" {
	asked succeeds no_routing_header_rule route srh tries=3000
	BLIND=1 asked refused route srh
}

# ------------------------------------------------------- calls from outside

@test "inbound: simultaneous open" {
	DURING="call 80" asked succeeds open_input inbound simultaneous
	hang_up
	DURING="call_for 10 80" asked refused inbound simultaneous
}
