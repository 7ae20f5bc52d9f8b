#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Attacks on the sandbox itself: identity, inbound, its machinery.
# How they are judged is in harness.bash; in each test the first line shows
# that the attack works where the control is not, the second that it fails
# where it is. `attack` without arguments lists them all.

load ../lib
load harness
needs root box osh policy nft python3 cc

# -------------------------------------------------------------- identity

# impostor MODE: an unlisted program reaches the host that one binary may.
impostor()
{
	JUDGES=api POLICY=$POLICY_OF_ONE
	succeeds no_policy identity "$1"
	refused identity "$1"
}

# caught MODE: and the log says that it tried.
caught()
{
	impostor "$1"
	logged binary-not-allowed binary-changed binary-unknown
}

@test "identity: the permitted binary itself is let out" {
	POLICY=$POLICY_OF_ONE PROGRAM=/usr/bin/permitted JUDGES=api
	stage
	under_policy :
	act plain allowed
	clear_stage
	[ "$verdict" = through ] || fail "$said"
}

@test "identity: another program" { caught unlisted; }
@test "identity: another program with its name" { caught renamed; }
@test "identity: its file overwritten before its first use" {
	caught overwrite
}
@test "identity: its file overwritten after its first use" {
	SILENT=1 succeeds no_policy identity overwrite-used
	POLICY=$POLICY_OF_ONE refused identity overwrite-used
	logged binary-not-allowed binary-changed
}
@test "identity: its file replaced" { caught replace; }
@test "identity: its file deleted and made anew" { caught recreate; }
@test "identity: a deleted file with its name" { caught deleted; }
@test "identity: a symbolic link with its name" { caught symlink; }
@test "identity: a file in memory with its name" { impostor memory; }
@test "identity: a mount over its file" {
	CAPS=(CAP_SYS_ADMIN) JUDGES=api POLICY=$POLICY_OF_ONE
	succeeds no_policy identity bind-mount
	refused identity bind-mount
}
@test "identity: PR_SET_MM" {
	CAPS=(CAP_CHECKPOINT_RESTORE) JUDGES=api POLICY=$POLICY_OF_ONE
	succeeds no_policy identity set-exe
	refused identity set-exe
}

# intruder MODE: into the memory or the descriptors of a permitted program.
intruder()
{
	POLICY=$POLICY_OF_ONE
	SILENT=1 succeeds no_policy trace "$1"
	refused trace "$1"
}

@test "intrusion: ptrace" { intruder attach; }
@test "intrusion: ptrace of a child" { intruder child; }
@test "intrusion: /proc/PID/mem" { intruder mem; }
@test "intrusion: process_vm_writev" { intruder vm-write; }
@test "intrusion: pidfd_getfd" { intruder take-fd; }

# --------------------------------------------------------------- inbound

@test "inbound: a listening socket where the policy closes it" {
	DURING=call SILENT=1 succeeds no_policy inbound listening
	hang_up
	DURING="call_for 1.5" CLOSED=1 refused inbound listening
}

@test "inbound: a datagram where the policy closes it" {
	DURING=call SILENT=1 succeeds no_policy inbound datagram
	hang_up
	DURING="call_for 1.5" CLOSED=1 refused inbound datagram
}

# ----------------------------------------------------- its own machinery

@test "a seccomp listener of the agent's own" {
	SILENT=1 succeeds no_policy kernel listener
	refused kernel listener
}

@test "userfaultfd" {
	SILENT=1 succeeds no_policy kernel userfaultfd
	refused kernel userfaultfd
}

@test "bpf" {
	CAPS=(CAP_SYS_ADMIN CAP_BPF)
	SILENT=1 succeeds no_policy kernel bpf
	refused kernel bpf
}

# /proc/sys must be read-only under a policy, whatever the config says.
@test "network sysctls without a capability" {
	FILTER='.linux.readonlyPaths = []'
	SILENT=1 succeeds no_policy kernel sysctl
	refused kernel sysctl
}

@test "descriptors that somebody left open" {
	refused kernel descriptors
}

# ------------------------------------------------------- helpers that died

kill_shim() { kill_helper osh-shim; }
kill_resolver() { kill_helper osh-resolver; }

@test "the shim is killed: a plain connection" {
	DURING=go succeeds no_policy plain target after=/go
	DURING=kill_shim refused plain target after=/go
}

@test "the shim is killed: a socket that it never saw" {
	DURING=kill_shim succeeds no_table fastopen sendmsg after=/go
	BEFORE=fast_open DURING=kill_shim refused fastopen sendmsg after=/go
}

@test "the shim is killed: a socket that it allowed before" {
	DURING=kill_shim asked succeeds loose_marks \
		fastopen refused-first halfway=/go
	BEFORE=fast_open DURING=kill_shim asked refused \
		fastopen refused-first halfway=/go
}

@test "the shim is killed: a question to another name server" {
	DURING=kill_shim succeeds no_table dns other-sendmsg after=/go
	DURING=kill_shim refused dns other-sendmsg after=/go
}

@test "the resolver is killed: a question to another name server" {
	DURING=kill_resolver succeeds no_table dns other-udp after=/go
	DURING=kill_resolver refused dns other-udp after=/go
}

@test "the resolver is killed: its place is taken" {
	DURING=kill_resolver refused dns takeover after=/go
}
