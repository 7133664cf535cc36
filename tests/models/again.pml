/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A callback that starts its timer again: twheel_again_at(), base->deferred
 *
 * A base expires a timer, whose callback notes up to twice that the timer starts again.
 * Meanwhile other calls start, restart and stop the timer on the same CPU and on another one.
 *
 * Claims: a noted start is carried out once, unless a stop or a later start found it. Nothing
 * is noted for a pending timer. A start that returns 0 found the timer not started. A stop that
 * returns 1 ended one start. If a stop returns 0, the timer was not started at some time during
 * the call. When a start or stop returned, no deadline expires any more that was given before
 * the call began. Each start ends once.
 *
 * Left out: the deadlines, in place of which each start has a number. Another base: a timer
 * whose callback runs is not moved, see base.pml. A start on the same CPU is one step under the
 * lock, because interrupts are off. All CPUs see the steps in one order. So the model takes for
 * granted the release and acquire of @running, and the full order of the atomic operations on
 * @deferred.
 *
 * code core/timer.c twheel_again_at e31fd2c8
 * code core/timer.c is_deferred 40de3958
 * code core/timer.c start_deferred b55ec381
 * code core/timer.c is_started dec63a80
 * code core/timer.c start_slow cc1f7465
 * code core/timer.c start_fast ad7793ee
 * code core/timer.c start_timer 5fe0b477
 * code core/timer.c start_request 5227fc8f
 * code core/timer.c restart_request 884d373c
 * code core/timer.c stop_request 540955b4
 * code core/timer.c twheel_restart_at f5a42bba
 * code core/timer.c may_be_deferred 9f56bf21
 * code core/timer.c stop_deferred bd706a8f
 * code core/timer.c twheel_stop 52baa625
 * code core/base.h twheel_base_set_running f5deb065
 * code core/base.h twheel_base_start_deferred e6bba6d3
 * code core/base.h twheel_base_stop 10046a31
 * code core/tick.c expire_timer 7bdf905f
 * code core/tick.c expire_timers e8fa1541
 * accepted: twheel_restart_at() has its body in a function that twheel_restart() calls, too
 *
 * right
 * broken STOP_BLIND: assertion violated (seen[
 *	!found && running -> goto noted_maybe => !found && running
 *	:: pending -> goto noted_maybe => :: pending
 * broken NOT_CLOSED: assertion violated !(started
 *	atomic { value = deferred; deferred = CLOSED }; => value = deferred; if :: value > CLOSED -> deferred = CLOSED :: else fi;
 * broken NOT_CLOSED_HERE: assertion violated !(started
 *	deferred = (running -> CLOSED : deferred); => skip;
 * broken FAST_BLIND: assertion violated !(started
 *	running && deferred > CLOSED => false
 * broken NO_SECOND_LOOK: assertion violated (seen[
 *	:: pending -> goto noted_maybe => :: pending
 * broken RUNNING_EARLY: assertion violated (seen[
 *	od;\n\t\tacquire(); => od; acquire(); running = false;
 */

#define CLOSED		1		/* TWHEEL_DEFER_CLOSED */
#define NOTE(nr)	(nr + 2)
#define NOTED(deferred)	(deferred - 2)
#define AGAINS		2		/* numbers of the callback's starts, 0 and 1 */
#define FIRST		2		/* number of the first start, before the run */

byte lock;
bool pending;
byte expires;			/* number of the pending start */
bool running;			/* base->running is the timer */
byte deferred;

bool started = true;		/* what callers must find: the timer is pending or noted */
bool seen[2];			/* by stop that runs now: the timer was not started at some time
				 * since it began */
short finished = 1 << FIRST;	/* bit mask of the starts that returned */
short old;			/* bit mask of the starts that must not expire any more */
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

/* Start a timer that is not started. The start returns 0. */
inline insert_new(nr)
{
	atomic { assert(!started); insert(nr) }
}

inline base_stop()
{
	atomic {
		assert(pending && lock == ME);
		assert(!running || deferred <= CLOSED);
		pending = false;
		not_started()
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

/* Carry out the noted start, if there is one. @found: the timer is pending because of it. */
inline start_deferred()
{
	found = false;
	if
	:: !running
	:: running ->
		atomic { value = deferred; deferred = CLOSED };
		if
		:: value > CLOSED -> insert(NOTED(value)); found = true
		:: else
		fi;
		value = 0
	fi
}

/* start_slow(): start a timer that was not pending. */
inline start_slow(nr)
{
	start_deferred();
	if
	:: found -> expires = nr
	:: else -> insert_new(nr)
	fi
}

/* A start on another CPU. */
inline start(nr)
{
	begin();
	acquire();
	if
	:: pending -> expires = nr
	:: !pending -> start_slow(nr)
	fi;
	release();
	end_start(nr)
}

/* A start on this CPU. Interrupts are off, so the callback does not run meanwhile. */
inline start_here(nr)
{
	begin();
	atomic {
		lock == 0 -> lock = ME;
		if
		:: pending -> expires = nr
		:: else ->
			if
			:: running && deferred > CLOSED ->
				deferred = CLOSED;
				pending = true;
				expires = nr
			:: else ->
				deferred = (running -> CLOSED : deferred);
				insert_new(nr)
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
	:: !pending -> start_deferred()
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
	/* stop_deferred() */
	if
	:: found
	:: !found && running -> goto noted_maybe
	:: !found && !running ->
		if
		:: pending -> goto noted_maybe
		:: !pending
		fi
	fi;
	goto stopped;
noted_maybe:
	acquire();
	if
	:: pending -> found = true
	:: !pending -> start_deferred()
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
	:: atomic { deferred == 0 -> assert(!started); deferred = NOTE(nr); started = true }
	:: atomic { deferred != 0 -> skip };
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
	byte value;
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
		deferred = 0;
		running = true;
		release();
		do
		:: agains < AGAINS -> agains++; again_at(agains - 1)
		:: true -> break
		od;
		acquire();
		if
		:: deferred > CLOSED -> insert(NOTED(deferred))
		:: else
		fi;
		running = false
	   :: else
	   fi;
	   release()
	od
} /* unreached */

proctype here()
{
	byte value;
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
	byte value;
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
