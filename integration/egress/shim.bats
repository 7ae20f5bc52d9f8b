#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# osh-shim and osh-resolver alone: play.c plays create, the agent is a shell
# with curl, the world is a small internet.

load ../lib
needs root box osh policy nft python3 cc curl strace

needs_curl() { have curl || echo "hack/bootstrap test"; }

INTERNET=$INTEGRATION/internet/internet
export INTERNET_DIR=${OSH_BOX-}/internet
NET=eg

prepare_file()
{
	gcc -std=gnu11 -O1 -D_GNU_SOURCE -I "$TOP" -o "$OSH_BOX/play" \
		"$INTEGRATION/egress/play.c" "$OSH_BUILD/runtime_policy.a" \
		"$OSH_BUILD/runtime_base.a" -lsodium
	"$INTERNET" up $NET 3>&- 4>&-
	# the host's resolver file is what curl reads here
	cp "$INTERNET_DIR/$NET/resolv.conf" "$OSH_BOX/resolv.conf"
	cp /usr/bin/curl "$OSH_BOX/curl-copy"
}

teardown_file()
{
	[ -n "$OSH_MISSING" ] || "$INTERNET" down $NET
}

prepare()
{
	WORK=$OSH_BOX/work$BATS_TEST_NUMBER
	mkdir -p "$WORK"
	NETNS=$("$INTERNET" sandbox $NET "$BATS_TEST_NUMBER")
	mount --bind "$OSH_BOX/resolv.conf" /etc/resolv.conf
	policy <<-'EOF'
	network:
	  default: deny
	  allow:
	    - host: api.github.com
	      ports: [80, 443]
	EOF
}

teardown()
{
	[ -z "$OSH_MISSING" ] || return 0
	umount /etc/resolv.conf 2>/dev/null || :
	"$INTERNET" unplug $NET "$BATS_TEST_NUMBER" || :
}

# policy [NAME]: compile standard input.
policy()
{
	cat >"$WORK/${1:-policy}.yaml"
	"$OSH_POLICY" compile "$WORK/${1:-policy}.yaml" \
		-o "$WORK/${1:-policy}.bin"
}

# play ID [OPTION...] -- PROGRAM...
play()
{
	local id=$1
	shift
	timeout 60 "$OSH_BOX/play" "$OSH_BUILD" "$WORK" "$NETNS" "$id" \
		"$WORK/${POLICY:-policy}.bin" 192.31.196.53 "$@" 3>&- 4>&-
}

# agent TEXT: a shell runs it, as container box1.
agent()
{
	run play box1 ${OPTIONS-} -- /bin/sh -c "$1"
}

get='curl -sS -m 5 -o /dev/null -w "%{http_code}\n"'

# has ID JQ: some record of ID's log is like that.
has()
{
	jq -es "any(.[]; $2)" <"$WORK/log/$1.jsonl" >/dev/null ||
		fail "no record with $2: $(cat "$WORK/log/$1.jsonl")"
}

# has_not ID JQ
has_not()
{
	jq -es "all(.[]; $2 | not)" <"$WORK/log/$1.jsonl" >/dev/null ||
		fail "a record with $2: $(cat "$WORK/log/$1.jsonl")"
}

gone() { ! pgrep -x "$1" >/dev/null; }
shim_pid() { cat "$WORK/shim.pid"; }
table() { ip netns exec "$(basename "$NETNS")" nft list ruleset; }

# The shim ended with its last container: nothing of it is left.
left_nothing()
{
	wait_for [ ! -e "/proc/$(shim_pid)/exe" ]
	[ -z "$(ls -A "$WORK/shim")" ]
	[ -z "$(table)" ]
	! pgrep -x osh-resolver
}

# ------------------------------------------------------------------ flows

