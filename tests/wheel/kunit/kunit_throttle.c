// SPDX-License-Identifier: GPL-2.0
/*
 * The runtime of a CPU: no pause is longer than 1 ms, and any number of payers take at most half
 * of the time
 *
 * The functions of the throttle get the time as an argument. So a case can let a run be preempted,
 * or the machine stop, for an hour.
 */
#include <kunit/test.h>
#include <linux/percpu.h>

#include "kunit_util.h"

/* Use the same throttle on any CPU that a case runs on. */
#undef this_cpu_ptr
#define this_cpu_ptr(account)	per_cpu_ptr(account, 0)

#include "../../../core/throttle.c"

#define MSEC	((ktime_t)NSEC_PER_MSEC)
#define HOUR	(3600 * (ktime_t)NSEC_PER_SEC)
#define WHEELS	16
/* Length of a run that uses up its slice. */
#define ALL	((ktime_t)-1)

/* Lengths of runs, and of times between runs, for random histories. */
static const ktime_t lengths[] = {
	0, 1, 999, 5000, 100000, 250000, 251000, MSEC, 2 * MSEC, 50 * MSEC,
	700 * MSEC, HOUR, 1000 * HOUR,
};

/**
 * struct wheel - a wheel that shares the CPU
 * @payer: its payer, or NULL
 * @next: time of its next run
 * @place: its place among wheels with the same @next
 * @waited: flag: the wheel waits to run
 * @ran: time that all runs took
 * @runs: number of runs
 * @asked: number of calls of twheel_throttle_begin()
 * @last: end of the last run
 * @pause: longest time between two runs
 */
struct wheel {
	struct twheel_payer *payer;
	ktime_t next;
	unsigned int place;
	bool waited;
	ktime_t ran;
	unsigned int runs;
	unsigned int asked;
	ktime_t last;
	ktime_t pause;
};

static int begin(struct kunit *test)
{
	memset(this_cpu_ptr(&throttles), 0, sizeof(struct twheel_throttle));
	return 0;
}

static void expect_short(struct kunit *test, ktime_t now, ktime_t next)
{
	KUNIT_ASSERT_GT(test, next, now);
	KUNIT_ASSERT_LE(test, next - now, MSEC);
}

/* Begin a run of a wheel like twheel_tick(). Returns its longest time, 0 if the wheel must wait. */
static u32 begin_run(struct kunit *test, struct wheel *wheel, ktime_t now)
{
	u32 limit = twheel_throttle_begin(wheel->payer, now, wheel->waited);

	wheel->asked++;
	if (wheel->waited && !wheel->payer)
		KUNIT_ASSERT_LE(test, (u32)SLICE_NS_MIN, limit);
	if (limit)
		wheel->pause = max(wheel->pause, now - wheel->last);
	return limit;
}

/* End a run that took @length until @now, with @limit from begin_run(). */
static void end_run(struct kunit *test, struct wheel *wheel, ktime_t now, ktime_t length,
		    u32 limit, bool more)
{
	bool waited = wheel->waited;
	static unsigned int place;

	if (limit) {
		wheel->ran += length;
		wheel->runs++;
		wheel->last = now;
		twheel_throttle_end(wheel->payer, now, 0);
	}
	wheel->waited = !limit || more;
	wheel->next = now + MSEC;
	wheel->place = place++;
	if (wheel->waited) {
		wheel->next = twheel_throttle_wait(wheel->payer, now, waited, limit);
		KUNIT_ASSERT_GT(test, wheel->next, now);
		if (!wheel->payer)
			expect_short(test, now, wheel->next);
	}
}

/*
 * Run a wheel for @length. If @length is ALL, the run uses up its slice, and then spends @wakeups
 * on wake-ups. @more: due timers are left. Returns the end of the run.
 */
static ktime_t run_and_wake(struct kunit *test, struct wheel *wheel, ktime_t now,
			    ktime_t length, ktime_t wakeups, bool more)
{
	u32 limit = begin_run(test, wheel, now);

	if (!limit)
		length = 0;
	else if (length == ALL)
		length = limit + wakeups;
	end_run(test, wheel, now + length, length, limit, more);
	return now + length;
}

