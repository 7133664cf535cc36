// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: The account of a CPU: all wheels together take at most half of its time
 *
 * Time earns credit at half its length. A run of a wheel spends its own length,
 * and what the interrupt before it took. A run that finds no credit does
 * nothing, and one whose part is used up ends with work left. Both then wait
 * for the next round, at which there is a full credit again.
 *
 * All wheels that wait for a round wait for the same time, so that one
 * interrupt serves them all. Each gets an equal part of the credit that there
 * is when it runs. A wheel that leaves some of its part leaves it to the wheels
 * after it. Time that it takes is missing in their parts: if all take their
 * whole parts, the last of sixteen gets 60 % of the first one's.
 *
 * The promise of a short pause comes first. No wheel waits longer than
 * WAIT_NS_MAX. A wheel that has waited for a round runs in it, if only for
 * PART_NS_MIN. So a debt is remembered as far as one pause pays it off. It
 * comes from a callback that takes long, or from a run that was preempted, or
 * that a hypervisor has stopped in the middle.
 *
 * That promise is for wheels without a payer. All others belong to users, of
 * whom there may be any number. All wheels of a payer have one seat together,
 * and a round has as many seats as smallest parts fit into a full credit. A
 * payer who finds no free seat gets one in the round after that. So a pause of
 * theirs grows with the number of payers that are busy, and not with the wheels
 * of any of them. Long callbacks and wake-ups may use up the payers' half of a round
 * before all of its seats have come. The rest take another seat. A wheel waits for the very
 * round that has its payer's seat, and asks once for each time that it runs. The
 * wheels of a payer take turns: one that has found nothing left of the payer's part
 * comes first in the next round.
 *
 * A callback, or the wake-ups at the end of a run, cannot be cut short. The time that
 * runs of payers really take is therefore a debt as well, up to DEBT_NS_MAX, which time
 * pays off at half its length. A payer whose last run exceeded its part by much waits
 * until nothing is owed. All others wait only while more is owed than DEBT_NS_BORNE.
 */
#include <linux/kconfig.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/time64.h>

#include "share.h"

/* Largest credit, and largest debt of wheels without a payer. */
#define CREDIT_NS_MAX	(250 * (int)NSEC_PER_USEC)
/* Time in which the largest debt becomes the largest credit: 1 ms. */
#define WAIT_NS_MAX	(4 * CREDIT_NS_MAX)
/* Two runs of a wheel are at least so far apart. */
#define WAIT_NS_MIN	(10 * (int)NSEC_PER_USEC)
/* The smallest part of a wheel that has waited. */
#define PART_NS_MIN	(5 * (int)NSEC_PER_USEC)
/* Payers that run in a round. */
#define SEATS		(CREDIT_NS_MAX / PART_NS_MIN)
/* A run that exceeds its part by more makes its payer wait until nothing is owed. */
#define OVERRUN_NS_MAX	(10 * PART_NS_MIN)
/* A debt up to here does not keep payers waiting that have not caused it. */
#define DEBT_NS_BORNE	(16 * (int)NSEC_PER_MSEC)
/* So much is remembered: nobody waits longer than a second for it. */
#define DEBT_NS_MAX	(500 * (int)NSEC_PER_MSEC)
/*
 * The time of an interrupt and its softirq before the first wheel runs.
 * Sanitizers make each access a call, so that it takes some ten times as long
 * with them.
 */
#define ENTRY_NS	(IS_ENABLED(CONFIG_KASAN) || IS_ENABLED(CONFIG_KCSAN) ? \
			 15000 : 1500)

