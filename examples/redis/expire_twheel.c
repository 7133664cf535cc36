// SPDX-License-Identifier: GPL-2.0
/*
 * expire_twheel.c - the expiry of Redis 7.0's keys, by a timer of twheel for each
 *
 * Redis finds expired keys by sampling. Here each key with a TTL also has a timer, in
 * /dev/twheel or, without that device, in the process. Sampling continues. It finds keys
 * without a timer, and keys that are late because the clock was set.
 *
 * The entry of a key in db->expires has the timer's id after the TTL. An array has for
 * each id the hash of the key, which leads to a bucket of the dictionary, and so to the
 * entry with the id. There are no pointers into a database, because databases change:
 *
 * - Active defragmentation, SWAPDB and the end of a load into new databases move keys
 *   without a call of this file.
 * - FLUSHALL and a reload drop whole dictionaries, with ASYNC in another thread. sweep()
 *   finds the ids of dropped keys, a few at a time.
 * - EXPIRE to a later time is a store into the word of the id. EXPIRE to an earlier
 *   time, or of a new key, is a start, which waits for the next batch.
 * - DEL, PERSIST, SET, RENAME and an eviction remove the entry, and stop its timer by a
 *   store. COPY, RESTORE, MOVE and a load create entries.
 * - A child process that saves has neither words nor timers, so keys that it removes do
 *   not stop timers.
 * - A replica leaves its events unread until it becomes a master. The same is true
 *   during a load, CLIENT PAUSE, and DEBUG SET-ACTIVE-EXPIRE 0.
 *
 * TTLs are on the wall clock, and timers are on CLOCK_MONOTONIC. If the wall clock was set
 * back, a timer expires too early, and is started again. If it was set forward, sampling
 * finds the keys that are late.
 *
 * Only the main thread, or a thread that holds its lock, calls these functions.
 */
#include "expire_twheel.h"

#include <twheel.h>

/* Tick of the wheel. All keys of a tick expire in one wake-up of the loop. */
#define TICK_NS		10000000
#define TIMERS		1048576
/* Limit of starts in a batch, and of events in a round of the loop. */
#define BATCH		256
#define SWEEP_MS	100
#define SWEEP_IDS	4096
/*
 * Longest interval of a timer, ms. If the key of a timer lives longer, the timer is started
 * again when the interval ends.
 */
#define FAR_MS		1000000000000LL

static struct twheel *wheel;
static struct twheel_batch *batch;
/*
 * The hash of the key of each id in use. A free id, whose word is TWHEEL_WORD_STOP, has the next
 * free id in this place, or 0, which is not an id.
 */
static __u64 *ids;
static __u64 free_id, fresh_id = 1, swept_id, nr_ids;
static size_t taken;
static __u64 starts[BATCH];
static int nr_starts;
static int polled, readable;

static size_t metadata_bytes(dict *d)
{
	UNUSED(d);
	return sizeof(__u64);
}

static __u64 *id_of(dictEntry *de)
{
	return (__u64 *)dictMetadata(de);
}

/* Returns the deadline at which the millisecond @when of the wall clock is over. */
static __u64 deadline(long long when)
{
	__u64 now = twheel_now();
	struct timespec wall;
	long long left;

	clock_gettime(CLOCK_REALTIME, &wall);
	if (when < wall.tv_sec * 1000)
		return now;
	left = when - wall.tv_sec * 1000;
	if (left > FAR_MS)
		left = FAR_MS;
	left = (left + 1) * 1000000 - wall.tv_nsec;
	return left > 0 ? now + left : now;
}

static dictEntry *find_in(dict *d, __u64 id)
{
	dictEntry *de;
	int table;

	for (table = 0; table < 2; table++) {
		if (!d->ht_used[table])
			continue;
		de = d->ht_table[table][ids[id] & DICTHT_SIZE_MASK(d->ht_size_exp[table])];
		while (de && *id_of(de) != id)
			de = de->next;
		if (de)
			return de;
	}
	return NULL;
}

