/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The socket of a timer: who holds it, who looks at it, who lets it go
 *
 * One timer, one socket, and a session that holds the sock from START on. Data may
 * come at any time. The timer's callback, in softirq context, looks at the sock: one
 * that has received something carries the timer on; one that is closed stops it; else
 * the timer expires. The program starts the timer, stops it, reads its event, and
 * closes the session, at any moment. Another thread closes the socket.
 *
 * What must hold: nobody looks at a sock that is freed. In the end it is freed. When
 * a stop has returned the session does not hold the sock. An unread timer holds no
 * sock. A start ends once: by an event, by a stop, quietly if the socket was closed,
 * or with the session. A socket that was closed before the deadline has no event, and
 * neither has one that has received something before that.
 *
 * What breaks a rule:
 *
 *	NO_LET_GO	a timer that expires keeps the sock
 *	QUIET_KEEPS	so does one that ends quietly
 *	STOP_EXPIRING	a stop does not wait for the callback
 *	NEVER_DEAD	the callback does not look whether the socket is closed
 *	NEVER_HEARD	nor whether it has received something
 *	CLOSE_EARLY	the session does not wait for the callback, and lets go
 *	CLOSE_KEEPS	a timer that was stopped by the end of its session keeps the sock
 *
 * code session/source.c is_closed a79e3f0f
 * code session/source.c twheel_session_deadline_of bdfa4c48
 * code session/source.c twheel_session_hold_sock ca323275
 * code session/timer.h twheel_utimer_let_go a933251c
 * code session/timer.h twheel_utimer_end_quietly 93437d13
 * code session/timer.c heed_socket 1c49f126
 * code session/timer.c session_expired 7d5b9f68
 * code session/timer.c take_out a1f48b7e
 * code session/timer.c start_idle 398066f9
 * code session/open.c stop_chunk 10f84fbe
 * accepted: looks before the deadline are as one that data has carried on; holds are charged
 *
 * right
 * broken NO_LET_GO: assertion violated !(holds)
 * broken QUIET_KEEPS: assertion violated !(holds)
 * broken STOP_EXPIRING: assertion violated ( !(gone)
 * broken NEVER_DEAD: assertion violated !(too_late)
 * broken NEVER_HEARD: assertion violated !(was_heard)
 * broken CLOSE_EARLY: assertion violated (ended==started)
 * broken CLOSE_KEEPS: assertion violated (refs==0)
 */

#define STARTS	2
#define DATA	2

mtype = { FREE, WATCHING, UNREAD };

/* The session. */
bool lock;			/* s->lock */
mtype state = FREE;
bool pending;			/* the timer is in the wheel */
bool expiring;			/* its callback is on its way */
bool holds;			/* ut->sk */
bool closing, gone;

/* The socket. */
byte refs = 1;
bool dead;			/* SOCK_DEAD */
bool heard;			/* the stamp is later than the timer has seen */

/* What the program knows. */
byte started, ended;
byte data = DATA;
bool closed;			/* the socket, and close(2) has returned */
bool over;

#define FREED	(refs == 0)

#define LOCK()		atomic { !lock -> lock = true }
#define UNLOCK()	lock = false

inline let_go()
{
	atomic {
		assert(holds);
		assert(!FREED);
		holds = false;
		refs--
	}
}

inline end_start()
{
	ended++;
	assert(ended == started)
}

active proctype peer()
{
	do
	:: atomic { data > 0 && !dead -> heard = true; data-- }
	:: data > 0 && dead -> break
	:: data == 0 -> break
	od
}

/* close(2). */
active proctype closer()
{
	dead = true;
	atomic {
		assert(!FREED);
		refs--;
		closed = true
	}
}

inline end_quietly()
{
	end_start();
#ifndef BROKEN_QUIET_KEEPS
	let_go();
#endif
	state = FREE
}

#ifdef BROKEN_NEVER_DEAD
#define SEEN_DEAD	false
#else
#define SEEN_DEAD	dead
#endif
#ifdef BROKEN_NEVER_HEARD
#define SEEN_HEARD	false
#else
#define SEEN_HEARD	heard
#endif

/* The callback, and the session's lock is held. */
inline expire()
{
	assert(!FREED);
	if
	:: SEEN_DEAD -> end_quietly()
	:: !SEEN_DEAD && SEEN_HEARD ->
		heard = false;
		pending = true		/* twheel_again_at() */
	:: else ->
		assert(!too_late);
		assert(!was_heard);
#ifndef BROKEN_NO_LET_GO
		let_go();
#endif
		end_start();
		state = UNREAD
	fi
}

active proctype wheel()
{
	bool too_late;			/* the socket was closed before the deadline */
	bool was_heard;			/* or had received something */

end:	do
	:: atomic {
		pending -> pending = false; expiring = true;
		too_late = dead; was_heard = heard
	   };
		LOCK();
		assert(!gone && state == WATCHING);
		expire();
		atomic { expiring = false; too_late = false; was_heard = false };
		UNLOCK()
	:: over -> break
	od
}

/* Returns with the session's lock held, and in @was what the timer was. */
inline take()
{
	atomic {
#ifdef BROKEN_STOP_EXPIRING
		!lock -> lock = true;
#else
		!lock && !expiring -> lock = true;
#endif
		was = state;
		pending = false		/* twheel_stop() */
	};
	if
	:: was == WATCHING -> end_quietly()
	:: was == UNREAD -> assert(!holds); state = FREE
	:: else
	fi;
	was = FREE
}

/* The descriptor keeps the sock until it is held. A closed socket has none. */
inline start()
{
	take();
	atomic {
		if
		:: !dead && !closed -> refs++; holds = true
		:: else
		fi
	};
	if
	:: holds ->
		atomic {
			started++;
			heard = false
		};
		state = WATCHING;
		pending = true
	:: else
	fi;
	UNLOCK()
}

inline stop()
{
	take();
	assert(!holds);
	UNLOCK()
}

inline read()
{
	LOCK();
	if
	:: state == UNREAD -> assert(!holds); state = FREE
	:: else
	fi;
	UNLOCK()
}

inline close_session()
{
	LOCK();
	closing = true;
	UNLOCK();
	/* twheel_stop_sync() */
#ifdef BROKEN_CLOSE_EARLY
	pending = false;
#else
	atomic { !expiring -> pending = false };
#endif
	gone = true;
	if
	:: state == WATCHING ->
#ifndef BROKEN_CLOSE_KEEPS
		end_quietly()
#else
		end_start()
#endif
	:: else -> assert(!holds)
	fi
}

active proctype program()
{
	mtype was;

	do
	:: started < STARTS && !dead -> start()
	:: started > 0 -> stop()
	:: state == UNREAD -> read()
	:: close_session(); break
	od;
	over = true;
	closed;
	assert(FREED);
	assert(ended == started)
}
