#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Attacks by privileges, by other protocols, by other calls.
# How they are judged is in harness.bash; in each test the first line shows
# that the attack works where the control is not, the second that it fails
# where it is. `attack` without arguments lists them all.

load ../lib
load harness
needs root box osh policy nft python3 cc

# ------------------------------------------------------------ privileges

@test "marks by setsockopt" {
	CAPS=(CAP_NET_RAW CAP_NET_ADMIN)
	succeeds no_policy mark setsockopt
	refused mark setsockopt
}

@test "marks by control message" {
	CAPS=(CAP_NET_RAW CAP_NET_ADMIN)
	succeeds no_policy mark cmsg
	refused mark cmsg
}

@test "raw sockets: a header of one's own" {
	CAPS=(CAP_NET_RAW)
	succeeds no_policy raw header
	refused raw header
}

@test "raw sockets: UDP" {
	CAPS=(CAP_NET_RAW)
	succeeds no_policy raw udp
	refused raw udp
}

@test "raw sockets: an unassigned protocol" {
	CAPS=(CAP_NET_RAW)
	succeeds no_policy raw unassigned
	refused raw unassigned
}

@test "raw sockets: ICMPv6" {
	CAPS=(CAP_NET_RAW)
	succeeds no_policy raw icmp6
	refused raw icmp6
}

@test "echo requests without privilege: IPv4" {
	succeeds no_policy raw ping4
	refused raw ping4
}

@test "echo requests without privilege: IPv6" {
	succeeds no_policy raw ping6
	refused raw ping6
}

@test "packet sockets: datagrams" {
	CAPS=(CAP_NET_RAW)
	succeeds no_policy packet dgram
	refused packet dgram
}

@test "packet sockets: frames" {
	CAPS=(CAP_NET_RAW)
	succeeds no_policy packet raw
	refused packet raw
}

@test "netlink: an address of one's own" {
	CAPS=(CAP_NET_ADMIN)
	SILENT=1 succeeds no_policy netlink address
	refused netlink address
}

@test "netlink: the table deleted" {
	CAPS=(CAP_NET_ADMIN)
	SILENT=1 succeeds no_policy netlink flush
	refused netlink flush
}

@test "netlink: families that nobody needs" {
	SILENT=1 succeeds no_policy netlink diag
	refused netlink diag
	refused netlink xfrm
}

# ----------------------------------------------- families and transports

@test "vsock" {
	SILENT=1 succeeds no_policy family vsock
	refused family vsock
}

@test "AF_ALG" {
	SILENT=1 succeeds no_policy family alg
	refused family alg
}

@test "AF_SMC" {
	SILENT=1 succeeds no_policy family smc
	refused family smc
}

@test "AF_XDP" {
	CAPS=(CAP_NET_RAW)
	SILENT=1 succeeds no_policy family xdp
	refused family xdp
}

@test "MPTCP" {
	succeeds no_policy family mptcp
	refused family mptcp
}

@test "SCTP" {
	succeeds no_policy family sctp
	refused family sctp
}

@test "SCTP, one to many" {
	succeeds no_policy family sctp-many
	refused family sctp-many
}

@test "UDP-Lite" {
	succeeds no_policy family udplite
	refused family udplite
}

@test "DCCP" {
	succeeds no_policy family dccp
	refused family dccp
}

@test "L2TP" {
	succeeds no_policy family l2tp
	refused family l2tp
}

@test "a pair of TIPC sockets" {
	SILENT=1 succeeds no_policy family tipc-pair
	refused family tipc-pair
}

# -------------------------------------------- other ways into the kernel

@test "io_uring: connect" {
	succeeds no_policy uring connect
	refused uring connect
}

@test "io_uring: sendmsg" {
	succeeds no_policy uring send
	refused uring send
}

@test "io_uring: socket" {
	SILENT=1 succeeds no_policy uring socket
	refused uring socket
}

@test "32-bit calls: connect" {
	succeeds no_policy i386 connect
	refused i386 connect
	logged literal-address
}

@test "32-bit calls: sendto" {
	succeeds no_policy i386 sendto
	refused i386 sendto
}

@test "32-bit calls: sendmsg" {
	succeeds no_policy i386 sendmsg
	refused i386 sendmsg
}

@test "32-bit calls: connect by socketcall" {
	succeeds no_policy i386 call-connect
	refused i386 call-connect
}

@test "32-bit calls: sendto by socketcall" {
	succeeds no_policy i386 call-sendto
	refused i386 call-sendto
}

@test "32-bit calls: sendmsg by socketcall" {
	succeeds no_policy i386 call-sendmsg
	refused i386 call-sendmsg
}

@test "32-bit calls: socket" {
	SILENT=1 succeeds no_policy i386 socket
	refused i386 socket
}

@test "32-bit calls: socket by socketcall" {
	SILENT=1 succeeds no_policy i386 call-socket
	refused i386 call-socket
}

@test "32-bit calls: unshare" {
	SILENT=1 succeeds no_policy i386 unshare
	refused i386 unshare
}

@test "32-bit calls: io_uring" {
	SILENT=1 succeeds no_policy i386 uring
	refused i386 uring
}

@test "32-bit calls: ptrace" {
	SILENT=1 succeeds no_policy i386 ptrace
	refused i386 ptrace
}

@test "x32 calls: connect" {
	refused x32 connect
	succeeds no_policy x32 connect
}

@test "x32 calls: socket" {
	refused x32 socket
	SILENT=1 succeeds no_policy x32 socket
}

# ------------------------------------------------------------ namespaces

@test "a user namespace by unshare" {
	SILENT=1 succeeds no_policy namespace user
	refused namespace user
}

@test "user and network namespaces by unshare" {
	SILENT=1 succeeds no_policy namespace user-net
	refused namespace user-net
}

@test "user and mount namespaces by unshare" {
	SILENT=1 succeeds no_policy namespace user-mount
	refused namespace user-mount
}

@test "a user namespace by clone" {
	SILENT=1 succeeds no_policy namespace clone
	refused namespace clone
}

@test "a user namespace by clone3" {
	SILENT=1 succeeds no_policy namespace clone3
	refused namespace clone3
}

@test "setns" {
	CAPS=(CAP_SYS_ADMIN)
	SILENT=1 succeeds no_policy namespace setns
	refused namespace setns
}

@test "mount" {
	CAPS=(CAP_SYS_ADMIN)
	SILENT=1 succeeds no_policy namespace mount
	refused namespace mount
}

@test "fsopen" {
	CAPS=(CAP_SYS_ADMIN)
	SILENT=1 succeeds no_policy namespace fsopen
	refused namespace fsopen
}
