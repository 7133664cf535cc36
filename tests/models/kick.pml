/* SPDX-License-Identifier: GPL-2.0 */
/*
 * No pending timer without an hrtimer or a kick: armed_tick, doze, kicked
 *
 * This is the base of CPU 0, with an hrtimer that fires on CPU 0 when its tick has come. Timers
 * are started and stopped on CPU 0 and on CPU 1. Both CPUs may interrupt the hrtimer's function
 * between any two of its steps. DOZE is config.doze: 0 never dozes, 1 is a tickless wheel, 2
 * dozes after two empty ticks.
 *
 * Claims: whenever the base's lock is free and a timer is pending, one of these is true: the
 * hrtimer is set for the timer's tick or earlier, or the hrtimer's function runs and will look
 * for timers, or a kick is on its way. There is one exception: a wheel that ticks may set the
 * hrtimer for its next tick although a timer is due earlier, because a run that was put off
 * continues at the next tick. A timer that is already due when a late kick arrives does not wait
 * for that. No timer is left at the end. Only CPU 0 programs the hrtimer. A queued hrtimer keeps
 * its time. A kick is never refused.
 *
 * Left out: slots. A node that has to be moved counts as a node that is due earlier. There are
 * two timers, started within three ticks. A run that yields comes back at the next tick. A
 * start that can wait is one whose tick is not earlier than armed_tick. The CPU is always
 * online: see base.pml for hotplug. All CPUs see the steps in one order, and everything shared
 * is under the base's lock. The last two functions below are listed only because of their
 * barriers: an early store to @next would be a value from the future, which the simulation of
 * weak memory cannot show.
 *
 * code core/base.c end_doze 09a5a6d8
 * code core/base.c program_hrtimer 977103bb
 * code core/base.c twheel_kicked 71b1dbe6
 * code core/base.c kick_base 2c2a9838
 * code core/base.c twheel_base_arm e435f061
 * code core/base.c twheel_base_wake d03b09ca
 * code core/base.c put_timers 8e80fcf8
 * code core/timer.c sleeps_too_long fd7d9d75
 * code core/timer.c start_asleep d5e2e711
 * code core/timer.c restart_and_move 1b384f03
 * code core/timer.c restart_asleep 437cd823
 * code core/timer.c start_slow eb55ab65
 * code core/timer.c start_fast a57e8947
 * code core/timer.c start_timer f5d2b680
 * code core/timer.c start_request 9b9a2cf5
 * code core/tick.c next_run f5d77466
 * code core/tick.c set_next_run 6e5bddce
 * code core/tick.c throttle_tick 00c151c6
 * code core/tick.c run_tick 03bdfea0
 * code core/tick.c twheel_tick 801520cf
 * code core/tick.c twheel_at_tick_end 486030c2
 * code core/tick.c run_tick_ends 4f45cc7f
 * accepted: debug objects and the choice of a CPU are not in the model
 *
 * right DOZE=0
 * right DOZE=1
 * right DOZE=2
 * broken NO_KICK DOZE=1: assertion violated (lock||
 *	cpu == 1 && !kicked -> => false ->
 * broken KICKED_LATE DOZE=1: assertion violated (lock||
 *	kicked = false; => skip;
 *	kick_runs = false\n\t   } => kick_runs = false }; kicked = false
 * broken KICKED_EARLY DOZE=1: assertion violated !(kick_queued
 *	MAX(last_tick, target); => MAX(last_tick, target); kicked = false;
 * broken QUEUED DOZE=1: assertion violated !(queued
 *	next != NONE && queued -> set_hrtimer(next) => false
 * broken OFF_NOT_SAID DOZE=0: assertion violated (lock||
 *	\tarmed_tick = OFF; => \tarmed_tick = 0;
 * broken OFF_ONLY DOZE=1: assertion violated (lock||
 *	:: tick >= armed_tick => :: tick >= armed_tick || armed_tick != OFF
 * broken LOOK_EARLY DOZE=0: assertion violated (lock||
 *	:: NEXT == NONE -> => :: found == NONE ->
 *	:: NEXT != NONE -> => :: found != NONE ->
 * broken DUE_LATER DOZE=2: assertion violated (expires
 *	(NEXT <= now -> now - 1 : now) => now
 * broken ARM_FIRST DOZE=1: assertion violated (lock||
 *	due[t] = now + ticks;\n => ticks = now + ticks; earliest = NEXT; arm(cpu, earliest); due[t] = ticks\n
 *	\t\t\tarm(cpu, due[t])\n => 
 * broken WAITS_WHILE_OFF DOZE=1: assertion violated (lock||
 *	(armed_tick == 0 || (tick) => (armed_tick == 0 || armed_tick == OFF || (tick)
 */

#define OFF	15		/* U64_MAX */
#define TICKS	3
#define NONE	OFF		/* no timer is pending */

byte now;
byte due[2] = NONE;		/* ticks of the pending timers */

bool lock;			/* base->lock */
byte armed_tick = OFF;
byte last_tick;
byte clock;
byte empties;			/* base->empty */
bool kicked;

bool queued;			/* the hrtimer is queued */
byte expires;
byte set_at;			/* the tick in which @expires was set */
bool will_look;			/* the hrtimer's function runs, and will still look for pending
				 * timers */
bool kick_queued;		/* the kick is queued, and the CPU did not take it off its queue
				 * yet */
bool kick_runs;
byte done;

#define MIN(a, b)	((a) < (b) -> (a) : (b))
#define MAX(a, b)	((a) > (b) -> (a) : (b))
/* twheel_scheme_next() */
#define NEXT		MIN(due[0], due[1])
#define SAFE		(NEXT == NONE || will_look || kick_queued || kick_runs || \
			 (queued && (expires <= NEXT || armed_tick == 0 && expires <= set_at + 1)))

