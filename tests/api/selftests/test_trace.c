// SPDX-License-Identifier: GPL-2.0
/*
 * Tracepoints report events as they happened
 *
 * This needs root, a kernel with tracepoints, and a mounted tracefs.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "session.h"

NEED_KERNEL("*");

#define TRACING		"/sys/kernel/tracing/"
#define TICK		MS

static char text[1 << 20];

static void set_file(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_TRUNC);

	ASSERT_LE(0, fd);
	ASSERT_EQ((ssize_t)strlen(value), write(fd, value, strlen(value)));
	close(fd);
}

static void begin_trace(void)
{
	if (access(TRACING "events/twheel", F_OK))
		test_skip("this kernel has no tracepoints");
	/* Stay on one CPU: an emulated CPU may die of kernel code that another one is patching. */
	pin_cpu(0);
	/* This empties the trace, because set_file() opens it with O_TRUNC. */
	set_file(TRACING "trace", "");
	set_file(TRACING "events/twheel/enable", "1");
}

static void read_trace(void)
{
	int fd = open(TRACING "trace", O_RDONLY);
	size_t size = 0;
	ssize_t got;

	ASSERT_LE(0, fd);
	while ((got = read(fd, text + size, sizeof(text) - 1 - size)) > 0)
		size += got;
	text[size] = 0;
	close(fd);
}

static void end_trace(void)
{
	set_file(TRACING "events/twheel/enable", "0");
	read_trace();
}

/*
 * Wait for @event, and end the trace. A run of the tick is reported when it ends, after its
 * expiries.
 */
static void end_trace_with(const char *event)
{
	__u64 give_up = now_ns() + PATIENCE;

	do {
		sleep_ns(10 * MS);
		read_trace();
	} while (!strstr(text, event) && now_ns() < give_up);
	end_trace();
}

/* Returns the next line of @event that contains the text @field. */
static const char *next_event(const char *from, const char *event,
			      const char *field)
{
	const char *line;

	for (line = strstr(from, event); line;
	     line = strstr(line + 1, event)) {
		const char *found = strstr(line, field);

		if (found && found < line + strcspn(line, "\n"))
			return line;
	}
	test_fail(__FILE__, __LINE__, "no %s with %s", event, field);
	return NULL;
}

static __u64 number(const char *line, const char *field)
{
	return strtoull(strstr(line, field) + strlen(field), NULL, 10);
}

TEST(start_restart_and_stop)
{
	int fd = session_open_nonblock();
	const char *start, *restart, *stop;
	__u64 ticks;

	begin_trace();
	ASSERT_EQ(0, tw_start(fd, 1, HOUR, 0));
	ASSERT_EQ(1, tw_start(fd, 1, 2 * HOUR, 0));
	ASSERT_EQ(0, tw_stop(fd, 1));
	end_trace();
	start = next_event(text, " twheel_start: ", "restart=0");
	restart = next_event(start, " twheel_start: ", "restart=1");
	stop = next_event(restart, " twheel_stop: ", "fn=session_expired");
	ASSERT_LT(number(start, "clock="), number(start, "expires="));
	ticks = number(restart, " expires=") - number(start, " expires=");
	ASSERT_LE(HOUR / TICK, ticks);
	ASSERT_LE(ticks, (HOUR + 60 * SECOND) / TICK);
	ASSERT_EQ(number(restart, " expires="), number(stop, " expires="));
	close(fd);
}

TEST(expiry_and_its_tick)
{
	int fd = session_open_nonblock();
	const char *start, *expire, *tick;

	begin_trace();
	ASSERT_EQ(0, tw_start(fd, 1, 5 * MS, 0));
	expect_unread(fd, 1);
	end_trace_with(" expired=1 ");
	start = next_event(text, " twheel_start: ", "restart=0");
	expire = next_event(start, " twheel_expire: ", "fn=session_expired");
	tick = next_event(expire, " twheel_tick: ", " expired=1 ");
	ASSERT_EQ(number(start, " expires="), number(expire, " expires="));
	ASSERT_LE(number(expire, " expires="), number(expire, " clock="));
	ASSERT_LE(number(expire, " clock="), number(tick, " clock="));
	ASSERT_EQ(0, number(tick, " pending="));
	ASSERT_LT(0, number(tick, " length_ns="));
	close(fd);
}

TEST(cascade)
{
	int fd = session_open_nonblock();

	begin_trace();
	/* this deadline is beyond the lowest level of a hierarchical wheel, which has 512 ticks */
	ASSERT_EQ(0, tw_start(fd, 1, 700 * MS, 0));
	expect_unread(fd, 1);
	end_trace_with(" twheel_cascade: ");
	next_event(text, " twheel_cascade: ", " moved=1");
	next_event(text, " twheel_expire: ", "fn=session_expired");
	close(fd);
}

/* The fields of the tracepoints must distinguish two wheels with different ticks. */
TEST(which_wheel)
{
	int fd = session_open_nonblock(), own = session_open_nonblock();
	const char *event;
	__u64 wheel;

	ASSERT_EQ(0, tw_setup_tick(own, 10 * TICK));
	begin_trace();
	ASSERT_EQ(0, tw_start(fd, 1, HOUR, 0));
	ASSERT_EQ(0, tw_start(own, 1, 0, 0));
	expect_unread(own, 1);
	end_trace_with(" expired=1 ");
	event = next_event(text, " twheel_start: ", " tick_ns=1000000 ");
	ASSERT_EQ(1, number(event, " wheel="));
	event = next_event(text, " twheel_start: ", " tick_ns=10000000 ");
	wheel = number(event, " wheel=");
	ASSERT_NE(1, wheel);
	event = next_event(event, " twheel_expire: ", " tick_ns=10000000 ");
	ASSERT_EQ(wheel, number(event, " wheel="));
	event = next_event(event, " twheel_tick: ", " expired=1 ");
	ASSERT_EQ(wheel, number(event, " wheel="));
	close(own);
	close(fd);
}

TEST(words)
{
	int fd = session_open_nonblock();
	__u64 *words, later = now_ns() + HOUR;
	struct twheel_stats stats;
	const char *event;

	need_words();
	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){ .shared_ids = 8 }));
	words = map_words(fd, 8);
	begin_trace();
	words[1] = later;
	ASSERT_EQ(0, tw_start(fd, 1, 0, 0));
	words[2] = TWHEEL_WORD_STOP;
	ASSERT_EQ(0, tw_start(fd, 2, 0, 0));
	do {
		ASSERT_EQ(0, tw_stats(fd, &stats));
	} while (!stats.carried || !stats.stopped_by_store);
	end_trace();
	event = next_event(text, " twheel_word: ", " id=1 ");
	ASSERT_EQ(later, number(event, " word="));
	event = next_event(text, " twheel_word: ", " id=2 ");
	ASSERT_EQ(TWHEEL_WORD_STOP, number(event, " word="));
	close(fd);
}
