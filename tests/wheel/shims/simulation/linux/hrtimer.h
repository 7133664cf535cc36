/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/hrtimer.h for the simulation: timers in softirqs, as HRTIMER_MODE_ABS_PINNED_SOFT
 */
#ifndef _SIM_LINUX_HRTIMER_H
#define _SIM_LINUX_HRTIMER_H

#include <linux/ktime.h>
#include <linux/list.h>

enum hrtimer_restart {
	HRTIMER_NORESTART,
	HRTIMER_RESTART,
};

enum hrtimer_mode {
	HRTIMER_MODE_ABS_PINNED_SOFT,
};

/**
 * struct hrtimer - one that is driven by a CPU
 * @link: among those queued on its CPU
 * @expires: when it is to fire
 * @function: the function that is called then
 * @cpu: where it is queued or runs
 * @queued: it is queued
 * @running: its function runs
 * @held: for the oracle, see oracle.h
 */
struct hrtimer {
	struct list_head link;
	ktime_t expires;
	enum hrtimer_restart (*function)(struct hrtimer *hrtimer);
	unsigned int cpu;
	bool queued;
	bool running;
	struct sim_held {
		u64 since;
		u64 begin;
		s64 forgiven;
		u64 woke;
		u64 resumed;
		u64 first;
		u64 stolen;
		bool is;
		int kicked;
		bool waited;
		u64 work;
		u64 expired;
		u64 cascaded;
		u64 clock;
		const void *cursor;
	} held;
};

void hrtimer_init(struct hrtimer *hrtimer, int clock, enum hrtimer_mode mode);
void hrtimer_start(struct hrtimer *hrtimer, ktime_t expires,
		   enum hrtimer_mode mode);
int hrtimer_cancel(struct hrtimer *hrtimer);

static inline bool hrtimer_is_queued(const struct hrtimer *hrtimer)
{
	return hrtimer->queued;
}

static inline void hrtimer_set_expires(struct hrtimer *hrtimer, ktime_t expires)
{
	if (hrtimer->queued)
		sim_fail("the time of an hrtimer is changed while it is queued");
	hrtimer->expires = expires;
}

#endif /* _SIM_LINUX_HRTIMER_H */
