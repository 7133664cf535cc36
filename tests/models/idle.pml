/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The socket of a timer: who holds it, who shuts it down, who lets it go
 *
 * One timer, one socket, and a session that holds the sock from START on. Data may
 * come at any time. The timer's callback, in softirq context, looks at the sock: one
 * that has received something carries the timer on; one that is closed stops it; else
 * the timer expires, or is put into a list for the session's work. The work takes the
 * socket's lock, if nobody has it, looks again, shuts the socket down, and starts the
 * timer so that it expires. The program starts the timer, stops it, reads its event,
 * and closes the session, at any moment. Another thread locks the socket, and closes
 * it.
 *
 * What must hold: nobody looks at a sock that is freed. In the end it is freed. When
 * a stop has returned the session does not hold the sock, and shuts nothing down; one
 * that says that the timer was pending has come before the shutdown. An unread timer
 * holds no sock. A start ends once: by an event, by a stop, quietly if that was asked
 * for or the socket was closed, or with the session. A socket that was closed before
 * the deadline has no event. None is shut down that is closed, or that has received
 * something after the callback has looked.
 *
 * What breaks a rule:
 *
 *	NO_LET_GO	a timer that expires keeps the sock
 *	QUIET_KEEPS	so does one that ends quietly
 *	PUT_EARLY	the callback puts the sock, and then the work uses it
 *	STOP_LISTED	a stop leaves the timer in the list
 *	STOP_UNDER_WAY	a stop does not wait for an action that is under way
 *	STOP_ACTED	a stop takes out a timer whose action is done
 *	NO_DEAD		the work does not look whether the socket is closed
 *	NEVER_DEAD	nor does the callback
 *	LOOK_ONCE	the work does not look at the stamp again
 *	CLOSE_EARLY	the session is freed while its work runs
 *
 * code session/watch.c is_closed a79e3f0f
 * code session/watch.c twheel_session_watch_look bdfa4c48
 * code session/watch.c try_lock_sock 1f9d87ea
 * code session/watch.c act_locked 63cd0d7f
 * code session/watch.c act a537c305
 * code session/watch.c do_actions c0bbf5ca
 * code session/watch.c twheel_session_watch_act bf009de2
 * code session/watch.c twheel_session_watch_end_actions 03aeec27
 * code session/watch.c hold_sock 90922577
 * code session/watch.c twheel_session_watch_let_go d70d6983
 * code session/watch.c twheel_session_watch_free 9b97af0b
 * code session/timer.c heed_socket a27633d4
 * code session/timer.c watched_expired d60673c1
 * code session/timer.c session_acted a154bc70
 * code session/timer.c twheel_session_end_watch 0b22b57a
 * code session/timer.c take_armed 366aaef2
 * code session/timer.c twheel_session_stop_watched dd730436
 * code session/timer.c take_watched 168f3353
 * code session/timer.c start_watched 2c20ce81
 *
 * right
 * broken NO_LET_GO: assertion violated !(holds)
 * broken QUIET_KEEPS: assertion violated (refs==0)
 * broken PUT_EARLY: assertion violated !((refs==0))
 * broken STOP_LISTED: assertion violated !((refs==0))
 * broken STOP_UNDER_WAY: assertion violated (state==
 * broken STOP_ACTED: assertion violated !(shut)
 * broken NO_DEAD: assertion violated !(dead)
 * broken NEVER_DEAD: assertion violated (acted||!(too_late))
 * broken LOOK_ONCE: assertion violated !(heard)
 * broken CLOSE_EARLY: assertion violated (state==
 */

#define STARTS	2
#define DATA	2

mtype = { FREE, WATCHING, DUE, UNREAD };

/* The session. */
bool lock;			/* s->lock */
mtype state = FREE;
bool pending;			/* the timer is in the wheel */
bool expiring;			/* its callback is on its way */
bool action, quiet;		/* watch->flags */
bool holds;			/* watch->sk */
bool acted;			/* watch->acted */
bool listed;			/* watch->due is in a list */
bool queued, running;		/* the work */
bool closing, gone;

/* The socket. */
byte refs = 1;
bool owned;			/* its lock */
bool dead;			/* SOCK_DEAD */
bool heard;			/* the stamp is later than the timer has seen */

/* What the program knows. */
byte started, ended;
bool shut;			/* by this start */
bool stopped;			/* after a stop, until the next start */
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
	:: atomic { data > 0 && !dead && !owned -> heard = true; data-- }
	:: data > 0 && dead -> break
	:: data == 0 -> break
	od
}

/* A call that has the socket's lock for a while, and close(2). */
active proctype closer()
{
	if
	:: atomic { !owned -> owned = true }; owned = false
	:: true
	fi;
	atomic { !owned -> owned = true };
	dead = true;
	atomic {
		owned = false;
		assert(!FREED);
		refs--;
		closed = true
	}
}

inline end_quietly()
{
	end_start();
#ifdef BROKEN_QUIET_KEEPS
	holds = false;
#else
	let_go();
#endif
	state = FREE
}

#ifdef BROKEN_NEVER_DEAD
#define SEEN_DEAD	false
#else
#define SEEN_DEAD	dead
#endif

/* The callback, and the session's lock is held. */
inline expire()
{
	assert(!FREED);
	if
	:: !acted && SEEN_DEAD -> end_quietly()
	:: !acted && !SEEN_DEAD && heard ->
		heard = false;
		pending = true		/* twheel_again_at() */
	:: !acted && !SEEN_DEAD && !heard && action ->
#ifdef BROKEN_PUT_EARLY
		let_go();
#endif
		state = DUE;
		listed = true;
		queued = true
	:: else ->
		assert(acted || !too_late);
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

end:	do
	:: atomic { pending -> pending = false; expiring = true; too_late = dead };
		LOCK();
		assert(!gone && state == WATCHING);
		if
		:: closing		/* nobody hears of it */
		:: !closing -> expire()
		fi;
		expiring = false;
		UNLOCK()
	:: over -> break
	od
}

#ifdef BROKEN_NO_DEAD
#define STILL_SILENT	(!heard)
#elif defined(BROKEN_LOOK_ONCE)
#define STILL_SILENT	(!dead)
#else
#define STILL_SILENT	(!dead && !heard)
#endif

/* The socket's lock is held, and not the session's. */
inline act()
{
	assert(!FREED);
	now_dead = dead;
	if
	:: STILL_SILENT ->
		assert(!dead);
		assert(!heard);
		assert(!stopped);
		assert(!gone);
		acted = true;
		shut = true
	:: else -> heard = false
	fi;
	assert(!FREED);
	owned = false
}

inline after_the_action()
{
	if
	:: closing
	:: !closing && (now_dead || (acted && quiet)) -> end_quietly()
	:: else ->
		state = WATCHING;
		pending = true
	fi
}

/* It comes again for a socket that somebody else has locked. */
active proctype work()
{
	bool locked, now_dead;

end:	do
	:: atomic { queued -> queued = false; running = true };
		LOCK();
		assert(!gone);
		if
		:: !closing && listed ->
			listed = false;
			UNLOCK();
			atomic {
				assert(!FREED);
				locked = !owned;
				owned = true
			};
			if
			:: locked -> act()
			:: else
			fi;
			LOCK();
			assert(!gone);
			assert(state == DUE);
			if
			:: locked -> after_the_action()
			:: else -> listed = true; queued = !closing
			fi
		:: else
		fi;
		atomic { locked = false; now_dead = false };
		running = false;
		UNLOCK()
	:: over -> break
	od
}

/* Returns with the session's lock held, and in @was what the timer was. */
#ifdef BROKEN_STOP_UNDER_WAY
#define IS_UNDER_WAY	false
#else
#define IS_UNDER_WAY	(state == DUE && !listed)
#endif
#ifdef BROKEN_STOP_ACTED
#define HAS_ACTED	false
#else
#define HAS_ACTED	(acted && state == WATCHING)
#endif

/* A start or a stop comes again as long as the timer is on its way to something. */
inline take()
{
	atomic {
		!lock && !expiring && !IS_UNDER_WAY && !HAS_ACTED -> lock = true;
		was = state;
		pending = false;	/* twheel_stop() */
#ifndef BROKEN_STOP_LISTED
		listed = false
#endif
	};
	if
	:: was == WATCHING || was == DUE -> assert(!shut); end_quietly()
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
			stopped = false;
			shut = false;
			acted = false;
			heard = false;
			if
			:: action = false; quiet = false
			:: action = true; quiet = false
			:: action = true; quiet = true
			fi
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
	stopped = true;
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
	atomic { !expiring -> pending = false };
#ifndef BROKEN_CLOSE_EARLY
	/* cancel_delayed_work_sync() */
	atomic { !running -> queued = false };
#endif
	gone = true;
	if
	:: state == WATCHING || state == DUE -> end_quietly()
	:: else -> assert(!holds)
	fi
}

active proctype program()
{
	mtype was;

	do
	:: started < STARTS && !dead -> start()
	:: started > 0 && !stopped -> stop()
	:: state == UNREAD -> read()
	:: close_session(); break
	od;
	over = true;
	closed;
	assert(FREED);
	assert(ended == started)
}
