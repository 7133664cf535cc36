// SPDX-License-Identifier: GPL-2.0
/*
 * The memory that the slots of a wheel take, and when
 *
 * The wheel is so large that nothing else in the system takes as much.
 */
#include <stdlib.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "session.h"

NEED_KERNEL("*");

#define SLOTS		(1 << 18)
#define BYTES_EACH	64
#define NOISE		(4 << 20)

/* Returns the memory of the kernel once the wheels of earlier programs are gone. */
static long long settled_memory(void)
{
	long long last, now = kernel_memory();
	int same = 0;

	while (same < 10) {
		last = now;
		sleep_ns(100 * MS);
		now = kernel_memory();
		same = llabs(now - last) < NOISE / 16 ? same + 1 : 0;
	}
	return now;
}

/* Start a timer on @cpu. Returns the memory that this took. */
static long long start_on(int fd, unsigned int cpu, __u64 id)
{
	long long before = kernel_memory();

	pin_cpu(cpu);
	ASSERT_EQ(0, tw_start(fd, id, HOUR, 0));
	return kernel_memory() - before;
}

static void expect_slots(long long used)
{
	test_note("%lld bytes a slot", used / SLOTS);
	ASSERT_LE((long long)SLOTS * BYTES_EACH - NOISE, used);
	ASSERT_LE(used, (long long)SLOTS * BYTES_EACH + NOISE);
}

/* Documentation/user-api.rst, A wheel of one's own. SETUP is the first to need it. */
TEST(taken_on_each_cpu_where_they_are_needed)
{
	int fd = session_open_nonblock();
	long long before;

	pin_cpu(0);
	before = settled_memory();
	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){
		.flags = TWHEEL_SETUP_PRIVATE,
		.scheme = TWHEEL_SCHEME_HASHED,
		.slots = SLOTS,
	}));
	expect_slots(kernel_memory() - before);
	ASSERT_LE(start_on(fd, 0, 1), (long long)NOISE);
	expect_slots(start_on(fd, 1, 2));
	ASSERT_LE(start_on(fd, 1, 3), (long long)NOISE);
	close(fd);
	while (kernel_memory() > before + NOISE)
		sleep_ns(50 * MS);
}
