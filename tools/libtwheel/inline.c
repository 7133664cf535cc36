// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The inline functions of the header, for languages that cannot include it
 *
 * Callers cannot pass the size of their structures here, so structures have the sizes of
 * version 1 for ever: even if a structure grows in <linux/twheel.h>, nothing is read or
 * written beyond a buffer of an older binding. Bindings that use new fields call
 * twheel_open_sized() and twheel_command().
 */
#define TWHEEL_INLINE
#define TWHEEL_SIZE(name)	SIZE_V1_##name

enum {
	SIZE_V1_setup = 56,
	SIZE_V1_event = 48,
	SIZE_V1_entry = 48,
	SIZE_V1_info = 80,
	SIZE_V1_stats = 240,
};

#include "twheel.h"
