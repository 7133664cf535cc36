// SPDX-License-Identifier: GPL-2.0 OR MIT
/**
 * DOC: A session's timers by id
 *
 * The table consists of chunks of timers, and needs no nodes of its own: a
 * timer takes only its structure, and a share of its chunk's header. Chunks
 * come from a cache that is charged to the caller's memory cgroup. They are
 * allocated one at a time, and freed with their last timer. One empty chunk is
 * kept, and moves to where a chunk is needed next. Otherwise a session that has
 * one timer at a time would allocate each time.
 *
 * There are two tables: one for numbers chosen by the caller, and one for
 * numbers chosen by the kernel. An id of the latter has a generation, which
 * tells successive timers with the same number apart.
 *
 * All functions run under the session's lock, except those that grow or destroy
 * a table, which may sleep. Growing allocates one missing piece at a time, and
 * installs it under the lock if it is still missing. The caller then tries
 * again.
 */
#include <linux/bitops.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "session.h"

static struct kmem_cache *chunk_cache;

static struct twheel_table *table_of(struct twheel_session *s, u64 id)
{
	return &s->tables[id & TWHEEL_ID_KERNEL ? TWHEEL_TABLE_KERNEL :
						  TWHEEL_TABLE_CALLER];
}

static bool is_kernels(const struct twheel_table *table,
		       const struct twheel_session *s)
{
	return table == &s->tables[TWHEEL_TABLE_KERNEL];
}

static struct twheel_page *page_of(const struct twheel_table *table, u32 index)
{
	return &table->pages[index >> TWHEEL_PAGE_BITS];
}

/* The pieces of a table: the array of its pages, a page, a chunk. */
enum piece { NOTHING, PAGES, PAGE, CHUNK };

/*
 * Returns whether @what is charged to the user. The array of pages is not: a
 * table has only one, for any number of timers.
 */
static bool is_counted(enum piece what)
{
	return what == PAGE || what == CHUNK;
}

/* Free @piece and uncharge it. With NULL, after a failed allocation: only uncharge. */
static void free_piece(struct twheel_session *s, enum piece what, void *piece)
{
	if (what == CHUNK && piece)
		kmem_cache_free(chunk_cache, piece);
	else if (what == PAGES)
		kvfree(piece);
	else
		kfree(piece);
	if (is_counted(what))
		twheel_session_user_uncharge(s->user, TWHEEL_COUNT_PIECES);
}

static void set_entry(struct twheel_session *s, struct twheel_table *table,
		      u32 index, struct twheel_chunk *entry)
{
	struct twheel_page *page = page_of(table, index);
	struct twheel_chunk **slot = &page->chunks[index & (TWHEEL_PAGE_CHUNKS - 1)];

	page->used += !!entry - !!*slot;
	*slot = entry;
	if (!entry) {
		page->first_free = min_t(u32, page->first_free,
					 slot - page->chunks);
		table->first_free = min_t(u32, table->first_free,
					  page - table->pages);
	}
	if (!page->used) {
		free_piece(s, PAGE, page->chunks);
		page->chunks = NULL;
	}
}

void twheel_table_init_all(struct twheel_table *tables)
{
	int i;

	for (i = 0; i < TWHEEL_NR_TABLES; i++) {
		tables[i] = (struct twheel_table) {};
		INIT_LIST_HEAD(&tables[i].partial);
	}
}

/*
 * Returns the first chunk at or after *@index, a valid place, and sets *@index
 * to it. Searches at most one page of pointers, so that callers may hold the
 * session's lock even if the table is sparse. Returns NULL if the page has no
 * such chunk, with *@index at the next page.
 */
struct twheel_chunk *twheel_table_next(const struct twheel_table *table,
				       u32 *index)
{
	u32 end = min_t(u32, (*index | (TWHEEL_PAGE_CHUNKS - 1)) + 1,
			table->nr_indexes);

	if (page_of(table, *index)->chunks) {
		for (; *index < end; ++*index) {
			struct twheel_chunk *chunk;

			chunk = twheel_table_entry(table, *index);
			if (chunk)
				return chunk;
		}
	}
	*index = end;
	return NULL;
}

/*
 * Like twheel_table_next(), but searches to the end of the table. May sleep, so
 * only for tables that no one else uses.
 */
struct twheel_chunk *twheel_table_first(const struct twheel_table *table,
					u32 *index)
{
	struct twheel_chunk *chunk = NULL;

	while (!chunk && *index < table->nr_indexes) {
		chunk = twheel_table_next(table, index);
		cond_resched();
	}
	return chunk;
}

/* Free tables that no one else uses. May sleep. */
void twheel_table_destroy_all(struct twheel_session *s, struct twheel_table *tables)
{
	struct twheel_table *table;
	struct twheel_chunk *chunk;
	u32 index;

	for (table = tables; table < tables + TWHEEL_NR_TABLES; table++) {
		twheel_table_for_each(chunk, table)
			free_piece(s, CHUNK, chunk);
		for (index = 0; index < table->nr_indexes; index += TWHEEL_PAGE_CHUNKS)
			if (page_of(table, index)->chunks)
				free_piece(s, PAGE, page_of(table, index)->chunks);
		free_piece(s, PAGES, table->pages);
	}
}

