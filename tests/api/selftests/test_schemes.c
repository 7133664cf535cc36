// SPDX-License-Identifier: GPL-2.0
/*
 * The same promises from every scheme, mode and tick
 *
 * Each case sets up a wheel of its own and runs the same program on it: random
 * starts, restarts and stops, then everything expires. No timer is early, each
 * expires exactly once, equal deadlines keep their order, and the books
 * balance.
 */
#include <errno.h>
#include <string.h>

#include "harness.h"
#include "proc.h"
#include "session.h"

NEED_KERNEL("*");

#define TIMERS		1500
#define LEAD		(test_patience() * 600 * MS)
#define SPAN		(400 * MS)
#define FIFO		300

/* The deadline of each timer, 0 if it is stopped. */
struct program {
	int fd;
	__u64 deadlines[TIMERS];
	unsigned int pending;
};

static void setup(struct program *program, __u32 scheme, __u32 slots,
		  __u64 tick_ns)
{
	program->fd = session_open();
	ASSERT_EQ(0, tw_setup(program->fd, (struct twheel_setup){
		.flags = TWHEEL_SETUP_PRIVATE,
		.scheme = scheme,
		.slots = slots,
		.tick_ns = tick_ns,
	}));
}

static int start_at(struct program *program, unsigned int id, __u64 deadline)
{
	program->deadlines[id] = deadline;
	return tw_start_flags(program->fd, id, deadline, TWHEEL_START_ABS,
			      deadline);
}

/* The results can be predicted only as long as nothing is due. */
static void expect_before(__u64 base, int want, int got)
{
	if (now_ns() >= base)
		test_slow();
	ASSERT_EQ(want, got);
}

static void start_and_stop(struct program *program, __u64 base)
{
	__u64 seed = 99;
	unsigned int i, id;

	for (i = 0; i < TIMERS; i++)
		expect_before(base, 0, start_at(program, i, base +
						random_number(&seed) % SPAN));
	for (i = 0; i < 2 * TIMERS; i++) {
		id = random_number(&seed) % TIMERS;
		expect_before(base, 1, start_at(program, id, base +
						random_number(&seed) % SPAN));
	}
	program->pending = TIMERS;
	for (i = 0; i < TIMERS; i += 5) {
		expect_before(base, 0, tw_stop(program->fd, i));
		program->deadlines[i] = 0;
		program->pending--;
	}
}

static void check_event(struct program *program,
			const struct twheel_event *event)
{
	ASSERT_LT(event->id, TIMERS);
	ASSERT_NE(0, program->deadlines[event->id]);
	ASSERT_EQ(program->deadlines[event->id], event->deadline_ns);
	ASSERT_EQ(event->user_data, event->deadline_ns);
	ASSERT_LE(event->deadline_ns, event->expired_ns);
	ASSERT_LE(event->expired_ns, now_ns());
	program->deadlines[event->id] = 0;
}

static void read_all(struct program *program)
{
	struct twheel_event events[64];
	unsigned int read = 0;
	ssize_t got, i;

	while (read < program->pending) {
		expect_readable(program->fd);
		got = tw_read(program->fd, events, 64);
		ASSERT_LT(0, got);
		for (i = 0; i < got; i++)
			check_event(program, &events[i]);
		read += got;
	}
	expect_nothing(program->fd, 20 * MS);
}

/* On one CPU: started from far to near, so that they meet at all levels. */
static void equal_deadlines(int fd)
{
	__u64 begin = now_ns(), deadline = begin + SPAN;
	struct twheel_event event;
	unsigned int i, started;

	pin_cpu(0);
	for (started = 0; started < FIFO; started++) {
		sleep_until(begin + started * (SPAN * 3 / 4 / FIFO));
		if (now_ns() + SPAN / 8 > deadline)
			break;
		ASSERT_EQ(0, tw_start_flags(fd, TIMERS + FIFO - started,
					    deadline, TWHEEL_START_ABS,
					    started));
	}
	for (i = 0; i < started; i++) {
		ASSERT_EQ(1, tw_read(fd, &event, 1));
		ASSERT_EQ(i, event.user_data);
	}
}

static void run(__u32 scheme, __u32 slots, __u64 tick_ns)
{
	static struct program program;

	setup(&program, scheme, slots, tick_ns);
	start_and_stop(&program, now_ns() + LEAD);
	proc_expect_balance(proc_text());
	read_all(&program);
	EXPECT_STATS(program.fd, .started = TIMERS, .restarted = 2 * TIMERS,
		     .stopped = TIMERS / 5, .expired = TIMERS - TIMERS / 5,
		     .delivered = TIMERS - TIMERS / 5);
	equal_deadlines(program.fd);
	expect_balance(program.fd);
	proc_expect_balance(proc_text());
}

TEST(hier)
{
	run(TWHEEL_SCHEME_HIER, 0, MS);
}

TEST(hashed)
{
	run(TWHEEL_SCHEME_HASHED, 256, MS);
}

TEST(hier_shortest_tick)
{
	run(TWHEEL_SCHEME_HIER, 0, 50 * US);
}

TEST(hier_odd_tick)
{
	run(TWHEEL_SCHEME_HIER, 0, 3333333);
}

TEST(hashed_fewest_slots)
{
	run(TWHEEL_SCHEME_HASHED, 2, MS);
}

TEST(hashed_more_slots_than_ticks)
{
	run(TWHEEL_SCHEME_HASHED, 1 << 16, MS);
}

TEST(hashed_odd_tick)
{
	run(TWHEEL_SCHEME_HASHED, 64, 777777);
}
