// SPDX-License-Identifier: GPL-2.0
/*
 * test_bounded.c - a burst of timers does not take the CPU
 *
 * More timers are due at once than a run of the tick may expire: each comes
 * once, and /proc/twheel counts the pauses.
 */
#include <stdlib.h>

#include "harness.h"
#include "proc.h"
#include "session.h"

#define BURST	10240
/* Timers in one run. */
#define RUN_MAX	1024
#define EVENTS	1024

static void start_all(int fd, __u64 deadline)
{
	struct twheel_op *ops = calloc(BURST, sizeof(*ops));
	__u32 done, i;

	ASSERT_TRUE(ops);
	for (i = 0; i < BURST; i++)
		ops[i] = (struct twheel_op){
			.opcode = TWHEEL_OP_START,
			.id = i,
			.flags = TWHEEL_START_ABS,
			.expires_ns = deadline,
		};
	ASSERT_EQ(0, tw_submit(fd, ops, BURST, &done));
	ASSERT_EQ(BURST, done);
	free(ops);
	if (now_ns() >= deadline)
		test_skip("the machine is too slow to start in time");
}

/* In order of their starts, which is by id. */
static void read_all(int fd, __u64 deadline)
{
	static struct twheel_event events[EVENTS];
	__u32 next = 0;
	ssize_t got, i;

	while (next < BURST) {
		got = tw_read(fd, events, EVENTS);
		ASSERT_LT(0, got);
		for (i = 0; i < got; i++) {
			ASSERT_EQ(next++, events[i].id);
			ASSERT_TRUE(events[i].expired_ns >= deadline);
		}
	}
	expect_nothing(fd, MS);
}

static __u64 yields(void)
{
	__u64 value;

	ASSERT_TRUE(proc_find(proc_text(), "default", PROC_NONE, "yields",
			      &value));
	return value;
}

TEST(a_burst_expires_in_runs)
{
	__u64 before = yields(), deadline = now_ns() + 2 * SECOND;
	int fd = session_open();

	pin_cpu(0);
	start_all(fd, deadline);
	read_all(fd, deadline);
	ASSERT_TRUE(yields() - before >= BURST / RUN_MAX - 1);
}