@test "an allowed name is reached, another and a literal are refused at once" {
	agent "$get http://api.github.com/
		$get http://collect.example.net/
		$get http://192.31.196.66/
		$get http://192.31.196.10:81/"
	assert_line 200
	assert_line --partial 'Could not resolve host: collect.example.net'
	refute_line --partial 'timed out'
	has box1 '.kind == "connect" and .verdict == "allow" and
		.dest.host == "api.github.com" and .dest.port == 80 and
		.policy.line == 4 and (.binary.path | endswith("/curl")) and
		(.binary.sha256 | length == 64)'
	has box1 '.kind == "dns" and .reason == "name-not-allowed" and
		.dest.host == "collect.example.net" and
		(.binary.path | endswith("/curl"))'
	has box1 '.reason == "literal-address" and
		.dest.ip == "192.31.196.66"'
	has box1 '.reason == "port-not-allowed" and .dest.port == 81'
	left_nothing
}

@test "the log is a chain that can be verified" {
	agent "for i in 1 2 3; do $get http://192.31.196.66/; done"
	mkdir -p "$OSH_BOX/log"
	local prev line n=0
	prev=$(printf 'osh-runtime log v1 box1' | sha256sum | cut -d' ' -f1)
	while IFS= read -r line; do
		n=$((n + 1))
		[ "$(jq -r .prev <<<"$line")" = "$prev" ]
		[ "$(jq -r .seq <<<"$line")" = $n ]
		prev=$(printf %s "$line" | sha256sum | cut -d' ' -f1)
	done <"$WORK/log/box1.jsonl"
	[ $n -ge 3 ]
	[ "$(stat -c %a "$WORK/log/box1.jsonl")" = 600 ]
}

@test "each hundredth record's hash goes to syslog" {
	# a /dev of its own: the machine's syslog is not ours
	cat >"$WORK/daemon.py" <<-EOF
	import socket
	s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
	s.bind("/dev/log")
	open("$WORK/ready", "w").close()
	while True:
	    with open("$WORK/syslog", "ab") as f: f.write(s.recv(4096) + b"\n")
	EOF
	cat >"$WORK/agent.py" <<-'EOF'
	import socket
	for i in range(120):
	    try: socket.create_connection(("192.31.196.66", 1000 + i), 1)
	    except OSError: pass
	EOF
	export -f play
	export WORK OSH_BOX OSH_BUILD NETNS
	unshare -m bash -c 'mkdir "$WORK/dev"
		mount --rbind /dev "$WORK/dev"
		mount -t tmpfs none /dev
		for f in null zero urandom random; do
			touch /dev/$f; mount --bind "$WORK/dev/$f" /dev/$f
		done
		/usr/bin/python3 "$WORK/daemon.py" 3>&- 4>&- & daemon=$!
		while [ ! -e "$WORK/ready" ]; do sleep 0.05; done
		play box1 -- /usr/bin/python3 "$WORK/agent.py"
		kill $daemon' || :
	local want
	want=$(sed -n 100p "$WORK/log/box1.jsonl" | tr -d '\n' | sha256sum)
	grep -q "sandbox=box1 seq=100 sha256=${want%% *}" "$WORK/syslog"
}

@test "only the listed binary gets the endpoint" {
	policy <<-EOF
	network:
	  default: deny
	  allow:
	    - host: api.github.com
	      port: 80
	      binaries: [$OSH_BOX/curl-copy]
	EOF
	agent "$get http://api.github.com/
		$OSH_BOX/curl-copy -sS -m 5 -o /dev/null -w '%{http_code}\n' \
			http://api.github.com/"
	assert_line 200
	has box1 '.reason == "binary-not-allowed" and .verdict == "deny" and
		.binary.path == "/usr/bin/curl"'
	has box1 ".verdict == \"allow\" and .kind == \"connect\" and
		.binary.path == \"$OSH_BOX/curl-copy\""
}