static ktime_t run(struct kunit *test, struct wheel *wheel, ktime_t now,
		   ktime_t length, bool more)
{
	return run_and_wake(test, wheel, now, length, 0, more);
}

static struct wheel *first_of(struct wheel *wheels, unsigned int nr)
{
	struct wheel *first = wheels;
	unsigned int i;

	for (i = 1; i < nr; i++)
		if (wheels[i].next < first->next ||
		    (wheels[i].next == first->next &&
		     wheels[i].place < first->place))
			first = &wheels[i];
	return first;
}

/* Run @nr wheels for a second. Each uses up its slice. */
static void keep_busy(struct kunit *test, unsigned int nr)
{
	struct wheel wheels[WHEELS] = {}, *wheel;
	ktime_t now = 0, sum = 0;
	unsigned int i;

	for (i = 0; i < nr; i++)
		wheels[i].next = i;
	while (now < 1000 * MSEC) {
		wheel = first_of(wheels, nr);
		now = run(test, wheel, max(now, wheel->next), ALL, true);
	}
	for (i = 0; i < nr; i++) {
		sum += wheels[i].ran;
		KUNIT_EXPECT_LE(test, wheels[0].ran, 2 * wheels[i].ran);
		KUNIT_EXPECT_LE(test, wheels[i].ran, 2 * wheels[0].ran);
	}
	KUNIT_EXPECT_LE(test, 300 * MSEC, sum);
	KUNIT_EXPECT_LE(test, sum, 501 * MSEC);
}

/* Check that busy wheels share half of the time. Each gets half to twice of what the first gets. */
static void busy_wheels_share_half_of_the_time(struct kunit *test)
{
	unsigned int nr;

	for (nr = 1; nr <= WHEELS; nr *= 2) {
		begin(test);
		keep_busy(test, nr);
	}
}

/* Run and pause for random lengths. run() checks each pause. */
static void no_pause_is_long_in_a_random_history(struct kunit *test)
{
	struct wheel wheels[WHEELS] = {}, *wheel;
	unsigned int i;
	ktime_t now = 0;
	struct twheel_rng rng = { .state = 7 };

	/*
	 * About one in ten of these rounds takes a thousand hours. More rounds might overflow the
	 * clock: its 63 bits of nanoseconds end after some 2,500 times a thousand hours.
	 */
	for (i = 0; i < 4000; i++) {
		ktime_t length = lengths[twheel_rng_below(&rng, ARRAY_SIZE(lengths))];

		wheel = first_of(wheels, 1 + twheel_rng_below(&rng, WHEELS));
		now = max(now, wheel->next);
		if (!twheel_rng_below(&rng, 4))
			now += lengths[twheel_rng_below(&rng, ARRAY_SIZE(lengths))];
		now = run(test, wheel, now, length, twheel_rng_below(&rng, 2));
	}
}

/* Cases with payers, whose wheels use up their slices. Each call of the throttle takes ASK ns. */

#define ASK		((ktime_t)700)
#define OVERRUN_NS	((ktime_t)50000)
#define PAYERS_MAX	1000

/**
 * struct crowd - many wheels with payers, and one without
 * @payers: the payers
 * @wheels: their wheels, and one without a payer at the end
 * @nr: number of wheels with a payer
 * @wakers: number of wheels, from the beginning of @wheels, that make long wake-ups
 * @stop: length of a stop of the CPU in the tenth run of the first wheel
 * @taken: time that all wheels took
 */
struct crowd {
	struct twheel_payer payers[PAYERS_MAX];
	struct wheel wheels[PAYERS_MAX + 1];
	unsigned int nr;
	unsigned int wakers;
	ktime_t stop;
	ktime_t taken;
};

/* Make payers with one wheel each. */
static struct crowd *begin_crowd(struct kunit *test, unsigned int payers)
{
	static struct crowd crowd;
	unsigned int i;

	begin(test);
	memset(&crowd, 0, sizeof(crowd));
	crowd.nr = payers;
	crowd.wakers = 1;
	for (i = 0; i < payers; i++) {
		crowd.wheels[i].payer = &crowd.payers[i];
		crowd.wheels[i].next = i;
	}
	return &crowd;
}

