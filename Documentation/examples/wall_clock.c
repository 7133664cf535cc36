// SPDX-License-Identifier: GPL-2.0
/*
 * wall_clock SECONDS...: alarms after SECONDS of the wall clock, which may be set
 *
 * A timer has the time that remains until its alarm. When the clock is set, all timers
 * are started again.
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

static uint64_t alarms[ALARMS];		/* on the wall clock, 0 after the alarm */
static unsigned int nr, rung;

static uint64_t wall_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * SECOND + ts.tv_nsec;
}

/* Returns a timerfd that never expires. After the clock is set, its read fails. */
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

	twheel_start(t, id, alarms[id] > now ? alarms[id] - now : 0, id);
}

/* Ring an alarm, unless the clock was set back since its timer was started. */
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
	/* The wall clock continues during a suspend, and so does CLOCK_BOOTTIME. */
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
