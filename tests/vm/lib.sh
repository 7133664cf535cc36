# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the scripts of the test harness share.  Sourced, not run.
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

# Progress and complaints go to stderr: stdout is for the answer.
say() { printf '%s\n' "$*" >&2; }
die() { say "${0##*/}: $*"; exit 1; }

# The machine that a kernel is for, and where the programs for it are.
arch_of() {
	case $1 in
	*-arm64) echo arm64 ;;
	*) echo x86 ;;
	esac
}

programs_of() {
	case $(arch_of "$1") in
	arm64) echo "$out/arm64/bin" ;;
	*) echo "$out/bin" ;;
	esac
}

# locked FILE COMMAND...: one at a time; the second waits and then finds it done.
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

# copy_sources DIR: bring a copy of the source tree up to date, so that modules
# can be built there; prints what changed.
copy_sources() {
	mkdir -p "$1"
	rsync -rltpOi --delete --exclude=/.git --exclude=/build --exclude=/.ci \
		--exclude='*.o' --exclude='*.ko' --exclude='*.mod' --exclude='*.mod.c' \
		--exclude='.*.cmd' --exclude='*.gcno' --exclude=Module.symvers \
		--exclude=modules.order --exclude=.module-common.o \
		--include=/Documentation/examples --exclude='/Documentation/*' --exclude=/README.md \
		"$top/" "$1/"
}