static dictEntry *find(__u64 id, redisDb **db)
{
	dictEntry *de;
	int i;

	for (i = 0; i < server.dbnum; i++) {
		de = find_in(server.db[i].expires, id);
		if (de) {
			*db = &server.db[i];
			return de;
		}
	}
	return NULL;
}

/* Returns whether this process has timers. A child process has no mapping of the words. */
static int has_timers(void)
{
	return wheel && server.in_fork_child == CHILD_TYPE_NONE;
}

static int is_free(__u64 id)
{
	return twheel_word(wheel, id) == TWHEEL_WORD_STOP;
}

static void give_back(__u64 id)
{
	twheel_stop_by_store(wheel, id);
	ids[id] = free_id;
	free_id = id;
	taken--;
}

/*
 * Check @count ids, and give back those without a key. Do nothing during a load, whose new
 * databases server.db does not have yet.
 */
static void sweep(int count)
{
	redisDb *db;

	if (server.async_loading)
		return;
	while (count-- && fresh_id > 1) {
		swept_id = swept_id + 1 < fresh_id ? swept_id + 1 : 1;
		if (!is_free(swept_id) && !find(swept_id, &db))
			give_back(swept_id);
	}
}

static int sweep_now_and_then(struct aeEventLoop *loop, long long timer, void *data)
{
	size_t keys = 0;
	int i;

	UNUSED(loop);
	UNUSED(timer);
	UNUSED(data);
	for (i = 0; i < server.dbnum; i++)
		keys += dictSize(server.db[i].expires);
	if (taken > keys)
		sweep(SWEEP_IDS);
	return SWEEP_MS;
}

/* Returns a free id, or 0 if there is none. A key without an id is left to sampling. */
static __u64 take_id(__u64 hash)
{
	__u64 id;

	if (!free_id && fresh_id == wheel->shared_ids)
		sweep(8);
	if (free_id) {
		id = free_id;
		free_id = ids[id];
	} else if (fresh_id < wheel->shared_ids) {
		id = fresh_id++;
		if (id >= nr_ids) {
			nr_ids = 2 * nr_ids + 1024;
			ids = zrealloc(ids, nr_ids * sizeof(*ids));
		}
	} else {
		return 0;
	}
	ids[id] = hash;
	taken++;
	return id;
}

static void start_failed(__u64 id)
{
	redisDb *db;
	dictEntry *de = find(id, &db);

	if (!de)
		return;
	*id_of(de) = 0;
	give_back(id);
}

/* Start the timers in @starts for the deadlines in their words, unless their ids are free again. */
static void submit_starts(void)
{
	const struct twheel_op *op;
	unsigned int i, nr = 0;
	int k;

	for (k = 0; k < nr_starts; k++) {
		if (is_free(starts[k]))
			continue;
		twheel_batch_start_at(batch, starts[k], twheel_word(wheel, starts[k]), 0);
		nr++;
	}
	nr_starts = 0;
	if (!nr)
		return;
	twheel_batch_flush(batch);
	for (i = 0; twheel_batch_failed(batch) && i < nr; i++) {
		op = twheel_batch_op(batch, i);
		if (op->result < 0)
			start_failed(op->id);
	}
}

static void start(__u64 id)
{
	if (nr_starts == BATCH)
		submit_starts();
	starts[nr_starts++] = id;
}

/* Called by setExpire() after it set the TTL of an entry. */
void expireTwheelSet(dict *d, dictEntry *de, long long when)
{
	__u64 due, id;

	if (!has_timers())
		return;
	due = deadline(when);
	id = *id_of(de);
	if (id && due >= twheel_word(wheel, id)) {
		twheel_refresh(wheel, id, due);
		return;
	}
	if (!id)
		*id_of(de) = id = take_id(dictHashKey(d, dictGetKey(de)));
	if (!id)
		return;
	twheel_refresh(wheel, id, due);
	start(id);
}