/*
 * The hrtimer is set for the timer's tick or earlier, so the start need not set it: the opposite of
 * sleeps_too_long().
 */
#define CAN_WAIT(tick)	(armed_tick == 0 || (tick) >= armed_tick)

/* Only for use in an atomic sequence. */
inline acquire()
{
	!lock -> lock = true
}

inline release()
{
	assert(lock);
	lock = false
}

inline set_hrtimer(at)
{
	queued = true;
	expires = at;
	set_at = now
}

inline program(first)
{
	if
	:: DOZE == 1 -> armed_tick = first; set_hrtimer(first)
	:: DOZE != 1 ->
		last_tick = MAX(last_tick, MIN((NEXT <= now -> now - 1 : now), armed_tick - 1));
		armed_tick = 0;
		empties = 0;
		set_hrtimer(last_tick + 1);
		assert(expires <= MAX(NEXT, now))
	fi
}

inline arm(cpu, tick)
{
	if
	:: tick >= armed_tick
	:: else ->
		if
		:: cpu == 0 -> program(tick)
		:: cpu == 1 && !kicked ->
			assert(!kick_queued);
			kick_queued = true;
			kicked = true
		:: else
		fi
	fi
}

/* Start timer @t, restart it for an earlier tick, or stop it. */
inline call(cpu, t)
{
	atomic {
		acquire();
		if
		:: ticks = 1
		:: ticks = 2
		fi;
		if
		:: due[t] == NONE && CAN_WAIT(now + ticks) -> due[t] = now + ticks
		:: due[t] == NONE && !CAN_WAIT(now + ticks) ->
			if
			:: armed_tick == OFF && NEXT == NONE ->
				clock = MAX(clock, now);
				last_tick = MAX(last_tick, now)
			:: else
			fi;
			due[t] = now + ticks;
			arm(cpu, due[t])
		:: due[t] != NONE && due[t] > now + 1 ->
			due[t] = now + 1;
			if
			:: armed_tick -> arm(cpu, due[t])
			:: else
			fi
		:: due[t] != NONE -> due[t] = NONE
		fi;
		release()
	}
}

proctype starter(byte cpu; byte t; byte calls)
{
	byte ticks, earliest;

	do
	:: calls > 0 -> calls--; call(cpu, t); atomic { ticks = 0; earliest = 0 }
	:: calls == 0 -> break
	od;
	done++
}

/* Handle the kick, an IPI, on CPU 0. */
proctype kicker()
{
	byte earliest;

end:	do
	:: atomic { kick_queued -> kick_queued = false; kick_runs = true };
	   atomic {
		acquire();
		kicked = false;
		if
		:: armed_tick && NEXT != NONE ->
			earliest = NEXT;
			program(earliest);
			earliest = 0
		:: else
		fi;
		release();
		kick_runs = false
	   }
	od
} /* unreached */

inline next_run()
{
	armed_tick = OFF;
	if
	:: NEXT == NONE -> next = NONE
	:: NEXT != NONE ->
		armed_tick = 0;
		next = target + 1;
		if
		:: !finished
		:: else ->
			empties = (expired -> 0 : MIN(empties + 1, DOZE));
			if
			:: empties + 1 < DOZE || DOZE == 0
			:: else ->
				armed_tick = NEXT;
				next = armed_tick
			fi
		fi
	fi
}

inline set_next_run()
{
	restart = false;
	if
	:: next == NONE
	:: next != NONE && queued -> set_hrtimer(next)
	:: else ->
		assert(!queued);
		expires = next;
		set_at = now;
		restart = true
	fi
}

proctype tick()
{
	byte target, next, found;
	bool restart, expired, finished;

end:	do
	:: atomic { queued && now >= expires -> queued = false; will_look = true };
	   if
	   :: atomic {
		acquire();
		target = MAX(now, clock);
		last_tick = MAX(last_tick, target);
		armed_tick = 0;
		release()
	      };
	      atomic {
		acquire();
		/*
		 * The lock is released around each callback, which is this gap between two atomic
		 * steps.
		 */
		clock = target;
		expired = NEXT <= target;
		finished = true;
		if
		:: due[0] <= target -> due[0] = NONE
		:: else
		fi;
		if
		:: due[1] <= target -> due[1] = NONE
		/* The run may end before all due timers have expired. */
		:: due[1] <= target && now < TICKS -> finished = false
		:: else
		fi;
		found = NEXT;
		release()
	      }
	   /* throttle_tick(): other wheels used up the CPU's time, so the run is put off. */
	   :: atomic { now < TICKS -> finished = false; target = now; found = NEXT }
	   fi;
	   atomic {
		acquire();
		next_run();
		set_next_run();
		release();
		will_look = restart
	   };
	   /* The hrtimer core queues the timer again, unless a start already did. */
	   atomic {
		if
		:: restart && !queued -> queued = true
		:: else
		fi;
		will_look = false;
		restart = false;
		found = 0;
		target = 0;
		next = 0;
		expired = false;
		finished = false
	   }
	od
} /* unreached */

/* Let time pass. When the callers are done, let it pass until all pending timers have expired. */
proctype time()
{
end:	do
	:: now < TICKS -> now++
	:: atomic { done == 2 && queued && expires > now -> now = expires }
	od
} /* unreached */

init {
	atomic {
		run starter(0, 0, 2);
		run starter(1, 1, 2);
		run kicker();
		run tick();
		run time()
	};
end:	do
	:: atomic { !lock && !SAFE -> assert(lock || SAFE) }	/* unreached */
	od
} /* unreached */
