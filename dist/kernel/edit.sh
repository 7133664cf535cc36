# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Functions that edit a kernel's files. Sourced, not run. An edit that changes nothing is an error:
# if a new kernel changed the line that the edit expects, nobody would notice that the edit is missing.

# edit FILE SED...: edit FILE by sed expressions. Each expression must change something.
edit() {
	local file=$1 expression
	shift
	for expression; do
		sed -E -e "$expression" "$file" >"$file.new"
		if cmp -s "$file" "$file.new"; then
			rm "$file.new"
			echo "${0##*/}: $file: nothing to change by $expression" >&2
			return 1
		fi
		mv "$file.new" "$file"
	done
}

# add FILE PATTERN LINE...: insert the LINEs into FILE before the first line that matches PATTERN,
# unless FILE already has the first of these LINEs.
add() {
	local file=$1 pattern=$2
	shift 2
	! grep -qxF -- "$1" "$file" || return 0
	awk -v lines="$(printf '%s\\n' "$@")" -v pattern="$pattern" \
		'!done && $0 ~ pattern {printf "%s", lines; done = 1} {print} END {exit !done}' "$file" >"$file.new" || {
		rm "$file.new"
		echo "${0##*/}: $file: no line with $pattern" >&2
		return 1
	}
	mv "$file.new" "$file"
}