@test "a binary whose content changed is refused, and that is a finding" {
	cp /usr/bin/curl "$WORK/tool"
	policy <<-EOF
	network:
	  default: deny
	  allow:
	    - host: api.github.com
	      port: 80
	      binaries: [$WORK/tool]
	EOF
	agent "tool='$WORK/tool -sS -m 5 -o /dev/null -w %{http_code}\n'
		\$tool http://api.github.com/
		cp $WORK/tool $WORK/new; echo >>$WORK/new
		mv $WORK/new $WORK/tool
		\$tool http://api.github.com/"
	assert_line 200
	has box1 '.reason == "binary-changed" and .kind == "connect" and
		.verdict == "deny"'
	has box1 '.kind == "finding" and .reason == "binary-changed"'
}

@test "three unlisted hosts after a read from outside are a finding" {
	agent "$get http://one.example/
		$get http://api.github.com/
		for h in two three four five; do $get http://\$h.example/; done"
	has box1 '.kind == "finding" and (.detail |
		endswith(": two.example three.example four.example"))'
	[ "$(grep -c '"kind":"finding"' "$WORK/log/box1.jsonl")" -eq 1 ]
}

@test "what can't be recorded is refused" {
	mkdir -p "$WORK/log"
	mount -t tmpfs -o size=64k none "$WORK/log"
	agent "$get http://api.github.com/
		head -c 100000 /dev/zero >$WORK/log/filler 2>/dev/null
		# what is left of the last page
		for i in \$(seq 40); do $get http://192.31.196.\$i/; done
		$get http://api.github.com/ || echo refused
		rm $WORK/log/filler
		$get http://api.github.com/"
	[ "$(grep -c '^200$' <<<"$output")" -eq 2 ] || fail "$output"
	assert_line refused
	has box1 '.kind == "finding" and
		(.detail | contains("could not be written"))'
	# the shim ends by itself
	wait_for umount "$WORK/log"
}

