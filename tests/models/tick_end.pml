/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Work for the end of a tick: twheel_at_tick_end() and run_tick_ends()
 *
 * Two bases run callbacks, two of them in a run. Each callback does its part of one
 * of two works, which both bases share, and queues it.
 *
 * Claims: whatever part a callback has done before it queues a work, @fn is called
 * after that. It is called once for each time that the work was queued, after the
 * last callback of its run. A base walks over its own works only: @next is not
 * overwritten while it is needed. None stays queued.
 *
 * Left out: what @fn does, see wakeup.pml for one. Steps are in order on all CPUs:
 * that clear_bit_unlock() and smp_mb__after_atomic() see to that is taken for
 * granted.
 *
 * code core/tick.c twheel_at_tick_end d9a9ad77
 * code core/tick.c run_tick_ends fd08ff9f
 * code core/tick.c run_tick bb1bb4f6
 * accepted: an end of a timer whose callback does not run is refused before; jiffies end a batch
 *
 * right
 * broken NEXT_LATE: assertion violated (on[
 * broken CLEAR_LATE: assertion violated ((part[
 * broken QUEUED_TWICE: assertion violated (on[
 * broken LIST_KEPT: assertion violated (on[
 */

#define NONE	2

bool queued[2];			/* end->queued */
byte next[2] = NONE;		/* end->next */
byte first[2] = NONE;		/* base->tick_ends */
byte last[2] = NONE;		/* what base->next_tick_end points into */

bool part[2];			/* done by a callback, and not seen by @fn */
byte on[2] = NONE;		/* the base that has queued it */
byte calls[2];			/* of @fn that are due */
bool in_callbacks[2];
byte done;

inline at_tick_end(b, end)
{
	part[end] = true;
	if
#ifdef BROKEN_QUEUED_TWICE
	/* test_and_set_bit() in two steps */
	:: !queued[end] -> atomic { queued[end] = true; on[end] = b; calls[end]++ };
#else
	:: atomic { !queued[end] -> queued[end] = true; on[end] = b; calls[end]++ };
#endif
	   next[end] = NONE;
	   if
	   :: last[b] == NONE -> first[b] = end
	   :: else -> next[last[b]] = end
	   fi;
	   last[b] = end
	:: queued[end]
	fi
}

inline run_tick_ends(b)
{
	end = first[b];
#ifndef BROKEN_LIST_KEPT
	first[b] = NONE;
#endif
	last[b] = NONE;
	do
	:: end != NONE ->
	   assert(on[end] == b);
#ifndef BROKEN_NEXT_LATE
	   after = next[end];
#endif
#ifndef BROKEN_CLEAR_LATE
	   atomic { queued[end] = false; on[end] = NONE };
#endif
#ifdef BROKEN_NEXT_LATE
	   after = next[end];
#endif
	   /* end->fn() */
	   atomic {
		assert(!in_callbacks[b] && calls[end] > 0);
		calls[end]--;
		part[end] = false
	   };
#ifdef BROKEN_CLEAR_LATE
	   atomic { queued[end] = false; on[end] = NONE };
#endif
	   atomic { end = after; after = NONE }
	:: end == NONE -> break
	od
}

proctype base(byte b; byte runs)
{
	byte end, after, callbacks;

	do
	:: atomic { runs > 0 -> runs--; callbacks = 2; in_callbacks[b] = true };
	   do
	   :: callbacks > 0 ->
		callbacks--;
		if
		:: end = 0
		:: end = 1
		fi;
		at_tick_end(b, end)
	   :: callbacks == 0 -> break
	   od;
	   in_callbacks[b] = false;
	   run_tick_ends(b)
	:: runs == 0 -> break
	od;
	done++
}

init {
	atomic {
		run base(0, 2);
		run base(1, 2)
	};
	done == 2;
	assert(!queued[0] && !queued[1]);
	assert(part[0] == false && part[1] == false);
	assert(calls[0] == 0 && calls[1] == 0)
}
