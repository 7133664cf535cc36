// SPDX-License-Identifier: GPL-2.0
/*
 * A thousand sockets, each with a timer that is due when it is idle
 *
 * Two threads have half of the connections each, and move from CPU to CPU. One end of a
 * connection has the timer, and the other end talks. Data, starts, stops, shutdowns, closes
 * and ends of sessions come at random. A life of a timer begins with a start and ends once:
 * by its event, by a stop, with its session, or with its socket.
 *
 * The program judges a timer by its own clocks. It knows a time before which it sent
 * data, and a time at which the socket had the data: see struct message. A timer is early if
 * its deadline is later than the second time, and not by the idle interval later than the
 * first. TCP's clock advances at a tick of the kernel, as CLOCK_MONOTONIC_COARSE does, and a
 * slow machine delays that tick. Where time is exact, only disabled interrupts delay it. A
 * timer's lateness depends on the machine, so it has a limit only where time is exact.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "session.h"

NEED_KERNEL("*");

#define CONNECTIONS	1000U
#define THREADS		2U
#define OF_A_THREAD	(CONNECTIONS / THREADS)
#define SESSIONS	2U		/* of a thread */
#define TALKATIVE	16U		/* half of all operations are on these */
#define MESSAGES	64U
#define SHORTEST_NS	(20 * MS)
#define NEVER		(~0ULL)
#define IS_ESTABLISHED	1		/* of tcpi_state */
/* How late a tick may be where time is exact. Much less than the jiffy that it counts. */
#define LATE_TICK	MS

/**
 * struct message - a byte from the peer
 * @before: time before the send
 * @coarse: the same by TCP's clock
 * @after: time after the send
 * @there: time after its arrival at the socket, or NEVER
 */
struct message {
	__u64 before, coarse, after, there;
};

enum timer {
	NONE,
	RUNS,
	/* Its socket is closed. It may already have expired. */
	ABANDONED,
};

/**
 * struct connection - a connection and its timer
 * @ours: the socket with the timer
 * @peer: the other end
 * @timer: known state of the timer
 * @life: the timer's user_data, which no other life has
 * @idle_ns: the idle interval
 * @before: time before the start of the timer
 * @after: time after the start
 * @closed: time after closing @ours, for an ABANDONED timer
 * @handled: the program shut one of its ends down
 * @sent: number of bytes sent by the peer
 * @messages: the last ones since the start
 * @nr_messages: number of messages since the start
 */
struct connection {
	int ours, peer;
	enum timer timer;
	__u64 life;
	__u64 idle_ns;
	__u64 before, after, closed;
	bool handled;
	__u64 sent;
	struct message messages[MESSAGES];
	unsigned int nr_messages;
};

/* Counts of events. With too few, the machine was too slow. */
struct totals {
	unsigned int starts, events, shut, abandoned;
};

struct thread {
	struct connection connections[OF_A_THREAD];
	int sessions[SESSIONS];
	int listener;
	struct sockaddr_in address;
	unsigned int cpu;
	__u64 seed, life, carried;
	struct totals totals;
	long long late_max;
};

static __u64 tick, jiffy;

static bool one_in(struct thread *t, unsigned int n)
{
	return !(random_number(&t->seed) % n);
}

static struct tcp_info tcp_info(const struct connection *c)
{
	struct tcp_info info;
	socklen_t size = sizeof(info);

	ASSERT_EQ(0, getsockopt(c->ours, IPPROTO_TCP, TCP_INFO, &info, &size));
	return info;
}

static bool is_whole(const struct connection *c)
{
	return tcp_info(c).tcpi_state == IS_ESTABLISHED;
}

/* Reset at close, which leaves nothing in TIME_WAIT. */
static void reset_at_close(int fd)
{
	struct linger linger = { .l_onoff = 1 };

	ASSERT_EQ(0, setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)));
}

static void listen_to(struct thread *t)
{
	socklen_t size = sizeof(t->address);

	t->address = (struct sockaddr_in){
		.sin_family		= AF_INET,
		.sin_addr.s_addr	= htonl(INADDR_LOOPBACK),
	};
	t->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ASSERT_LE(0, t->listener);
	ASSERT_EQ(0, bind(t->listener, (void *)&t->address, size));
	ASSERT_EQ(0, listen(t->listener, 16));
	ASSERT_EQ(0, getsockname(t->listener, (void *)&t->address, &size));
}