@test "datagrams leave to nobody, and say so" {
	agent '/usr/bin/python3 -c "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
try: s.sendto(b\"x\", (\"192.31.196.66\", 9))
except PermissionError: print(\"refused\")
s.connect((\"192.31.196.66\", 9))
try: s.send(b\"x\"); s.send(b\"x\")
except OSError: pass
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(b\"x\", (\"127.0.0.1\", 9))
print(\"itself\")"'
	assert_line refused
	assert_line itself
	has box1 '.kind == "datagram" and .reason == "protocol"'
	has box1 '.kind == "packet" and .dest.ip == "192.31.196.66"'
	[ "$("$INTERNET" counter $NET evil)" -eq 0 ]
}

@test "the sandbox talks to itself, by any of its addresses" {
	agent '/usr/bin/python3 -c "
import socket
own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
own.connect((\"192.31.196.66\", 9))
own = own.getsockname()[0]
l = socket.socket(); l.bind((\"0.0.0.0\", 4000)); l.listen()
for a in (\"127.0.0.1\", \"127.1.2.3\", \"0.0.0.0\", own):
    socket.create_connection((a, 4000), 3); print(\"ok\", a)
"'
	assert_success
	[ "$(grep -c '^ok' <<<"$output")" -eq 4 ]
	has_not box1 '.kind == "connect"'
}

@test "a 32-bit program: its sockets are made for it, its connections decided" {
	gcc -O1 -o "$WORK/socketcall" "$INTEGRATION/egress/socketcall.c"
	policy <<-'EOF'
	network:
	  default: deny
	  allow:
	    - host: 192.31.196.10
	      port: 80
	EOF
	agent "$WORK/socketcall 192.31.196.10 80
		$WORK/socketcall 192.31.196.66 80
		$WORK/socketcall 192.31.196.10 80 40
		$WORK/socketcall 192.31.196.10 80 17"
	assert_line --partial 'read: HTTP/1.'
	assert_line 'connect: 13'
	# neither VSOCK nor PACKET
	[ "$(grep -c '^socket: 1$' <<<"$output")" -eq 2 ]
	has box1 '.verdict == "allow" and .kind == "connect"'
}

@test "the last thing that an agent did is on record" {
	run play box1 -- /usr/bin/python3 -c '
import os, socket
try: socket.getaddrinfo("collect.example.net", 80)
except OSError: os._exit(7)'
	[ "$status" -eq 7 ]
	has box1 '.reason == "name-not-allowed"'
	run play box2 -- /usr/bin/python3 -c '
import os, socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(("192.31.196.66", 9))
try: s.send(b"x")
except OSError: pass
os._exit(8)'
	[ "$status" -eq 8 ]
	has box2 '.kind == "packet" and .dest.port == 9'
}

# ---------------------------------------------------------------- inbound

server='import socket
l = socket.socket(); l.bind(("0.0.0.0", 7000)); l.listen()
print("listening", flush=True)
l.settimeout(6)
try:
    c, a = l.accept(); c.sendall(b"served\n"); print("accepted")
except TimeoutError: print("nobody")'

# serve [OPTION]: the server runs; the other side calls it.
serve()
{
	local own
	own=$(ip netns exec "$(basename "$NETNS")" ip -4 -o addr show dev eth0 |
		sed -n 's/.*inet \([^/]*\).*/\1/p')
	play box1 "$@" -- /usr/bin/python3 -c "$server" >"$WORK/out" 2>&1 &
	PLAYER=$!
	wait_for grep -q listening "$WORK/out"
	"$INTERNET" exec $NET evil timeout 5 /usr/bin/python3 -c "
import socket
print(socket.create_connection(('$own', 7000), 3).recv(100))" \
		>"$WORK/called" 2>&1 || :
	wait $PLAYER || :
}

@test "an outside client reaches what listens" {
	serve
	grep -q served "$WORK/called"
	has box1 '.kind == "inbound" and .verdict == "allow" and
		.dest.port == 7000'
}

@test "inbound: none closes it" {
	serve inbound=none
	grep -q nobody "$WORK/out"
	has box1 '.kind == "inbound" and .reason == "inbound-closed"'
}

# ------------------------------------------------------------------- life

@test "a create that ends before COMMIT leaves nothing" {
	run play box1 abandon -- /bin/true
	assert_success
	left_nothing
}

# slow_server: takes a connection, and reads it a second later.
slow_server()
{
	"$INTERNET" exec $NET api /usr/bin/python3 -c '
import socket, time
l = socket.socket(); l.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
l.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
l.bind(("192.31.196.10", 444)); l.listen()
print("listening", flush=True)
c, a = l.accept(); time.sleep(1); n = 0
while d := c.recv(65536): n += len(d)
print("got", n, flush=True)' >"$WORK/server" 2>&1 3>&- 4>&- &
	wait_for grep -q listening "$WORK/server"
}

@test "what a process sent before its end arrives" {
	policy <<-'EOF'
	network:
	  default: deny
	  allow:
	    - host: 192.31.196.10
	      port: 444
	EOF
	slow_server
	agent '/usr/bin/python3 -c "
import os, socket
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
s.connect((\"192.31.196.10\", 444)); s.setblocking(False)
assert s.send(bytes(200000)) == 200000
os._exit(0)"'
	assert_success
	wait_for grep -q "got 200000" "$WORK/server"
	left_nothing
}

# A segment with a routing header is dropped without an answer: the connection
# waits, and tries again. Not after the table has gone.
@test "what was dropped is not sent again at the end" {
	policy <<-'EOF'
	network:
	  default: deny
	  allow:
	    - host: 2001:4:112::10
	      port: 80
	EOF
	"$INTERNET" reset $NET
	local i
	for i in 1 2 3; do
		agent '/usr/bin/python3 -c "
import os, socket, time
a = socket.inet_pton(socket.AF_INET6, \"2001:4:112::10\")
e = socket.inet_pton(socket.AF_INET6, \"2001:4:112::66\")
route = bytes([0, 4, 4, 1, 1, 0, 0, 0]) + a + e
began, kept = time.time(), []
for i in range(500):
    s = socket.socket(socket.AF_INET6, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    s.setsockopt(socket.IPPROTO_IPV6, 57, route)
    try: s.connect((\"2001:4:112::10\", 80))
    except BlockingIOError: kept.append(s)
assert len(kept) == 500
# the first of them try again about now
time.sleep(max(0, began + 1.0 + 0.02 * '$i' - time.time()))
os._exit(0)"'
		assert_success
		left_nothing
	done
	[ "$("$INTERNET" counter $NET evil)" -eq 0 ]
	[ "$("$INTERNET" counter $NET api)" -eq 0 ]
}

@test "two containers of one namespace, each with its own policy" {
	policy other <<-'EOF'
	network:
	  default: deny
	  allow:
	    - host: api.github.com
	      port: 443
	EOF
	touch "$WORK/keep"
	POLICY=other play box2 -- /bin/sh -c "/usr/bin/python3 -c '
import socket
l = socket.socket(); l.bind((\"127.0.0.1\", 6000)); l.listen()
print(\"up\", flush=True); l.accept()'
		while [ -e $WORK/keep ]; do sleep 0.05; done
		$get http://api.github.com:443/; $get http://api.github.com/" \
		>"$WORK/out2" 2>&1 &
	PLAYER=$!
	wait_for grep -q up "$WORK/out2"
	local first
	first=$(shim_pid)
	agent "$get http://api.github.com/; $get http://api.github.com:81/
		$get http://127.0.0.1:6000/"
	assert_line 200
	[ "$(shim_pid)" = "$first" ]
	rm "$WORK/keep"
	wait $PLAYER || :
	has box1 '.verdict == "deny" and .dest.port == 81'
	has box1 '.detail == "container box2 listens there" and
		.dest.ip == "127.0.0.1"'
	has box2 '.verdict == "allow" and .dest.port == 443'
	has box2 '.verdict == "deny" and .dest.port == 80'
	left_nothing
}

@test "a dead shim refuses everything, and its table stays" {
	touch "$WORK/keep"
	play box1 -- /bin/sh -c "$get http://api.github.com/; echo up
		while [ -e $WORK/keep ]; do sleep 0.05; done
		$get http://192.31.196.10/ || echo refused" >"$WORK/out" 2>&1 &
	PLAYER=$!
	wait_for grep -q up "$WORK/out"
	kill -KILL "$(shim_pid)"
	wait_for [ ! -e "/proc/$(shim_pid)/exe" ]
	wait_for gone osh-resolver
	wait_for gone osh-shim
	rm "$WORK/keep"
	wait $PLAYER || :
	grep -q 200 "$WORK/out"
	grep -q refused "$WORK/out"
	table | grep -q 'policy drop'
	# a new shim takes the namespace over, and its table
	agent "$get http://api.github.com/"
	assert_line 200
}

@test "a dead resolver is started again, a bounded number of times" {
	touch "$WORK/keep"
	play box1 -- /bin/sh -c "echo up
		while [ -e $WORK/keep ]; do sleep 0.05; done
		$get http://api.github.com/" >"$WORK/out" 2>&1 &
	PLAYER=$!
	wait_for grep -q up "$WORK/out"
	kill -KILL "$(pgrep -x osh-resolver)"
	wait_for pgrep -x osh-resolver
	rm "$WORK/keep"
	wait $PLAYER || :
	grep -q 200 "$WORK/out"
	has box1 '.kind == "finding" and .reason == "shim-error"'

	touch "$WORK/keep"
	play box3 -- /bin/sh -c "echo up
		while [ -e $WORK/keep ]; do sleep 0.05; done
		$get http://api.github.com/" >"$WORK/out" 2>&1 &
	PLAYER=$!
	wait_for grep -q up "$WORK/out"
	local i
	for i in $(seq 60); do
		pkill -KILL -x osh-resolver || :
		! grep -q 'too often' "$WORK/log/box3.jsonl" || break
		sleep 0.1
	done
	has box3 '.kind == "finding" and (.detail |
		startswith("no names any more"))'
	rm "$WORK/keep"
	wait $PLAYER || :
	! grep -q 200 "$WORK/out"
}

@test "malformed messages end a connection and harm nothing" {
	touch "$WORK/keep"
	play box1 -- /bin/sh -c "echo up
		while [ -e $WORK/keep ]; do sleep 0.05; done
		$get http://api.github.com/" >"$WORK/out" 2>&1 &
	PLAYER=$!
	wait_for grep -q up "$WORK/out"
	/usr/bin/python3 - "$WORK"/shim/*/sock <<-'EOF'
	import array, os, random, socket, struct, sys
	random.seed(7)
	sizes = [1, 3, 4, 8, 32, 264, 268, 272, 528, 536, 800, 2048]
	ended = 0
	for i in range(600):
	    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
	    s.settimeout(5)
	    s.connect(sys.argv[1])
	    op = random.choice([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 2**32 - 1])
	    body = bytearray(struct.pack("<I", op))
	    body += os.urandom(random.choice(sizes)) if i % 2 else \
	            bytes(random.choice(sizes))
	    body = bytes(body[:random.choice(sizes)])
	    files = [os.open("/dev/null", 0) for _ in range(random.choice([0, 0, 1, 2, 3, 9]))]
	    s.sendmsg([body], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))] if files else [])
	    for f in files: os.close(f)
	    try: ended += s.recv(4096) == b""
	    except ConnectionResetError: ended += 1
	    s.close()
	assert ended > 300, ended
	EOF
	# every descriptor that came with them is closed again
	[ "$(ls "/proc/$(shim_pid)/fd" | wc -l)" -lt 200 ]
	rm "$WORK/keep"
	wait $PLAYER || :
	grep -q 200 "$WORK/out"
	left_nothing
}

@test "what the shim and its helpers hold" {
	touch "$WORK/keep"
	play box1 -- /bin/sh -c "echo up
		while [ -e $WORK/keep ]; do sleep 0.05; done" \
		>"$WORK/out" 2>&1 &
	PLAYER=$!
	wait_for grep -q up "$WORK/out"
	local shim maker resolver
	shim=$(shim_pid)
	maker=$(pgrep -x -P "$shim" osh-shim)
	resolver=$(pgrep -x osh-resolver)
	# CAP_NET_ADMIN and CAP_SYS_PTRACE, nothing else in any set
	grep -q '^CapEff:.0000000000081000$' "/proc/$shim/status"
	grep -q '^CapBnd:.0000000000081000$' "/proc/$shim/status"
	grep -q '^CapEff:.0000000000000000$' "/proc/$resolver/status"
	grep -q '^CapBnd:.0000000000000000$' "/proc/$resolver/status"
	local p
	for p in "$shim" "$resolver"; do
		grep -q '^Seccomp:.2$' "/proc/$p/status"
		grep -q '^NoNewPrivs:.1$' "/proc/$p/status"
	done
	[ "$(stat -c %u "/proc/$maker")" -eq 65534 ] ||
		grep -q '^Uid:.65534' "/proc/$maker/status"
	[ "$(readlink "/proc/$shim/ns/net")" != \
		"$(readlink /proc/self/ns/net)" ]
	[ "$(readlink "/proc/$shim/ns/net")" != \
		"$(ip netns exec "$(basename "$NETNS")" \
			readlink /proc/self/ns/net)" ]
	[ -z "$(ls -A "/proc/$shim/root/")" ]
	[ -z "$(ls -A "/proc/$resolver/root/")" ]
	for p in user pid mnt net ipc uts; do
		[ "$(readlink "/proc/$resolver/ns/$p")" != \
			"$(readlink "/proc/self/ns/$p")" ]
	done
	rm "$WORK/keep"
	wait $PLAYER
}