/*
 * Run the crowd for @length. The wheel without a payer has short runs. A waker spends @wakeups
 * on wake-ups in each run.
 */
static void run_crowd(struct kunit *test, struct crowd *crowd, ktime_t length,
		      ktime_t wakeups)
{
	struct wheel *wheel;
	ktime_t now = 0, begun, end;
	bool other;

	while (now < length) {
		wheel = first_of(crowd->wheels, crowd->nr + 1);
		now = max(now, wheel->next);
		begun = now;
		other = wheel == &crowd->wheels[crowd->nr];
		end = wheel < crowd->wheels + crowd->wakers ? wakeups : 0;
		if (wheel == crowd->wheels && wheel->runs == 9)
			end += crowd->stop;
		now = run_and_wake(test, wheel, now, other ? 2000 : ALL, end, !other);
		now += ASK;
		crowd->taken += now - begun;
	}
	KUNIT_EXPECT_LE(test, crowd->taken, length * 55 / 100);
	/*
	 * The wheel without a payer may wait for a period. If all payers have penalties, it
	 * may find the CPU busy before and after that.
	 */
	KUNIT_EXPECT_LE(test, crowd->wheels[crowd->nr].pause,
			(crowd->wakers == 1 || wakeups <= OVERRUN_NS ? 3 : 4) * MSEC +
			wakeups + crowd->stop);
}

static void payers_of_any_number_take_half_of_the_time(struct kunit *test)
{
	static const unsigned int payers[] = { 1, 2, 10, 51, 100, 400, 1000 };
	struct crowd *crowd;
	unsigned int i, j;
	ktime_t periods;

	for (i = 0; i < ARRAY_SIZE(payers); i++) {
		crowd = begin_crowd(test, payers[i]);
		run_crowd(test, crowd, 200 * MSEC, 0);
		periods = DIV_ROUND_UP(payers[i], PAYERS_PER_PERIOD) + 1;
		for (j = 0; j < payers[i]; j++) {
			KUNIT_EXPECT_LE(test, crowd->wheels[j].pause,
					(periods + 1) * MSEC);
			/* A wheel asks at most twice without getting a slice. */
			KUNIT_EXPECT_LE(test, crowd->wheels[j].asked,
					crowd->wheels[j].runs + 2);
		}
	}
}

/*
 * Run payers that have no due timer left after each run of @length, and have timers again at
 * the next millisecond. Runs are longer than a slice, so that a period has no runtime left for its
 * last payers. Check that no payer misses two periods in a row.
 */
static void run_who_is_done(struct kunit *test, unsigned int payers, ktime_t length)
{
	struct crowd *crowd = begin_crowd(test, payers);
	ktime_t turn = DIV_ROUND_UP(payers, PAYERS_PER_PERIOD), now = 0;
	struct wheel *wheel;
	unsigned int i;

	while (now < 300 * MSEC) {
		wheel = first_of(crowd->wheels, crowd->nr);
		now = run(test, wheel, max(now, wheel->next), length, false) + ASK;
	}
	for (i = 0; i < payers; i++)
		KUNIT_EXPECT_LE(test, crowd->wheels[i].pause, (2 * turn + 2) * MSEC);
}

static void nobody_misses_two_periods(struct kunit *test)
{
	static const unsigned int payers[] = { 60, 200, 1000 };
	static const ktime_t lengths[] = { 3000, 8000, 10000, 14000 };
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(payers); i++)
		for (j = 0; j < ARRAY_SIZE(lengths); j++)
			run_who_is_done(test, payers[i], lengths[j]);
}

