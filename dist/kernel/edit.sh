# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Edits of a kernel's files. Sourced, not run. An edit that changes nothing is an error: a kernel
# has changed a line that we look for, and what we build of it would lack a part that nobody misses.

# edit FILE SED...: by expressions, each of which must change something.
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

# add FILE PATTERN LINE...: have the lines in FILE, before the first one that matches.
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
