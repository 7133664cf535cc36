// SPDX-License-Identifier: GPL-2.0
/*
 * keepalive.c - the keepalives of mosquitto 2.0, by /dev/twheel
 *
 * The broker disconnects a client that sends nothing for one and a half times its
 * keepalive. Here each connection has a timer, whose id is the number of its
 * socket. A packet refreshes the timer by a store. The session's descriptor is in
 * the broker's epoll set, so that an expiry wakes the loop.
 *
 * The broker clears the number of the socket before it calls keepalive__remove(),
 * so the id of the timer has to be kept elsewhere. It is in the field last_msg_in, as
 * ~id, which is negative and so differs from a time. The broker reads this field of
 * bridges only, and bridges have no timer.
 */
#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <twheel.h>

#include "mosquitto_broker_internal.h"

#define EVENTS_AT_ONCE	64

static struct twheel *wheel;

static bool has_timer(const struct mosquitto *context)
{
	return context->last_msg_in < 0;
}

static __u64 timer_id(const struct mosquitto *context)
{
	return (__u64)~context->last_msg_in;
}

/* Returns one and a half keepalives. */
static __u64 timeout_ns(const struct mosquitto *context)
{
	return context->keepalive * 1500000000ULL;
}

/*
 * Open the session, and add its descriptor to the broker's epoll set. When the descriptor
 * is readable the loop wakes up, finds neither a client nor a listener for it, and begins
 * its next round, which calls keepalive__check().
 */
static void open_wheel(void)
{
	static int neither;
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = &neither };
	struct twheel_setup setup = { 0 };
	struct rlimit files;
	int ret;

	getrlimit(RLIMIT_NOFILE, &files);
	setup.shared_ids = (__u32)files.rlim_cur;
	ret = twheel_open(&wheel, &setup);
	if (!ret && epoll_ctl(db.epollfd, EPOLL_CTL_ADD, twheel_fd(wheel), &event))
		ret = -errno;
	if (!ret)
		return;
	log__printf(NULL, MOSQ_LOG_ERR, "Error: /dev/twheel, for %u sockets: %s.",
		    setup.shared_ids, strerror(-ret));
	exit(1);
}

/* Start a timer, which an earlier connection with this number may have left pending. */
static int start_timer(struct mosquitto *context)
{
	__u64 id = (__u64)context->sock;
	int ret;

	ret = twheel_start(wheel, id, timeout_ns(context), (uintptr_t)context);
	if (ret < 0)
		return MOSQ_ERR_NOMEM;
	context->last_msg_in = ~(time_t)id;
	return MOSQ_ERR_SUCCESS;
}

/*
 * Start the timers of new connections, which have a default keepalive, but for which the
 * broker calls keepalive__add() only after CONNECT. New connections are the last ones in
 * the broker's table of sockets.
 */
static void start_new_timers(void)
{
	struct mosquitto *context, *earlier;
	UT_hash_table *table;

	if (!db.contexts_by_sock)
		return;
	table = db.contexts_by_sock->hh_sock.tbl;
	for (context = ELMT_FROM_HH(table, table->tail); context && !has_timer(context);
	     context = earlier) {
		earlier = context->hh_sock.prev;
		if (!context->bridge && start_timer(context))
			do_disconnect(context, MOSQ_ERR_NOMEM);
	}
}

/* Disconnect a client, unless it sent data that the broker has not read yet. */
static void expired(struct mosquitto *context)
{
	int unread = 0;

	if (!has_timer(context))
		return;
	if (!ioctl(context->sock, FIONREAD, &unread) && unread > 0 &&
	    !start_timer(context))
		return;
	do_disconnect(context, MOSQ_ERR_KEEPALIVE);
}

/* Called in each round of the main loop. */
void keepalive__check(void)
{
	struct twheel_event events[EVENTS_AT_ONCE];
	int i, nr;

	if (!wheel)
		open_wheel();
	start_new_timers();
	nr = twheel_read(wheel, events, EVENTS_AT_ONCE);
	for (i = 0; i < nr; i++)
		expired((struct mosquitto *)(uintptr_t)events[i].user_data);
}

/* Called when CONNECT set the keepalive. 0 means no timeout. */
int keepalive__add(struct mosquitto *context)
{
	if (!has_timer(context))
		return context->keepalive ? start_timer(context) : MOSQ_ERR_SUCCESS;
	if (!context->keepalive)
		twheel_stop_by_store(wheel, timer_id(context));
	else if (twheel_now() + timeout_ns(context) < twheel_word(wheel, timer_id(context)))
		return start_timer(context);
	return keepalive__update(context);
}

/* Called for each packet, and for parts of a long packet. */
int keepalive__update(struct mosquitto *context)
{
	if (!has_timer(context))
		context->last_msg_in = db.now_s;
	else if (context->keepalive)
		twheel_refresh(wheel, timer_id(context), twheel_now() + timeout_ns(context));
	return MOSQ_ERR_SUCCESS;
}

int keepalive__remove(struct mosquitto *context)
{
	if (has_timer(context))
		twheel_stop_by_store(wheel, timer_id(context));
	context->last_msg_in = db.now_s;
	return MOSQ_ERR_SUCCESS;
}

void keepalive__remove_all(void)
{
	twheel_close(wheel);
	wheel = NULL;
}