/* Compare the runtime of a payer that has sixty wheels with that of payers with one wheel each. */
static void wheels_of_a_payer_get_what_one_gets(struct kunit *test)
{
	struct crowd *crowd = begin_crowd(test, 9);
	ktime_t one = 0;
	unsigned int i;

	crowd->nr = 8 + 60;
	for (i = 8; i < crowd->nr; i++) {
		crowd->wheels[i].payer = &crowd->payers[8];
		crowd->wheels[i].next = i;
	}
	run_crowd(test, crowd, 400 * MSEC, 0);
	for (i = 8; i < crowd->nr; i++) {
		one += crowd->wheels[i].ran;
		/* The wheels take turns. */
		KUNIT_EXPECT_LT(test, 5U, crowd->wheels[i].runs);
		KUNIT_EXPECT_LE(test, crowd->wheels[i].runs,
				2 * crowd->wheels[8].runs + 2);
	}
	for (i = 0; i < 8; i++) {
		KUNIT_EXPECT_LE(test, one, 3 * crowd->wheels[i].ran);
		KUNIT_EXPECT_LE(test, crowd->wheels[i].pause, 2 * MSEC);
	}
}

/*
 * Check that the long wake-ups of a payer delay the others only while they last, and while the
 * deficit that they leave is above 8 ms.
 */
static void a_payer_waits_for_his_own_wake_ups(struct kunit *test)
{
	static const ktime_t lengths[] = {
		OVERRUN_NS + 1, 300000, MSEC, 12 * MSEC,
	};
	struct crowd *crowd;
	unsigned int i;
	ktime_t length;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		length = max(200 * MSEC, 40 * lengths[i]);
		crowd = begin_crowd(test, 3);
		run_crowd(test, crowd, length, lengths[i]);
		KUNIT_EXPECT_LT(test, 2U, crowd->wheels[0].runs);
		KUNIT_EXPECT_LE(test, crowd->wheels[1].pause, lengths[i] + 3 * MSEC +
				2 * max(lengths[i] - 8 * MSEC, (ktime_t)0));
	}
}

/* Check that a payer takes half of the time at most, even if each callback leaves a deficit. */
static void long_callbacks_of_a_payer_take_half_of_the_time(struct kunit *test)
{
	static const ktime_t lengths[] = { 300000, MSEC, 5 * MSEC, 50 * MSEC };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct twheel_payer payer = {};
		struct wheel wheel = { .payer = &payer };
		ktime_t now = 0;

		memset(this_cpu_ptr(&throttles), 0, sizeof(struct twheel_throttle));
		while (now < 40 * lengths[i])
			now = run(test, &wheel, max(now, wheel.next), lengths[i], true);
		KUNIT_EXPECT_LE(test, wheel.ran, now * 55 / 100);
		KUNIT_EXPECT_LT(test, 2U, wheel.runs);
	}
}

/*
 * Run a payer whose work always fits into one run of @length. It must pay for its wake-ups
 * nevertheless, like payers that always have work left.
 */
static void who_has_done_all_pays_for_wake_ups(struct kunit *test)
{
	static const ktime_t lengths[] = { 300000, MSEC, 12 * MSEC };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct twheel_payer payer = {};
		struct wheel wheel = { .payer = &payer };
		ktime_t now = 0;

		begin(test);
		while (now < 100 * lengths[i])
			now = run(test, &wheel, max(now, wheel.next), lengths[i], false);
		KUNIT_EXPECT_LE(test, wheel.ran, now * 60 / 100);
	}
}

/* Run a slow callback of a module. Afterwards a user must have the usual runtime. */
static void a_slow_callback_of_a_module_costs_users_nothing(struct kunit *test)
{
	struct twheel_payer payer = {};
	struct wheel system = {}, wheel = { .payer = &payer };
	ktime_t end = run(test, &system, MSEC, 50 * MSEC, false), now = end;

	while (!wheel.runs && now < end + 50 * MSEC)
		now = run(test, &wheel, max(now, wheel.next), 1000, false);
	KUNIT_EXPECT_LE(test, now, end + 2 * MSEC);
}

/*
 * Run 200 payers for @length, and spend @wakeups on wake-ups in each run. Check that they take half
 * of the time, and that the numbers of their runs differ by one in @fair at most.
 */
