// SPDX-License-Identifier: GPL-2.0
/*
 * core/throttle.c, and a reset of its variables to the state in which the
 * module is loaded
 */
#include <linux/string.h>

#include "core/throttle.c"
#include "scenario.h"

void sim_reset_throttle(void)
{
	memset(throttles, 0, sizeof(throttles));
}
