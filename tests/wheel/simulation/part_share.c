// SPDX-License-Identifier: GPL-2.0
/*
 * core/share.c, and back to its state when the module is loaded
 */
#include <linux/string.h>

#include "core/share.c"
#include "scenario.h"

void sim_reset_share(void)
{
	memset(shares, 0, sizeof(shares));
}
