/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Growth of a session's table against look-ups, frees and SETUP
 *
 * A table of two pages of two chunks, which have one timer each: s->tables. Three
 * threads start and stop timers. Two of them use one id, or with KERNEL all three
 * leave it to the kernel. Memory may run out. SETUP comes once, with a smaller limit.
 *
 * Claims: a piece is put in only where there is none. A start finds room after at
 * most as many turns as others take something away, and only within the table.
 * What a start has taken is found until it is freed. No piece is touched after it
 * was freed. In the end what is counted is what there is: none is lost.
 *
 * Left out: that there are two tables, marks of events that were read, generations, the
 * session's wheel. Everything but memory is under the session's lock, and each hold
 * of it is one step. So no look-up can see a table in between, and there is no
 * access without a lock whose order would matter.
 *
 * code session/table.c set_entry c8a1a3b0
 * code session/table.c free_pointers 9e712a48
 * code session/table.c give_back_chunk df5706d3
 * code session/table.c twheel_table_take_any 94bb5d8d
 * code session/table.c free_chunk faa4b049
 * code session/table.c keep_chunk f2bf715d
 * code session/table.c twheel_table_free 70903776
 * code session/table.c insert_chunk 444171d9
 * code session/table.c next_index 341f7e86
 * code session/table.c has_room 9a53c369
 * code session/table.c what_is_missing 90291c1f
 * code session/table.c put_piece 90fc1626
 * code session/table.c free_piece c99bb131
 * code session/table.c alloc_piece 9b9788fb
 * code session/table.c twheel_table_grow 4a2b88e1
 * code session/table.c twheel_table_destroy 1d210ac8
 * code session/table.h twheel_table_entry 1b2a612a
 * code session/timer.h twheel_session_take 04880cce
 * code session/table.h twheel_table_take_this 4d94b61a
 * code session/open.c has_begun 04108918
 * code session/open.c take_tables 61f0e879
 * code session/open.c twheel_session_setup 165196d3
 * code session/timer.c start_new f879d170
 * code session/timer.c take_new 52e61378
 * code session/timer.c start_locked ead0c4ab
 * code session/timer.c twheel_session_start_locked 379450c7
 * code session/timer.c start_slowly 092e2a5f
 * accepted: IDLE takes no way past the table, and words are made as before
 *
 * right
 * right KERNEL
 * broken NO_SECOND_LOOK: assertion violated !(array)
 * broken EMPTY_KEPT: assertion violated chunk[place
 * broken HINT KERNEL: assertion violated ((array
 * broken NOT_COUNTED: assertion violated (pieces
 * broken NOT_UNCOUNTED: assertion violated (pieces
 * broken MAKING_ROOM: assertion violated !(chunk[
 */

#define PAGES	2
#define CHUNKS	2			/* of a page */
#define NONE	4

mtype = { NOTHING, ALL_PAGES, PAGE, CHUNK };

bool array;				/* table->pages */
byte nr_indexes;
byte max_timers = 4;
byte timers;
byte first_free;			/* table->first_free */
byte empty_chunk = NONE;		/* table->empty */

bool page[PAGES];			/* page->chunks */
byte used[PAGES];
byte page_free[PAGES];			/* page->first_free */
bool chunk[4];
bool taken[4];				/* the chunk's timer */

/* twheel_session_user_charge() less twheel_session_user_uncharge() */
byte pieces;
bool begun;				/* stats.started */
byte making_room;
byte done;

/* set_entry() of a chunk, and of NULL: then the page goes with its last chunk. */
inline put_chunk(at)
{
	assert(array && page[at / CHUNKS] && !chunk[at]);
	chunk[at] = true;
	used[at / CHUNKS]++
}

inline free_chunk(at)
{
	assert(array && page[at / CHUNKS] && chunk[at]);
	chunk[at] = false;
	used[at / CHUNKS]--;
#ifndef BROKEN_HINT
	if
	:: at % CHUNKS < page_free[at / CHUNKS] -> page_free[at / CHUNKS] = at % CHUNKS
	:: else
	fi;
	if
	:: at / CHUNKS < first_free -> first_free = at / CHUNKS
	:: else
	fi;
#endif
	if
	:: used[at / CHUNKS] == 0 -> page[at / CHUNKS] = false; pieces--
	:: else
	fi
}

/* The place of an id, free or not. A free one for any id. */
inline find_room(id)
{
	place = NONE;
	if
#ifdef KERNEL
	:: chunk[0] && !taken[0] -> place = 0
	:: chunk[1] && !taken[1] -> place = 1
	:: chunk[2] && !taken[2] -> place = 2
	:: chunk[3] && !taken[3] -> place = 3
#else
	:: id < nr_indexes && chunk[id] -> place = id
#endif
	:: else
	fi
}

inline what_is_missing(id)
{
	index = 0;
	find_room(id);
	if
	:: !array -> missing = ALL_PAGES
	:: array && (timers >= max_timers || place != NONE) -> missing = NOTHING
	:: else ->
		if
#ifndef KERNEL
		:: index = id
#else
		:: true ->
			do
			:: first_free < PAGES && used[first_free] == CHUNKS ->
				first_free++
			:: else -> break
			od;
			assert(first_free < PAGES);
			do
			:: used[first_free] > 0 && page_free[first_free] < CHUNKS &&
			   chunk[first_free * CHUNKS + page_free[first_free]] ->
				page_free[first_free]++
			:: else -> break
			od;
			index = first_free * CHUNKS + page_free[first_free]
#endif
		fi;
		assert(index < nr_indexes);
		missing = (page[index / CHUNKS] -> CHUNK : PAGE)
	fi;
	place = NONE
}

/* Sets @failed if there is no memory. */
inline grow(id)
{
	atomic {
		what_is_missing(id);
		before = missing;
		if
		:: before == PAGE || before == CHUNK -> pieces++
		:: else
		fi;
		room = max_timers;
		at = index
	};
	if
	:: before != NOTHING -> failed = false
	:: before != NOTHING -> failed = true
	:: before == NOTHING
	fi;
	atomic {
		used_it = false;
		if
		:: before != NOTHING && !failed ->
#ifdef BROKEN_NO_SECOND_LOOK
			index = at;
			missing = before;
#else
			what_is_missing(id);
#endif
			if
			:: missing == before ->
				used_it = true;
				if
				:: missing == ALL_PAGES ->
					assert(!array);
					array = true;
					nr_indexes = room
				:: missing == PAGE ->
					assert(!page[index / CHUNKS]);
					page[index / CHUNKS] = true;
					used[index / CHUNKS] = 0
				:: missing == CHUNK -> put_chunk(index)
				fi
			:: else
			fi
		:: else
		fi;
#ifndef BROKEN_NOT_UNCOUNTED
		if
		:: !used_it && (before == PAGE || before == CHUNK) -> pieces--
		:: else
		fi;
#endif
		before = 0; missing = 0; used_it = false; at = 0; room = 0; index = 0
	}
}

/* Sets @got to the timer, or NONE. */
inline start(id)
{
	failed = false;
	got = NONE;
again:	atomic {
		find_room(id);
#ifndef KERNEL
		if
		:: id >= max_timers -> goto out			/* -EINVAL */
		:: place != NONE && taken[place] -> goto out	/* a restart */
		:: else
		fi;
#endif
		if
		:: failed || timers >= max_timers -> goto out
		:: else
		fi;
		if
		:: place != NONE ->
			got = place;
			taken[got] = true;
			timers++;
			begun = true;
			goto out
		:: else
		fi;
		if
		:: !waits -> waits = true; making_room++
		:: else
		fi
	};
	grow(id);
	goto again;
out:	atomic {
		place = NONE;
		making_room = making_room - waits;
		waits = false;
		failed = false
	}
}

/* twheel_table_free() of @got */
inline stop()
{
	atomic {
		if
		:: got != NONE ->
			assert(array && page[got / CHUNKS] && chunk[got] && taken[got]);
			taken[got] = false;
			timers--;
			/* keep_chunk() */
			place = empty_chunk;
			empty_chunk = got;
			if
			:: place != NONE && place != got ->
				assert(chunk[place]);
				if
				:: !taken[place] ->
					free_chunk(place);
#ifndef BROKEN_NOT_COUNTED
					pieces--
#endif
				:: else
				fi
			:: else
			fi;
#ifdef BROKEN_EMPTY_KEPT
			if
			:: place != NONE -> empty_chunk = place
			:: else
			fi;
#endif
			place = NONE;
			got = NONE
		:: else
		fi
	}
}

proctype thread(byte id; byte calls)
{
	byte index, place, got, at, room;
	mtype missing, before;
	bool failed, used_it, waits;

	place = NONE;
	do
	:: calls > 0 ->
		calls--;
		start(id);
		stop()
	:: calls == 0 -> break
	od;
	done++
}

/* twheel_session_setup(): with its own lock, as all of these steps. */
proctype setup()
{
	byte i;

	atomic {
		if
#ifdef BROKEN_MAKING_ROOM
		:: !begun ->
#else
		:: !begun && making_room == 0 ->
#endif
			/* take_tables(), twheel_table_destroy() */
			i = 0;
			do
			:: i < 4 ->
				/* A start that put one in has also taken it. */
				assert(!chunk[i]);
				i++
			:: i == 4 -> break
			od;
			i = 0;
			do
			:: i < PAGES ->
				if
				:: page[i] -> page[i] = false; pieces--
				:: else
				fi;
				used[i] = 0;
				page_free[i] = 0;
				i++
			:: i == PAGES -> break
			od;
			array = false;
			nr_indexes = 0;
			first_free = 0;
			empty_chunk = NONE;
			max_timers = 3
		:: else
		fi
	};
	done++
}

init {
	atomic {
#ifdef KERNEL
		run thread(NONE, 2);
		run thread(NONE, 2);
		run thread(NONE, 1);
#else
		run thread(0, 2);
		run thread(0, 1);
		run thread(2, 2);
#endif
		run setup()
	};
	done == 4;
	assert(pieces == page[0] + page[1] + chunk[0] + chunk[1] + chunk[2] + chunk[3]);
	assert(timers == 0 && making_room == 0)
}
