# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
#
# Functions and variables of the scripts that measure. Sourced, not run, with the arguments of the
# script.
#
# dir    where figures go            kernel  kernel of the machines
# quick  measure less                keep    copy plots, too
# rest   arguments for the script itself
#
# Nothing can disturb a machine that counts instructions, so two machines run beside each other. A
# part that uses the clock runs alone.

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"

dir=$out/bench
kernel=stock-6.12 quick='' keep='' rest=()
while [ $# -gt 0 ]; do
	case $1 in
	--quick) quick=1 ;;
	--keep) keep=1 ;;
	-k) kernel=$2; shift ;;
	-*) die "usage: see the head of $0" ;;
	*) rest+=("$1") ;;
	esac
	shift
done
SECONDS=0
commit=$(git -C "$top" rev-parse --short=12 HEAD)
mkdir -p "$dir"
"$top/tests/vm/build" "$kernel"

# machine NAME OPTION...: run tests/vm/run with these options. Its output goes to NAME.log, and
# the rows in it to NAME.rows.
machine() {
	local log=$dir/$1.log rows=$dir/$1.rows status=0
	"$top/tests/vm/run" -i "${@:2}" >"$log" 2>&1 || status=1
	sed -n 's/^\(\[.*twheel-bench: \)\?csv://p' "$log" >"$rows"
	say "  $(printf '%4d s' $SECONDS)  $1: $(wc -l <"$rows") figures"
	[ $status = 0 ] || { grep -E '^(compared|bench-user): .*failed' "$log" || tail -n 30 "$log"; say "$1 failed, see $log"; } >&2
	return $status
}

# native_program FILE: build native.c for this machine. wheels.h contains the schemes of
# twheel.ko.
native_program() {
	(cd "$top/tests/bench" && "${CC:-gcc}" -O2 -falign-functions=64 -g -Wall -I ../wheel/shims/native -I ../../include \
		-I ../.. -idirafter "$("$top/tests/vm/kernel" source)/tools/include" \
		-o "$1" native.c ../wheel/schemes/{schemes,paper,heap,wheels}.c -x c ../wheel/schemes/wheels.h) ||
		die "native.c does not build"
}

# show NAME HEADING: write the rows of standard input to NAME.csv, and print its tables. NAME.commit
# names the commit that was measured, for tests/bench/data.
show() {
	{ echo "$2"; cat; } >"$dir/$1.csv"
	echo "$commit" >"$dir/$1.commit"
	"$top/tests/bench/data" --show "$1" "$dir"
	say "$1: $((SECONDS / 60)) min $((SECONDS % 60)) s; $dir/$1.csv"
}

heading=suite,mode,implementation,operation,distribution,batch,cpus,pending,unit,value
