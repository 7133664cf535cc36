/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A callback notes that its timer starts again: twheel_again_at(), base->again
 *
 * A base expires a timer, whose callback starts it again up to twice. Meanwhile it
 * is started, restarted and stopped on the same CPU and on another one.
 *
 * Claims: what is noted is started once, unless a stop or a later start found it. A
 * stop that returns 1 has ended one start, and what a stop that returns 0 says was
 * so at some time during the call. No deadline expires that was given before a
 * later start or stop began, once that has returned. Each start ends once.
 *
 * Left out: the deadlines themselves. Each start has a number in place of one. What
 * another base does: a timer whose callback runs stays where it is, see base.pml.
 * A start on the same CPU is one step under the lock, because interrupts are off
 * then. Steps are in order on all CPUs. So the release and acquire of @running, and
 * the full order of the atomic operations on @again, are taken for granted.
 *
 * code core/timer.c twheel_again_at 60ba8989
 * code core/timer.c again_slow 107c94dc
 * code core/timer.c is_noted 1e52f2d6
 * code core/timer.c start_noted d1e2cfe4
 * code core/timer.c is_started 4b05f0f6
 * code core/timer.c start_slow f9cdce43
 * code core/timer.c start 7711fde1
 * code core/timer.c start_request bce56f46
 * code core/timer.c restart_request 491ab818
 * code core/timer.c stop_request 69845336
 * code core/timer.c twheel_restart_at 24f9bc20
 * code core/timer.c may_be_noted d183fb42
 * code core/timer.c stop_noted a0366528
 * code core/timer.c twheel_stop 625e7ad0
 * code core/base.h twheel_base_set_running 4ea4f543
 * code core/base.h twheel_base_start_again a990f9ac
 * code core/base.h twheel_base_stop 004f681d
 * code core/tick.c expire_timer 2d6b1a72
 * code core/tick.c expire_timers 42d5442d
 * accepted: The quick start compares @local, @cpu or nothing: no fewer starts look.
 *
 * right
 * broken STOP_BLIND: assertion violated (seen[
 * broken NO_LOOK: assertion violated (!(pending)
 * broken NOT_CLOSED: assertion violated (!(pending)
 * broken FAST_BLIND: assertion violated (!(pending)
 * broken NO_SECOND_LOOK: assertion violated (seen[
 * broken RUNNING_EARLY: assertion violated (seen[
 * broken SLOW_BLIND: assertion violated started
 */

#define CLOSED		1		/* TWHEEL_AGAIN_CLOSED */
#define NOTE(nr)	(nr + 2)
#define NOTED(again)	(again - 2)
#define AGAINS		2		/* numbers of the callback's starts: 0, 1 */
#define FIRST		2		/* number of the first start */

byte lock;
bool pending;
byte expires;			/* the number of the start that is pending */
bool running;			/* base->running is the timer */
byte again;

bool started = true;		/* pending or noted, to whoever asks */
bool seen[2];			/* a stop under way: it was not started */
short finished = 1 << FIRST;	/* starts that have returned */
short old;			/* what must not expire any more */
byte agains;
byte done;

#define ME		(_pid + 1)

inline acquire()
{
	atomic { lock == 0 -> lock = ME }
}

inline release()
{
	atomic { assert(lock == ME); lock = 0 }
}

inline not_started()
{
	started = false;
	seen[0] = true;
	seen[1] = true
}

inline insert(nr)
{
	atomic {
		assert(!pending && lock == ME);
		expires = nr;
		pending = true;
		started = true
	}
}

inline base_stop()
{
	atomic {
		assert(pending && lock == ME);
		pending = false;
		/* Is there another start by now? */
		if
		:: running && again > CLOSED
		:: else -> not_started()
		fi
	}
}

inline begin()
{
	mine = finished
}

inline end_start(nr)
{
	atomic { finished = finished | (1 << nr); old = old | mine; mine = 0 }
}

/* Sets @found if the timer is pending because of what was noted. */
inline start_noted()
{
	found = false;
	if
	:: !running
	:: running && pending ->
		atomic {
			if
			:: again == 0 -> again = CLOSED
			:: else
			fi
		}
	:: running && !pending ->
#ifdef BROKEN_NOT_CLOSED
		noted = again;
		if
		:: noted > CLOSED -> again = CLOSED
		:: else
		fi;
#else
		atomic { noted = again; again = CLOSED };
#endif
		if
		:: noted > CLOSED -> insert(NOTED(noted)); found = true
		:: else
		fi;
		noted = 0
	fi
}

/* A start that was not a restart: start_slow(). */
inline start_slow(nr)
{
	start_noted();
	if
	:: found -> expires = nr
	:: else -> insert(nr)
	fi
}

/* On another CPU. start_request() looks for what is noted first. */
inline start(nr)
{
	begin();
	acquire();
	if
	:: running -> start_noted()
	:: true
	fi;
	if
	:: pending -> expires = nr
	:: !pending -> start_slow(nr)
	fi;
	release();
	end_start(nr)
}

/* On this CPU: the callback does not run meanwhile. */
inline start_here(nr)
{
	begin();
	atomic {
		lock == 0 -> lock = ME;
		if
		:: pending -> expires = nr
		:: else ->
			if
#ifndef BROKEN_FAST_BLIND
			:: again ->
				noted = (running && again > CLOSED);
				again = (running -> CLOSED : again);
				if
				:: noted -> pending = true; expires = nr
				:: else -> insert(nr)
				fi;
				noted = 0
			:: !again -> insert(nr)
#else
			:: insert(nr)
#endif
			fi
		fi;
		lock = 0
	};
	end_start(nr)
}

inline restart(nr)
{
	begin();
	acquire();
	found = pending;
	if
	:: !pending -> start_noted()
	:: pending
	fi;
	if
	:: found -> expires = nr
	:: else
	fi;
	release();
	if
	:: found -> end_start(nr)
	:: !found -> mine = 0
	fi;
	found = false
}

inline stop(me)
{
	atomic { begin(); seen[me] = !started; found = false };
	if
	:: pending ->
		acquire();
		if
		:: pending -> base_stop(); found = true
		:: !pending
		fi;
		release()
	:: !pending
	fi;
	/* stop_noted() */
	if
	:: found
#ifndef BROKEN_STOP_BLIND
	:: !found && running -> goto noted_maybe
	:: !found && !running ->
#ifndef BROKEN_NO_SECOND_LOOK
		if
		:: pending -> goto noted_maybe
		:: !pending
		fi
#endif
#else
	:: !found
#endif
	fi;
	goto stopped;
noted_maybe:
	acquire();
	if
	:: pending -> found = true
	:: !pending -> start_noted()
	fi;
	if
	:: found -> base_stop()
	:: !found
	fi;
	release();
stopped:
	atomic { assert(seen[me] || found); old = old | mine; mine = 0; found = false }
}

inline again_at(nr)
{
	begin();
	if
	:: atomic { again == 0 -> again = NOTE(nr); started = true };
#ifndef BROKEN_NO_LOOK
	   if
	   :: pending ->
		acquire();
		atomic { noted = again; again = CLOSED };
		if
#ifndef BROKEN_SLOW_BLIND
		:: noted == CLOSED
#endif
		:: else ->
			assert(started);
			/* start_slow() would find nothing noted. */
			if
			:: pending -> expires = nr
			:: !pending -> insert(nr)
			fi
		fi;
		noted = 0;
		release()
	   :: !pending
	   fi
#endif
	:: atomic { again != 0 -> skip };
	   acquire();
	   if
	   :: pending -> expires = nr
	   :: !pending -> start_slow(nr)
	   fi;
	   release()
	fi;
	found = false;
	end_start(nr)
}

proctype tick()
{
	byte noted;
	short mine;
	bool found;

end:	do
	:: pending ->
	   acquire();
	   if
	   :: pending ->
		/* twheel_scheme_pop() */
		atomic {
			assert(started);
			assert(!(old & (1 << expires)));
			pending = false;
			not_started()
		};
		running = true;
		release();
		do
		:: agains < AGAINS -> agains++; again_at(agains - 1)
		:: true -> break
		od;
		acquire();
#ifdef BROKEN_RUNNING_EARLY
		running = false;
#endif
		noted = again;
		if
		:: noted ->
			again = 0;
			if
			:: noted > CLOSED -> insert(NOTED(noted))
			:: else
			fi
		:: else
		fi;
		running = false;
		noted = 0
	   :: else
	   fi;
	   release()
	od
} /* unreached */

proctype here()
{
	byte noted;
	short mine;
	bool found;

	if
	:: start_here(3)
	:: stop(0)
	fi;
	done++
}

proctype elsewhere()
{
	byte noted;
	short mine;
	bool found;

	if
	:: start(4)
	:: restart(4)
	:: true
	fi;
	if
	:: start(5)
	:: stop(1)
	:: true
	fi;
	done++
}

init {
	atomic {
		pending = true;
		expires = FIRST;
		run tick();
		run here();
		run elsewhere()
	};
	done == 2 && lock == 0 && !pending && !running;
	assert(!started)
}
