/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which lock guards a timer: timer->base, MOVING, start_on, CPU hotplug
 *
 * There are two bases, the base of timers without a base, and a timer that has no base yet. A
 * thread on CPU 0 and an interrupt on CPU 1 start, move and stop the timer. Both CPUs tick, and
 * a callback may start the timer again. CPU 1 goes offline and comes back.
 *
 * Claims: a timer is inserted and removed under the lock of its base, and is in one wheel at a
 * time. Each start ends in an expiry or in a stop. No timer is left on a base that is offline.
 * No process waits forever: Spin searches for states in which a process waits and none can run.
 *
 * Left out: time, slots, order, and other timers, because no step for one timer depends on
 * another timer. So a chunk of twheel_base_hand_on() has one timer. A spin on MOVING is a wait
 * for its end. The interrupt may preempt CPU hotplug, and may come while CPU 1 is offline. All
 * steps under one hold of a lock are one step, because other CPUs only see timer->base of them.
 * All CPUs see stores in one order. That is enough for timer->base, which is read again under
 * the lock.
 *
 * code core/timer.c await_base aa7b23ec
 * code core/timer.c twheel_lock_base 334b47f2
 * code core/timer.c move_to_base 7d3b33d8
 * code core/timer.c start_slow 94ed9cac
 * code core/timer.c start_timer 195ea5c3
 * code core/timer.c twheel_start_on 82de1f00
 * code core/timer.c twheel_stop f801c484
 * code core/timer.c start_request a0f1290d
 * code core/timer.c for_many c36cff56
 * code core/base.c twheel_base_lock_online 22d7dc7d
 * code core/base.c twheel_base_online 1ef0cf27
 * code core/base.c take_timers 1668a376
 * code core/base.c put_timers 05e9e1a7
 * code core/base.c twheel_base_hand_on 4688914e
 * code core/base.c twheel_base_switch_off 6bcf80b4
 * code core/tick.c expire_timer c37852ff
 * code core/wheel.c twheel_wheel_create_default b7296e1e
 * code core/wheel.c twheel_default cce4893e
 * accepted: the change of the usable CPUs has a release, and the model has stores in order
 *
 * right
 * broken RECHECK: assertion violated
 *	:: base != b -> release(b); goto again => :: base != b
 * broken NOT_MOVING: assertion violated
 *	base = MOVING; => base = cpu;
 * broken TAKE_LATE: assertion violated ((lock[
 *	leave(B1); => skip;
 *	lock_online(B1); => atomic { leave(B1) }; lock_online(B1);
 * broken PUT_EARLY: assertion violated
 *	lock_online(B1); => base = B0; lock_online(B1);
 * broken IRQ: invalid end state
 *	irq_off = true; => skip;
 * broken UNBOUND: invalid end state
 *	atomic { b == NONE && base == NONE -> base = UNBOUND }; goto again => false
 * broken ONLINE: assertion violated (on!=3
 *	!online[b] -> => !online[b] -> break;
 * broken CPU_LATE: assertion violated (on!=3
 *	atomic { acquire(B1); online[B1] = false; release(B1) }; => skip;
 *	assert(on != B1); => online[B1] = false; assert(on != B1);
 */

/* timer->base */
#define NONE	0
#define MOVING	1
#define B0	2
#define B1	3
#define UNBOUND	4
/* value of @on for a timer that is in no wheel */
#define NOWHERE	0

mtype = { START, START_ON, STOP };

byte base;		/* timer->base */
bool pending;		/* timer->node.link.next */
byte on;		/* the base whose wheel contains the timer */
byte left;		/* number of starts that neither expired nor were stopped */

byte lock[5];		/* base->lock: the process that holds it */
bool running[5];	/* base->running is this timer */
bool online[5];		/* base->cpu is not TWHEEL_NO_CPU */
bool wheel;		/* the default wheel was created */

bool ticking[5];	/* the function of the hrtimer runs */
bool cancelled;		/* the hrtimer of CPU 1 was cancelled */
bool irq_off, irq;	/* CPU 1 has interrupts off, and is in an interrupt */
byte restarts = 1;	/* how often the callback still starts the timer */
byte done;

#define ME		(_pid + 1)
#define OTHER(b)	(B0 + B1 - b)
#define IS_CPU(b, cpu)	(online[b] && b == cpu)

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

inline leave(b)
{
	assert(lock[b] == ME && on == b);
	on = NOWHERE
}

inline join(b)
{
	assert(lock[b] == ME && on == NOWHERE);
	on = b;
	pending = true
}

inline started()
{
	assert(left == 0);
	left++
}

inline ended()
{
	assert(left == 1);
	left--;
	pending = false
}

/* Lock the base that takes a timer of @cpu. The caller releases the lock. */
inline lock_online(cpu)
{
	b = cpu;
	atomic { acquire(b) };
	do
	:: atomic {
		!online[b] ->
		release(b);
		b = OTHER(b)
	   };
	   atomic { acquire(b) }
	:: online[b] -> break
	od
}

inline call(op, cpu)
{
	skip;
again:	b = base;
	if
	:: op == STOP && !pending -> goto out
	:: else
	fi;
	if
	:: atomic { b == NONE && base == NONE -> base = UNBOUND }; goto again
	:: b == NONE && base != NONE -> goto again
	:: b == MOVING -> base != MOVING; goto again
	:: b > MOVING
	fi;
	atomic {
		acquire(b);
		if
		:: base != b -> release(b); goto again
		:: base == b
		fi;
		if
		:: op == STOP ->
			if
			:: pending -> leave(b); ended()
			:: else
			fi;
			release(b);
			goto out
		:: op != STOP && pending &&
		   (op == START || IS_CPU(b, cpu) || running[b]) ->
			assert(lock[b] == ME && on == b);	/* restart_locked() */
			release(b);
			goto out
		:: op != STOP && !pending && (IS_CPU(b, cpu) || running[b]) ->
			started();
			join(b);
			release(b);
			goto out
		:: op != STOP && b == UNBOUND && !wheel ->
			release(b);				/* no base for it yet: -ENODEV */
			goto out
		:: else ->
			if
			:: pending -> leave(b)
			:: else
			fi;
			base = MOVING;
			release(b)
		fi
	};
	lock_online(cpu);
	atomic {
		base = b;
		if
		:: !pending -> started()
		:: pending
		fi;
		join(b);
		release(b)
	};
out:	skip
}

/* Start or stop the timer, in a way that Spin chooses. */
inline any_call(cpu)
{
	if
	:: atomic { op = START; to = cpu }
	:: atomic { op = START_ON; to = OTHER(cpu) }
	:: op = STOP
	fi;
	call(op, to);
	atomic { b = 0; to = 0; op = 0 }
}

proctype thread(byte cpu)
{
	byte b, to;
	mtype op;
	byte calls = 2;

	do
	:: calls > 0 -> calls--; any_call(cpu)
	:: else -> break
	od;
	done++
}

proctype interrupt()
{
	byte b, to;
	mtype op;

	if
	:: atomic { !irq_off -> irq = true };
	   any_call(B1);
	   irq = false
	:: true
	fi;
	done++
}

proctype tick(byte cpu)
{
end:	do
	:: atomic { on == cpu && !(cpu == B1 && cancelled) -> ticking[cpu] = true };
	   atomic {
		acquire(cpu);
		if
		:: on == cpu ->
			leave(cpu);
			ended();
			running[cpu] = true
		:: else
		fi;
		release(cpu)
	   };
	   /* Run the callback, which may start its timer. */
	   if
	   :: atomic {
		running[cpu] && restarts > 0 -> restarts--;
		acquire(cpu);
		/* The timer was not moved meanwhile, so call() would find it on this base. */
		assert(base == cpu);
		if
		:: !pending -> started(); join(cpu)
		:: pending -> assert(on == cpu)
		fi;
		release(cpu)
	   }
	   :: true
	   fi;
	   atomic {
		acquire(cpu);
		running[cpu] = false;
		release(cpu);
		ticking[cpu] = false
	   }
	od
} /* unreached */

proctype hotplug() provided (!irq)
{
	byte b;
	bool taken;

	atomic { acquire(B1); online[B1] = false; release(B1) };
	atomic { !ticking[B1] -> cancelled = true };
	do
	:: atomic {
		acquire(B1);
		irq_off = true;
		taken = on == B1;
		if
		:: taken ->
			leave(B1);
			base = MOVING
		:: else
		fi;
		release(B1);
		if
		:: !taken -> irq_off = false; break
		:: taken
		fi;
	   };
	   lock_online(B1);
	   atomic {
		join(b);
		base = b;
		release(b);
		irq_off = false
	   }
	od;
	atomic {
		acquire(B1);
		assert(on != B1);
		online[B1] = true;
		cancelled = false;
		release(B1)
	};
	done++
}

init {
	atomic {
		base = NONE;
		online[B0] = true;
		online[B1] = true;
		run thread(B0);
		run interrupt();
		run tick(B0);
		run tick(B1);
		run hotplug()
	};
	atomic { acquire(UNBOUND); wheel = true; release(UNBOUND) };
	/* When all callers are done, a timer in a wheel still expires. */
	done == 3 && !ticking[B0] && !ticking[B1] && on == NOWHERE;
	assert(left == 0)
}