static struct crowd *wake_up_for_payers(struct kunit *test, ktime_t length, ktime_t wakeups,
					unsigned int fair)
{
	struct crowd *crowd = begin_crowd(test, 200);
	unsigned int i, most, least;

	crowd->wakers = crowd->nr;
	run_crowd(test, crowd, length, wakeups);
	/* What the wheel without a payer takes is never added to the deficit: allow for it here. */
	KUNIT_EXPECT_LE(test, crowd->taken, length / 2 + 8 * MSEC + 2 * wakeups +
			length / MSEC * (2000 + ASK));
	most = crowd->wheels[0].runs;
	least = most;
	for (i = 1; i < crowd->nr; i++) {
		most = max(most, crowd->wheels[i].runs);
		least = min(least, crowd->wheels[i].runs);
	}
	KUNIT_EXPECT_LE(test, most, least + least / fair + 2);
	return crowd;
}

/* Let payers with wake-ups take turns. Calls of the throttle that refuse a slice take time, too. */
static void wake_ups_of_many_payers_take_half_of_the_time(struct kunit *test)
{
	static const ktime_t lengths[] = { 10000, 40000, OVERRUN_NS };
	struct crowd *crowd;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		crowd = wake_up_for_payers(test, 400 * MSEC, lengths[i], 4);
		KUNIT_EXPECT_LE(test, crowd->wheels[crowd->nr].pause, 2 * MSEC + lengths[i]);
	}
}

/* Let penalties end at different times, so that turns are fair in the long run only. */
static void payers_with_penalties_take_half_of_the_time(struct kunit *test)
{
	struct crowd *crowd;

	crowd = wake_up_for_payers(test, 2000 * MSEC, OVERRUN_NS + 5000, 2);
	KUNIT_EXPECT_LT(test, 2000 * MSEC * 40 / 100, crowd->taken);
	wake_up_for_payers(test, 2000 * MSEC, 100000, 2);
	wake_up_for_payers(test, 8000 * MSEC, 2 * MSEC, 1);
}

/*
 * Stop the machine in a run of one payer. The other payers keep a deficit up all the
 * time, and the payer must not wait for the end of that deficit.
 */
static void a_stop_costs_a_payer_half_of_his_runs(struct kunit *test)
{
	static const ktime_t stops[] = { 100000, MSEC, 10 * MSEC };
	static const unsigned int payers[] = { 2, 40, 200 };
	struct crowd *crowd;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(stops) * ARRAY_SIZE(payers); i++) {
		crowd = begin_crowd(test, payers[i / ARRAY_SIZE(stops)]);
		crowd->wakers = crowd->nr;
		crowd->stop = stops[i % ARRAY_SIZE(stops)];
		run_crowd(test, crowd, 2500 * MSEC, 10000);
		KUNIT_EXPECT_LE(test, crowd->wheels[1].runs, 2 * crowd->wheels[0].runs);
	}
}

/* Let ten of 200 payers make long wake-ups. The other 190 must get at least a tenth of the time. */
static void few_payers_pay_for_their_wake_ups(struct kunit *test)
{
	struct crowd *crowd = begin_crowd(test, 200);
	ktime_t others = 0;
	unsigned int i;

	crowd->wakers = 10;
	run_crowd(test, crowd, 2500 * MSEC, 12 * MSEC);
	for (i = crowd->wakers; i < crowd->nr; i++)
		others += crowd->wheels[i].ran;
	KUNIT_EXPECT_LE(test, 2500 * MSEC * 10 / 100, others);
}

/* Stop the machine for an hour during wake-ups. The payer must run again a second later. */
static void a_payer_waits_for_a_second_at_most(struct kunit *test)
{
	struct twheel_payer payer = {};
	struct wheel wheel = { .payer = &payer };
	ktime_t now = run_and_wake(test, &wheel, MSEC, HOUR, HOUR, true);

	KUNIT_EXPECT_LE(test, wheel.next - now, 1002 * MSEC);
	now = run(test, &wheel, wheel.next, 0, false);
	KUNIT_EXPECT_EQ(test, 2U, wheel.runs);
}

/* Check that payers that missed their periods do not all run in the same later period. */
static void what_was_late_does_not_come_at_once(struct kunit *test)
{
	struct crowd *crowd = begin_crowd(test, PAYERS_MAX);
	ktime_t now = MSEC, begin;
	unsigned int i;

	for (i = 0; i < crowd->nr; i++)
		now = run(test, &crowd->wheels[i], now, ALL, true);
	now += 100 * MSEC;
	begin = now;
	for (i = 0; i < crowd->nr; i++)
		now = run(test, &crowd->wheels[i], now, ALL, true);
	KUNIT_EXPECT_LE(test, now - begin, MSEC / 2);
}

