# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2016,SC2034,SC2154,SC2317
#
# How an attack is judged. Each runs in a container whose network namespace is
# a sandbox of a small internet (../internet), twice:
#
#	succeeds KNOB CLASS MODE [KEY=VALUE...]
#		with the control that it tests taken away, from outside: the
#		attack must say that it got through, and packets must arrive
#	refused CLASS MODE [KEY=VALUE...]
#		under the policy: it must not, and no packet may have reached
#		the target or left the sandbox for it
#
# The first shows that the second can fail. Both are the same program in the
# same bundle with the same capabilities.
#
# Variables before the word change one run:
#	CAPS=(...)	capabilities that the config gives
#	POLICY=TEXT	the policy
#	FILTER=JQ	a change to the config
#	CLOSED=1	the policy's sandbox takes no calls
#	BEFORE=COMMAND	what happens outside between create and start
#	PROGRAM=PATH	what attacks (/bin/attack)
#	ASK=NAME	a name is asked for first, as a program would
#	DURING=COMMAND	what happens outside meanwhile
#	AFTER=SECONDS	packets count that come so late after the end
#	JUDGES=HOSTS	whose packets count (evil, collect, the sandbox's own)
#	SILENT=1	it sends nothing: its word alone counts
#	BLIND=1		it can't know whether it got through: packets count

INTERNET=$INTEGRATION/internet/internet
export INTERNET_DIR=${OSH_BOX-}/internet
NET=net

POLICY='network:
  default: deny
  allow:
    - host: api.github.com
      ports: [80, 81, 443]
    - host: metadata.example.org
      port: 80
    - host: loopback.example.org
      port: 80
'

POLICY_OF_A_PATTERN='network:
  default: deny
  allow:
    - host: "*.example.org"
      port: 80
'

# The same for one binary only.
POLICY_OF_ONE='network:
  default: deny
  allow:
    - host: api.github.com
      ports: [80, 81, 443]
      binaries: [/usr/bin/permitted]
'

# ---------------------------------------------------------------- the stage

# The program, made once for all files that run it, and anew for other sources.
build_attack()
{
	local folder=${OSH_TEST_DIR:-/var/tmp/osh-test}/attack sum program
	sum=$(cat "$INTEGRATION"/attacks/attack*.[ch] | sha256sum)
	program=$folder/${sum%% *}
	mkdir -p "$folder"
	(
		flock 9
		if [ ! -x "$program" ]; then
			find "$folder" -type f -not -name lock -delete
			gcc -std=gnu11 -O1 -static -pthread \
				-o "$program.new" "$INTEGRATION"/attacks/attack*.c
			mv "$program.new" "$program"
		fi
		cp "$program" "$OSH_BOX/attack"
	) 9>"$folder/lock"
}

# Run by lib.bash where everything is at hand that the file needs.
prepare_file()
{
	local root=$OSH_BOX/attack.rootfs
	build_attack
	mkdir -p "$root"/{bin,dev,etc,mnt,proc,sys,usr/bin}
	mkdir -m 1777 "$root/tmp"
	cp "$OSH_BOX/attack" "$root/bin/attack"
	cp "$OSH_BOX/attack" "$root/usr/bin/permitted"
	touch "$root/etc/hosts" "$root/etc/resolv.conf"
	"$INTERNET" up $NET 3>&- 4>&-
	echo 0 >"$OSH_BOX/sandboxes"
	"$INTERNET" exec $NET evil ip -6 -o addr show dev eth1 scope link |
		sed -n 's/.*inet6 \([^/]*\).*/\1/p' >"$OSH_BOX/link6"
	printf 'when_missing: none\nlog:\n  dir: %s\n' "$OSH_BOX/log" \
		>"$OSH_BOX/attacks-host-config.yaml"
}

prepare()
{
	HOST_CONFIG=$OSH_BOX/attacks-host-config.yaml
	before_start() { :; }
}

teardown_file()
{
	[ -n "$OSH_MISSING" ] || "$INTERNET" down $NET
}

