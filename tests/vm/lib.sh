# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Functions of the scripts of the test harness. Sourced, not run.
#
# top    the source tree            cache  kernels and sources, kept between runs
# out    build/ in the source tree  jobs   processors of this machine

set -euo pipefail
export LC_ALL=C

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=${TWHEEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/twheel}
# shellcheck disable=SC2034
out=$top/build
jobs=$(nproc)
export top cache out jobs

# Print progress and complaints to stderr, because stdout is for results.
say() { printf '%s\n' "$*" >&2; }
die() { say "${0##*/}: $*"; exit 1; }

# hangs PID SECONDS FILE...: wait for a process. Succeeds as soon as none of the files has grown
# for SECONDS, and fails if the process ends.
hangs() {
	local pid=$1 seconds=$2 size='' now since=$SECONDS
	shift 2
	while kill -0 "$pid" 2>/dev/null; do
		now=$(stat -c %s "$@")
		[ "$now" = "$size" ] || size=$now since=$SECONDS
		[ $((SECONDS - since)) -lt "$seconds" ] || return 0
		sleep 0.5
	done
	return 1
}

# changed_files COMMIT: print the files that the branch has changed since it left the main line,
# and the files that git does not know. On the main line itself, as in a clone for continuous
# integration, print what changed since COMMIT or, if COMMIT is empty, since a day before the
# newest commit.
changed_files() {
	local line base='' head time
	[ -e "$top/.git" ] || return 0
	head=$(git rev-parse -q --verify HEAD) || return 0
	for line in '@{upstream}' origin/HEAD main; do
		base=$(git merge-base "$line" HEAD 2>/dev/null) && [ "$base" != "$head" ] && break
		base=''
	done
	time=$(git log -1 --format=%ct)
	base=${base:-${1:-$(git rev-list -n 1 --before=$((time - 86400)) HEAD)}}
	{
		# If the history is younger than a day, compare with the empty tree.
		git diff --name-only --diff-filter=d "${base:-4b825dc642cb6eb9a060e54bf8d69288fbee4904}"
		git ls-files -o --exclude-standard
	} | sort -u
}

# source_files DIRECTORY...: print the files that git knows, and new files that it does not ignore.
# Without git, print all files.
source_files() {
	if [ -e "$top/.git" ]; then
		git -C "$top" ls-files -co --exclude-standard "$@"
	else
		(cd "$top" && find "$@" -path ./build -prune -o ! -type d -print | sed 's#^\./##')
	fi
}

# Print why a time limit may have been reached, and what to do about it.
slowness() {
	printf 'it hangs, or this machine is slow or busy (CPUs: %d, load: %s): TWHEEL_SLOW=%d gives it twice the time' \
		"$jobs" "$(cut -d' ' -f1-3 /proc/loadavg)" $((2 * ${TWHEEL_SLOW:-1}))
}

# arch_of KERNEL: print the machine that a kernel is for. programs_of KERNEL: print the directory of
# the programs that are built for this machine.
arch_of() {
	local end=${1%-modules}
	end=${end##*-}
	! grep -q "^$end " "$top/tests/vm/machines" || { echo "$end"; return; }
	echo x86
}

programs_of() {
	local arch
	arch=$(arch_of "$1")
	[ "$arch" = x86 ] && echo "$out/bin" || echo "$out/$arch/bin"
}

# machine ARCH: set variables from the machine's line in tests/vm/machines.
# shellcheck disable=SC2034
machine() {
	read -r _ debian karch prefix image console ports emulator qemu \
		< <(grep "^$1 " "$top/tests/vm/machines") || die "no machine $1"
	prefix=${prefix#-}
}

# Print the parts: directories in tests/, and one level below, that are built for a guest. A part
# is called by the last name of its path. If TWHEEL_PARTS is set, print only the parts that it
# names.
parts() {
	local d
	for d in "$top"/tests/*/ "$top"/tests/*/*/; do
		[ -e "$d/Kbuild" ] || [ -e "$d/Makefile" ] || continue
		d=$(basename "$d")
		[[ -n ${TWHEEL_PARTS+set} && " $TWHEEL_PARTS " != *" $d "* ]] || echo "$d"
	done
}

# dir_of PART: print the directory of a part, relative to the top.
dir_of() { (cd "$top" && find tests -mindepth 1 -maxdepth 2 -type d -name "$1" -print -quit); }

# progress PID DIRECTORY START: print the number of objects every 20 s while a build runs.
progress() {
	local pid=$1 obj=$2 start=$3 i=0
	while kill -0 "$pid" 2>/dev/null; do
		sleep 1
		i=$((i + 1))
		[ $((i % 20)) != 0 ] ||
			say "  $((SECONDS - start)) s: $(find "$obj" -name '*.o' | wc -l) objects"
	done
}

# parts_named COMMAND: print the parts that a shell command in the guest needs: the command names
# the part or one of its modules, or runs a script of tests/vm/guest that does.
parts_named() {
	local words=$1 word part name
	for word in ${1//[^a-z0-9_-]/ }; do
		[ ! -e "$top/tests/vm/guest/$word" ] || words+=" $(cat "$top/tests/vm/guest/$word")"
	done
	for part in $(unset TWHEEL_PARTS && parts); do
		for name in "$part" $(sed -n 's/^obj-m.*= *\(.*\)\.o$/\1/p' "$top/$(dir_of "$part")/Kbuild" 2>/dev/null); do
			[[ ! $words =~ (^|[^a-z0-9_])$name($|[^a-z0-9_-]) ]] || echo "$part"
		done
	done | sort -u | paste -sd ' '
}

# packages_for KERNEL: print the purposes, as tests/vm/setup names them, for which this kernel and
# the parts need packages.
packages_for() {
	local parts
	parts=$(parts)
	echo vm
	case $1 in
	debug* | kcsan) echo own ;;
	esac
	if [ "$(arch_of "$1")" != x86 ]; then
		arch_of "$1"
	else
		[[ $parts != *@(selftests|life)* ]] || echo 32bit
		[[ $parts != *selftests* ]] || echo uring
	fi
	[[ $parts != *python* ]] || echo python
	[[ $parts != *@(libtwheel|versions)* ]] || echo libtwheel
}

# locked FILE COMMAND...: run a command while no other process runs one with the same lock. If two
# processes want the same result, the second one waits and then finds it.
locked() {
	local lock=$1 fd
	shift
	mkdir -p "$(dirname "$lock")"
	exec {fd}>"$lock"
	if ! flock -n "$fd"; then
		say "waiting for ${lock##*/} (held by another run)"
		flock "$fd"
	fi
	"$@"
	exec {fd}>&-
}

# copy_sources DIR: bring a copy of the source tree up to date, so that modules can be built
# there, and print what changed. The copy has only what a module is built from, because
# people leave keys and programs in their trees.
copy_sources() {
	mkdir -p "$1"
	rsync -rltpOi --delete --exclude=/.git --exclude=/build --exclude=/.ci --exclude='*.mod.c' \
		--include='*/' --include='*.[ch]' --include=Kbuild --include=Makefile --include=/dkms.conf --exclude='*' \
		"$top/" "$1/"
}
