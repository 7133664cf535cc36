// SPDX-License-Identifier: GPL-2.0
/*
 * GLib's sources with a ready time
 *
 * A context looks at all of its sources in each round of the loop. It knows the time
 * in microseconds. An expiry is a callback.
 */
#include <glib.h>

#include "bench.h"

struct arming {
	GSource *source;
	gint64 ready_us;
};

static GMainContext *context;
static GSource **sources;
static struct arming args[BATCH_MAX];
static unsigned int expired;

static gboolean on_ready(GSource *source, GSourceFunc fn, gpointer data)
{
	g_source_set_ready_time(source, -1);
	expired++;
	(void)fn;
	(void)data;
	return G_SOURCE_CONTINUE;
}

static GSourceFuncs functions = { .dispatch = on_ready };

static void glib_open(unsigned int timers)
{
	sources = allocate(timers + EXTRA, sizeof(*sources));
	context = g_main_context_new();
}

static unsigned int glib_create(unsigned int first, unsigned int nr)
{
	unsigned int i;

	for (i = first; i < first + nr; i++) {
		sources[i] = g_source_new(&functions, sizeof(GSource));
		g_source_attach(sources[i], context);
	}
	return nr;
}

static void glib_prepare(enum operation op, const struct request *requests,
			 unsigned int nr, unsigned int batch)
{
	gint64 now = g_get_monotonic_time();
	unsigned int i;

	for (i = 0; i < nr; i++) {
		args[i].source = sources[requests[i].id];
		args[i].ready_us = op == STOP ? -1 :
				   now + (gint64)requests[i].delay_ns / 1000;
	}
	(void)batch;
}

static void glib_run(enum operation op, unsigned int nr, unsigned int batch)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		g_source_set_ready_time(args[i].source, args[i].ready_us);
	(void)op;
	(void)batch;
}

static unsigned int glib_collect(unsigned int nr, unsigned int batch)
{
	while (expired < nr)
		g_main_context_iteration(context, TRUE);
	/* The loop may have found more. */
	expired -= nr;
	(void)batch;
	return nr;
}

static const unsigned int any_number[] = { EXTRA, 0 };

const struct impl impl_glib = {
	.name		= "glib",
	.reads		= any_number,
	.open		= glib_open,
	.create		= glib_create,
	.prepare	= glib_prepare,
	.run		= glib_run,
	.collect	= glib_collect,
};
