// SPDX-License-Identifier: GPL-2.0
/*
 * The memory that the slots of wheels take, and when it is allocated
 *
 * There are so many wheels that their slots take far more memory than other parts of the kernel may
 * take or free at the same time (NOISE).
 */
#include <stdlib.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "session.h"

NEED_KERNEL("*");

#define WHEELS		56
#define SLOTS		(WHEELS * 4096)
#define BYTES_EACH	64
#define NOISE		(4 << 20)

static int fds[WHEELS];

/* Wait until the wheels of earlier programs are gone. Returns the memory of the kernel. */
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

/* Start a timer on each wheel on @cpu. Returns how much memory that took. */
static long long start_on(unsigned int cpu, __u64 id)
{
	long long before = kernel_memory();
	unsigned int i;

	pin_cpu(cpu);
	for (i = 0; i < WHEELS; i++)
		ASSERT_EQ(0, tw_start(fds[i], id, HOUR, 0));
	return kernel_memory() - before;
}

static void expect_slots(long long used)
{
	test_note("%lld bytes a slot", used / SLOTS);
	ASSERT_LE((long long)SLOTS * BYTES_EACH - NOISE, used);
	ASSERT_LE(used, (long long)SLOTS * BYTES_EACH + NOISE);
}

/*
 * Documentation/user-api.rst, A wheel of one's own: SETUP allocates slots for its own CPU, and the
 * first start on another CPU allocates slots for that CPU.
 */
TEST(taken_on_each_cpu_where_they_are_needed)
{
	long long before;
	unsigned int i;

	pin_cpu(0);
	before = settled_memory();
	for (i = 0; i < WHEELS; i++) {
		fds[i] = session_open_nonblock();
		ASSERT_EQ(0, tw_setup_tick(fds[i], MS + i * US));
	}
	expect_slots(kernel_memory() - before);
	ASSERT_LE(start_on(0, 1), (long long)NOISE);
	expect_slots(start_on(1, 2));
	ASSERT_LE(start_on(1, 3), (long long)NOISE);
	for (i = 0; i < WHEELS; i++)
		close(fds[i]);
	while (kernel_memory() > before + NOISE)
		sleep_ns(50 * MS);
}
