/* SPDX-License-Identifier: GPL-2.0 */
/*
 * stop_sync() and shutdown_sync() against callbacks, also on PREEMPT_RT
 *
 * A base runs the callbacks of three timers, in any order. Two callers wait for timer 0, one of
 * them to shut it down, and a third caller waits for timer 1. The first caller holds a lock
 * that the callback of timer 1 takes. The callback of timer 2 waits until both other callers
 * have returned. The callback of timer 0 may start its timer again. With MOVES there is only
 * timer 0, but also another CPU that starts it and runs its callback.
 *
 * Claims: each call returns. When a call has looked at the timer for the last time, no callback
 * of this timer runs. None begins after a shutdown. No call ends two starts, and each start
 * ends in an expiry or a stop. On PREEMPT_RT, a waiter that had its lock does not find the same
 * callback again, because it could then keep the callback's thread from running. That thread
 * never sleeps on a lock in twheel_expiry_begin().
 *
 * Left out: priorities. A waiter may be preempted between any two steps, for as long as others
 * can run. A released lock goes to any waiter that comes first. There are two locks and three
 * waiters, because eight locks and more waiters have too many states. A run that finds no free
 * lock begins again when there is one. Starts that callbacks note are in again.pml. All CPUs
 * see the steps in one order. So the model does not show the barriers that @waiters needs in
 * addition to the base's lock.
 *
 * code core/expiry.h twheel_expiry_begin 1da2aef3
 * code core/expiry.h twheel_expiry_end 8e798987
 * code core/expiry.h twheel_expiry_announce 13a38bed
 * code core/expiry.h twheel_expiry_wait 6cedba57
 * code core/expiry.h twheel_expiry_awaited d641121d
 * code core/tick.c let_waiters_on 5ca88a33
 * code core/tick.c expire_timer f2ef5288
 * code core/tick.c expire_timers e6ec9045
 * code core/tick.c run_tick c6711611
 * code core/timer.c try_to_stop 4525e803
 * code core/timer.c wait_for_callback ef176de0
 * code core/timer.c stop_sync 4eebda95
 * code core/timer.c start_slow 911a0b16
 * code core/timer.c start_timer 846c3477
 * accepted: the check of the caller is a function now, which twheel_callback_wait() shares
 *
 * right
 * right MOVES
 * right RT
 * right RT MOVES
 * broken NO_WAIT: assertion violated !(in_callback
 *	dead[t] = dead[t] || shutdown; => dead[t] = dead[t] || shutdown; runs = false;
 * broken TWICE MOVES: assertion violated !(stopped)
 *	(shutdown || !runs) && pending[t] => pending[t]
 * broken SHUTDOWN_PENDING: assertion violated !(dead
 *	(shutdown || !runs) && pending[t] => !runs && pending[t]
 * broken START_MOVES MOVES: assertion violated !(in_callback
 *	assert(base[t] == b); => skip;
 *	(b == 1 || running[b] == 1) => b == 1
 * broken NO_LET_ON RT: invalid end state
 *	waiters[held[b]] -> => false ->
 * broken ONE_LOCK RT: invalid end state
 *	atomic { i < LOCKS && waiters[LOCK(b, i)] -> i++ } => atomic { locked_by[LOCK(b, 0)] == 0 -> locked_by[LOCK(b, 0)] = ME };
 *		held[b] = LOCK(b, 0); break
 * broken ANNOUNCE_LATE RT: invalid end state
 *	at = held[b]; => skip;
 *	waiters[at]++ => skip
 *	atomic { locked_by[at] == 0 => at = held[b]; waiters[at]++; atomic { locked_by[at] == 0
 * broken LEAVE_EARLY RT: invalid end state
 *	waiters[at]--; => skip;
 *	atomic { locked_by[at] == 0 => waiters[at]--; atomic { locked_by[at] == 0
 * broken LEAVE_LOCKED RT: assertion violated (locked_by
 *	waiters[at]--; => skip;
 *	locked_by[at] = 0; => waiters[at]--; locked_by[at] = 0;
 * broken RUNNING_LATE RT: invalid end state
 *	running[b] = 0;\n => skip;\n
 * broken LOCK_LATE RT: assertion violated !((in_callback
 *	locked_by[LOCK(b, i)] = ME => skip
 *	callback(t); => if :: locked_by[held[b]] == ME :: atomic { locked_by[held[b]] == 0 ->
 *		locked_by[held[b]] = ME } fi; callback(t);
 */