/*
 * Take a free timer with an id of the kernel's choice. The caller adds it to
 * @s->timers. Returns NULL if no timer is free: the caller then calls
 * twheel_table_grow(), and tries again.
 */
struct twheel_utimer *twheel_table_take_any(struct twheel_session *s)
{
	struct twheel_table *table = &s->tables[TWHEEL_TABLE_KERNEL];
	struct twheel_chunk *chunk;
	struct twheel_utimer *ut;
	u64 number;
	u32 place;

	chunk = list_first_entry_or_null(&table->partial, struct twheel_chunk,
					 partial);
	if (!chunk)
		return NULL;
	place = __ffs(chunk->free);
	if (chunk->free == BIT(place))
		list_del_init(&chunk->partial);
	number = chunk->index * TWHEEL_CHUNK_TIMERS + place;
	s->generation = (s->generation + 1) & TWHEEL_ID_GEN_MASK;
	ut = &chunk->timers[place];
	twheel_table_take_this(ut, TWHEEL_ID_KERNEL |
			       s->generation << TWHEEL_ID_NR_BITS | number);
	return ut;
}

static noinline void free_chunk(struct twheel_chunk *chunk)
{
	struct twheel_session *s = chunk->session;
	struct twheel_table *table = chunk->table;

	if (is_kernels(table, s))
		list_del(&chunk->partial);
	set_entry(s, table, chunk->index, NULL);
	free_piece(s, CHUNK, chunk);
}

/*
 * Keep a chunk that became empty if no other empty chunk is kept, otherwise
 * free it. If timers are stopped in the order of their starts, the oldest chunk
 * is kept, so that malloc() of a session in a process can return the memory
 * above it. Rare.
 */
static noinline void keep_chunk(struct twheel_chunk *chunk)
{
	struct twheel_table *table = chunk->table;

	/* The kept chunk may be in use again. */
	if (table->empty && table->empty != chunk && table->empty->free == TWHEEL_CHUNK_FULL)
		free_chunk(chunk);
	else
		table->empty = chunk;
}

static noinline void add_partial(struct twheel_chunk *chunk)
{
	list_add(&chunk->partial, &chunk->table->partial);
}

/* Give back the place of a timer whose state became TWHEEL_FREE. */
void twheel_table_free(struct twheel_utimer *ut)
{
	struct twheel_chunk *chunk = twheel_chunk_of(ut);
	unsigned long free = chunk->free;

	chunk->session->timers--;
	chunk->free = free | BIT(ut->place);
	/*
	 * The kernel takes its ids from a list of chunks with free timers: add
	 * a chunk that was full. For ids that callers choose there is no list.
	 */
	if (unlikely(!free)) {
		if (is_kernels(chunk->table, chunk->session))
			add_partial(chunk);
	} else if (unlikely(chunk->free == TWHEEL_CHUNK_FULL)) {
		keep_chunk(chunk);
	}
}

/* Growing */

/*
 * Returns the number of chunks for @s->max_timers timers. @max_timers does not
 * change while a table grows: see @nr_unlocked.
 */
static u32 nr_indexes_of(const struct twheel_session *s)
{
	return DIV_ROUND_UP(s->max_timers, TWHEEL_CHUNK_TIMERS);
}

static struct twheel_chunk *alloc_chunk(struct twheel_session *s,
					struct twheel_table *table,
					twheel_fn fn)
{
	struct twheel_chunk *chunk = kmem_cache_alloc(chunk_cache, GFP_SESSION);
	u32 i;

	if (!chunk)
		return NULL;
	chunk->session = s;
	chunk->table = table;
	chunk->free = TWHEEL_CHUNK_FULL;
	for (i = 0; i < TWHEEL_CHUNK_TIMERS; i++) {
		twheel_timer_setup(&chunk->timers[i].timer, s->wheel, fn, 0);
		twheel_set_state(&chunk->timers[i].state,
				 twheel_step(TWHEEL_SET_STATE, TWHEEL_FREE, 0));
		chunk->timers[i].place = i;
		/* Lookups compare this field first. No timer has this id. */
		chunk->timers[i].id = TWHEEL_ID_ANY;
	}
	return chunk;
}

/*
 * Returns the index of the chunk to add for @id. For TWHEEL_ID_ANY a free index
 * exists: all chunks of the kernel's table are full, but the session is below
 * its limit. The session's lock is held, so search for a page that is not full,
 * and then in that page: for four million timers, at most 182 pages and 512
 * entries are visited in place of 93,000 entries.
 */
static u32 next_index(struct twheel_table *table, u64 id)
{
	struct twheel_page *page;

	if (id != TWHEEL_ID_ANY)
		return twheel_index_of(twheel_number_of(id));
	while (table->pages[table->first_free].used == TWHEEL_PAGE_CHUNKS)
		table->first_free++;
	page = &table->pages[table->first_free];
	while (page->used && page->chunks[page->first_free])
		page->first_free++;
	return table->first_free * TWHEEL_PAGE_CHUNKS + page->first_free;
}