# stage: a bundle, and a sandbox of the small internet that nobody used yet.
stage()
{
	[ -z "${BUNDLE-}" ] || rm -rf "$BUNDLE"
	N=$(($(cat "$OSH_BOX/sandboxes") + 1))
	echo $N >"$OSH_BOX/sandboxes"
	NETNS=$("$INTERNET" sandbox $NET "$N")
	in_sandbox sysctl -qw net.ipv4.ping_group_range='0 2147483647'
	IMAGE_ROOTFS=$OSH_BOX/attack.rootfs bundle '
		(.linux.namespaces[] | select(.type == "network")).path = $path
		| .process.capabilities[] += $ARGS.positional' \
		--arg path "$NETNS" --args -- "${CAPS[@]}"
	cp "$INTERNET_DIR/$NET/resolv.conf" "$BUNDLE/resolv.conf"
	add_mount /etc/resolv.conf bind "$BUNDLE/resolv.conf" bind
	config "${FILTER:-.}"
}

in_sandbox()
{
	"$INTERNET" exec $NET "sandbox$N" "$@"
}

CAPS=()

# own_address -4|-6
own_address()
{
	in_sandbox ip -o "$1" addr show dev eth0 scope global |
		sed -n 's/.*inet6\? \([^/]*\).*/\1/p'
}

# act CLASS MODE [KEY=VALUE...]: run it to its end. Sets verdict and said.
act()
{
	local i
	program "${PROGRAM:-/bin/attack}" "$@" \
		target=192.31.196.66 target6=2001:4:112::66 \
		allowed=192.31.196.10 allowed6=2001:4:112::10 \
		link6="$(cat "$OSH_BOX/link6")" \
		own="$(own_address -4)" own6="$(own_address -6)" \
		port=80 aport=80 closed=81 ${ASK:+"ask=$ASK"}
	created
	before_start
	"$INTERNET" reset $NET
	rt start "$ID"
	${DURING-}
	for ((i = 0; i < 4500; i++)); do
		kill -0 "$PID" 2>/dev/null || break
		sleep 0.02
	done
	said=$(tail -n 1 "$BUNDLE/out")
	verdict=${said%%:*}
	[[ $verdict =~ ^(through|refused|untried)$ ]] ||
		fail "$*: no verdict: $(cat "$BUNDLE/out")"
}

clear_stage()
{
	rt delete --force "$ID"
	"$INTERNET" unplug $NET "$N"
	rm -rf "$BUNDLE"
}

# judge: packets at the target, and those that left for anybody unlisted. Sets
# packets, and who saw them.
judge()
{
	local host count
	sleep "${AFTER:-0}"
	packets=0 who=
	for host in ${JUDGES:-evil collect "sandbox$N"}; do
		count=$("$INTERNET" counter $NET "$host")
		packets=$((packets + count))
		[ "$count" -eq 0 ] || who+=" $count at $host"
	done
}

# ------------------------------------------------------ meanwhile, outside

# call [FROM]: the target calls the sandbox's port 7000, over and over.
call()
{
	"$INTERNET" call $NET evil "$(own_address -4)" 7000 "$@" \
		</dev/null >/dev/null 2>&1 3>&- 4>&- &
	CALLER=$!
}

# call_for SECONDS [FROM]: over before the attack is, as what answers then is
# the sandbox, not the bare namespace that it leaves behind.
call_for()
{
	call "${@:2}"
	sleep "$1"
	hang_up
}

hang_up()
{
	kill "$CALLER" 2>/dev/null || :
	wait "$CALLER" 2>/dev/null || :
}

# What was told after=/go, or halfway=/go, goes on.
go() { touch "$ROOTFS/go"; }

# kill_helper NAME: until it stays dead, when the attack waits for that. The
# processes are the box's, which runs one container at a time.
kill_helper()
{
	local i pids
	wait_for grep -q '^waiting$' "$BUNDLE/out"
	for ((i = 0; i < 20; i++)); do
		pids=$(pgrep -x "$1") || break
		# shellcheck disable=SC2086
		kill -KILL $pids
		sleep 0.3
	done
	[ $i -gt 0 ] || fail "$1 was not there to be killed"
	go
}