#define LOCKS	2
#define MOVING	2		/* timer->base, beside bases 0 and 1 */

#ifdef MOVES
#define TIMERS	1
#define CALLERS	2
#else
#define TIMERS	3
#define CALLERS	3
#endif

byte base[TIMERS];		/* timer->base */
bool pending[TIMERS];
bool dead[TIMERS];		/* timer->fn is NULL */
byte left[TIMERS];		/* number of starts that neither expired nor were stopped */
bool in_callback[TIMERS];
byte call[TIMERS];		/* number of its runs so far */
bool shut_down[TIMERS];		/* twheel_shutdown_sync() returned */

byte lock[2];			/* base->lock */
byte running[2];		/* base->running */
byte held[2];			/* expiry->held */
byte locked_by[2 * LOCKS + 1];	/* process that holds each lock. Lock 0 is NULL */
byte waiters[2 * LOCKS + 1];

bool mutex;			/* a lock that a waiter holds and a callback takes */
bool returned[3];		/* the waiters that returned */
byte restarts = 1;
byte done;

#define ME		(_pid + 1)
#define LOCK(b, i)	(b * LOCKS + 1 + i)
#ifdef MOVES
#define DUE(b)		(pending[0] && base[0] == b)
#else
#define DUE(b)		(pending[0] || pending[1] || pending[2])
#endif

#ifdef RT
#define HAS_LOCK(b)	(!waiters[LOCK(b, 0)] || !waiters[LOCK(b, 1)])
#else
#define HAS_LOCK(b)	true
#endif

/* Only for use in an atomic sequence. */
inline acquire(b)
{
	lock[b] == 0 -> lock[b] = ME
}

inline release(b)
{
	assert(lock[b] == ME);
	lock[b] = 0
}

inline started(t)
{
	assert(left[t] == 0 && !pending[t]);
	left[t]++;
	pending[t] = true
}

inline ended(t)
{
	assert(left[t] == 1 && pending[t]);
	left[t]--;
	pending[t] = false
}

inline expiry_begin(b)
{
#ifdef RT
	i = 0;
	do
	:: atomic { i < LOCKS && waiters[LOCK(b, i)] -> i++ }
	:: i < LOCKS && !waiters[LOCK(b, i)] ->
	   atomic {
		assert(locked_by[LOCK(b, i)] == 0);
		locked_by[LOCK(b, i)] = ME
	   };
	   held[b] = LOCK(b, i);
	   break
	:: i == LOCKS -> break
	od;
	go_on = held[b] != 0;
	i = 0
#else
	go_on = true
#endif
}

inline expiry_end(b)
{
#ifdef RT
	i = held[b];
	held[b] = 0;
	if
	:: i -> locked_by[i] = 0
	:: else
	fi;
	i = 0
#else
	skip
#endif
}

/* Run a callback. The callback of timer 0 starts its timer, on the base where it runs. */
inline callback(t)
{
	if
	:: t == 0 && restarts > 0 ->
		atomic {
			acquire(b);
			restarts--;
			assert(base[t] == b);
			if
			:: base[t] == b && !dead[t] && !pending[t] -> started(t)
			:: else
			fi;
			release(b)
		}
	:: t == 0
#ifndef MOVES
	:: t == 1 -> !mutex
	:: t == 2 -> returned[0] && returned[1]
#endif
	fi
}