/* Replaces dictDelete() for db->expires, and stops the timer of the entry. */
int expireTwheelDelete(dict *d, const void *key)
{
	dictEntry *de = dictUnlink(d, key);

	if (!de)
		return DICT_ERR;
	if (has_timers() && *id_of(de))
		give_back(*id_of(de));
	dictFreeUnlinkedEntry(d, de);
	return DICT_OK;
}

static void expired(__u64 id, long long now)
{
	redisDb *db;
	dictEntry *de;

	if (is_free(id))
		return;
	de = find(id, &db);
	if (!de) {
		give_back(id);
	} else if (!activeExpireCycleTryExpire(db, de, now)) {
		twheel_refresh(wheel, id, deadline(dictGetSignedIntegerVal(de)));
		start(id);
	}
}

/* Expire up to BATCH keys. If more events are unread, the next round of the loop reads them. */
static void expire_keys(void)
{
	struct twheel_event events[BATCH];
	long long begin = ustime(), now = begin / 1000, took;
	int i, nr = twheel_read(wheel, events, BATCH);

	readable = 0;
	server.core_propagates = 1;
	server.propagate_no_multi = 1;
	for (i = 0; i < nr; i++)
		expired(events[i].id, now);
	propagatePendingCommands();
	server.core_propagates = 0;
	server.propagate_no_multi = 0;
	took = ustime() - begin;
	server.stat_expire_cycle_time_used += took;
	latencyAddSampleIfNeeded("expire-cycle", took / 1000);
}

static void became_readable(struct aeEventLoop *loop, int fd, void *data, int mask)
{
	UNUSED(loop);
	UNUSED(fd);
	UNUSED(data);
	UNUSED(mask);
	readable = 1;
}

static int may_expire(void)
{
	return server.active_expire_enabled && iAmMaster() && !server.loading &&
	       !checkClientPauseTimeoutAndReturnIfPaused();
}

/* Called by beforeSleep(), before it sends replies and writes the AOF. */
void expireTwheelExpire(void)
{
	int may;

	if (!wheel)
		return;
	may = may_expire();
	if (may && !polled)
		polled = aeCreateFileEvent(server.el, twheel_fd(wheel), AE_READABLE,
					   became_readable, NULL) == AE_OK;
	if (!may && polled) {
		aeDeleteFileEvent(server.el, twheel_fd(wheel), AE_READABLE);
		polled = 0;
		readable = 0;
	}
	if (readable)
		expire_keys();
}

/* Called at the end of beforeSleep(), after all commands of the round. */
void expireTwheelStart(void)
{
	if (nr_starts)
		submit_starts();
}

/* Called before the first key exists, because the type of db->expires changes here. */
void expireTwheelInit(void)
{
	const char *timers = getenv("REDIS_TWHEEL_TIMERS");
	struct twheel_setup setup = {
		.flags		= TWHEEL_SETUP_PRIVATE,
		.tick_ns	= TICK_NS,
		.shared_ids	= timers ? strtoul(timers, NULL, 10) + 1 : TIMERS,
	};
	int ret;

	if (server.sentinel_mode)
		return;
	ret = twheel_open(&wheel, &setup);
	if (!ret)
		ret = twheel_batch_new(wheel, BATCH, &batch);
	if (ret) {
		serverLog(LL_WARNING, "Keys expire by samples alone, no twheel: %s",
			  strerror(-ret));
		twheel_close(wheel);
		wheel = NULL;
		return;
	}
	dbExpiresDictType.dictEntryMetadataBytes = metadata_bytes;
	aeCreateTimeEvent(server.el, SWEEP_MS, sweep_now_and_then, NULL, NULL);
	serverLog(LL_NOTICE, "Keys expire by %u timers in %s", wheel->shared_ids - 1,
		  twheel_backend(wheel) == TWHEEL_BACKEND_KERNEL ? "/dev/twheel" : "the process");
}
