/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A session's timers by id: the types, and the look-up, which is inlined
 *
 * An id is a number, a number is a chunk and a place in it. Chunks are found
 * through pages of pointers, and the pages through an array that is as long
 * as the session's limit asks for. An xarray did the same in 122 instructions
 * where this takes 14, of about 500 for a whole refresh. That is the reason
 * for having it.
 */
#ifndef _TWHEEL_TABLE_H
#define _TWHEEL_TABLE_H

#include <linux/bits.h>
#include <linux/list.h>
#include <linux/nospec.h>
#include <linux/types.h>

#include <linux/twheel.h>
#include <uapi/linux/twheel.h>

struct sock;
struct twheel_session;

/**
 * enum twheel_utimer_state - what a place of the table holds
 * @TWHEEL_FREE: nothing
 * @TWHEEL_ARMED: a timer that is pending, or whose callback is about to run
 * @TWHEEL_WATCHING: the same of a timer with a socket
 * @TWHEEL_UNREAD: a timer that has expired. It is in the session's queue of
 *	events
 * @TWHEEL_ENDED: the same of a timer that is not armed again when its event is read:
 *	one that was stopped since, or had a socket
 */
enum twheel_utimer_state {
	TWHEEL_FREE,
	TWHEEL_ARMED,
	TWHEEL_WATCHING,
	TWHEEL_UNREAD,
	TWHEEL_ENDED,
};

/**
 * struct twheel_utimer - a timer of a session
 * @timer: the timer. Once it has expired @timer.node.link.prev is the timer of
 *	the event after it, so that queueing an event needs no memory
 * @id: its id
 * @user_data: for the events
 * @period_ns: 0 or the period, ns
 * @sk: in its place, while it is watching: its socket, held
 * @expired_ns: when it has expired, once it has
 * @slack_ns: before that, by how much later it may be due
 * @idle_ns: or, while it is watching, how long @sk may receive nothing
 * @state: an enum twheel_utimer_state. In step with @free of the chunk
 * @place: its place in the chunk. Constant
 * @looks: while it is watching: looks at @sk that are left before the deadline
 * @before: the timer of the event before it, as twheel_events_place() has it.
 *	Only if there is one
 * @stamp: in its place, while it is watching: TCP's stamp of the last data that
 *	counts in its deadline. One less while more data may arrive with the same stamp
 *
 * All but @timer is guarded by the session's lock.
 */
struct twheel_utimer {
	struct twheel_timer timer;
	u64 id;
	u64 user_data;
	union {
		u64 period_ns;
		struct sock *sk;
	};
	union {
		u64 expired_ns;
		u64 slack_ns;
		u64 idle_ns;
	};
	u8 state;
	u8 place;
	u16 looks;
	union {
		u32 before;
		u32 stamp;
	};
};

/*
 * A table grows and shrinks by chunks. A chunk is aligned to its size, so that
 * a timer finds its chunk, and so its session, by its address. It has fewer
 * than BITS_PER_LONG timers, so that a word has a bit for each. Lockdep's part of a
 * timer comes on top, and does not change how many there are.
 */
#define TWHEEL_CHUNK_ROOM	(BITS_PER_LONG * 64)
#define TWHEEL_CHUNK_SIZE	\
	(TWHEEL_CHUNK_ROOM << IS_ENABLED(CONFIG_LOCKDEP))

/* Bytes of a chunk that its allocator needs. */
#ifndef TWHEEL_CHUNK_SPARE
#define TWHEEL_CHUNK_SPARE	0
#endif

/**
 * struct twheel_chunk - a piece of a table
 * @session: whose it is. Constant
 * @table: the table that it belongs to. Constant
 * @partial: in the table's list of chunks with a free timer. Kernel's numbers
 *	only
 * @free: a bit for each free timer
 * @index: its place in the table. Constant
 * @timers: the timers
 *
 * Guarded by the session's lock, where not constant.
 */
struct twheel_chunk {
	struct twheel_session *session;
	struct twheel_table *table;
	struct list_head partial;
	unsigned long free;
	u32 index;
	struct twheel_utimer timers[];
};

#define TWHEEL_CHUNK_TIMERS						\
	((u32)((TWHEEL_CHUNK_ROOM - TWHEEL_CHUNK_SPARE -		\
		sizeof(struct twheel_chunk)) /				\
	       (sizeof(struct twheel_utimer) - sizeof(struct lockdep_map))))
#define TWHEEL_CHUNK_FULL	(BIT(TWHEEL_CHUNK_TIMERS) - 1)

/* Chunks per page of pointers. */
#define TWHEEL_PAGE_BITS	9
#define TWHEEL_PAGE_CHUNKS	BIT(TWHEEL_PAGE_BITS)

/**
 * struct twheel_page - where a page of pointers to chunks is
 * @chunks: the page, or NULL. An entry is a chunk or NULL
 * @used: entries that are not NULL
 * @first_free: no entry below this one is NULL
 */
struct twheel_page {
	struct twheel_chunk **chunks;
	u32 used;
	u32 first_free;
};

/**
 * struct twheel_table - timers by number
 * @pages: one for each TWHEEL_PAGE_CHUNKS chunks. NULL before the first start
 * @nr_indexes: chunks that there may be
 * @empty: a chunk that is kept empty, and may have been used since, or NULL
 * @first_free: no page below this one has an entry that is NULL
 * @partial: chunks with a free timer. Kernel's numbers only
 */
