// SPDX-License-Identifier: GPL-2.0
/* Create the default wheel, for timers that are set up without a wheel */
#include <linux/init.h>
#include <linux/time64.h>

#include "wheel.h"

static int __init twheel_init(void)
{
	const struct twheel_config config = {
		.name = "default",
		.doze = TWHEEL_DOZE_DEFAULT,
	};

	return twheel_wheel_init(NSEC_PER_MSEC) ?:
	       twheel_wheel_create_default(&config);
}

/* An early initcall, because other initcalls may start timers. */
core_initcall(twheel_init);
