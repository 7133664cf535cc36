// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * libevent: idle timeouts of three connections in a loop of libevent
 *
 * The session's descriptor is a persistent event. A timer of libevent refreshes
 * connection 0, connection 1 is silent, and connection 2 is closed.
 */
#include <event2/event.h>
#include <stdio.h>
#include <string.h>
#include <twheel.h>

#define CONNECTIONS	3
#define TIMEOUT_NS	200000000ULL
#define HEARTBEATS	10

static struct event_base *base;
static unsigned int beats, idle;

/* Read events. The loop calls this again while events are unread. */
static void on_timeouts(evutil_socket_t fd, short what, void *t)
{
	struct twheel_event events[64];
	int got = twheel_read(t, events, 64);

	(void)fd;
	(void)what;
	if (got > 0)
		idle += got;
	if (idle == 2)
		event_base_loopbreak(base);
}

static void on_message(evutil_socket_t fd, short what, void *t)
{
	(void)fd;
	(void)what;
	if (beats == HEARTBEATS)
		return;
	twheel_refresh(t, 0, twheel_now() + TIMEOUT_NS);
	beats++;
}

int main(void)
{
	struct twheel_setup setup = { .shared_ids = CONNECTIONS };
	const struct timeval now_and_then = { .tv_usec = 20000 };
	struct event *timeouts, *messages;
	struct twheel *t;
	unsigned int id;
	int ret;

	ret = twheel_open(&t, &setup);
	if (ret) {
		fprintf(stderr, "/dev/twheel: %s\n", strerror(-ret));
		return 1;
	}
	base = event_base_new();
	timeouts = event_new(base, twheel_fd(t), EV_READ | EV_PERSIST, on_timeouts, t);
	messages = event_new(base, -1, EV_PERSIST, on_message, t);
	event_add(timeouts, NULL);
	event_add(messages, &now_and_then);
	for (id = 0; id < CONNECTIONS; id++)
		twheel_start(t, id, TIMEOUT_NS, id);
	twheel_stop_by_store(t, 2);

	event_base_dispatch(base);

	printf("%u heartbeats, %u idle\n", beats, idle);
	/* Remove the descriptor from the loop before closing it. */
	event_free(timeouts);
	event_free(messages);
	event_base_free(base);
	twheel_close(t);
	return 0;
}
