/* SPDX-License-Identifier: GPL-2.0 */
/* Limit of the time that all wheels take of a CPU */
#ifndef _TWHEEL_THROTTLE_H
#define _TWHEEL_THROTTLE_H

#include <linux/ktime.h>
#include <linux/types.h>

/**
 * struct twheel_payer - the wheels of a user, on one CPU of an array
 * @period: begin of the next period of these wheels, or of their last one
 * @end: end of the last run
 * @runtime: rest of the payer's slice of the last period, ns
 * @penalty: time from @end on without tolerance for a deficit, ns
 * @waiting: true from when a wheel waits for @period until a wheel runs in it
 * @missed: true if the payer found no runtime in its last period. Then it is one of the
 *	first in the next period
 *
 * Accessed only by ticks, which run one after the other on their CPU.
 */
struct twheel_payer {
	ktime_t period;
	ktime_t end;
	int runtime;
	u32 penalty;
	bool waiting;
	bool missed;
};

u32 twheel_throttle_begin(struct twheel_payer *payer, ktime_t now,
			  bool throttled);
void twheel_throttle_end(struct twheel_payer *payer, ktime_t now,
			 u64 preempted_ns);
ktime_t twheel_throttle_wait(struct twheel_payer *payer, ktime_t now,
			     bool throttled, s64 limit_ns);

#endif /* _TWHEEL_THROTTLE_H */
