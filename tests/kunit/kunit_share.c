// SPDX-License-Identifier: GPL-2.0
/*
 * The account of a CPU: no pause is longer than 1 ms, whatever the clock does
 *
 * The time is an argument, so it may pass as in no other test: a run may be
 * preempted, or a machine stopped, for an hour.
 */
#include <kunit/test.h>
#include <linux/percpu.h>

#include "kunit_util.h"

/* One account, on whatever CPU a case runs. */
#undef this_cpu_ptr
#define this_cpu_ptr(account)	per_cpu_ptr(account, 0)

#include "../../twheel_share.c"

#define MSEC	((ktime_t)NSEC_PER_MSEC)
#define HOUR	(3600 * (ktime_t)NSEC_PER_SEC)
#define WHEELS	16
/* A run of this length takes what it gets. */
#define ALL	((ktime_t)-1)

/* How long a run takes, or nothing runs. */
static const ktime_t lengths[] = {
	0, 1, 999, 5000, 100000, 250000, 251000, MSEC, 2 * MSEC, 50 * MSEC,
	700 * MSEC, HOUR, 1000 * HOUR,
};

/**
 * struct wheel - a wheel that shares the CPU
 * @next: when it wants to run
 * @waited: it has waited for that
 * @ran: for how long it has run
 */
struct wheel {
	ktime_t next;
	bool waited;
	ktime_t ran;
};

static int begin(struct kunit *test)
{
	memset(this_cpu_ptr(&shares), 0, sizeof(struct twheel_share));
	return 0;
}

static void expect_short(struct kunit *test, ktime_t now, ktime_t round)
{
	KUNIT_ASSERT_GT(test, round, now);
	KUNIT_ASSERT_LE(test, round - now, MSEC);
}

static u32 draw(u64 *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 33;
}

/* As twheel_tick() does. Returns when the run has ended. */
static ktime_t run(struct kunit *test, struct wheel *wheel, ktime_t now,
		   ktime_t length, bool more)
{
	u32 limit = twheel_share_begin(now, wheel->waited);

	if (wheel->waited)
		KUNIT_ASSERT_LE(test, (u32)PART_NS_MIN, limit);
	if (limit) {
		if (length == ALL)
			length = limit;
		now += length;
		wheel->ran += length;
		twheel_share_end(now);
	}
	wheel->waited = !limit || more;
	wheel->next = now + MSEC;
	if (wheel->waited) {
		wheel->next = twheel_share_wait(now);
		expect_short(test, now, wheel->next);
	}
	return now;
}

static struct wheel *first_of(struct wheel *wheels, unsigned int nr)
{
	struct wheel *first = wheels;
	unsigned int i;

	for (i = 1; i < nr; i++)
		if (wheels[i].next < first->next)
			first = &wheels[i];
	return first;
}

static void a_run_of_any_length_is_followed_by_a_short_pause(struct kunit *test)
{
	unsigned int i, j;
	ktime_t now = 0;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct wheel wheel = { .next = now };

		for (j = 0; j < 3; j++)
			now = run(test, &wheel, max(now, wheel.next), lengths[i],
				  true);
		now += HOUR;
	}
}

/* Nothing runs while they wait: not at the time of the round, but later. */
static void wheels_run_after_a_pause_of_any_length(struct kunit *test)
{
	struct wheel wheels[2];
	unsigned int i, j;
	ktime_t now = 0;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		memset(wheels, 0, sizeof(wheels));
		for (j = 0; j < 2; j++)
			now = run(test, &wheels[j], now, MSEC, true);
		now = max(now, wheels[1].next) + lengths[i];
		for (j = 0; j < 2; j++) {
			KUNIT_ASSERT_TRUE(test, wheels[j].waited);
			now = run(test, &wheels[j], now, 0, false);
			KUNIT_ASSERT_TRUE(test, !wheels[j].waited);
		}
		now += HOUR;
	}
}

/* It has nothing to do with the wheel whose run took that long. */
static void a_stranger_waits_for_one_short_pause(struct kunit *test)
{
	unsigned int i;
	ktime_t now = 0;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct wheel busy = {}, other = {};
		ktime_t free;

		free = run(test, &busy, now, lengths[i], true);
		now = run(test, &other, free, 0, false);
		if (other.waited)
			now = run(test, &other, other.next, 0, false);
		KUNIT_ASSERT_TRUE(test, !other.waited);
		KUNIT_ASSERT_LE(test, now - free, MSEC);
		now += HOUR;
	}
}

/* For a second. Each uses up what it gets. */
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

/* Later ones in a round get less than the first, but more than half of that. */
static void busy_wheels_share_half_of_the_time(struct kunit *test)
{
	unsigned int nr;

	for (nr = 1; nr <= WHEELS; nr *= 2) {
		begin(test);
		keep_busy(test, nr);
	}
}

/* Runs and pauses of all lengths. run() has what must hold. */
static void no_pause_is_long_in_a_random_history(struct kunit *test)
{
	struct wheel wheels[WHEELS] = {}, *wheel;
	unsigned int i;
	ktime_t now = 0;
	u64 state = 7;

	/* A thousand hours fit in 63 bits some 2,500 times. */
	for (i = 0; i < 4000; i++) {
		ktime_t length = lengths[draw(&state) % ARRAY_SIZE(lengths)];

		wheel = first_of(wheels, 1 + draw(&state) % WHEELS);
		now = max(now, wheel->next);
		if (draw(&state) % 4 == 0)
			now += lengths[draw(&state) % ARRAY_SIZE(lengths)];
		now = run(test, wheel, now, length, draw(&state) % 2);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(a_run_of_any_length_is_followed_by_a_short_pause),
	KUNIT_CASE(wheels_run_after_a_pause_of_any_length),
	KUNIT_CASE(a_stranger_waits_for_one_short_pause),
	KUNIT_CASE(busy_wheels_share_half_of_the_time),
	KUNIT_CASE(no_pause_is_long_in_a_random_history),
	{}
};

struct kunit_suite kt_share_suite = {
	.name = "twheel_share",
	.init = begin,
	.test_cases = cases,
};
