# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Print the checks of checkpatch that are off for a file. The comments say why. Sourced, not run.

# ignored FILE: print the checks that are off, separated by commas.
ignored() {
	# An out-of-tree module has no entry in MAINTAINERS, and the comment at the top of a file may
	# contain the file's name.
	echo -n FILE_PATH_CHANGES,EMBEDDED_FILENAME
	case $1 in
	# the purpose of the file is to span kernel versions
	*compat*.h) echo -n ,LINUX_VERSION_CODE,CONSTANT_COMPARISON,NEW_TYPEDEFS,MACRO_WITH_FLOW_CONTROL ;;
	# initialisers name their variable more than once, as those of the kernel do
	include/linux/*.h) echo -n ,MACRO_ARG_REUSE,MACRO_ARG_UNUSED ;;
	# TRACE_EVENT() has a layout of its own, and a path in it is no division
	*trace.h) echo -n ,OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT,SPACING ;;
	# tests compare errno with ENOSYS, which a missing system call returns to a user program
	tests/api/selftests/*) echo -n ,ENOSYS ;;
	# user programs, which use types and names of the libraries that they measure or test
	tests/bench/bench-user/* | tests/bench/compared/* | tests/life/*) echo -n ,PREFER_KERNEL_TYPES,ENOSYS,ARRAY_SIZE
		echo -n ,PREFER_DEFINED_ATTRIBUTE_MACRO,UNNECESSARY_PARENTHESES,LONG_LINE_STRING ;;
	# lines of a help text are long strings
	tools/twheelctl/*) echo -n ,LONG_LINE_STRING ;;
	# macros of the kernel, defined for user space as the kernel defines them
	tests/wheel/shims/sim_*.h | tools/libtwheel/*/kernel.h | tools/libtwheel/process/session.c) echo -n ,COMPLEX_MACRO,MACRO_ARG_REUSE,MACRO_ARG_PRECEDENCE
		echo -n ,MACRO_ARG_UNUSED,NEW_TYPEDEFS,MEMORY_BARRIER,DATA_RACE,EXPORT_SYMBOL
		echo -n ,LINUX_VERSION_CODE,IS_ENABLED_CONFIG,MACRO_WITH_FLOW_CONTROL ;;
	# a macro stands for "static inline"
	tools/libtwheel/*) echo -n ,COMPLEX_MACRO ;;
	# the file spans kernel versions, and has a macro that expands to the head of a function
	tests/wheel/kunit/kunit_util.h) echo -n ,LINUX_VERSION_CODE,CONSTANT_COMPARISON,MACRO_ARG_PRECEDENCE ;;
	# a macro expands to an entry of a list and its comma
	tests/wheel/schemes/*) echo -n ,COMPLEX_MACRO ;;
	# a macro that checks returns from its case, and user programs have names in mixed case
	tests/wheel/timers/* | tests/clients/fallback/*) echo -n ,MACRO_WITH_FLOW_CONTROL,MACRO_ARG_REUSE,MACRO_ARG_UNUSED ;;
	# macros replace functions of the kernel, to record the line that calls them
	tests/holds/meter.h) echo -n ,MACRO_ARG_REUSE ;;
	# the input of a script, with the expected message in a comment behind each line
	tests/clients/port/left/*) echo -n ,AVOID_BUG,LONG_LINE_COMMENT ;;
	# a macro defines a function, and so contains its return statement
	tests/api/client/*) echo -n ,MACRO_WITH_FLOW_CONTROL ;;
	# the macro ASSUME() contains a return statement
	tests/proofs/*) echo -n ,MACRO_WITH_FLOW_CONTROL,MACRO_ARG_UNUSED,MACRO_ARG_REUSE ;;
	# macros of the kernel, defined for user space
	tests/wheel/shims/native/*) echo -n ,COMPLEX_MACRO,MACRO_ARG_REUSE,MACRO_ARG_PRECEDENCE
		echo -n ,MACRO_ARG_UNUSED,NEW_TYPEDEFS,AVOID_BUG,CAMELCASE,IS_ENABLED_CONFIG,LINUX_VERSION_CODE ;;
	esac
	case $1 in
	# User programs have no BIT(), __printf() and u8, and use the names of libraries.
	tests/wheel/kunit/* | tests/api/client/* | tests/torture/*) ;;
	examples/loops/ports/*) echo -n ,PREFER_KERNEL_TYPES ;;
	examples/redis/* | examples/loops/*) echo -n ,CAMELCASE ;;
	examples/timers/*) echo -n ,PREFER_KERNEL_TYPES ;;
	tests/* | tools/*) echo -n ,BIT_MACRO,PREFER_DEFINED_ATTRIBUTE_MACRO,PREFER_KERNEL_TYPES
		echo -n ,VOLATILE,CAMELCASE,AVOID_EXTERNS,EMBEDDED_FUNCTION_NAME ;;
	esac
}