/*
 * Check that a payer that did not wait for a period does not get the runtime for which other payers
 * wait.
 */
static void newcomers_go_behind_those_who_wait(struct kunit *test)
{
	struct crowd *crowd = begin_crowd(test, PAYERS_PER_PERIOD + EARLY_PER_PERIOD + 10);
	struct wheel second = { .payer = &crowd->payers[3] };
	struct twheel_payer payer = {};
	struct wheel other = { .payer = &payer }, free = {};
	ktime_t now = MSEC;
	unsigned int i;

	for (i = 0; i < crowd->nr; i++)
		now = run(test, &crowd->wheels[i], now, MSEC, true);
	now = crowd->wheels[1].next - 10;
	run(test, &free, now, 1, false);
	KUNIT_EXPECT_EQ(test, 1U, free.runs);
	run(test, &other, now, 1, false);
	KUNIT_EXPECT_EQ(test, 0U, other.runs);
	KUNIT_EXPECT_LT(test, crowd->wheels[1].next, other.next);
	begin(test);
	memset(crowd->payers, 0, sizeof(crowd->payers));
	crowd->wheels[3].waited = false;
	now = run(test, &crowd->wheels[3], now, MSEC, true);
	now = crowd->wheels[3].next - 10;
	run(test, &second, now, 1, false);
	KUNIT_EXPECT_EQ(test, 0U, second.runs);
	KUNIT_EXPECT_EQ(test, crowd->wheels[3].next, second.next + 1);
}

/*
 * Check that a wheel that comes back before another one of its period came waits for longer than
 * the runtime takes to grow: the present runtime is for the other wheel.
 */
static void a_period_waits_for_an_expected_wheel(struct kunit *test)
{
	struct wheel one = {}, other = {};
	ktime_t now = MSEC;

	now = run(test, &one, now, ALL, true);
	now = run(test, &other, now, ALL, true);
	KUNIT_ASSERT_EQ(test, one.next, other.next);
	now = run(test, &one, one.next + MSEC, 1, true);
	KUNIT_EXPECT_LE(test, now + 2 * RUNTIME_NS_MAX, one.next);
	now = run(test, &other, now, 1, true);
	KUNIT_EXPECT_EQ(test, one.next, other.next);
}

/*
 * Cases with loads. A load is some timers that are due at each millisecond, of the default wheel
 * or of a payer with few timers. Other payers are busy at the same time.
 */

/**
 * struct load - a wheel and its timers
 * @wheel: the wheel
 * @nr: number of timers due at each millisecond
 * @length: length of a callback
 * @tick: time at which the next timer is due
 * @expired: number of expired timers of @tick
 * @latest: longest lateness
 */
struct load {
	struct wheel wheel;
	unsigned int nr;
	ktime_t length;
	ktime_t tick;
	unsigned int expired;
	ktime_t latest;
};

/* Expire the due timers, or as many as the throttle allows. Returns the end of the run. */
static ktime_t run_load(struct kunit *test, struct load *load, ktime_t now)
{
	u32 limit = begin_run(test, &load->wheel, now);
	ktime_t begin = now;

	while (load->tick <= begin && now - begin < limit) {
		now += load->length;
		load->latest = max(load->latest, now - load->tick);
		if (++load->expired == load->nr) {
			load->expired = 0;
			load->tick += MSEC;
		}
	}
	end_run(test, &load->wheel, now, now - begin, limit, load->tick <= begin);
	if (!load->wheel.waited)
		load->wheel.next = load->tick;
	return now;
}

/**
 * struct mix - loads and busy payers on a CPU
 * @loads: loads of the default wheel, of a session with CAP_SYS_NICE, and of payers with few
 * timers
 * @nr: number of loads
 * @payers: the payers with few timers
 * @crowd: the busy payers
 * @callback: longest callback of the busy payers, ns
 * @done: 0 to 2: on average, in @done of 2 runs a busy payer has no due timer left
 * @rng: random numbers for the lengths of callbacks
 */