static enum piece what_is_missing(struct twheel_session *s, u64 id, u32 *index)
{
	struct twheel_table *table = table_of(s, id);

	lockdep_assert_held(&s->lock);
	if (!table->pages)
		return PAGES;
	/*
	 * While the lock was released, another thread may have filled the
	 * session, or made room in it.
	 */
	if (s->timers >= s->max_timers ||
	    (id == TWHEEL_ID_ANY ? !list_empty(&table->partial) :
				   !!twheel_table_place(s->tables, id)))
		return NOTHING;
	*index = next_index(table, id);
	return page_of(table, *index)->chunks ? CHUNK : PAGE;
}

/* Install @piece if it is still missing. Returns false if it was not used. */
static bool put_piece(struct twheel_session *s, u64 id, enum piece what, void *piece)
{
	struct twheel_table *table = table_of(s, id);
	struct twheel_chunk *chunk = piece;
	u32 index;

	if (what_is_missing(s, id, &index) != what)
		return false;
	switch (what) {
	case NOTHING:
		return false;
	case PAGES:
		table->pages = piece;
		table->nr_indexes = nr_indexes_of(s);
		break;
	case PAGE:
		page_of(table, index)->chunks = piece;
		break;
	case CHUNK:
		chunk->index = index;
		set_entry(s, table, index, chunk);
		if (is_kernels(table, s))
			list_add(&chunk->partial, &table->partial);
		break;
	}
	return true;
}

/* Move the empty chunk that is kept to @index. Returns false if none is kept. */
static bool move_kept_chunk(struct twheel_session *s, struct twheel_table *table, u32 index)
{
	struct twheel_chunk *chunk = table->empty;
	u32 old;

	if (!chunk || chunk->free != TWHEEL_CHUNK_FULL)
		return false;
	old = chunk->index;
	chunk->index = index;
	/*
	 * In this order, because set_entry() frees a page when it becomes
	 * empty, and both indexes may be in one page.
	 */
	set_entry(s, table, index, chunk);
	set_entry(s, table, old, NULL);
	return true;
}

/*
 * Allocate one piece of the table that is missing for @id. @fn is the callback
 * of the timers in a new chunk. Called without the session's lock. May sleep.
 * Returns 0 to try again, -ENOSPC at a limit of the user, or -ENOMEM.
 */
int twheel_table_grow(struct twheel_session *s, u64 id, twheel_fn fn)
{
	enum piece missing;
	void *piece;
	u32 index;
	bool used;
	int ret;

	spin_lock_bh(&s->lock);
	missing = what_is_missing(s, id, &index);
	if (missing == CHUNK && move_kept_chunk(s, table_of(s, id), index))
		missing = NOTHING;
	spin_unlock_bh(&s->lock);
	if (missing == NOTHING)
		return 0;
	ret = is_counted(missing) ?
	      twheel_session_user_charge(s->user, TWHEEL_COUNT_PIECES,
					 s->unlimited) : 0;
	if (ret)
		return ret;
	if (missing == PAGES)
		piece = kvcalloc(DIV_ROUND_UP(nr_indexes_of(s), TWHEEL_PAGE_CHUNKS),
				 sizeof(struct twheel_page), GFP_SESSION);
	else if (missing == PAGE)
		/* A session with few timers pays for few pointers, and not for 4 KiB of them. */
		piece = kcalloc(min_t(u32, TWHEEL_PAGE_CHUNKS, nr_indexes_of(s)),
				sizeof(void *), GFP_SESSION);
	else
		piece = alloc_chunk(s, table_of(s, id), fn);
	spin_lock_bh(&s->lock);
	used = piece && put_piece(s, id, missing, piece);
	spin_unlock_bh(&s->lock);
	if (!used)
		free_piece(s, missing, piece);
	return piece ? 0 : -ENOMEM;
}

int twheel_table_cache_init(void)
{
	BUILD_BUG_ON(TWHEEL_CHUNK_TIMERS >= BITS_PER_LONG);
	BUILD_BUG_ON(TWHEEL_CHUNK_INVERSE * TWHEEL_CHUNK_TIMERS - BIT_ULL(32) >
		     BIT(32 - TWHEEL_ID_NR_BITS));
	BUILD_BUG_ON(TWHEEL_TIMERS_MAX + TWHEEL_CHUNK_TIMERS >
		     TWHEEL_ID_NR_MASK);
	BUILD_BUG_ON(sizeof(struct twheel_chunk) + TWHEEL_CHUNK_TIMERS *
		     sizeof(struct twheel_utimer) > TWHEEL_CHUNK_SIZE);
	BUILD_BUG_ON(sizeof(struct twheel_timer) >
		     48 + sizeof(struct lockdep_map));
	BUILD_BUG_ON(sizeof(struct twheel_node) > 32);
	chunk_cache = kmem_cache_create("twheel_chunk", TWHEEL_CHUNK_SIZE,
					TWHEEL_CHUNK_SIZE, SLAB_ACCOUNT, NULL);
	return chunk_cache ? 0 : -ENOMEM;
}

void twheel_table_cache_exit(void)
{
	kmem_cache_destroy(chunk_cache);
}