proctype tick(byte b)
{
	byte t, i;
	bool go_on;

end:	do
	:: DUE(b) && HAS_LOCK(b) ->
	   expiry_begin(b);
	   atomic { acquire(b) };
	   do
	   :: atomic {
		go_on && DUE(b) ->
		if
		:: pending[0] && base[0] == b -> t = 0
#ifndef MOVES
		:: pending[1] -> t = 1
		:: pending[2] -> t = 2
#endif
		fi;
		ended(t);
		assert(!dead[t]);
		assert(!shut_down[t]);
		running[b] = t + 1;
		in_callback[t] = true;
		call[t]++;
		release(b)
	   };
	   callback(t);
	   in_callback[t] = false;
	   atomic { acquire(b); t = 0 };
#ifdef RT
	   if
	   :: waiters[held[b]] ->
		running[b] = 0;
		atomic { release(b) };
		expiry_end(b);
		expiry_begin(b);
		atomic { acquire(b); running[b] = 0 }
	   :: else
	   fi
#endif
	   :: atomic { !(go_on && DUE(b)) -> running[b] = 0; release(b); break }
	   od;
	   expiry_end(b)
	od
} /* unreached */

proctype waiter(byte me; byte t; bool shutdown)
{
	byte b, at;
	bool runs, stopped;
	byte mine;

	if
	:: me == 0 -> mutex = true
	:: else
	fi;
	do
	:: b = base[t];
	   if
#ifdef MOVES
	   :: b == MOVING -> base[t] != MOVING
#endif
	   :: else ->
		atomic {
			acquire(b);
			if
			:: base[t] == b ->
				runs = running[b] == t + 1;
				if
				:: (shutdown || !runs) && pending[t] ->
					ended(t);
					assert(!stopped);
					stopped = true
				:: else
				fi;
				dead[t] = dead[t] || shutdown;
				if
				:: runs ->
					mine = call[t];
#ifdef RT
					assert(held[b] != 0);
					at = held[b];
					waiters[at]++
#endif
				:: else ->
					assert(!in_callback[t]);
					release(b);
					break
				fi
			:: else
			fi;
			release(b)
		};
		if
		:: runs ->
#ifdef RT
			atomic { locked_by[at] == 0 -> locked_by[at] = ME };
			locked_by[at] = 0;
			assert(!(in_callback[t] && call[t] == mine));
			waiters[at]--;
			atomic { at = 0; mine = 0; runs = false }
#else
			atomic { running[b] != t + 1 -> runs = false }
#endif
		:: else
		fi
	   fi
	od;
#ifndef MOVES
	assert(!pending[t] && !in_callback[t]);
#endif
	atomic {
		shut_down[t] = shut_down[t] || shutdown;
		returned[me] = true;
		if
		:: me == 0 -> mutex = false
		:: else
		fi;
		done++
	}
}

#ifdef MOVES
/* Start the timer on CPU 1. */
proctype starter()
{
	byte b, starts = 2;

	/* No other process moves the timer. */
	do
	:: atomic {
		starts > 0 -> starts--;
		b = base[0];
		acquire(b);
		if
		:: dead[0] || pending[0]
		:: !dead[0] && !pending[0] &&
		   (b == 1 || running[b] == 1) ->
			started(0)
		:: else ->
			base[0] = MOVING;
			release(b);
			goto move
		fi;
		release(b)
	   }
	:: starts == 0 -> goto out
	od;
move:	atomic {
		acquire(1);
		base[0] = 1;
		started(0);
		release(1)
	};
out:	done++
}
#endif

init {
	atomic {
		started(0);
		run tick(0);
#ifdef MOVES
		run tick(1);
		run starter();
		if
		:: run waiter(0, 0, false)
		:: run waiter(0, 0, true)
		fi
#else
		run waiter(0, 0, false);
		run waiter(2, 0, true);
		started(1);
		started(2);
		run waiter(1, 1, false)
#endif
	};
	atomic {
		done == CALLERS && !DUE(0) && !DUE(1) && !in_callback[0];
		assert(left[0] == 0);
#ifndef MOVES
		assert(left[1] == 0 && left[2] == 0)
#endif
	}
}
