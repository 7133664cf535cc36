// SPDX-License-Identifier: GPL-2.0
/*
 * twheel_share.c, and back to what it is when the module is loaded
 */
#include <linux/string.h>

#include "twheel_share.c"
#include "scenario.h"

void sim_reset_share(void)
{
	memset(shares, 0, sizeof(shares));
}
