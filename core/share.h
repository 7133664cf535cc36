/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of a CPU that all wheels take together
 */
#ifndef _TWHEEL_SHARE_H
#define _TWHEEL_SHARE_H

#include <linux/ktime.h>
#include <linux/types.h>

/**
 * struct twheel_payer - who pays for the time of wheels, on one CPU of an array
 * @round: the round that wheels of the payer wait for, or the last one
 * @joined: wheels that wait for @round
 * @expected: wheels that have waited for the last round and not run yet. One
 *	that is destroyed meanwhile is expected until the next round
 * @left: time left of the payer's part of the last round, ns
 * @owes: the last run has taken much longer than its part
 *
 * Only ticks touch it, which run on its CPU one after the other.
 */
struct twheel_payer {
	ktime_t round;
	unsigned int joined;
	unsigned int expected;
	int left;
	bool owes;
};

u32 twheel_share_begin(struct twheel_payer *payer, ktime_t now, bool waited);
void twheel_share_end(struct twheel_payer *payer, ktime_t now, s64 limit_ns);
ktime_t twheel_share_wait(struct twheel_payer *payer, ktime_t now,
			  bool passed_over);

#endif /* _TWHEEL_SHARE_H */
