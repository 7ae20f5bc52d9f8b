#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Attacks by ordinary sockets and their addresses.
# How they are judged is in harness.bash; in each test the first line shows
# that the attack works where the control is not, the second that it fails
# where it is. `attack` without arguments lists them all.

load ../lib
load harness
needs root box osh policy nft python3 cc

# -------------------------------------------------------------- no trick

@test "an allowed name is reached, so that the rest means something" {
	JUDGES=api
	stage
	under_policy :
	act plain allowed
	[ "$verdict" = through ] || fail "$said"
	judge
	[ "$packets" -gt 0 ]
	clear_stage
}

@test "a literal address" {
	succeeds no_policy plain target
	refused plain target
	logged literal-address
}

@test "an allowed host's other port" {
	SILENT=1 succeeds no_policy plain port
	JUDGES=api refused plain port
	logged port-not-allowed literal-address
}

@test "an allowed host's address that was never asked for" {
	SILENT=1 succeeds no_policy plain address
	JUDGES=api refused plain address
	logged literal-address
}

@test "the metadata service by its address" {
	succeeds no_policy plain metadata
	refused plain metadata
	logged blocked-address literal-address
}

@test "the metadata service by an allowed name" {
	succeeds no_policy plain bait
	refused plain bait
	logged blocked-address
}

@test "thousands of tries at once" {
	succeeds no_policy plain flood
	asked refused plain flood
	logged literal-address
}

# A host that is listed by its own name may be a private one.
@test "a private address by a name that a pattern allows" {
	POLICY=$POLICY_OF_A_PATTERN
	succeeds no_policy plain bait bait=private.example.org
	refused plain bait bait=private.example.org
	logged private-address
}

@test "the loopback address by an allowed name" {
	refused plain bait bait=loopback.example.org
	logged blocked-address
}

# ------------------------------------------- connections without connect

# Switched off in the namespace, and refused where somebody switched it on.
fast_open_by()
{
	refused fastopen "$1"
	BEFORE=fast_open refused fastopen "$1"
}

@test "Fast Open by sendto" {
	succeeds no_policy fastopen sendto
	fast_open_by sendto
	logged protocol
}

@test "Fast Open by sendmsg" {
	succeeds no_table fastopen sendmsg
	fast_open_by sendmsg
}

@test "Fast Open by sendmmsg" {
	succeeds no_table fastopen sendmmsg
	fast_open_by sendmmsg
}

@test "Fast Open by a deferred connect" {
	succeeds no_policy fastopen deferred
	fast_open_by deferred
	logged literal-address
}

@test "a datagram by sendto" {
	succeeds no_policy udp sendto
	refused udp sendto
	logged protocol literal-address
}

@test "a datagram by sendto, its family unspecified" {
	succeeds no_policy udp unspec
	refused udp unspec
}

@test "a datagram by sendto, its address above 4 GiB" {
	succeeds no_policy udp high-pointer
	refused udp high-pointer
}

@test "a datagram by sendmsg" {
	succeeds no_table udp sendmsg
	refused udp sendmsg
}

@test "a datagram by sendmmsg" {
	succeeds no_table udp sendmmsg
	refused udp sendmmsg
}

@test "a connected datagram socket" {
	succeeds no_policy udp connected
	refused udp connected
}

# ---------------------------------------------- other ways of addressing

@test "IPv6: TCP" {
	succeeds no_policy ipv6 tcp
	refused ipv6 tcp
	logged literal-address
}

@test "IPv6: UDP" {
	succeeds no_policy ipv6 udp
	refused ipv6 udp
}

@test "IPv4 mapped into IPv6: TCP" {
	succeeds no_policy ipv6 mapped-tcp
	refused ipv6 mapped-tcp
	logged literal-address
}

@test "IPv4 mapped into IPv6: UDP" {
	succeeds no_policy ipv6 mapped-udp
	refused ipv6 mapped-udp
}

@test "IPv4 mapped into IPv6: sendmsg" {
	succeeds no_table ipv6 mapped-sendmsg
	refused ipv6 mapped-sendmsg
}

@test "an IPv4 address on an IPv6 socket" {
	succeeds no_policy ipv6 inet-on-inet6
	refused ipv6 inet-on-inet6
}

@test "a neighbour by its link-local address: TCP" {
	succeeds no_policy ipv6 link-tcp
	refused ipv6 link-tcp
	logged blocked-address literal-address
}

@test "a neighbour by its link-local address: UDP" {
	succeeds no_policy ipv6 link-udp
	refused ipv6 link-udp
}

@test "multicast: IPv4" {
	succeeds no_policy multicast group4
	refused multicast group4
}

@test "multicast: IPv6" {
	succeeds no_policy multicast group6
	refused multicast group6
}

@test "broadcast" {
	succeeds no_policy multicast broadcast
	refused multicast broadcast
}

@test "broadcast to the subnet" {
	succeeds no_policy multicast subnet
	refused multicast subnet
}

@test "a group's reports by the kernel: IGMP" {
	succeeds no_policy multicast join4
	BLIND=1 refused multicast join4
}

@test "a group's reports by the kernel: MLD" {
	succeeds no_policy multicast join6
	BLIND=1 refused multicast join6
}

@test "a socket bound to the device: TCP" {
	succeeds no_policy device tcp
	refused device tcp
	logged literal-address
}

@test "a socket bound to the device: the redirected question" {
	BLIND=1 refused device dns
}

@test "the interface by control message" {
	succeeds no_table device pktinfo
	refused device pktinfo
}
