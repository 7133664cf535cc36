// SPDX-License-Identifier: GPL-2.0
/*
 * core/throttle.c, and a function that resets its variables to their values in a
 * module that was just loaded
 */
#include <linux/string.h>

#include "core/throttle.c"
#include "scenario.h"

void sim_reset_throttle(void)
{
	memset(throttles, 0, sizeof(throttles));
}
