// SPDX-License-Identifier: GPL-2.0
/*
 * keepalive_socket.c - the keepalives of mosquitto 2.0, by the last data that TCP received
 *
 * The broker disconnects a client that sends nothing for one and a half times its
 * keepalive. Here each connection has a timer that watches the socket, so a packet costs
 * nothing. The session returns an event when the socket received nothing for that time.
 * The timer of a closed socket stops by itself.
 *
 * The number of the socket is the timer's id. A connection with a timer has TIMED in
 * last_msg_in, which the broker reads in bridges only. Bridges have no timer.
 */
#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <twheel.h>

#include "mosquitto_broker_internal.h"

#define TIMED	(-1)
#define EVENTS_AT_ONCE	64

static struct twheel *wheel;

static bool has_timer(const struct mosquitto *context)
{
	return context->last_msg_in == TIMED;
}

/*
 * Open the session, and add its descriptor to the broker's epoll set. The loop wakes
 * up for it, finds neither a client nor a listener, and begins the next round, with
 * keepalive__check().
 */
static void open_wheel(void)
{
	static int neither;
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = &neither };
	struct twheel_setup setup = { 0 };
	struct twheel_info info;
	int ret = twheel_open(&wheel, &setup);

	if (!ret && epoll_ctl(db.epollfd, EPOLL_CTL_ADD, twheel_fd(wheel), &event))
		ret = -errno;
	if (!ret)
		ret = twheel_info(wheel, &info);
	if (!ret && info.features & TWHEEL_FEATURE_IDLE)
		return;
	log__printf(NULL, MOSQ_LOG_ERR, "Error: /dev/twheel: %s.",
		    ret ? strerror(-ret) : "no timers of sockets");
	exit(1);
}

/* Start a timer, in place of a timer or event of an earlier socket with this number. */
static int start_timer(struct mosquitto *context)
{
	__u64 id = (__u64)context->sock;
	int ret;

	ret = twheel_start_idle(wheel, &id, context->sock, context->keepalive * 1500000000ULL, 0,
				TWHEEL_START_REPLACE);
	/* The peer closed the connection, which the broker is about to find. */
	if (ret < 0 && ret != -ENOTCONN)
		return MOSQ_ERR_NOMEM;
	context->last_msg_in = TIMED;
	return MOSQ_ERR_SUCCESS;
}

/*
 * Start timers of connections that sent no CONNECT yet. They have a keepalive, but
 * the broker does not call keepalive__add(). They are the last in its table of sockets.
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

static void expired(mosq_sock_t sock)
{
	struct mosquitto *context;

	HASH_FIND(hh_sock, db.contexts_by_sock, &sock, sizeof(sock), context);
	if (context && has_timer(context))
		do_disconnect(context, MOSQ_ERR_KEEPALIVE);
}

/* Called in each round of the main loop. New timers withdraw events of earlier sockets. */
void keepalive__check(void)
{
	struct twheel_event events[EVENTS_AT_ONCE];
	int i, nr;

	if (!wheel)
		open_wheel();
	start_new_timers();
	nr = twheel_read(wheel, events, EVENTS_AT_ONCE);
	for (i = 0; i < nr; i++)
		expired((mosq_sock_t)events[i].id);
}

/* Called when CONNECT set the keepalive. 0 means no timeout. */
int keepalive__add(struct mosquitto *context)
{
	if (context->keepalive)
		return start_timer(context);
	twheel_withdraw(wheel, (__u64)context->sock);
	context->last_msg_in = TIMED;
	return MOSQ_ERR_SUCCESS;
}

/* Called for each packet, and for parts of a long packet. */
int keepalive__update(struct mosquitto *context)
{
	if (!has_timer(context))
		context->last_msg_in = db.now_s;
	return MOSQ_ERR_SUCCESS;
}

/* Called after the socket was closed, which stops the timer. */
int keepalive__remove(struct mosquitto *context)
{
	context->last_msg_in = db.now_s;
	return MOSQ_ERR_SUCCESS;
}

void keepalive__remove_all(void)
{
	twheel_close(wheel);
	wheel = NULL;
}
