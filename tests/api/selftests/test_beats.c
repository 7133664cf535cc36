// SPDX-License-Identifier: GPL-2.0
/*
 * Random stores, starts, stops and reads, compared with a record
 *
 * Two threads have a session each. The timers of a session are pending on one CPU, and its thread
 * writes the words on the other CPU. The record of an id has its last stores and their times. Each
 * event must agree with the record:
 *
 *  - When the timer expired, or later, its word was 0 or had passed.
 *
 *  - The timer expired once, after its last start began.
 *
 * At the end all words are cleared, so that each timer expires that was not stopped.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "session.h"

#define IDS		256
#define THREADS		2
/* Number of stores between two reads of events. */
#define STORES		2000
/* Number of stores of an id that the record keeps. */
#define RECORD		64
/* Largest distance of most words from now, and of a few words. */
#define AHEAD_NS	(4 * MS)
#define FAR_NS		(100 * MS)

/**
 * struct beat - what the test knows of an id
 * @started: the timer is pending, its event is unread, or its word stopped it
 * @ended: its word may already have stopped it since the last start
 * @since: time before the last start
 * @words: values of the last stores
 * @times: times after these stores
 * @stored: number of all stores
 */
struct beat {
	bool started;
	bool ended;
	__u64 since;
	__u64 words[RECORD];
	__u64 times[RECORD];
	unsigned int stored;
};

/**
 * struct server - a thread and its session
 * @nr: number of the thread
 * @fd: the session
 * @words: words of the session
 * @beats: records of the session's ids
 * @random: state of the random numbers
 * @events: number of events
 * @unchecked: number of events that are older than the record
 */
struct server {
	unsigned int nr;
	int fd;
	__u64 *words;
	struct beat beats[IDS];
	__u64 random;
	__u64 events, unchecked;
};

static __u64 draw(struct server *server)
{
	return random_number(&server->random);
}

static void on_cpu(const struct server *server, unsigned int other)
{
	pin_cpu((server->nr + other) % sysconf(_SC_NPROCESSORS_ONLN));
}

/* Store a word, and note the time when all CPUs see it. */
static void store(struct server *server, unsigned int id, __u64 word)
{
	struct beat *beat = &server->beats[id];
	unsigned int i = beat->stored++ % RECORD;

	__atomic_store_n(&server->words[id], word, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	beat->ended |= word == TWHEEL_WORD_STOP;
	beat->words[i] = word;
	beat->times[i] = now_ns();
}

static __u64 random_word(struct server *server)
{
	switch (draw(server) % 32) {
	case 0:
		return TWHEEL_WORD_NONE;
	case 1:
		return TWHEEL_WORD_STOP;
	case 2:
		return now_ns() + draw(server) % FAR_NS;
	default:
		return now_ns() + draw(server) % AHEAD_NS;
	}
}

/* Start a timer. It may be in any state, because its word may already have stopped it. */
static void start(struct server *server, unsigned int id)
{
	struct beat *beat = &server->beats[id];

	store(server, id, now_ns() + draw(server) % AHEAD_NS);
	beat->since = now_ns();
	ASSERT_LE(0, tw_start(server->fd, id, draw(server) % AHEAD_NS, id));
	beat->started = true;
	beat->ended = false;
}

static void stop(struct server *server, unsigned int id)
{
	struct beat *beat = &server->beats[id];
	int ret = tw_stop(server->fd, id);

	if (ret == -ENOENT)
		ASSERT_TRUE(!beat->started || beat->ended);
	else
		ASSERT_TRUE(beat->started && ret >= 0);
	beat->started = false;
}

static bool has_passed(__u64 word, __u64 now)
{
	return word != TWHEEL_WORD_STOP && word <= now;
}

/*
 * Check an event that was read at or after @read: the last word before @read, or one that was
 * stored since, must have passed at @expired.
 */
static void expect_passed(struct server *server, const struct beat *beat, __u64 expired,
			  __u64 read)
{
	unsigned int i = beat->stored, oldest = i > RECORD ? i - RECORD : 0;

	while (i-- > oldest) {
		if (has_passed(beat->words[i % RECORD], expired))
			return;
		if (beat->times[i % RECORD] < read)
			test_fail(__FILE__, __LINE__, "expired at %llu, its word was %llu",
				  expired, beat->words[i % RECORD]);
	}
	/* the oldest word of the record is newer than @read */
	server->unchecked++;
}

static unsigned int read_events(struct server *server)
{
	struct twheel_event events[IDS];
	__u64 read = now_ns();
	struct beat *beat;
	ssize_t got, i;

	got = tw_read(server->fd, events, IDS);
	if (got == -EAGAIN)
		return 0;
	ASSERT_LT(0, got);
	for (i = 0; i < got; i++) {
		beat = &server->beats[events[i].id];
		ASSERT_TRUE(beat->started);
		ASSERT_LE(beat->since, events[i].expired_ns);
		expect_passed(server, beat, events[i].expired_ns, read);
		beat->started = false;
	}
	server->events += got;
	return got;
}

static void serve(struct server *server)
{
	unsigned int i, id;

	on_cpu(server, 0);
	for (i = 0; i < 32; i++) {
		id = draw(server) % IDS;
		if (draw(server) % 4)
			start(server, id);
		else
			stop(server, id);
	}
	on_cpu(server, 1);
	for (i = 0; i < STORES; i++)
		store(server, draw(server) % IDS, random_word(server));
	read_events(server);
}

/* Clear all words, so that each pending timer expires. */
static void finish(struct server *server)
{
	struct twheel_stats stats;
	unsigned int id;

	for (id = 0; id < IDS; id++)
		store(server, id, TWHEEL_WORD_NONE);
	do {
		read_events(server);
		sleep_ns(MS);
		stats = stats_of(server->fd);
	} while (stats.pending || stats.unread);
	ASSERT_EQ(stats.delivered, server->events);
	test_note("%llu carried on, %llu stopped by a store", stats.carried,
		  stats.stopped_by_store);
	for (id = 0; id < IDS; id++) {
		expect_no_timer(server->fd, id);
		ASSERT_TRUE(!server->beats[id].started || server->beats[id].ended);
	}
	expect_balance(server->fd);
}

static void *run(void *data)
{
	struct server *server = data;
	__u64 end = now_ns() + test_duration() * SECOND;

	do {
		serve(server);
	} while (now_ns() < end);
	finish(server);
	return NULL;
}

static void begin(struct server *server, unsigned int nr)
{
	memset(server, 0, sizeof(*server));
	server->nr = nr;
	server->random = nr + 1;
	server->fd = session_open_nonblock();
	ASSERT_EQ(0, tw_setup(server->fd, (struct twheel_setup){ .shared_ids = IDS }));
	server->words = map_words(server->fd, IDS);
}

TEST(random_stores_starts_stops_and_reads)
{
	static struct server servers[THREADS];
	pthread_t threads[THREADS];
	unsigned int i;

	need_words();
	for (i = 0; i < THREADS; i++)
		begin(&servers[i], i);
	for (i = 0; i < THREADS; i++)
		threads[i] = thread_run(run, &servers[i]);
	for (i = 0; i < THREADS; i++) {
		thread_join(threads[i]);
		test_note("%llu events, %llu not checked", servers[i].events,
			  servers[i].unchecked);
		ASSERT_LT(0, servers[i].events);
	}
}