/**
 * struct twheel_share - the account of a CPU
 * @stamp: when the last run began or ended
 * @round: when those run next that wait. The last round if that has passed
 * @credit: time that wheels may take, ns. Negative if they have taken too much
 * @debt: time that wheels with a payer have taken and not paid off, ns
 * @joined: wheels without a payer, and payers, that wait for @round
 * @expected: wheels without a payer, and payers, that have waited for the last
 *	round and not run yet. One that is destroyed meanwhile is expected until
 *	the next round
 * @last: the last round in which a seat is taken. All from @round up to there are
 *	full, and %WAIT_NS_MAX apart
 * @taken: seats that are taken in @last
 * @used: what the last round has given away, ns: %PART_NS_MIN for each payer that
 *	has come to its seat, and what payers have taken beyond their parts since it
 *	began
 *
 * Only ticks touch it, which run on its CPU one after the other.
 */
struct twheel_share {
	ktime_t stamp;
	ktime_t round;
	int credit;
	int debt;
	unsigned int joined;
	unsigned int expected;
	ktime_t last;
	unsigned int taken;
	s64 used;
};

static DEFINE_PER_CPU(struct twheel_share, shares);

static void add_debt(struct twheel_share *share, int ns)
{
	share->debt = clamp(share->debt + ns, 0, DEBT_NS_MAX);
}

/* Time since the last stamp, as far as it matters. */
static int pass_time(struct twheel_share *share, ktime_t now)
{
	s64 elapsed = now - share->stamp;

	share->stamp = now;
	add_debt(share, -(int)(clamp_t(s64, elapsed, 0, 2 * DEBT_NS_MAX) / 2));
	return clamp_t(s64, elapsed, 0, WAIT_NS_MAX);
}

static void add_credit(struct twheel_share *share, int ns)
{
	share->credit = clamp(share->credit + ns, -CREDIT_NS_MAX, CREDIT_NS_MAX);
}

/*
 * Wheels and payers that have waited for the last round are expected now. If
 * seats are taken in later ones, the next round is the first of these that has
 * not passed.
 */
static void begin_round(struct twheel_share *share, ktime_t now)
{
	u64 later;

	if (!share->joined || now < share->round)
		return;
	share->expected = share->joined;
	share->joined = 0;
	share->used = 0;
	if (share->last <= now)
		return;
	later = div_u64(share->last - now - 1, WAIT_NS_MAX);
	share->round = share->last - later * WAIT_NS_MAX;
	share->joined = later ? SEATS : share->taken;
}

/* An equal part for each wheel and payer that waits, and one more. */
static int part_of_credit(const struct twheel_share *share)
{
	return share->credit / (int)(share->expected + share->joined + 1);
}

static void come_to_round(struct twheel_share *share)
{
	if (share->expected)
		share->expected--;
}

/* The debt that must be paid off before this payer may run, ns. */
static int debt_before(const struct twheel_share *share,
		       const struct twheel_payer *payer)
{
	return max(share->debt - (payer->owes ? 0 : DEBT_NS_BORNE), 0);
}

/*
 * The first wheel comes that has waited for this seat. It may be too late: the
 * seats of several rounds come together after the CPU was busy for long.
 */
static void open_seat(struct twheel_share *share,
		      struct twheel_payer *payer, ktime_t now)
{
	if (!payer->joined || now < payer->round)
		return;
	payer->expected = payer->joined;
	payer->joined = 0;
	payer->left = 0;
	come_to_round(share);
	if (share->used >= WAIT_NS_MAX / 2 || debt_before(share, payer))
		return;
	share->used += PART_NS_MIN;
	payer->left = max(part_of_credit(share), PART_NS_MIN);
}

/* A newcomer does not go before payers that wait. */
static int part_of_newcomer(const struct twheel_share *share,
			    const struct twheel_payer *payer)
{
	if (payer->joined || payer->expected || share->last > share->round ||
	    debt_before(share, payer))
		return 0;
	return max(part_of_credit(share), 0);
}

static int part_of_seat(struct twheel_payer *payer)
{
	if (payer->expected)
		payer->expected--;
	if (!payer->left)
		return 0;
	return max(payer->left / (int)(payer->expected + 1), PART_NS_MIN);
}

