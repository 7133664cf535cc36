// SPDX-License-Identifier: GPL-2.0
/*
 * The account of a CPU: all wheels together take at most half of its time
 *
 * Time earns credit at half its length. A run of a wheel spends its own length,
 * and what the interrupt before it took. A run that finds no credit does
 * nothing, and one whose part is used up ends with work left. Both then wait
 * for the next round, at which there is a full credit again.
 *
 * All wheels that wait for a round wait for the same time, so that one interrupt
 * serves them all. Each gets an equal part of the credit that there is when it
 * runs. What one leaves is divided among those after it. What one takes is missing
 * in theirs: if all take what they get, the last of sixteen gets 60 % of what the
 * first one gets.
 *
 * The promise of a short pause comes first: nobody waits longer than
 * WAIT_NS_MAX, and whoever has waited for a round runs in it, if only for
 * PART_NS_MIN. So a debt is not remembered beyond what one pause pays off.
 * Such a debt comes from a callback that takes long, or from a run that was
 * preempted, or that a hypervisor has stopped in the middle.
 */
#include <linux/kconfig.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/time64.h>

#include "twheel_share.h"

/* Largest credit, and largest debt. */
#define CREDIT_NS_MAX	(250 * (int)NSEC_PER_USEC)
/* Time in which the largest debt becomes the largest credit: 1 ms. */
#define WAIT_NS_MAX	(4 * CREDIT_NS_MAX)
/* Two runs of a wheel are at least so far apart. */
#define WAIT_NS_MIN	(10 * (int)NSEC_PER_USEC)
/* The smallest part of a wheel that has waited. */
#define PART_NS_MIN	(5 * (int)NSEC_PER_USEC)
/*
 * What an interrupt and its softirq take before the first wheel runs. Sanitizers
 * make each access a call, so that it takes some ten times as long with them.
 */
#define ENTRY_NS	(IS_ENABLED(CONFIG_KASAN) || IS_ENABLED(CONFIG_KCSAN) ? \
			 15000 : 1500)

/**
 * struct twheel_share - the account of a CPU
 * @stamp: when the last run began or ended
 * @round: when those run next that wait. The last round if that has passed
 * @credit: time that wheels may take, ns. Negative if they have taken too much
 * @joined: wheels that wait for @round
 * @expected: wheels that have waited for the last round and not run yet. One
 *	that is destroyed meanwhile is expected until the next round
 *
 * Only ticks touch it, which run on its CPU one after the other.
 */
struct twheel_share {
	ktime_t stamp;
	ktime_t round;
	int credit;
	unsigned int joined;
	unsigned int expected;
};

static DEFINE_PER_CPU(struct twheel_share, shares);

/* Time since the last stamp, as far as it matters. */
static int pass_time(struct twheel_share *share, ktime_t now)
{
	s64 elapsed = now - share->stamp;

	share->stamp = now;
	return clamp_t(s64, elapsed, 0, WAIT_NS_MAX);
}

static void add_credit(struct twheel_share *share, int ns)
{
	share->credit = clamp(share->credit + ns, -CREDIT_NS_MAX, CREDIT_NS_MAX);
}

/* Those who have waited for the last round are expected now. */
static void begin_round(struct twheel_share *share, ktime_t now)
{
	if (!share->joined || now < share->round)
		return;
	share->expected = share->joined;
	share->joined = 0;
}

/**
 * twheel_share_begin - a wheel wants to run on this CPU
 * @now: the time
 * @waited: it has waited for this. See twheel_share_wait()
 *
 * Context: Softirq.
 * Return: for how long it may run, ns. 0 if it has to wait.
 */
u32 twheel_share_begin(ktime_t now, bool waited)
{
	struct twheel_share *share = this_cpu_ptr(&shares);
	int elapsed = pass_time(share, now);
	unsigned int others;

	/* A run right after another one has not taken an interrupt. */
	add_credit(share, elapsed / 2 - min(elapsed, ENTRY_NS));
	begin_round(share, now);
	if (waited && share->expected)
		share->expected--;
	others = share->expected + share->joined;
	if (waited)
		return max(share->credit / (int)(others + 1), PART_NS_MIN);
	return max(share->credit / (int)(others + 1), 0);
}

/**
 * twheel_share_end - a wheel has run on this CPU
 * @now: the time
 *
 * Context: Softirq.
 */
void twheel_share_end(ktime_t now)
{
	struct twheel_share *share = this_cpu_ptr(&shares);
	int elapsed = pass_time(share, now);

	add_credit(share, elapsed / 2 - elapsed);
}

/**
 * twheel_share_wait - a wheel has to wait for the next round
 * @now: the time, as in the last call of one of the other two
 *
 * The first one that waits says when that is: when there is full credit. What
 * is left now is for those that are still expected in this round: they use it up,
 * and earn half of it while they run.
 *
 * Context: Softirq.
 * Return: when it should run again, at most %WAIT_NS_MAX from now.
 */
ktime_t twheel_share_wait(ktime_t now)
{
	struct twheel_share *share = this_cpu_ptr(&shares);
	int missing;

	begin_round(share, now);
	missing = CREDIT_NS_MAX - share->credit;
	if (share->expected)
		missing = max(missing, CREDIT_NS_MAX);
	if (!share->joined)
		share->round = now + clamp(2 * missing, WAIT_NS_MIN, WAIT_NS_MAX);
	share->joined++;
	return share->round;
}
