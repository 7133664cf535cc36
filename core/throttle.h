/* SPDX-License-Identifier: GPL-2.0 */
/* Limit of the time that all wheels take of a CPU */
#ifndef _TWHEEL_THROTTLE_H
#define _TWHEEL_THROTTLE_H

#include <linux/ktime.h>
#include <linux/types.h>

/**
 * struct twheel_payer - the wheels of a user, on one CPU of an array
 * @period: begin of the next period of these wheels, or of their last one
 * @waiting: number of wheels waiting for @period
 * @expected: number of wheels from the last period that did not run yet. A
 *	destroyed wheel is expected until the next period
 * @runtime: rest of the payer's slice of the last period, ns
 * @end: end of the last run
 * @penalty: time from @end on with less tolerance for a deficit, ns
 *
 * Accessed only by ticks, which run one after the other on their CPU.
 */
struct twheel_payer {
	ktime_t period;
	unsigned int waiting;
	unsigned int expected;
	int runtime;
	u32 penalty;
	ktime_t end;
};

u32 twheel_throttle_begin(struct twheel_payer *payer, ktime_t now,
			  bool throttled);
void twheel_throttle_end(struct twheel_payer *payer, ktime_t now, s64 limit_ns);
ktime_t twheel_throttle_wait(struct twheel_payer *payer, ktime_t now,
			     bool passed_over);

#endif /* _TWHEEL_THROTTLE_H */
