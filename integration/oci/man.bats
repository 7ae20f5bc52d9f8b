# SPDX-License-Identifier: Apache-2.0
# osh-runtime(8) and the tables of the program tell the same: every command,
# every option of each, every key, word and reason, in both directions.

load ../lib

needs osh

PAGE=$TOP/runtime/cmd/osh-runtime.8

teardown() { :; }

# page: its text; requests alone on a line are kept.
page()
{
	sed 's/\\-/-/g; s/\\f[BIR]//g; s/\\(dq/"/g' "$PAGE"
}

# section NAME: of the page.
section()
{
	page | awk -v name=".SH $1" '/^\.SH / { on = $0 == name } on'
}

# entry COMMAND: its paragraph of COMMANDS and the indented list below it.
entry()
{
	section COMMANDS | awk -v command="$1" '
		/^\.RS/ { depth++ }
		/^\.RE/ { depth-- }
		depth == 0 && (/^\.TP/ || /^\.SS/) { on = 0; head = /^\.TP/; next }
		head { head = 0; sub(/^\.B /, ""); on = $1 == command }
		on'
}

# options: the options that a text names, one a line.
options()
{
	# of two that stand side by side, each has its own blank
	sed 's/[^a-zA-Z-]/  /g' | grep -oE '(^| )--?[a-z][a-z-]*( |$)' |
		tr -d ' ' | sort -u
}

# table [COMMAND]: those of the help, without what describes them.
table()
{
	"$OSH_RUNTIME" "$@" --help | sed -n '/^options:/,$p' |
		sed -nE 's/^   ((-[a-z], )?--[a-z-]+).*/\1/p' | options
}

commands()
{
	"$OSH_RUNTIME" --help |
		sed -nE '/^commands:/,/^options:/s/^   ([a-z]+) .*/\1/p'
}

@test "the same commands" {
	local named
	named=$(section COMMANDS | awk '/^\.RS/ { depth++ } /^\.RE/ { depth-- }
		head && depth == 0 { sub(/^\.B /, ""); print $1 }
		{ head = /^\.TP/ }' | sort)
	assert_equal "$named" "$(commands | sort)"
	[ "$(wc -l <<<"$named")" -ge 16 ]
}

@test "the same options before the command" {
	assert_equal "$(section OPTIONS | grep '^--\|^-h\|^\.B --' | options)" \
		"$(table)"
}

@test "the same options of each command" {
	local command
	for command in $(commands); do
		# in an entry, options are heads of paragraphs, or in its own
		# head; run names create's in its text
		assert_equal "$command $(entry "$command" |
			awk -v run="$command" 'NR == 1 || head || run == "run"
				{ head = /^\.TP/ }' | options)" \
			"$command $(table "$command")"
	done
}

@test "every key and word of the host configuration" {
	local word n=0 source=$TOP/runtime/oci/host_config.c
	for word in $(sed -nE 's/.*DECODE_ROW\(struct host_[a-z]+, [a-z_]+, "([a-z_]+)".*/\1/p' \
		"$source") $(sed -nE 's/.*\{"([a-z-]+)", HOST_.*/\1/p' "$source"); do
		section 'HOST CONFIGURATION' | grep -qw -- "$word" ||
			fail "the page lacks $word"
		n=$((n + 1))
	done
	[ $n -ge 20 ]
}

@test "every annotation" {
	local word n=0
	for word in $(sed -nE 's/^static const char key_.*"(ai\.openshell\.[a-z-]+)".*/\1/p' \
		"$TOP/runtime/plan/source.c"); do
		section 'WHERE THE POLICY COMES FROM' |
			grep -qE -- "$word( |\$)" || fail "the page lacks $word"
		n=$((n + 1))
	done
	[ $n -ge 4 ]
}

@test "every reason, kind and verdict of the decision log" {
	local word n=0 policy=$TOP/runtime/policy
	for word in $(sed -nE 's/^REASON\([A-Z0-9_]+, "([a-z0-9-]+)".*/\1/p' \
		"$policy/reasons.def") $(grep -oE '\[LOG_[A-Z]+\] = "[a-z]+"' \
		"$policy/decision_log.c" | cut -d'"' -f2); do
		section 'THE DECISION LOG' | grep -qw -- "$word" ||
			fail "the page lacks $word"
		n=$((n + 1))
	done
	[ $n -ge 30 ]
}

@test "the page formats without complaint" {
	have groff || skip "needs groff"
	run groff -man -Tutf8 -ww -z "$PAGE"
	assert_success
	assert_output ''
}
