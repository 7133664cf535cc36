// SPDX-License-Identifier: GPL-2.0
/*
 * keepalive_socket.c - the keepalives of mosquitto 2.0, by what TCP has received
 *
 * A client that has sent nothing for one and a half times its keepalive is to be
 * disconnected. Here each connection has a timer that goes by the last data that the
 * socket has received. When that is too long ago the session has an event, and the broker
 * disconnects the client. A packet takes nothing. The timer of a socket that the broker
 * closes stops by itself.
 *
 * The number of the socket is the timer's id. In last_msg_in, which the broker looks at
 * in bridges only, a connection with a timer has TIMED. Bridges have none.
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
 * The loop looks at what kind of thing an epoll event is for. It wakes up for this
 * one, finds that it is neither a client nor a listener, and does nothing else. The
 * first thing in the next round is keepalive__check().
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

/* One and a half keepalives. A timer, or event, of a socket that had this number ends. */
static int start_timer(struct mosquitto *context)
{
	__u64 id = (__u64)context->sock;
	int ret;

	ret = twheel_start_idle(wheel, &id, context->sock, context->keepalive * 1500000000ULL, 0,
				TWHEEL_START_REPLACE);
	/* Its peer is gone already, which the broker is about to find out. */
	if (ret < 0 && ret != -ENOTCONN)
		return MOSQ_ERR_NOMEM;
	context->last_msg_in = TIMED;
	return MOSQ_ERR_SUCCESS;
}

/*
 * Connections that have sent no CONNECT yet. The broker has a keepalive for these
 * too, and tells nobody of them. They are the last in its table of sockets.
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

/* Called once in each round of the main loop. Each socket has its own timer by then. */
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

/* A client has sent CONNECT, and its keepalive is known. 0 is for ever. */
int keepalive__add(struct mosquitto *context)
{
	if (context->keepalive)
		return start_timer(context);
	twheel_withdraw(wheel, (__u64)context->sock);
	context->last_msg_in = TIMED;
	return MOSQ_ERR_SUCCESS;
}

/* It has sent a packet, or much of a long one. */
int keepalive__update(struct mosquitto *context)
{
	if (!has_timer(context))
		context->last_msg_in = db.now_s;
	return MOSQ_ERR_SUCCESS;
}

/* Its socket is closed. */
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