struct mix {
	struct load loads[2 + EARLY_PER_PERIOD];
	unsigned int nr;
	struct twheel_payer payers[EARLY_PER_PERIOD];
	struct crowd *crowd;
	unsigned int callback;
	unsigned int done;
	struct twheel_rng rng;
};

static struct wheel *earlier(struct wheel *first, struct wheel *second)
{
	if (first->next != second->next)
		return first->next < second->next ? first : second;
	return first->place < second->place ? first : second;
}

/* Run the next wheel. An interrupt comes before it unless another wheel just ran. */
static ktime_t run_next(struct kunit *test, struct mix *mix, ktime_t now)
{
	struct crowd *crowd = mix->crowd;
	struct load *load = &mix->loads[0];
	struct wheel *next = NULL;
	unsigned int i;
	ktime_t begin;

	for (i = 1; i < mix->nr; i++)
		if (earlier(&mix->loads[i].wheel, &load->wheel) == &mix->loads[i].wheel)
			load = &mix->loads[i];
	if (crowd->nr)
		next = first_of(crowd->wheels, crowd->nr);
	if (!next || earlier(next, &load->wheel) != next)
		next = &load->wheel;
	begin = max(now, next->next);
	now = begin + (begin > now ? ENTRY_NS : 0);
	if (next == &load->wheel)
		now = run_load(test, load, now);
	else
		now = run_and_wake(test, next, now, ALL,
				   twheel_rng_below(&mix->rng, mix->callback + 1),
				   twheel_rng_below(&mix->rng, 2) >= mix->done);
	now += ASK;
	crowd->taken += now - begin;
	return now;
}

#define MIX_LENGTH	(100 * MSEC)

/* Add a load of @nr timers per millisecond from @tick on, which is after all payers began. */
static struct load *begin_load(struct mix *mix, ktime_t tick, unsigned int nr, ktime_t length)
{
	struct load *load = &mix->loads[mix->nr++];

	*load = (struct load){
		.wheel.next = tick, .tick = tick, .nr = nr, .length = length,
	};
	return load;
}

/* Check the lateness that Documentation/limits.rst, "Time", promises beside busy users. */
static void run_mix(struct kunit *test, struct mix *mix)
{
	unsigned int users = mix->crowd->nr, turn = users / 50 + 1, i;
	ktime_t now = 0;

	while (now < MIX_LENGTH)
		now = run_next(test, mix, now);
	/* A payer without work left asks in its own interrupt, whose time is only an estimate. */
	KUNIT_EXPECT_LE(test, mix->crowd->taken, now * (mix->done ? 55 : 51) / 100);
	if (users && !mix->done)
		KUNIT_EXPECT_LE(test, now * 25 / 100, mix->crowd->taken);
	KUNIT_EXPECT_LE(test, mix->loads[0].latest, 2 * MSEC);
	if (mix->loads[0].nr <= 100)
		KUNIT_EXPECT_LE(test, mix->loads[1].latest, MSEC);
	/* With longer callbacks few payers get a slice in their period, so they may be later. */
	if (mix->callback > 3200)
		return;
	/*
	 * Busy payers without work left run as early as the payers with few timers. If more than
	 * ten payers do so, they delay the payers with few timers.
	 */
	for (i = 2; i < mix->nr && !mix->done; i++)
		KUNIT_EXPECT_LE(test, mix->loads[i].latest, 2 * MSEC + MSEC / 2);
	for (i = 0; i < users; i++)
		KUNIT_EXPECT_LE(test, mix->crowd->wheels[i].pause, (2 * turn + 1) * MSEC);
}

/* Stop the machine for 10 ms in a callback of a busy payer. */
static void a_load_catches_up_after_a_stop(struct kunit *test)
{
	static const unsigned int payers[] = { 1, 40, 200 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(payers); i++) {
		struct mix mix = {
			.crowd = begin_crowd(test, payers[i]),
			.callback = 400,
			.rng = { .state = 3 },
		};
		struct load *load = begin_load(&mix, 20 * MSEC, 100, 400);
		ktime_t now;

		now = run_and_wake(test, &mix.crowd->wheels[0], 20 * MSEC, 10 * MSEC, 0, true);
		while (now < 34 * MSEC)
			now = run_next(test, &mix, now);
		load->latest = 0;
		while (now < 60 * MSEC)
			now = run_next(test, &mix, now);
		KUNIT_EXPECT_LE(test, load->latest, 2 * MSEC);
	}
}

