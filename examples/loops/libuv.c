// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * libuv: idle timeouts of three connections in a loop of libuv
 *
 * The session's descriptor is a uv_poll_t. A timer of libuv refreshes connection 0,
 * connection 1 is silent, and connection 2 is closed.
 */
#include <stdio.h>
#include <string.h>
#include <twheel.h>
#include <uv.h>

#define CONNECTIONS	3
#define TIMEOUT_NS	200000000ULL
#define HEARTBEATS	10

static unsigned int beats, idle;

/* Read events. The loop calls this again while events are unread. */
static void on_timeouts(uv_poll_t *poll, int status, int what)
{
	struct twheel_event events[64];
	int got = twheel_read(poll->data, events, 64);

	(void)status;
	(void)what;
	if (got > 0)
		idle += got;
	if (idle == 2)
		uv_stop(poll->loop);
}

static void on_message(uv_timer_t *timer)
{
	if (beats == HEARTBEATS)
		return;
	twheel_refresh(timer->data, 0, twheel_now() + TIMEOUT_NS);
	beats++;
}

int main(void)
{
	struct twheel_setup setup = { .shared_ids = CONNECTIONS };
	uv_loop_t *loop = uv_default_loop();
	uv_timer_t messages;
	struct twheel *t;
	uv_poll_t poll;
	unsigned int id;
	int ret;

	ret = twheel_open(&t, &setup);
	if (ret) {
		fprintf(stderr, "/dev/twheel: %s\n", strerror(-ret));
		return 1;
	}
	uv_poll_init(loop, &poll, twheel_fd(t));
	uv_timer_init(loop, &messages);
	poll.data = t;
	messages.data = t;
	uv_poll_start(&poll, UV_READABLE, on_timeouts);
	uv_timer_start(&messages, on_message, 20, 20);
	for (id = 0; id < CONNECTIONS; id++)
		twheel_start(t, id, TIMEOUT_NS, id);
	twheel_stop_by_store(t, 2);

	uv_run(loop, UV_RUN_DEFAULT);

	printf("%u heartbeats, %u idle\n", beats, idle);
	/* Remove the descriptor from the loop before closing it. */
	uv_close((uv_handle_t *)&poll, NULL);
	uv_close((uv_handle_t *)&messages, NULL);
	uv_run(loop, UV_RUN_DEFAULT);
	uv_loop_close(loop);
	twheel_close(t);
	return 0;
}
