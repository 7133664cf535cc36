/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * twheel's timers for programs in one file, made by tools/libtwheel/amalgamate. See
 * twheel_timer.h for their use.
 *
 * Needs C99 or C++11, gcc or clang, and nothing of the operating system. A unity build may
 * include this file: only the names of twheel_timer.h remain at its end.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "twheel_timer.h"
