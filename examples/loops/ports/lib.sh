# SPDX-License-Identifier: GPL-2.0 OR MIT
# What the scripts of this directory share: sourced with its caller's arguments
# shellcheck shell=bash

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../../../tests/vm/lib.sh"
bench=$top/tests/bench/compared

# sources PACKAGE: Debian's sources of the package are in $tree.
sources() {
	"$top/tests/vm/setup" loops
	tree=$("$top/tests/vm/source" "$1")
}

# amalgamation DIR WIDTH: twheel_timer.c and twheel_timer.h, to be compiled among others, with slots
# of 2^WIDTH units.
amalgamation() {
	"$top/tools/libtwheel/amalgamate" timer-c >"$1/twheel_timer.c"
	{ echo "#define TWHEEL_TIMERS_WIDTH $2"; "$top/tools/libtwheel/amalgamate" timer-h; } >"$1/twheel_timer.h"
}

# logged NAME COMMAND...: show what it says if it fails.
logged() {
	"${@:2}" >"$dir/$1.log" 2>&1 || { tail -n 30 "$dir/$1.log" >&2; die "$1 failed, see $dir/$1.log"; }
}

# both CHANGE BUILD: $dir/stock is the tree that BUILD TREE has built, $dir/wheel the same after
# CHANGE TREE.
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