/* Run loads of up to a fifth of the CPU beside busy payers. */
static void no_load_waits_for_busy_payers(struct kunit *test)
{
	static const unsigned int payers[] = { 0, 1, 2, 10, 49, 60, 200, 400 };
	struct twheel_rng rng = { .state = 11 };
	unsigned int i, j, nr, quiet;

	for (i = 0; i < 400; i++) {
		struct mix mix = {
			.rng = rng,
			.callback = 200 << twheel_rng_below(&rng, 7),
			.done = twheel_rng_below(&rng, 3),
		};
		ktime_t longest;

		nr = 1 << twheel_rng_below(&rng, 9);
		mix.crowd = begin_crowd(test, payers[twheel_rng_below(&rng, ARRAY_SIZE(payers))]);
		nr += twheel_rng_below(&rng, nr / 2 + 1);
		longest = min_t(ktime_t, 200 * NSEC_PER_USEC / nr, 5000);
		begin_load(&mix, MSEC, nr, 100 + twheel_rng_below(&rng, longest));
		begin_load(&mix, MSEC, 1, 300);
		quiet = 1 + twheel_rng_below(&rng, EARLY_PER_PERIOD);
		for (j = 0; j < quiet; j++)
			begin_load(&mix, 20 * MSEC, 1, 300)->wheel.payer = &mix.payers[j];
		run_mix(test, &mix);
	}
}

/* Let wheels of a payer disappear while they wait for a period. Its other wheel must still run. */
static void a_wheel_that_goes_leaves_nothing_behind(struct kunit *test)
{
	struct twheel_payer payer = {};
	struct wheel wheels[3] = {
		{ .payer = &payer }, { .payer = &payer }, { .payer = &payer },
	};
	unsigned int i;
	ktime_t now = MSEC;

	for (i = 0; i < 2; i++)
		now = run(test, &wheels[i], now, ALL, true);
	now += HOUR;
	for (i = 0; i < 4; i++)
		now = run(test, &wheels[2], max(now, wheels[2].next), 100, false);
	KUNIT_EXPECT_LE(test, 2U, wheels[2].runs);
	KUNIT_EXPECT_FALSE(test, wheels[2].waited);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(busy_wheels_share_half_of_the_time),
	KUNIT_CASE(no_pause_is_long_in_a_random_history),
	KUNIT_CASE(payers_of_any_number_take_half_of_the_time),
	KUNIT_CASE(nobody_misses_two_periods),
	KUNIT_CASE(wheels_of_a_payer_get_what_one_gets),
	KUNIT_CASE(a_payer_waits_for_his_own_wake_ups),
	KUNIT_CASE(long_callbacks_of_a_payer_take_half_of_the_time),
	KUNIT_CASE(who_has_done_all_pays_for_wake_ups),
	KUNIT_CASE(a_slow_callback_of_a_module_costs_users_nothing),
	KUNIT_CASE(wake_ups_of_many_payers_take_half_of_the_time),
	KUNIT_CASE(payers_with_penalties_take_half_of_the_time),
	KUNIT_CASE(a_stop_costs_a_payer_half_of_his_runs),
	KUNIT_CASE(few_payers_pay_for_their_wake_ups),
	KUNIT_CASE(a_payer_waits_for_a_second_at_most),
	KUNIT_CASE(what_was_late_does_not_come_at_once),
	KUNIT_CASE(newcomers_go_behind_those_who_wait),
	KUNIT_CASE(a_period_waits_for_an_expected_wheel),
	KUNIT_CASE(no_load_waits_for_busy_payers),
	KUNIT_CASE(a_load_catches_up_after_a_stop),
	KUNIT_CASE(a_wheel_that_goes_leaves_nothing_behind),
	{}
};

struct kunit_suite kt_throttle_suite = {
	.name = "twheel_throttle",
	.init = begin,
	.test_cases = cases,
};
