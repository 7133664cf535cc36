# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154
#
# Run cases of a script on this machine, and report them in TAP. Sourced, not run.

# Hide the variables of the make that runs the script from the makes that its tests run.
unset MAKEFLAGS MAKELEVEL MFLAGS DESTDIR prefix KDIR

# Any output of a case makes the case fail, so messages about its progress have a descriptor of
# their own.
exec {aside}>&2

count=0 failed=0
version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"$/\1/p' "$top/dkms.conf")

# Return whether the user asked for a case. A script may replace this function.
chosen() { true; }

# check NAME COMMAND...: run a case. It passes if the command succeeds and prints nothing. If the
# status is 77, the case is skipped, and the output is the reason.
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

# is WHAT WANTED GOT: print the two values if they differ.
is() { [ "$2" = "$3" ] || printf '%s: not\n%s\nbut\n%s\n' "$1" "$2" "$3"; }

# quietly COMMAND...: print the command's output only if it fails.
quietly() { "$@" >"$work/log" 2>&1 || { tail -n 40 "$work/log"; return 1; }; }

# builds LOG COMMAND...: print only the errors and warnings of a build. All of its output is in
# $work/LOG.
builds() {
	local log=$work/$1 status=0
	"${@:2}" >"$log" 2>&1 || status=$?
	grep -E '(warning|error): |WARNING|ERROR|\*\*\*' "$log" || [ $status = 0 ] || tail -n 20 "$log"
}

# builds_long LOG OBJ COMMAND...: like builds, for a build that takes minutes. Now and then, print
# how many objects the directory OBJ has, so that the build does not seem to hang.
builds_long() {
	builds "$1" "${@:3}" &
	progress $! "$2" "$SECONDS" 2>&"$aside"
	wait $!
}

# tap NAME COMMAND...: run a program that prints TAP itself.
tap() {
	local ended=0
	echo "# run $1"
	"${@:2}" || ended=$?
	echo "# exit $1 $ended"
	return "$ended"
}

# runs_here COMPILER...: return whether this machine runs the programs that the compiler makes. Many
# containers have a kernel that refuses 32-bit programs, although the compiler can make them.
runs_here() {
	local program ended=0
	program=$(mktemp "$out/runs-here.XXXXXX")
	{ "$@" -x c -o "$program" - <<<'int main(void) { return 0; }' && "$program"; } 2>/dev/null || ended=$?
	rm -f "$program"
	return "$ended"
}

# look_for_leaks COMPILER...: have AddressSanitizer look for leaks only where it can. It needs
# ptrace() for that, and where a container forbids ptrace(), each program would fail. In that
# case, switch the search off and report a skipped case.
look_for_leaks() {
	local options=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
	runs_here "$@" -fsanitize=address || ! ASAN_OPTIONS=$options runs_here "$@" -fsanitize=address || {
		export ASAN_OPTIONS=$options
		(skip_all leaks "no ptrace() here, by which AddressSanitizer finds leaks")
	}
}

# has_loopback: return whether there is a loopback device, which a sandbox may lack. Nothing listens
# at the port, and "connection refused" shows that the device exists.
has_loopback() {
	[[ $({ : <>/dev/tcp/127.0.0.1/9; } 2>&1) != *unreachable* ]]
}

# skip_all NAME REASON: end the script with one skipped case.
skip_all() {
	printf '# run %s\n1..1\nok 1 - %s # SKIP %s\n# exit %s 0\n' "$1" "$1" "$2" "$1"
	exit 0
}

# end_of_cases NAME: print the plan. Fails if one of the cases failed.
end_of_cases() {
	echo "1..$count"
	echo "# exit $1 $((failed != 0))"
	[ $failed = 0 ]
}
