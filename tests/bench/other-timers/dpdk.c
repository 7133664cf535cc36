// SPDX-License-Identifier: GPL-2.0
/*
 * DPDK's rte_timer
 *
 * Documents: the programmer's guide, Timer Library, and rte_timer.h: rte_timer_init() once,
 * rte_timer_reset() for start and refresh, rte_timer_stop(), and rte_timer_manage() again and
 * again from the loop of a core, which calls back. Pending timers are in a skip list. A program
 * of DPDK's polls, so that its instructions would be those of the time that has passed; this one
 * sleeps for as long as rte_timer_next_ticks() says. There are no huge pages and no devices.
 *
 * In mode busy the loop is what calls rte_timer_manage(), so that nothing else takes expiries:
 * timers of one core belong to its list.
 */
#include <poll.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_lcore.h>
#include <rte_random.h>
#include <rte_timer.h>

#include "../compared/replay.h"

#define ARGUMENTS	10

static struct rte_timer *timers;

static void expired(struct rte_timer *timer, void *unused)
{
	(void)unused;
	replay_expired(timer - timers);
}

static void open_timers(unsigned int connections)
{
	char *arguments[ARGUMENTS] = {
		"dpdk", "--no-huge", "-m", "64", "--no-pci", "--no-telemetry", "--no-shconf",
		"--log-level=error", "-l", "0",
	};

	if (rte_eal_init(ARGUMENTS, arguments) < 0 || rte_timer_subsystem_init())
		fail("rte_eal_init");
	/* The levels of the list are by chance, and the same in each run. */
	rte_srand(1);
	timers = allocate(connections, sizeof(*timers));
}

/* Never early: a tick more than the time that is left. */
static void refresh(unsigned int connection, uint64_t deadline_ns)
{
	unsigned __int128 ns = deadline_ns - replay_now();
	uint64_t ticks = ns * rte_get_timer_hz() / SECOND + 1;

	if (rte_timer_reset(&timers[connection], ticks, SINGLE, rte_lcore_id(), expired, NULL))
		fail("rte_timer_reset");
}

static void start(unsigned int connection, uint64_t deadline_ns)
{
	rte_timer_init(&timers[connection]);
	refresh(connection, deadline_ns);
}

static void stop(unsigned int connection)
{
	if (rte_timer_stop(&timers[connection]))
		fail("rte_timer_stop");
}

static void loop(void)
{
	struct pollfd step = { .fd = replay_fd(), .events = POLLIN };
	bool more = true;

	while (more) {
		int64_t ticks = rte_timer_next_ticks();
		struct timespec left = {
			.tv_sec = ticks / (int64_t)rte_get_timer_hz(),
			.tv_nsec = ticks % rte_get_timer_hz() * SECOND / rte_get_timer_hz(),
		};

		if (ppoll(&step, 1, ticks < 0 ? NULL : &left, NULL) > 0)
			more = replay_steps();
		rte_timer_manage();
	}
}

const struct adapter adapter = {
	.open		= open_timers,
	.start		= start,
	.refresh	= refresh,
	.stop		= stop,
	.loop		= loop,
};