# --------------------------------------------------------- with the control

# refused CLASS MODE [KEY=VALUE...]
refused()
{
	local packets who
	stage
	under_policy "${BEFORE:-:}"
	act "$@"
	judge
	LOG=$(rt log --format json "$ID")
	clear_stage
	[ "$packets" -eq 0 ] || fail "$*: packets arrived:$who; $said"
	[ -n "${BLIND-}" ] || [ "$verdict" != through ] || fail "$*: $said"
	# what must be allowed before the attack can begin was refused
	[ -z "${ASK-}" ] || [ "$verdict" != untried ] || fail "$*: $said"
}

# asked WORD...: the same, after a question for the allowed name.
asked()
{
	ASK=api.github.com "$@"
}

# logged REASON...: the last run left a denial with one of these reasons.
logged()
{
	local reasons
	reasons=$(printf '%s\n' "$@" | jq -R . | jq -s .)
	jq -e --argjson reasons "$reasons" -s 'any(.[]; .verdict == "deny"
		and (.reason | IN($reasons[])))' <<<"$LOG" >/dev/null ||
		fail "no denial with reason $*: $LOG"
}

# ------------------------------------------------------ without the control

# succeeds KNOB CLASS MODE [KEY=VALUE...]
succeeds()
{
	local knob=$1 packets who
	shift
	stage
	"$knob"
	act "$@"
	judge
	before_start() { :; }
	clear_stage
	[ "$verdict" != untried ] || [ -n "${ASK-}" ] ||
		skip "this machine: $said"
	[ "$verdict" = through ] || fail "$*: without $knob: $said"
	[ -n "${SILENT-}" ] || [ "$packets" -gt 0 ] ||
		fail "$*: without $knob: no packet arrived; $said"
}

# A plain OCI container.
no_policy() { :; }

# under_policy COMMAND: the policy, and then a change from outside between
# create and start.
under_policy()
{
	config '.annotations["ai.openshell.policy"] = $policy
		| if $closed == "" then . else
			.annotations["ai.openshell.inbound"] = "none"
		end' --arg policy "$POLICY" --arg closed "${CLOSED-}"
	eval "before_start() { $1; }"
}

# Seccomp and the shim stay; the table drops and redirects nothing.
open_table()
{
	in_sandbox nft -f - <<-'EOF'
	flush table inet osh
	chain inet osh in { policy accept; }
	chain inet osh out { policy accept; }
	EOF
}

rule() { in_sandbox nft insert rule inet osh "$@"; }

# no_rule TEXT: the rules with this text are deleted.
no_rule()
{
	local chain handle
	in_sandbox nft -a list table inet osh |
		sed -n "s/^\tchain \([a-z]*\).*/\1/p; /$1/s/.*# handle \([0-9]*\)\$/\1/p" |
		while read -r handle; do
			case $handle in
			[a-z]*) chain=$handle ;;
			*) in_sandbox nft delete rule inet osh "$chain" \
				handle "$handle" ;;
			esac
		done
}

# The namespace has Fast Open switched off as well.
fast_open() { in_sandbox sysctl -qw net.ipv4.tcp_fastopen=3; }

no_table() { under_policy 'open_table; fast_open'; }

# Any mark leads anywhere: what the sets bind is not bound.
loose_marks()
{
	under_policy 'rule out meta mark != 0 ct mark set meta mark accept
		fast_open'
}

# Every reply is let out, also of a flow that never came in.
loose_replies()
{
	under_policy 'rule out ct direction reply accept; rule in accept
		fast_open'
}

no_source_route_rule() { under_policy 'no_rule "option lsrr"'; }
no_routing_header_rule() { under_policy 'no_rule "exthdr rt\|rt exists"'; }

# Who calls gets in and is answered. A SYN of the sandbox's own is dropped in
# silence: refused, it would end the socket before the call comes.
open_input()
{
	under_policy 'rule in accept
		rule out ct direction reply accept
		rule out oifname eth0 "tcp flags & (syn|ack) == syn" drop'
}
