// SPDX-License-Identifier: GPL-2.0
/*
 * core/wheel.c, and a function that resets its variables to their values in a
 * module that was just loaded
 */
#include "core/wheel.c"
#include "scenario.h"

/* Like twheel_drain(), but also for the default wheel. */
unsigned long sim_drain(struct twheel *wheel, void (*fn)(struct twheel_timer *timer, void *arg))
{
	return drain_wheel(wheel, fn, NULL);
}

void sim_reset_wheel(void)
{
	memset(&wheels, 0, sizeof(wheels));
	next_number = 0;
	nr_wheels = (atomic_t)ATOMIC_INIT(0);
	default_wheel = NULL;
	twheel_wheel_unbound = (struct twheel_base){
		.lock = __RAW_SPIN_LOCK_UNLOCKED(twheel_wheel_unbound.lock),
		.cpu = TWHEEL_NO_CPU,
		.fast_cpu = TWHEEL_NO_CPU,
		.tick_ns = NSEC_PER_MSEC,
	};
}