/**
 * twheel_share_begin - a wheel wants to run on this CPU
 * @payer: its payer, or NULL
 * @now: the time
 * @waited: it has waited for this. See twheel_share_wait()
 *
 * Context: Softirq.
 * Return: for how long it may run, ns. 0 if it has to wait.
 */
u32 twheel_share_begin(struct twheel_payer *payer, ktime_t now, bool waited)
{
	struct twheel_share *share = this_cpu_ptr(&shares);
	int elapsed = pass_time(share, now);
	/* A run right after another one has not taken an interrupt. */
	int entry = min(elapsed, ENTRY_NS);
	int part;

	add_credit(share, elapsed / 2 - entry);
	begin_round(share, now);
	if (payer) {
		open_seat(share, payer, now);
		part = waited ? part_of_seat(payer) :
				part_of_newcomer(share, payer);
		/* After the decision: a payer that owes would wait for its own asking. */
		add_debt(share, entry);
		return part;
	}
	if (waited)
		come_to_round(share);
	return max(part_of_credit(share), waited ? PART_NS_MIN : 0);
}

/**
 * twheel_share_end - a wheel has run on this CPU
 * @payer: its payer, or NULL
 * @now: the time
 * @limit_ns: for how long it was to run at most, from twheel_share_begin()
 *
 * Context: Softirq.
 */
void twheel_share_end(struct twheel_payer *payer, ktime_t now, s64 limit_ns)
{
	struct twheel_share *share = this_cpu_ptr(&shares);
	int took = clamp_t(s64, now - share->stamp, 0, DEBT_NS_MAX);
	int overrun = max_t(s64, took - limit_ns, 0);
	int elapsed = pass_time(share, now);

	add_credit(share, elapsed / 2 - elapsed);
	if (!payer)
		return;
	add_debt(share, took);
	share->used += overrun;
	payer->owes = overrun > OVERRUN_NS_MAX;
	payer->left = max(payer->left - elapsed, 0);
}

/*
 * The first one that waits says when that is: when there is full credit. The
 * credit that is left now is for wheels still expected in this round: they use
 * it up, and earn half of it while they run.
 */
static void set_round(struct twheel_share *share, ktime_t now)
{
	int missing = CREDIT_NS_MAX - share->credit;

	begin_round(share, now);
	if (share->joined)
		return;
	if (share->expected)
		missing = max(missing, CREDIT_NS_MAX);
	share->round = now + clamp(2 * missing, WAIT_NS_MIN, WAIT_NS_MAX);
}

/* In the first round that has a free seat, or a later one if the payer owes. */
static void take_seat(struct twheel_share *share,
		      struct twheel_payer *payer, ktime_t now)
{
	ktime_t paid = now + 2 * (s64)debt_before(share, payer);

	if (share->last < share->round) {
		share->last = share->round;
		share->taken = 0;
	}
	if (share->taken == SEATS) {
		share->last += WAIT_NS_MAX;
		share->taken = 0;
	}
	share->taken++;
	share->joined += share->last == share->round;
	payer->round = share->last;
	if (paid > share->last)
		payer->round += WAIT_NS_MAX *
			div_u64(paid - share->last + WAIT_NS_MAX - 1,
				WAIT_NS_MAX);
}

/**
 * twheel_share_wait - a wheel has to wait for the next round, or a later one
 * @payer: its payer, or NULL
 * @now: the time, as in the last call of one of the other two
 * @passed_over: it has waited for a round before, and had to do nothing in it
 *
 * Context: Softirq.
 * Return: when it should run again, at most %WAIT_NS_MAX from now if there is no
 * payer.
 */
ktime_t twheel_share_wait(struct twheel_payer *payer, ktime_t now,
			  bool passed_over)
{
	struct twheel_share *share = this_cpu_ptr(&shares);

	set_round(share, now);
	if (!payer) {
		share->joined++;
		return share->round;
	}
	if (now >= payer->round)
		take_seat(share, payer, now);
	payer->joined++;
	/* The order within a round: no payer, passed over, all others. */
	return payer->round + (passed_over ? 1 : 2);
}
