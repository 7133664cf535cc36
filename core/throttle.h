/* SPDX-License-Identifier: GPL-2.0 */
/* Limit of the time that all wheels take of a CPU */
#ifndef _TWHEEL_THROTTLE_H
#define _TWHEEL_THROTTLE_H

#include <linux/ktime.h>
#include <linux/types.h>

/**
 * struct twheel_payer - account of the time that a user's wheels take of a CPU
 * @period: begin of the next period of the user's wheels, or of the last one if
 *	none of them waits
 * @end: end of the last run of one of these wheels
 * @runtime: unused part of the payer's slice in its last period, ns
 * @penalty: time after @end in which the payer runs only without a deficit, ns
 * @waiting: true from when a wheel waits for @period until a wheel runs in it
 * @missed: true if the payer found no runtime in its last period. Its wheels
 *	then run before the wheels of other payers in the next period
 *
 * twheel_payer_create() allocates an array of these structures, one for each
 * possible CPU, and returns its address. Each structure is accessed only by the
 * ticks of its CPU, which run one after the other.
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
