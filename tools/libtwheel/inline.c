// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The inline functions of the header, for languages that cannot include it
 *
 * A caller cannot say here how long its structures are. So they are as long as in
 * version 1 for ever: a structure that grows in <linux/twheel.h> stays short here,
 * and nothing is read or written behind a buffer of an older binding. A binding that
 * wants new fields calls twheel_open_sized() and twheel_command().
 */
#define TWHEEL_INLINE
#define TWHEEL_SIZE(name)	SIZE_V1_##name

enum {
	SIZE_V1_setup = 40,
	SIZE_V1_event = 48,
	SIZE_V1_entry = 48,
	SIZE_V1_info = 64,
	SIZE_V1_stats = 112,
};

#include "twheel.h"
