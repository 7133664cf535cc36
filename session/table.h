/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A session's timers by id: types, and the inlined lookup
 *
 * Each id contains the number of a timer in a table. Timers are allocated in
 * chunks of equal size: the number divided by that size is the index of the
 * chunk, and the remainder is the place of the timer there. Pages of pointers
 * lead to the chunks, and an array whose length depends on the session's limit
 * leads to the pages. With an xarray in their place, a refresh of a timer would
 * spend a quarter of its time on the lookup.
 */
#ifndef _TWHEEL_TABLE_H
#define _TWHEEL_TABLE_H

#include <linux/bits.h>
#include <linux/list.h>
#include <linux/nospec.h>
#include <linux/types.h>

#include <linux/twheel.h>
#include <uapi/linux/twheel.h>
#include "state.h"

struct twheel_session;

/**
 * struct twheel_utimer - a timer of a session
 * @asked: the timer, for a session with words: the wheel asks for the deadline
 *	in its word. Each start sets @asked.source, which overlaps with
 *	@expired_ns
 * @timer: the timer in @asked. After the expiry @timer.node.owner is the timer
 *	of the next event, so that queueing an event needs no memory
 * @expired_ns: time of the expiry, after it
 * @id: id of the timer
 * @user_data: value for its events
 * @period_ns: period, ns, or 0
 * @state: an enum twheel_utimer_state, written by twheel_set_state() only. Changes
 *	together with @free of the chunk
 * @place: place in the chunk. Constant
 * @before: id of the timer of the previous event, if there is one, in the form
 *	of twheel_events_place()
 *
 * Protected by the session's lock, except @timer.
 */
struct twheel_utimer {
	union {
		struct twheel_asked_timer asked;
		struct {
			struct twheel_timer timer;
			u64 expired_ns;
		};
	};
	u64 id;
	u64 user_data;
	u64 period_ns;
	u8 state;
	u8 place;
	u32 before;
};

/*
 * A table grows and shrinks by chunks. A chunk is aligned to its size, so that
 * the address of a timer leads to its chunk and its session. A chunk has fewer
 * than BITS_PER_LONG timers, so that the bitmap @free is a single word. With
 * lockdep the number of timers is the same, and a chunk is larger by the
 * lockdep maps of its timers.
 */
#define TWHEEL_CHUNK_ROOM	(BITS_PER_LONG * 64)
#define TWHEEL_CHUNK_SIZE	\
	(TWHEEL_CHUNK_ROOM << IS_ENABLED(CONFIG_LOCKDEP))

/* Bytes of a chunk's memory that the allocator needs for itself. */
#ifndef TWHEEL_CHUNK_SPARE
#define TWHEEL_CHUNK_SPARE	0
#endif

/**
 * struct twheel_chunk - some timers of a table
 * @session: the session. Constant
 * @table: the table. Constant
 * @partial: entry in @partial of the table, if the kernel chooses the ids
 * @free: bitmap of free timers
 * @index: place of the chunk in the table. Changes while the chunk is empty
 * @timers: the timers
 *
 * Protected by the session's lock, except constants.
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
 * struct twheel_page - a page of pointers to chunks
 * @chunks: array of pointers, or NULL. A pointer is NULL if there is no chunk.
 *	The array of a table for fewer than TWHEEL_PAGE_CHUNKS chunks is shorter
 * @used: number of chunks in @chunks
 * @first_free: no entry below this one is NULL
 */
struct twheel_page {
	struct twheel_chunk **chunks;
	u32 used;
	u32 first_free;
};

/**
 * struct twheel_table - timers by number
 * @pages: array of pages, one for each TWHEEL_PAGE_CHUNKS chunks. NULL before
 *	the first start
 * @nr_indexes: largest number of chunks
 * @empty: chunk kept when it became empty, maybe in use again, or NULL
 * @first_free: all pages below this one are full of chunks
 * @partial: list of chunks with a free timer, if the kernel chooses the ids
 */
struct twheel_table {
	struct twheel_page *pages;
	u32 nr_indexes;
	u32 first_free;
	struct twheel_chunk *empty;
	struct list_head partial;
};

/* Ids of the caller and ids of the kernel have separate tables. */
enum { TWHEEL_TABLE_CALLER, TWHEEL_TABLE_KERNEL, TWHEEL_NR_TABLES };

/* An id of the kernel has a flag, a generation and a number. */
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
 * Inverse to multiply with in place of a division. The result is exact for
 * numbers less than 2^TWHEEL_ID_NR_BITS, a limit that the compiler does not
 * know.
 */
#define TWHEEL_CHUNK_INVERSE	(BIT_ULL(32) / TWHEEL_CHUNK_TIMERS + 1)

static inline u32 twheel_index_of(u32 number)
{
	return (number * TWHEEL_CHUNK_INVERSE) >> 32;
}

/*
 * Returns the entry at @index: see struct twheel_page. Users choose @index, so
 * keep the CPU from using an invalid one speculatively.
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

/*
 * Returns the state of the timer with @id, TWHEEL_FREE if there is none. Out:
 * the timer in the place of @id, which may be free, or have another id with the
 * same number. NULL if the table has no such place now. Session's lock held.
 */
static __always_inline enum twheel_utimer_state
twheel_table_look_up(const struct twheel_table *tables, u64 id, struct twheel_utimer **place)
{
	bool kernel = id & TWHEEL_ID_KERNEL;
	u32 number = twheel_number_of(id);
	u32 index = twheel_index_of(number);
	struct twheel_chunk *chunk = twheel_table_entry(&tables[kernel], index);
	struct twheel_utimer *ut;

	*place = NULL;
	if (unlikely(!chunk))
		return TWHEEL_FREE;
	ut = &chunk->timers[number - index * TWHEEL_CHUNK_TIMERS];
	*place = ut;
	return likely(ut->id == id) ? ut->state : TWHEEL_FREE;
}

/*
 * Returns the timer in the place of @id, or NULL if the table has no such place.
 * The timer may be free, or have another id of the same number.
 */
static inline struct twheel_utimer *
twheel_table_place(const struct twheel_table *tables, u64 id)
{
	struct twheel_utimer *ut;

	twheel_table_look_up(tables, id, &ut);
	return ut;
}

/* Returns the timer with @id, or NULL if there is none. Session's lock held. */
static inline struct twheel_utimer *
twheel_table_find(const struct twheel_table *tables, u64 id)
{
	struct twheel_utimer *ut;

	return twheel_table_look_up(tables, id, &ut) == TWHEEL_FREE ? NULL : ut;
}

/*
 * Take the free timer in the place of @id. Inlined into the path of each start.
 * The caller adds it to the number of timers of the session, from which
 * twheel_table_free() subtracts it.
 */
static inline void twheel_table_take_this(struct twheel_utimer *ut, u64 id)
{
	twheel_chunk_of(ut)->free &= ~BIT(ut->place);
	ut->id = id;
}

/*
 * Iterate over chunks. The body may free its chunk. May sleep before the next.
 */
#define twheel_table_for_each(chunk, table)				\
	for (u32 __index = 0;						\
	     ((chunk) = twheel_table_first(table, &__index)); __index++)

void twheel_table_init_all(struct twheel_table *tables);
void twheel_table_destroy_all(struct twheel_session *s, struct twheel_table *tables);
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
