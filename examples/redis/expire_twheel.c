// SPDX-License-Identifier: GPL-2.0
/*
 * expire_twheel.c - the expiry of Redis 7.0's keys, by a timer of twheel for each
 *
 * Redis looks for expired keys by samples. Here each key with a TTL has a timer as well,
 * in /dev/twheel or, without that device, in the process. The samples go on: they find
 * keys that have no timer, and keys that are late because somebody has set the clock.
 *
 * A timer's id is kept in the entry of db->expires, behind its TTL. The way back leads
 * from the id to the key's hash, and from there through one bucket of the dictionary
 * to the entry that has the id. So nothing here points into a database:
 *
 * - Active defragmentation, SWAPDB and the end of a load that has built new databases
 *   move keys without telling anybody.
 * - FLUSHALL and a reload drop whole dictionaries, ASYNC in a thread. Their ids belong
 *   to nobody then. sweep() finds them, a few at a time.
 * - EXPIRE to a later time is a store into the word of the id. To an earlier time, and
 *   for a new key, it is a start, which waits for the next batch.
 * - DEL, PERSIST, SET, RENAME and an eviction remove the entry, which stops its timer
 *   by a store. COPY, RESTORE, MOVE and a load make new entries.
 * - A child that saves has neither words nor timers, and none of its removals counts.
 * - A replica does not read its events. They are there when it becomes a master. The
 *   same goes for a load, CLIENT PAUSE, and DEBUG SET-ACTIVE-EXPIRE 0.
 *
 * TTLs are on the wall clock, and timers are not. A timer that is early after a step of
 * the clock is started anew, a key that is late is left to the samples.
 *
 * All of this is called in the main thread, or in one that has taken its lock.
 */
#include "expire_twheel.h"

#include <twheel.h>

/* A wake-up serves the keys of this time together. */
#define TICK_NS		10000000
#define TIMERS		1048576
/* Starts in a batch, and events in a round of the loop. */
#define BATCH		256
#define SWEEP_MS	100
#define SWEEP_IDS	4096
/* Later than this is seen again then. */
#define FAR_MS		1000000000000LL

static struct twheel *wheel;
static struct twheel_batch *batch;
/*
 * Of an id that is taken: the hash of its key. Of one that was taken: the next free id.
 * The word of such an id is TWHEEL_WORD_STOP. 0 is no id.
 */
static __u64 *ids;
static __u64 free_id, fresh_id = 1, swept_id, nr_ids;
static size_t taken;
static __u64 starts[BATCH];
static int nr_starts;
static int watching, readable;

static size_t metadata_bytes(dict *d)
{
	UNUSED(d);
	return sizeof(__u64);
}

static __u64 *id_of(dictEntry *de)
{
	return (__u64 *)dictMetadata(de);
}

/* After the millisecond of @when, on the clock of timers. */
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

/* A child has no words. */
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

/* Ids that no key has any more. While a load builds databases aside, who knows. */
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

/* 0 if there is none: then the key is left to the samples. */
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

/* The words have the deadlines. An id that was given back meanwhile needs no timer. */
static void submit_starts(void)
{
	const struct twheel_op *op;
	unsigned int i, nr = 0;
	int k;

	for (k = 0; k < nr_starts; k++) {
		if (is_free(starts[k]))
			continue;
		twheel_batch_start_flags(batch, starts[k], twheel_word(wheel, starts[k]), 0,
					 0, TWHEEL_START_ABS | TWHEEL_START_REPLACE);
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

/* setExpire() has set the TTL of this entry. */
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

/* As dictDelete(). */
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

/* Those that remain keep the descriptor readable, for the next round of the loop. */
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

/* In beforeSleep(), before what is sent and written there. */
void expireTwheelExpire(void)
{
	int may;

	if (!wheel)
		return;
	may = may_expire();
	if (may && !watching)
		watching = aeCreateFileEvent(server.el, twheel_fd(wheel), AE_READABLE,
					     became_readable, NULL) == AE_OK;
	if (!may && watching) {
		aeDeleteFileEvent(server.el, twheel_fd(wheel), AE_READABLE);
		watching = 0;
		readable = 0;
	}
	if (readable)
		expire_keys();
}

/* At the end of beforeSleep(): all commands of this round have set their TTLs. */
void expireTwheelStart(void)
{
	if (nr_starts)
		submit_starts();
}

/* Before there is a key. */
void expireTwheelInit(void)
{
	const char *timers = getenv("REDIS_TWHEEL_TIMERS");
	struct twheel_setup setup = {
		.flags		= TWHEEL_SETUP_PRIVATE,
		.scheme		= TWHEEL_SCHEME_HIER,
		.tick_ns	= TICK_NS,
		.shared_ids	= timers ? strtoul(timers, NULL, 10) + 1 : TIMERS,
	};
	int ret;

	if (server.sentinel_mode)
		return;
	ret = twheel_open_flags(&wheel, &setup, TWHEEL_OPEN_ONE_THREAD);
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
