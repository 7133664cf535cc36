// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * glib: idle timeouts of three connections in a main loop of GLib
 *
 * The session's descriptor is a source. A timeout of GLib refreshes connection 0,
 * connection 1 is silent, and connection 2 is closed.
 */
#include <glib-unix.h>
#include <stdio.h>
#include <twheel.h>

#define CONNECTIONS	3
#define TIMEOUT_NS	200000000ULL
#define HEARTBEATS	10

static GMainLoop *loop;
static unsigned int beats, idle;

/* Read events. The loop calls this again while events are unread. */
static gboolean on_timeouts(gint fd, GIOCondition what, gpointer t)
{
	struct twheel_event events[64];
	int got = twheel_read(t, events, 64);

	(void)fd;
	(void)what;
	if (got > 0)
		idle += got;
	if (idle == 2)
		g_main_loop_quit(loop);
	return G_SOURCE_CONTINUE;
}

static gboolean on_message(gpointer t)
{
	if (beats == HEARTBEATS)
		return G_SOURCE_REMOVE;
	twheel_refresh(t, 0, twheel_now() + TIMEOUT_NS);
	beats++;
	return G_SOURCE_CONTINUE;
}

int main(void)
{
	struct twheel_setup setup = { .shared_ids = CONNECTIONS };
	struct twheel *t;
	unsigned int id;
	guint timeouts;
	int ret;

	ret = twheel_open(&t, &setup);
	if (ret) {
		g_printerr("/dev/twheel: %s\n", g_strerror(-ret));
		return 1;
	}
	loop = g_main_loop_new(NULL, FALSE);
	timeouts = g_unix_fd_add(twheel_fd(t), G_IO_IN, on_timeouts, t);
	g_timeout_add(20, on_message, t);
	for (id = 0; id < CONNECTIONS; id++)
		twheel_start(t, id, TIMEOUT_NS, id);
	twheel_stop_by_store(t, 2);

	g_main_loop_run(loop);

	printf("%u heartbeats, %u idle\n", beats, idle);
	/* Remove the descriptor from the loop before closing it. */
	g_source_remove(timeouts);
	g_main_loop_unref(loop);
	twheel_close(t);
	return 0;
}
