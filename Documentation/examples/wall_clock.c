// SPDX-License-Identifier: GPL-2.0
/*
 * wall_clock SECONDS...: alarms that are so far away by the wall clock, which may be set
 *
 * A timer takes what is left of its time. When the clock is set all are started anew.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <twheel.h>
#include <unistd.h>

#define SECOND		1000000000ULL
#define ALARMS		100

static uint64_t alarms[ALARMS];		/* by the wall clock, 0 for one that has rung */
static unsigned int nr, rung;

static uint64_t wall_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * SECOND + ts.tv_nsec;
}

/* A timer that never fires. After the clock was set, a read of it fails. */
static int watch_clock(void)
{
	const struct itimerspec never = { .it_value.tv_sec = LONG_MAX };
	int fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);

	if (fd >= 0)
		timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET,
				&never, NULL);
	return fd;
}

static bool clock_was_set(int fd)
{
	uint64_t expiries;

	return read(fd, &expiries, sizeof(expiries)) < 0 && errno == ECANCELED;
}

static void start(struct twheel *t, unsigned int id)
{
	uint64_t now = wall_clock();

	twheel_restart(t, id, alarms[id] > now ? alarms[id] - now : 0, id);
}

/* Before the program has heard of a step backwards a timer may expire too early. */
static void ring(struct twheel *t, unsigned int id)
{
	if (wall_clock() < alarms[id]) {
		start(t, id);
		return;
	}
	printf("alarm %u\n", id);
	alarms[id] = 0;
	rung++;
}

int main(int argc, char **argv)
{
	/* The clock of the timers goes on while the system is suspended, as the wall clock does. */
	struct twheel_setup setup = {
		.flags = TWHEEL_SETUP_PRIVATE, .clock = TWHEEL_CLOCK_BOOTTIME,
	};
	struct twheel_event events[ALARMS];
	struct pollfd fds[2] = { { .events = POLLIN }, { .events = POLLIN } };
	unsigned int steps = 0, id;
	struct twheel *t;
	int ret, i;

	ret = twheel_open(&t, &setup);
	if (ret) {
		fprintf(stderr, "/dev/twheel: %s\n", strerror(-ret));
		return 1;
	}
	fds[0].fd = twheel_fd(t);
	fds[1].fd = watch_clock();
	for (; nr < ALARMS && (int)nr + 1 < argc; nr++) {
		alarms[nr] = wall_clock() + atoi(argv[nr + 1]) * SECOND;
		start(t, nr);
	}
	while (rung < nr) {
		poll(fds, 2, -1);
		if (clock_was_set(fds[1].fd)) {
			steps++;
			for (id = 0; id < nr; id++)
				if (alarms[id])
					start(t, id);
		}
		ret = twheel_read(t, events, ALARMS);
		for (i = 0; i < ret; i++)
			ring(t, events[i].id);
	}
	printf("%u alarms, the clock was set %u times\n", rung, steps);
	twheel_close(t);
	return 0;
}
