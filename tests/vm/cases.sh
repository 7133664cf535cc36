# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154
#
# The cases of a script on this machine, in TAP.  Sourced, not run.

# What the make that runs the script was asked for is not meant for the tests.
unset MAKEFLAGS MAKELEVEL MFLAGS DESTDIR prefix KDIR

count=0 failed=0
version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"$/\1/p' "$top/dkms.conf")

# Whether a case is wanted. A script may have another answer.
chosen() { true; }

# check NAME COMMAND...: passes if the command succeeds and says nothing. It is skipped if
# the status is 77, for the reason that the command says.
check() {
	local name=$1 said status=0
	chosen "$name" || return 0
	shift
	count=$((count + 1))
	said=$("$@" 2>&1) || status=$?
	if [ $status = 0 ] && [ -z "$said" ]; then
		echo "ok $count - $name"
	elif [ $status = 77 ]; then
		echo "ok $count - $name # SKIP $said"
	else
		echo "not ok $count - $name"
		head -n 60 <<<"${said:-status $status, nothing said}" | sed 's/^/# /'
		failed=$((failed + 1))
	fi
}

# is WHAT WANTED IS: says it if they differ.
is() { [ "$2" = "$3" ] || printf '%s: not\n%s\nbut\n%s\n' "$1" "$2" "$3"; }

# quietly COMMAND...: with something to say only if it fails.
quietly() { "$@" >"$work/log" 2>&1 || { tail -n 40 "$work/log"; return 1; }; }

# builds LOG COMMAND...: only errors and warnings are said. The rest is in the log in $work.
builds() {
	local log=$work/$1 status=0
	"${@:2}" >"$log" 2>&1 || status=$?
	grep -E '(warning|error): |WARNING|ERROR|\*\*\*' "$log" || [ $status = 0 ] || tail -n 20 "$log"
}

# tap NAME COMMAND...: the cases of a program that says TAP itself.
tap() {
	local ended=0
	echo "# run $1"
	"${@:2}" || ended=$?
	echo "# exit $1 $ended"
	return "$ended"
}

# runs_here COMPILER...: whether this machine runs what the compiler makes. A kernel may refuse
# 32-bit programs, as many do in containers, although the compiler makes them.
runs_here() {
	local program ended=0
	program=$(mktemp "$out/runs-here.XXXXXX")
	{ "$@" -x c -o "$program" - <<<'int main(void) { return 0; }' && "$program"; } 2>/dev/null || ended=$?
	rm -f "$program"
	return "$ended"
}

# look_for_leaks COMPILER...: AddressSanitizer looks for leaks at the end of a program, and traces the
# program for that. Where a container forbids ptrace(), each program would fail, so tell it not
# to look, and skip a case that says so.
look_for_leaks() {
	local options=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
	runs_here "$@" -fsanitize=address || ! ASAN_OPTIONS=$options runs_here "$@" -fsanitize=address || {
		export ASAN_OPTIONS=$options
		(skip_all leaks "no ptrace() here, by which AddressSanitizer finds leaks")
	}
}

# has_loopback: a sandbox may have no network. Where it has one, the connection is refused at least.
has_loopback() {
	[[ $({ : <>/dev/tcp/127.0.0.1/9; } 2>&1) != *unreachable* ]]
}

# skip_all NAME REASON: the script ends with that.
skip_all() {
	printf '# run %s\n1..1\nok 1 - %s # SKIP %s\n# exit %s 0\n' "$1" "$1" "$2" "$1"
	exit 0
}

# end_of_cases NAME: fails if one of them has.
end_of_cases() {
	echo "1..$count"
	echo "# exit $1 $((failed != 0))"
	[ $failed = 0 ]
}
