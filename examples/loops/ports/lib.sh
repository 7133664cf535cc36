# SPDX-License-Identifier: GPL-2.0 OR MIT
# Functions and variables of the scripts of this directory. Sourced with the
# arguments of the caller
# shellcheck shell=bash

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../../../tests/vm/lib.sh"
bench=$top/tests/bench/compared

# sources PACKAGE: unpack Debian's sources of the package, and set $tree to
# their directory.
sources() {
	"$top/tests/vm/setup" loops
	tree=$("$top/tests/vm/source" "$1")
}

# amalgamation DIR WIDTH: write twheel_timer.c and twheel_timer.h into a directory of sources, with
# slots of 2^WIDTH units.
amalgamation() {
	"$top/tools/libtwheel/amalgamate" timer-c >"$1/twheel_timer.c"
	{ echo "#define TWHEEL_TIMERS_WIDTH $2"; "$top/tools/libtwheel/amalgamate" timer-h; } >"$1/twheel_timer.h"
}

# logged NAME COMMAND...: run a command, and show its output if it fails.
logged() {
	"${@:2}" >"$dir/$1.log" 2>&1 || { tail -n 30 "$dir/$1.log" >&2; die "$1 failed, see $dir/$1.log"; }
}

# both CHANGE BUILD: make two copies of the sources, and build them by the function BUILD. $dir/stock
# is unchanged. The function CHANGE edits $dir/wheel before the build.
both() {
	local how
	mkdir -p "$dir"
	for how in stock wheel; do
		rm -rf "${dir:?}/$how"
		cp -a "$tree" "$dir/$how"
		[ $how = stock ] || "$1" "$dir/$how"
		logged "$how" "$2" "$dir/$how"
	done
}
