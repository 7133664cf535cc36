// SPDX-License-Identifier: GPL-2.0
/*
 * GLib: a source with a ready time for each connection
 *
 * Documents: "The Main Event Loop" of GLib: g_source_set_ready_time() pushes a source back,
 * which g_timeout_add() cannot; a callback that returns G_SOURCE_REMOVE destroys it. A context
 * looks at all of its sources in each round. Times are in microseconds.
 */
#include <glib-unix.h>

#include "replay.h"

struct own {
	GMainLoop *loop;
	/* by connection */
	GSource **sources;
};

static struct own own;

static gboolean dispatch(GSource *source, GSourceFunc callback, gpointer data)
{
	(void)source;
	return callback(data);
}

static GSourceFuncs functions = { .dispatch = dispatch };

static gboolean on_timeout(gpointer connection)
{
	replay_expired(GPOINTER_TO_UINT(connection));
	return G_SOURCE_REMOVE;
}

static void open_loop(unsigned int connections)
{
	own.sources = allocate(connections, sizeof(*own.sources));
	own.loop = g_main_loop_new(NULL, FALSE);
}

/* Rounded up: it is not early. */
static void refresh(unsigned int connection, uint64_t deadline_ns)
{
	g_source_set_ready_time(own.sources[connection], (deadline_ns + US - 1) / US);
}

static void start(unsigned int connection, uint64_t deadline_ns)
{
	GSource *source = g_source_new(&functions, sizeof(GSource));

	own.sources[connection] = source;
	g_source_set_callback(source, on_timeout, GUINT_TO_POINTER(connection), NULL);
	refresh(connection, deadline_ns);
	g_source_attach(source, NULL);
	/* The context has a reference of its own. */
	g_source_unref(source);
}

static void stop(unsigned int connection)
{
	g_source_destroy(own.sources[connection]);
}

static gboolean on_step(gint fd, GIOCondition what, gpointer data)
{
	if (!replay_steps())
		g_main_loop_quit(own.loop);
	(void)fd;
	(void)what;
	(void)data;
	return G_SOURCE_CONTINUE;
}

static void loop(void)
{
	g_unix_fd_add(replay_fd(), G_IO_IN, on_step, NULL);
	g_main_loop_run(own.loop);
}

const struct adapter adapter = {
	.open		= open_loop,
	.start		= start,
	.refresh	= refresh,
	.stop		= stop,
	.loop		= loop,
};