struct twheel_table {
	struct twheel_page *pages;
	u32 nr_indexes;
	u32 first_free;
	struct twheel_chunk *empty;
	struct list_head partial;
};

/* The caller's ids and the kernel's are two tables: they never meet. */
enum { TWHEEL_TABLE_CALLER, TWHEEL_TABLE_KERNEL, TWHEEL_NR_TABLES };

/* Ids of the kernel's choice: the flag, the generation, the number. */
#define TWHEEL_ID_NR_BITS	25
#define TWHEEL_ID_NR_MASK	(BIT_ULL(TWHEEL_ID_NR_BITS) - 1)
#define TWHEEL_ID_GEN_MASK	(BIT_ULL(63 - TWHEEL_ID_NR_BITS) - 1)
#define TWHEEL_TIMERS_MAX	((u32)BIT(24))

static inline struct twheel_chunk *twheel_chunk_of(struct twheel_utimer *ut)
{
	return (void *)((unsigned long)ut & ~(TWHEEL_CHUNK_SIZE - 1UL));
}

static inline u32 twheel_number_of(u64 id)
{
	return id & TWHEEL_ID_KERNEL ? id & TWHEEL_ID_NR_MASK : id;
}

/*
 * Numbers are less than 2^TWHEEL_ID_NR_BITS, for which one multiplication
 * divides exactly. A compiler that does not know takes five instructions more.
 */
#define TWHEEL_CHUNK_INVERSE	(BIT_ULL(32) / TWHEEL_CHUNK_TIMERS + 1)

static inline u32 twheel_index_of(u32 number)
{
	return (number * TWHEEL_CHUNK_INVERSE) >> 32;
}

/*
 * The entry at @index: see struct twheel_page. A user chooses @index: a CPU must
 * not go on with one that is out of range while it guesses.
 */
static inline struct twheel_chunk *
twheel_table_entry(const struct twheel_table *table, u32 index)
{
	const struct twheel_page *page;

	if (unlikely(index >= table->nr_indexes))
		return NULL;
	index = array_index_nospec(index, table->nr_indexes);
	page = &table->pages[index >> TWHEEL_PAGE_BITS];
	if (unlikely(!page->chunks))
		return NULL;
	return page->chunks[index & (TWHEEL_PAGE_CHUNKS - 1)];
}

/**
 * twheel_table_place - the place of an id
 * @tables: the session's tables
 * @id: the id
 *
 * Context: Session's lock held.
 * Return: the timer in its place, free or not, maybe with another id of the
 * same number. NULL if there is no such place now.
 */
static inline struct twheel_utimer *
twheel_table_place(const struct twheel_table *tables, u64 id)
{
	bool kernel = id & TWHEEL_ID_KERNEL;
	u32 number = twheel_number_of(id);
	u32 index = twheel_index_of(number);
	struct twheel_chunk *chunk = twheel_table_entry(&tables[kernel], index);

	if (unlikely(!chunk))
		return NULL;
	return &chunk->timers[number - index * TWHEEL_CHUNK_TIMERS];
}

/**
 * twheel_table_find - look for a timer
 * @tables: the session's tables
 * @id: its id
 *
 * Context: Session's lock held.
 * Return: the timer, which is not free, or NULL.
 */
static inline struct twheel_utimer *
twheel_table_find(const struct twheel_table *tables, u64 id)
{
	struct twheel_utimer *ut = twheel_table_place(tables, id);

	if (unlikely(!ut || ut->state == TWHEEL_FREE))
		return NULL;
	return likely(ut->id == id) ? ut : NULL;
}

/**
 * twheel_table_take_this - take a free timer in a place of the table
 * @ut: the timer
 * @id: its id, whose place that is
 *
 * Inlined, as it is in the path of each start. The caller counts the timer in
 * the session, which twheel_table_free() undoes.
 *
 * Context: Session's lock held.
 */
static inline void twheel_table_take_this(struct twheel_utimer *ut, u64 id)
{
	twheel_chunk_of(ut)->free &= ~BIT(ut->place);
	ut->id = id;
}

/**
 * twheel_table_for_each - all chunks of a table that only the caller uses
 * @chunk: the chunk, which may be freed
 * @table: the table
 *
 * Context: Process, may sleep between two chunks.
 */
#define twheel_table_for_each(chunk, table)				\
	for (u32 __index = 0;						\
	     ((chunk) = twheel_table_first(table, &__index)); __index++)

void twheel_table_init(struct twheel_table *table);
void twheel_table_destroy(struct twheel_session *s, struct twheel_table *table);
struct twheel_chunk *twheel_table_next(const struct twheel_table *table,
				       u32 *index);
struct twheel_chunk *twheel_table_first(const struct twheel_table *table,
					u32 *index);
struct twheel_utimer *twheel_table_take_any(struct twheel_session *s);
void twheel_table_free(struct twheel_utimer *ut);
int twheel_table_grow(struct twheel_session *s, u64 id, twheel_fn fn);
int twheel_table_cache_init(void);
void twheel_table_cache_exit(void);

#endif /* _TWHEEL_TABLE_H */
