/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A heartbeat is one store: a program that stores against a wheel that reads
 *
 * One timer, its word, and the rules of Documentation/words.rst. The program
 * opens a connection, stores heartbeats, closes the connection by a store, reads
 * events, uses the id for the next connection, and closes the session. It may do
 * so at any moment. The wheel finds the timer due and does what session_expired()
 * does, step by step. A read looks at the word once more, with the session's lock held. The
 * clock goes on at any time.
 *
 * What must hold: no connection is idle before the last deadline that was stored.
 * None whose end was stored is idle at all. No timer is carried on beyond what was
 * stored for this connection. Each connection that is not closed is idle in the end.
 * No word is read after the session is closed. What was stored before the time of an
 * event has counted.
 *
 * What breaks a rule:
 *
 *	WRITE_BACK	the kernel sets a word that it has used back to 0
 *	MARK		the kernel sets a mark when the timer expires. The program looks
 *			at it before each store, and not at the word after an event
 *	TWO_HALVES	a store is made in two halves
 *	LOOK_ONCE	the kernel looks at the word before the clock, and not again
 *	READ_TWICE	the word is checked, then read again and used
 *	NO_SECOND_LOOK	a read returns the event of a timer whose word is later
 *	NO_FIRST_STORE	a start leaves the word of the id's last connection there
 *	EARLY_FREE	the words are freed before callbacks have been waited for
 *
 * code session/timer.c heed_word 3909ec9c
 * code session/timer.h twheel_utimer_has_word 17260ef4
 * code session/timer.c session_expired 9ad7c576
 * code session/read.c carry_on 8c4a9366
 * code session/words.h twheel_session_words_read b1fe8536
 * accepted: a read looks at the word under the session's lock
 *
 * right
 * broken WRITE_BACK: assertion violated !(closed)
 * broken MARK: assertion violated (at>=floor)
 * broken TWO_HALVES: assertion violated (value<=floor)
 * broken LOOK_ONCE: assertion violated (((when>=at)||(value<=at))||(value==99))
 * broken READ_TWICE: assertion violated (value<=floor)
 * broken NO_SECOND_LOOK: assertion violated (at>=floor)
 * broken NO_FIRST_STORE: assertion violated ((value!=99)||closed)
 * broken EARLY_FREE: assertion violated !(freed)
 */

#define NONE	0
#define STOP	99
#define TIMEOUT	3
#define LAST	5		/* no heartbeat is later */
#define END	(LAST + TIMEOUT + 1)
#define LIVES	2

mtype = { FREE, ARMED, UNREAD };

byte now = 1;			/* the clock */
mtype state = FREE;		/* of the timer, guarded by lock */
byte deadline, expired;		/* the same */
bool due;			/* the timer's callback is on its way */
bool lock;			/* the session's */
bool closing, freed;		/* the session, its words */
bool ended;			/* all is over */
byte word = NONE;
#ifdef BROKEN_MARK
bool marked;			/* the timer has expired */
bool late;			/* a store has found the mark */
#endif

/* What the program wants. Not known to the kernel. */
byte floor;			/* not before that */
bool closed;			/* the end of this connection was stored */
byte when;			/* the time of the last store */

#define LOCK()		atomic { !lock -> lock = true }
#define UNLOCK()	lock = false

/* What the program wants changes with the store, or before the first half of it. */
inline want(value)
{
	if
	:: value == STOP -> closed = true
	:: else -> floor = value; closed = false /* unreached */
	fi
}

inline store(value)
{
#ifdef BROKEN_MARK
	late = marked;
#endif
#ifdef BROKEN_TWO_HALVES
	atomic {
		want(value);
		when = now;
		word = (word & 3) | (value & ~3)
	}
	word = value;
#else
	atomic {
		want(value);
		when = now;
		word = value
	}
#endif
}

/* TWHEEL_IOC_START with TWHEEL_START_REPLACE: it waits for a callback. */
inline start(at)
{
	atomic { !lock && !due -> lock = true };
	deadline = at;
	state = ARMED;
	UNLOCK();
}

active proctype clock()
{
	do
	:: now < END -> now++
	:: now == END -> break
	od
}

/* A look at the word, which is read once. It keeps a timer if it is after @time. */
inline heed(time)
{
	assert(!freed);
	atomic {
		value = word;
		assert(value != STOP || closed);
	}
	if
	:: value == STOP ->
		state = FREE;
		kept = true
	:: value != STOP && value > time ->
#ifdef BROKEN_READ_TWICE
		value = word;
#endif
		assert(value <= floor);
		deadline = value;
#ifdef BROKEN_WRITE_BACK
		word = NONE;
#endif
		kept = true
	:: else
	fi
}

/* The first look does not need the clock. The second one comes after it. */
inline expire()
{
	kept = false;
	heed(deadline);
	if
	:: !kept ->
		at = now;
#ifndef BROKEN_LOOK_ONCE
		heed(at)
#endif
	:: else
	fi;
	if
	:: !kept ->
#ifdef BROKEN_MARK
		marked = true;
#endif
		expired = at;
		state = UNREAD
	:: else
	fi
}

active proctype wheel()
{
	byte at, value;
	bool kept;

end:	do
	:: atomic { state == ARMED && now >= deadline && !lock -> due = true };
		/* The callback. Others may take the lock first. */
		LOCK();
		if
		:: closing -> state = FREE
		:: else -> expire()
		fi;
		due = false;
		UNLOCK()
	:: ended -> break
	od
}

#if defined(BROKEN_NO_SECOND_LOOK)
#define LATE	false
#elif defined(BROKEN_MARK)
#define LATE	late
#else
#define LATE	(value > at)
#endif

/* The lock is held. */
inline read()
{
	at = expired;
	value = word;
	assert(when >= at || value <= at || value == STOP);
	if
	:: value != STOP && LATE ->
		deadline = value;
		state = ARMED
	:: else ->
		state = FREE;
		got = true
	fi
#ifdef BROKEN_MARK
	late = false;
	marked = false
#endif
}

/* An event was read. The connection is idle, or was to be closed. */
inline look(idle)
{
	if
	:: value == STOP
	:: else ->
		assert(!closed);
		assert(at >= floor);
		idle = true
	fi
}

inline open_connection()
{
#ifdef BROKEN_NO_FIRST_STORE
	floor = now + TIMEOUT;
	closed = false;
#else
	store(now + TIMEOUT);
#endif
	start(floor)
}

inline close_session()
{
#ifdef BROKEN_EARLY_FREE
	freed = true;
#endif
	LOCK();
	closing = true;
	UNLOCK();
	/* twheel_stop_sync() */
	atomic { !due -> state = FREE };
	freed = true
}

active proctype program()
{
	byte lives = 0, at, value;
	bool idle, got;

next:	idle = false;
	open_connection();
	lives++;
	do
	:: now < LAST && !closed ->
		store(now + TIMEOUT)
	:: !closed ->
		store(STOP);
		if
		:: lives < LIVES && now < LAST -> goto next
		:: true
		fi
	:: state == UNREAD ->
		got = false;
		LOCK();
		read();
		UNLOCK();
		if
		:: got -> look(idle)
		:: !got
		fi;
		if
		:: idle && lives < LIVES && now < LAST -> goto next
		:: idle -> break
		:: !idle
		fi
	:: closed && state == FREE -> break
	:: close_session(); break
	od;
	ended = true
}
