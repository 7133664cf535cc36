/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who waits for events of a session is woken up; closing waits for callbacks
 *
 * The callbacks of two CPUs queue events. Two readers sleep in read(2), a third
 * polls. A read takes one event. With CLOSE there is one reader, and when it has its
 * event the session is closed, while a timer of each CPU is armed or expiring. With
 * LATER the events of one reader wait for the session's waker, which calls back on a
 * third CPU.
 *
 * Claims: nobody sleeps for ever while there are events. A CPU wakes up once for a
 * run. Tables are not touched once they are freed, nor is the session.
 *
 * Left out: the order of events, ioctls, signals. A wake-up of an exclusive waiter
 * takes any. twheel_stop_sync() is one step, see sync.pml, and so is a grace period
 * that waits for the run that is under way. Steps are in order on all CPUs:
 * @events.first is read without a lock, and what orders it with going to sleep is
 * the lock of the wait queue.
 *
 * code session/session.h twheel_session_wake_at_tick_end 1e657fb9
 * code session/timer.c session_expired 36f5b6c0
 * code session/timer.c queue_event 9087489a
 * code session/waker.c wake 86471419
 * code session/waker.c twheel_session_wake_later ce877688
 * code session/read.c twheel_session_wake 1336c795
 * code session/read.c twheel_session_readable a1587139
 * code session/read.c twheel_session_pass_on e6372644
 * code session/read.c twheel_session_read d9bc4f75
 * code session/open.c stop_chunk d2fc0aff
 * code session/open.c twheel_session_close 14f0699a
 * code twheel_chardev.c twheel_read_iter d91dd725
 * code twheel_chardev.c twheel_poll 0e79ff79
 * code core/tick.c run_tick_ends 45c0aabb
 * code core/tick.c run_tick 662d549a
 * code core/tick.c twheel_tick a25a7059
 * accepted: a read that takes events without returning them goes on until none is left
 *
 * right
 * right CLOSE
 * right LATER
 * broken LOOK_FIRST: invalid end state
 * broken NO_PASS_ON: invalid end state
 * broken POLL_LOOK_FIRST: invalid end state
 * broken NO_WAKER LATER: invalid end state
 * broken WAKER_KEEPS LATER: invalid end state
 * broken RCU_SHORT CLOSE: assertion violated !(session_freed
 * broken NO_LAST_LOCK CLOSE: assertion violated !(tables_freed
 */

#define CPUS	2
#ifdef CLOSE
#define CALLBACKS	1
#else
#define CALLBACKS	2
#endif
#define ARMED	0
#define UNREAD	1

bool lock;			/* the session's */
byte events;
bool closing;
bool tables_freed, session_freed;

bool queued[CPUS + 1];		/* session->ends[].tick_end */
byte wakeups[CPUS + 1];		/* of this run */
byte untold;
bool waker;			/* is pending */
bool rcu[CPUS];			/* a read-side critical section */

/* The last timer of each CPU. */
bool pending[CPUS] = true;
bool state[CPUS] = ARMED;
bool in_callback[CPUS];

/* The wait queues: who is in it, who has been woken up. */
bool reads[2], polls;
byte runs;			/* of the tick that are over, the first of each CPU */
byte satisfied;		/* callers of read(2) and poll(2) */

inline acquire()
{
	atomic { !lock -> lock = true }
}

inline release()
{
	lock = false
}

inline wake_reader()
{
	if
	:: reads[0] -> reads[0] = false
	:: reads[1] -> reads[1] = false
	:: !reads[0] && !reads[1]
	fi
}

inline wake_at_tick_end(cpu)
{
	if
	:: !queued[cpu] ->
		queued[cpu] = true;
		wakeups[cpu]++
	:: queued[cpu]
	fi
}

/* twheel_session_wake_later() */
inline wake_later()
{
	untold++;
#ifndef BROKEN_NO_WAKER
	if
	:: untold == 1 -> waker = true
	:: untold != 1
	fi
#endif
}

/* session_expired(). @last: of the last timer. */
inline expired(cpu, last)
{
	acquire();
	atomic { assert(!tables_freed); state[cpu] = (last -> UNREAD : state[cpu]) };
	assert(!tables_freed);
	if
	:: !closing ->
		events++;
#ifdef LATER
		wake_later()
#else
		wake_at_tick_end(cpu)
#endif
	:: closing
	fi;
	assert(!session_freed);
	release()
}

inline run_tick_ends(cpu)
{
	if
	:: queued[cpu] ->
		queued[cpu] = false;
		assert(!session_freed);
		polls = false;
		atomic { wake_reader() }
	:: !queued[cpu]
	fi
}

proctype tick(byte cpu)
{
	byte callbacks = CALLBACKS;

	rcu[cpu] = true;
	do
	:: callbacks > 0 -> callbacks--; expired(cpu, false)
	:: callbacks == 0 -> break
	od;
#ifndef LATER
	run_tick_ends(cpu);
	assert(wakeups[cpu] == 1);
#endif
	atomic { wakeups[cpu] = 0; rcu[cpu] = false; runs++ };
#ifdef CLOSE

	rcu[cpu] = true;
	if
	:: atomic { pending[cpu] -> pending[cpu] = false; in_callback[cpu] = true };
	   expired(cpu, true);
	   in_callback[cpu] = false
	:: !pending[cpu]
	fi;
#ifdef BROKEN_RCU_SHORT
	rcu[cpu] = false;
#endif
	run_tick_ends(cpu);
	rcu[cpu] = false
#endif
}

#ifdef LATER
/* wake() */
active proctype waker_calls()
{
end:	do
	:: atomic { waker -> waker = false };
	   acquire();
	   if
	   :: events > 0 -> wake_at_tick_end(CPUS)
	   :: events == 0
	   fi;
#ifndef BROKEN_WAKER_KEEPS
	   untold = 0;
#endif
	   release();
	   run_tick_ends(CPUS)
	od
} /* unreached */
#endif

/* twheel_session_read() of one event. Sets @got. */
inline read()
{
	atomic {
		!lock;
		got = events > 0;
		events = (events > 0 -> events - 1 : 0)
	}
}

inline pass_on()
{
#ifndef BROKEN_NO_PASS_ON
	if
	:: events > 0 -> atomic { wake_reader() }
	:: events == 0
	fi
#else
	skip
#endif
}

proctype reader(byte me; byte wanted)
{
	bool got;

	do
	:: wanted > 0 ->
	   read();
	   if
	   :: got -> wanted--; pass_on()
	   :: !got ->
		/* wait_event_interruptible_exclusive() */
#ifdef BROKEN_LOOK_FIRST
		if
		:: events == 0 -> reads[me] = true; !reads[me]
		:: events > 0
		fi
#else
		reads[me] = true;
		if
		:: events == 0 -> !reads[me]
		:: events > 0 -> reads[me] = false
		fi
#endif
	   fi
	:: wanted == 0 -> break
	od;
	satisfied++
}

#if !defined(CLOSE) && !defined(LATER)
proctype poller(byte wanted)
{
	bool got;

	do
	:: wanted > 0 ->
#ifdef BROKEN_POLL_LOOK_FIRST
	   if
	   :: events == 0 -> polls = true; !polls
	   :: events > 0
	   fi;
#else
	   polls = true;
	   if
	   :: events == 0 -> !polls
	   :: events > 0 -> polls = false
	   fi;
#endif
	   read();
	   if
	   :: got -> wanted--; pass_on()
	   :: !got
	   fi
	:: wanted == 0 -> break
	od;
	satisfied++
}
#endif

#ifdef CLOSE
proctype close()
{
	byte cpu;

	satisfied == 1 && runs == CPUS;
	acquire();
	closing = true;
	release();
	do
	:: cpu < CPUS ->
		/* stop_chunk() */
		if
		:: state[cpu] == ARMED ->
			/* twheel_stop_sync() */
			atomic { !in_callback[cpu] -> pending[cpu] = false }
		:: state[cpu] == UNREAD
		fi;
		cpu++
	:: cpu == CPUS -> break
	od;
#ifndef BROKEN_NO_LAST_LOCK
	acquire();
	release();
#endif
	tables_freed = true;
	/* kvfree_rcu() */
	cpu = 0;
	do
	:: cpu < CPUS -> !rcu[cpu]; cpu++
	:: cpu == CPUS -> break
	od;
	session_freed = true
}
#endif

init {
	atomic {
		run tick(0);
		run tick(1);
#ifdef LATER
		run reader(0, CALLBACKS * CPUS)
#elif defined(CLOSE)
		run reader(0, 1);
		run close()
#else
		run reader(0, 1);
		run reader(1, 1);
		run poller(CALLBACKS * CPUS - 2)
#endif
	}
}