static void connect_it(struct thread *t, struct connection *c)
{
	int one = 1;

	c->peer = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ASSERT_LE(0, c->peer);
	ASSERT_EQ(0, connect(c->peer, (void *)&t->address, sizeof(t->address)));
	c->ours = accept4(t->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	ASSERT_LE(0, c->ours);
	ASSERT_EQ(0, setsockopt(c->peer, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)));
	reset_at_close(c->ours);
	reset_at_close(c->peer);
	c->handled = false;
	c->sent = 0;
}

static void read_ours(struct connection *c)
{
	char bytes[256];

	while (recv(c->ours, bytes, sizeof(bytes), 0) > 0)
		;
}

/* Send a byte. On a slow machine it may arrive after the send returned. */
static void talk(struct thread *t, struct connection *c)
{
	struct message *message = &c->messages[c->nr_messages++ % MESSAGES];
	bool is_sent;

	*message = (struct message){
		.coarse	= clock_ns(CLOCK_MONOTONIC_COARSE),
		.before	= now_ns(),
		.there	= NEVER,
	};
	is_sent = send(c->peer, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
	message->after = now_ns();
	c->sent += is_sent;
	if (is_sent && tcp_info(c).tcpi_bytes_received == c->sent)
		message->there = now_ns();
	if (one_in(t, 4))
		read_ours(c);
}

static int session_of(const struct thread *t, const struct connection *c)
{
	return t->sessions[(c - t->connections) % SESSIONS];
}

static const struct message *message_of(const struct connection *c, unsigned int i)
{
	return i < c->nr_messages ? &c->messages[i] : NULL;
}

static __u64 sent(const struct message *m)
{
	return time_is_exact() ? m->before - LATE_TICK : m->coarse;
}

/* Data does not count once both ends closed the connection. */
static bool may_be_gone(const struct connection *c)
{
	return c->timer != RUNS || c->handled;
}

/* Returns the earliest correct deadline at @deadline. */
static __u64 not_before(const struct connection *c, __u64 deadline)
{
	__u64 heard = c->before;
	const struct message *m;
	unsigned int i;

	for (i = 0; !may_be_gone(c) && i < MESSAGES && (m = message_of(c, i)); i++)
		if (m->there <= deadline && sent(m) > heard)
			heard = sent(m);
	return heard + c->idle_ns;
}

/* Returns the latest correct deadline, without delays by the wheel and the machine. */
static __u64 not_after(const struct connection *c, __u64 expired)
{
	__u64 heard = c->after;
	const struct message *m;
	unsigned int i;

	for (i = 0; i < MESSAGES && (m = message_of(c, i)); i++)
		if (m->before < expired && m->after > heard)
			heard = m->after;
	return heard + c->idle_ns;
}

static void note_lateness(struct thread *t, long long late)
{
	if (late > t->late_max)
		t->late_max = late;
	if (time_is_exact())
		ASSERT_LE(late, tick + 2 * jiffy + 300 * US);
}

/* Shut an idle connection down, as a server does. */
static void shut_down(struct thread *t, struct connection *c)
{
	ASSERT_TRUE(c->handled || is_whole(c));
	if (one_in(t, 2))
		return;
	shutdown(c->ours, SHUT_RDWR);
	c->handled = true;
	t->totals.shut++;
}

static void take_event(struct thread *t, const struct twheel_event *event)
{
	struct connection *c = &t->connections[event->id];

	ASSERT_LT(event->id, OF_A_THREAD);
	ASSERT_NE(NONE, c->timer);
	ASSERT_EQ(c->life, event->user_data);
	ASSERT_EQ(0, event->flags);
	ASSERT_LE(not_before(c, event->deadline_ns), event->deadline_ns);
	ASSERT_LE(event->deadline_ns, event->expired_ns);
	ASSERT_LE(event->expired_ns, now_ns());
	if (c->timer == ABANDONED) {
		ASSERT_LE(event->expired_ns, c->closed);
	} else {
		note_lateness(t, event->expired_ns -
				 not_after(c, event->expired_ns));
		shut_down(t, c);
	}
	t->totals.events++;
	c->timer = NONE;
}

static void read_events(struct thread *t)
{
	struct twheel_event events[64];
	unsigned int s;
	ssize_t got, i;

	for (s = 0; s < SESSIONS; s++) {
		got = tw_read(t->sessions[s], events, ARRAY_SIZE(events));
		ASSERT_TRUE(got > 0 || got == -EAGAIN);
		for (i = 0; i < got; i++)
			take_event(t, &events[i]);
	}
}

static void start_failed(struct connection *c, int result)
{
	ASSERT_EQ(-ENOTCONN, result);
	ASSERT_TRUE(c->handled && !is_whole(c));
}

static void start(struct thread *t, struct connection *c)
{
	struct twheel_start args = {
		.id		= c - t->connections,
		.expires_ns	= SHORTEST_NS + random_number(&t->seed) %
				  (test_patience() * 200 * MS),
		.user_data	= t->life + 1,
		.flags		= TWHEEL_START_IDLE | TWHEEL_START_REPLACE,
		.fd		= c->ours,
	};
	__u64 before = now_ns();
	int result = tw_ioctl(session_of(t, c), TWHEEL_IOC_START, &args);

	if (result < 0) {
		start_failed(c, result);
		return;
	}
	/* 1: the start ended the life of a pending timer. */
	ASSERT_TRUE(!result || c->timer != NONE);
	t->totals.starts++;
	*c = (struct connection){
		.ours		= c->ours,
		.peer		= c->peer,
		.handled	= c->handled,
		.sent		= c->sent,
		.timer		= RUNS,
		.life		= ++t->life,
		.idle_ns	= args.expires_ns,
		.before		= before,
		.after		= now_ns(),
	};
}

static void stop(struct thread *t, struct connection *c)
{
	int result = tw_stop_flags(session_of(t, c), c - t->connections,
				   TWHEEL_STOP_WITHDRAW);

	if (result >= 0) {
		ASSERT_NE(NONE, c->timer);
	} else {
		ASSERT_EQ(-ENOENT, result);
		ASSERT_NE(RUNS, c->timer);
	}
	c->timer = NONE;
}

static void renew(struct thread *t, struct connection *c)
{
	if (c->timer != NONE && one_in(t, 3))
		stop(t, c);
	if (one_in(t, 2)) {
		close(c->ours);
		c->closed = now_ns();
		close(c->peer);
	} else {
		close(c->peer);
		close(c->ours);
		c->closed = now_ns();
	}
	if (c->timer != NONE) {
		c->timer = ABANDONED;
		t->totals.abandoned++;
	}
	connect_it(t, c);
}

static void half_close(struct thread *t, struct connection *c)
{
	c->handled = true;
	if (one_in(t, 2))
		shutdown(c->peer, SHUT_WR);
	else
		shutdown(c->ours, one_in(t, 2) ? SHUT_RD : SHUT_WR);
}

static bool was_touched(const struct connection *c)
{
	return c->handled || !is_whole(c);
}

static void happen(struct thread *t, struct connection *c)
{
	unsigned int what = random_number(&t->seed) % 100;

	if (what < 60) {
		talk(t, c);
	} else if (what < 80) {
		if (c->timer != RUNS && was_touched(c))
			renew(t, c);
		start(t, c);
	} else if (what < 90) {
		stop(t, c);
	} else if (what < 96) {
		renew(t, c);
	} else {
		half_close(t, c);
	}
}

static void close_session(struct thread *t, unsigned int s)
{
	struct twheel_stats stats;
	unsigned int i;

	read_events(t);
	ASSERT_EQ(0, tw_stats(t->sessions[s], &stats));
	t->carried += stats.carried;
	close(t->sessions[s]);
	for (i = s; i < OF_A_THREAD; i += SESSIONS)
		t->connections[i].timer = NONE;
	t->sessions[s] = session_open_nonblock();
}

static struct connection *any_connection(struct thread *t)
{
	unsigned int most = one_in(t, 2) ? TALKATIVE : OF_A_THREAD;

	return &t->connections[random_number(&t->seed) % most];
}

static void go_to(struct thread *t, unsigned int cpu)
{
	t->cpu = cpu;
	pin_cpu(cpu);
}

static void *live(void *data)
{
	unsigned int cpus = sysconf(_SC_NPROCESSORS_ONLN), i, nr = 0;
	struct thread *t = data;
	__u64 end;

	for (i = 0; i < OF_A_THREAD; i++)
		start(t, &t->connections[i]);
	end = now_ns() + test_patience() * test_duration() * SECOND / 2;
	for (; now_ns() < end; nr++) {
		happen(t, any_connection(t));
		if (!(nr % 128))
			read_events(t);
		if (one_in(t, 50))
			go_to(t, (t->cpu + 1) % cpus);
		if (one_in(t, 1000))
			close_session(t, random_number(&t->seed) % SESSIONS);
	}
	return NULL;
}

static unsigned int still_running(struct thread *t)
{
	unsigned int i, nr = 0;

	read_events(t);
	for (i = 0; i < OF_A_THREAD; i++)
		nr += t->connections[i].timer == RUNS;
	return nr;
}

static unsigned int pending(struct thread *t)
{
	struct twheel_stats stats;
	unsigned int s, nr = 0;

	for (s = 0; s < SESSIONS; s++) {
		ASSERT_EQ(0, tw_stats(t->sessions[s], &stats));
		nr += stats.pending + stats.unread;
	}
	return nr;
}

/* Wait until all timers expire, or end with their sockets: there is no data any longer. */
static void expect_all_to_end(struct thread *t)
{
	__u64 give_up = now_ns() + PATIENCE;
	struct twheel_stats stats;
	unsigned int s;

	while ((still_running(t) || pending(t)) && now_ns() < give_up)
		sleep_ns(MS);
	ASSERT_EQ(0, still_running(t));
	ASSERT_EQ(0, pending(t));
	for (s = 0; s < SESSIONS; s++) {
		ASSERT_EQ(0, tw_stats(t->sessions[s], &stats));
		t->carried += stats.carried;
		ASSERT_EQ(stats.started, stats.stopped + stats.expired);
	}
}

static void close_all(struct thread *t)
{
	unsigned int i;

	for (i = 0; i < OF_A_THREAD; i++) {
		close(t->connections[i].ours);
		close(t->connections[i].peer);
	}
	for (i = 0; i < SESSIONS; i++)
		close(t->sessions[i]);
	close(t->listener);
}

static void report(const struct thread *t)
{
	const struct totals *n = &t->totals;

	test_note("%u starts, %u events, %u sockets shut down for that, %u closed before",
		  n->starts, n->events, n->shut, n->abandoned);
	test_note("%llu timers carried on, early 0, late by %lld us at most", t->carried,
		  t->late_max / 1000);
	if (!t->carried || !n->events || !n->shut || !n->abandoned)
		test_slow();
}

static void make_thread(struct thread *t, unsigned int number)
{
	unsigned int i;

	t->seed = number + 1;
	listen_to(t);
	for (i = 0; i < SESSIONS; i++)
		t->sessions[i] = session_open_nonblock();
	for (i = 0; i < OF_A_THREAD; i++)
		connect_it(t, &t->connections[i]);
}

TEST(a_thousand_are_idle_once)
{
	struct thread *threads = calloc(THREADS, sizeof(*threads));
	pthread_t ids[THREADS];
	struct timespec ts;
	unsigned int i;
	int before;

	close(session_open_idle());
	ASSERT_TRUE(threads);
	own_network();
	before = sockets_used();
	ASSERT_EQ(0, clock_getres(CLOCK_MONOTONIC_COARSE, &ts));
	jiffy = ts.tv_nsec;
	for (i = 0; i < THREADS; i++)
		make_thread(&threads[i], i);
	tick = tick_ns(threads[0].sessions[0]);
	for (i = 0; i < THREADS; i++)
		ids[i] = thread_run(live, &threads[i]);
	for (i = 0; i < THREADS; i++)
		thread_join(ids[i]);
	for (i = 0; i < THREADS; i++)
		expect_all_to_end(&threads[i]);
	for (i = 0; i < THREADS; i++)
		close_all(&threads[i]);
	expect_sockets(before);
	for (i = 0; i < THREADS; i++)
		report(&threads[i]);
}
