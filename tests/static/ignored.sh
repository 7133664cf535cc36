# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced, not run.

# What checkpatch is not asked about a file, and why.
ignored() {
	# an entry in MAINTAINERS, which an out-of-tree module has not; that our
	# files open with "name - what it is"
	echo -n FILE_PATH_CHANGES,EMBEDDED_FILENAME
	case $1 in
	# spanning kernel versions is its purpose
	*compat*.h) echo -n ,LINUX_VERSION_CODE,CONSTANT_COMPARISON,NEW_TYPEDEFS,MACRO_WITH_FLOW_CONTROL ;;
	# initialisers name what they initialise more than once, as the kernel's do
	include/linux/*.h) echo -n ,MACRO_ARG_REUSE,MACRO_ARG_UNUSED ;;
	# TRACE_EVENT() has a layout of its own
	*trace.h) echo -n ,OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT ;;
	# user programs, to whom it is what a missing system call returns
	tests/api/selftests/*) echo -n ,ENOSYS ;;
	# user programs, in the terms of the libraries that they measure or attack
	tests/bench/bench-user/* | tests/bench/compared/* | tests/hostile/*) echo -n ,PREFER_KERNEL_TYPES,ENOSYS,ARRAY_SIZE
		echo -n ,PREFER_DEFINED_ATTRIBUTE_MACRO,UNNECESSARY_PARENTHESES,LONG_LINE_STRING ;;
	# what a page of help is made of
	tools/twheelctl/*) echo -n ,LONG_LINE_STRING ;;
	# the kernel's macros as the kernel defines them, for user space
	tests/wheel/shims/sim_*.h | tools/libtwheel/*/kernel.h | tools/libtwheel/process/session.c) echo -n ,COMPLEX_MACRO,MACRO_ARG_REUSE,MACRO_ARG_PRECEDENCE
		echo -n ,MACRO_ARG_UNUSED,NEW_TYPEDEFS,MEMORY_BARRIER,DATA_RACE,EXPORT_SYMBOL
		echo -n ,LINUX_VERSION_CODE,IS_ENABLED_CONFIG,MACRO_WITH_FLOW_CONTROL ;;
	# a macro that is "static inline"
	tools/libtwheel/*) echo -n ,COMPLEX_MACRO ;;
	# spanning kernel versions; a macro that is the head of a function
	tests/wheel/kunit/kunit_util.h) echo -n ,LINUX_VERSION_CODE,CONSTANT_COMPARISON,MACRO_ARG_PRECEDENCE ;;
	# an entry of a list, with its comma
	tests/wheel/schemes/*) echo -n ,COMPLEX_MACRO ;;
	# a check that fails is the end of its case; names that a program may have
	tests/wheel/timers/*) echo -n ,MACRO_WITH_FLOW_CONTROL,MACRO_ARG_REUSE,MACRO_ARG_UNUSED ;;
	# locks of the kernel as macros, for the place that calls them
	tests/holds/meter.h) echo -n ,MACRO_ARG_REUSE ;;
	# what a script is tried on, with what it has to say behind each line
	tests/clients/port/left/*) echo -n ,AVOID_BUG,LONG_LINE_COMMENT ;;
	# a macro that is a function of one call
	tests/api/client/*) echo -n ,MACRO_WITH_FLOW_CONTROL ;;
	# an assumption is a return
	tests/models/*) echo -n ,MACRO_WITH_FLOW_CONTROL,MACRO_ARG_UNUSED,MACRO_ARG_REUSE ;;
	# the same
	tests/wheel/shims/native/*) echo -n ,COMPLEX_MACRO,MACRO_ARG_REUSE,MACRO_ARG_PRECEDENCE
		echo -n ,MACRO_ARG_UNUSED,NEW_TYPEDEFS,AVOID_BUG,CAMELCASE,IS_ENABLED_CONFIG,LINUX_VERSION_CODE ;;
	esac
	case $1 in
	# user programs: no BIT(), __printf(), u8 there; names that libraries give
	tests/wheel/kunit/* | tests/api/client/* | tests/torture/*) ;;
	examples/loops/ports/*) echo -n ,PREFER_KERNEL_TYPES ;;
	examples/redis/* | examples/loops/*) echo -n ,CAMELCASE ;;
	examples/timers/*) echo -n ,PREFER_KERNEL_TYPES ;;
	tests/* | tools/*) echo -n ,BIT_MACRO,PREFER_DEFINED_ATTRIBUTE_MACRO,PREFER_KERNEL_TYPES
		echo -n ,VOLATILE,CAMELCASE,AVOID_EXTERNS,EMBEDDED_FUNCTION_NAME ;;
	esac
}
