# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
#
# Golden files of this folder's facts/: blocks of
#
#	= what is asked
#	what osh-policy says about it, a line each
#
# facts NAME COMMAND: run COMMAND "what is asked" for each block; what it
# prints must be the block's lines. FACTS_UPDATE=1 writes the file anew.

facts()
{
	local file=$BATS_TEST_DIRNAME/facts/$1 command=$2 line
	local got=$BATS_TEST_TMPDIR/$1
	while IFS= read -r line; do
		case $line in
		'#'*) printf '%s\n' "$line" ;;
		'= '*)
			printf '%s\n' "$line"
			"$command" "${line#= }"
			;;
		esac
	done <"$file" >"$got"
	[ -z "${FACTS_UPDATE-}" ] || cp "$got" "$file"
	[ "$(grep -c '^= ' "$file")" -gt 5 ]
	diff -u "$file" "$got"
}

# said DOCUMENT: errors and warnings, without the name of the file.
said()
{
	printf '%s\n' "$1" | "$OSH_POLICY" check --name p - 2>&1 |
		sed 's/^p://'
}
