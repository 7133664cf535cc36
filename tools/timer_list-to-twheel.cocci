// SPDX-License-Identifier: GPL-2.0
//
// Rewrite the calls of timer_list that port-to-twheel has marked.  port-to-twheel
// runs this file.  It has chosen the timers to port, so no rule asks for a type.

#spatch --recursive-includes --include-headers-for-types --include-headers

@initialize:python@
@@
import re

def is_constant(text):
    return re.fullmatch(r"[A-Z0-9_ +*/()]+", text) is not None

@@
declarer name DEFINE_TIMER__to_twheel, DEFINE_TWHEEL_TIMER;
identifier x, fn;
@@
- DEFINE_TIMER__to_twheel(x, fn);
+ DEFINE_TWHEEL_TIMER(x, fn);

// "t->expires = E; add_timer(t)" becomes "mod_timer(t, E)".  With "+=" the new deadline
// is still counted from the last deadline.

@add@
expression T, P, E, cpu;
@@
(
- T.expires__to_twheel = E;
  ... when != T.expires__to_twheel
- \(add_timer__to_twheel\|add_timer_local__to_twheel\|add_timer_global__to_twheel\)(&T)
+ mod_timer__to_twheel(&T, E)
  ;
|
- P->expires__to_twheel = E;
  ... when != P->expires__to_twheel
- \(add_timer__to_twheel\|add_timer_local__to_twheel\|add_timer_global__to_twheel\)(P)
+ mod_timer__to_twheel(P, E)
  ;
|
- T.expires__to_twheel = E;
  ... when != T.expires__to_twheel
- add_timer_on__to_twheel(&T, cpu)
+ twheel_start_on(&T, delay_until(E), cpu)
  ;
|
- P->expires__to_twheel = E;
  ... when != P->expires__to_twheel
- add_timer_on__to_twheel(P, cpu)
+ twheel_start_on(P, delay_until(E), cpu)
  ;
|
- T.expires__to_twheel += E;
  ... when != T.expires__to_twheel
- \(add_timer__to_twheel\|add_timer_local__to_twheel\|add_timer_global__to_twheel\)(&T)
+ twheel_start_at(&T, ktime_add_ns(twheel_deadline(&T), jiffies64_to_nsecs(E)))
  ;
|
- P->expires__to_twheel += E;
  ... when != P->expires__to_twheel
- \(add_timer__to_twheel\|add_timer_local__to_twheel\|add_timer_global__to_twheel\)(P)
+ twheel_start_at(P, ktime_add_ns(twheel_deadline(P), jiffies64_to_nsecs(E)))
  ;
|
- T.expires__to_twheel = E;
- mod_timer__to_twheel(&T, T.expires__to_twheel)
+ mod_timer__to_twheel(&T, E)
  ;
|
- P->expires__to_twheel = E;
- mod_timer__to_twheel(P, P->expires__to_twheel)
+ mod_timer__to_twheel(P, E)
  ;
|
- T.expires__to_twheel = E;
  mod_timer__to_twheel(&T, ...);
|
- P->expires__to_twheel = E;
  mod_timer__to_twheel(P, ...);
)

@start@
expression T, E;
@@
(
- mod_timer__to_twheel(T, E)
+ twheel_start(T, delay_until(E))
|
- mod_timer_pending__to_twheel(T, E)
+ twheel_restart_at(T, ktime_add_ns(ktime_get(), delay_until(E)))
|
- timer_reduce__to_twheel(T, E)
+ twheel_reduce_at(T, ktime_add_ns(ktime_get(), delay_until(E)))
)

// delay_until(), which exists in this script only, is the time from now to a
// value of jiffies.  A product is widened before it is multiplied: on 32 bits
// even a u16 times NSEC_PER_SEC wraps.  jiffies64_to_nsecs() works in 64 bits.
// jiffies_to_nsecs() goes through an unsigned int of microseconds, which wraps
// after 71 minutes on any machine.  A delay that may be negative, which mod_timer()
// allows, is raised to 0: as a u64 it would make a timer that never expires.  Such
// a delay is a signed variable, a difference, or an unsigned long to which a
// difference was assigned.

@difference exists@
symbol jiffies;
identifier L;
expression E1, E2;
position p;
@@
(
 unsigned long L = E1 - E2;
|
 L = E1 - E2;
|
 L -= E2;
)
... when any
 delay_until@p(jiffies + L)

// If two assignments of differences reach one call, the rule above finds the call twice.
// So a rule without the assignments changes the call.
@@
symbol jiffies;
identifier difference.L;
position difference.p;
@@
- delay_until@p(jiffies + L)
+ jiffies64_to_nsecs(max_t(long, L, 0))

@delay@
typedef u8, u16, u32, u64;
symbol jiffies, HZ, NSEC_PER_SEC, NSEC_PER_MSEC;
expression C : script:python() { is_constant(C) };
{u8, u16, u32, unsigned char, unsigned short, unsigned int, unsigned long} U;
expression E, E1;
@@
(
- delay_until(jiffies)
+ 0
|
- delay_until(jiffies + HZ)
+ NSEC_PER_SEC
|
- delay_until(jiffies + C * HZ)
+ (u64)C * NSEC_PER_SEC
|
- delay_until(jiffies + U * HZ)
+ (u64)U * NSEC_PER_SEC
|
- delay_until(jiffies + msecs_to_jiffies(E))
+ (u64)E * NSEC_PER_MSEC
|
- delay_until(jiffies + secs_to_jiffies(C))
+ (u64)C * NSEC_PER_SEC
|
- delay_until(jiffies + secs_to_jiffies(U))
+ (u64)U * NSEC_PER_SEC
|
- delay_until(jiffies + C)
+ jiffies64_to_nsecs(C)
|
- delay_until(jiffies + (E1 - E))
+ jiffies64_to_nsecs(max_t(long, E1 - E, 0))
|
- delay_until(jiffies + U)
+ jiffies64_to_nsecs(U)
|
- delay_until(jiffies + E1 + E)
+ jiffies64_to_nsecs(max_t(long, E1 + E, 0))
|
- delay_until(jiffies + E)
+ jiffies64_to_nsecs(max_t(long, E, 0))
|
- delay_until(round_jiffies(jiffies + C))
+ jiffies64_to_nsecs(round_jiffies_relative(C))
|
- delay_until(round_jiffies(jiffies + U))
+ jiffies64_to_nsecs(round_jiffies_relative(U))
|
- delay_until(E)
+ jiffies64_to_nsecs(max_t(long, E - jiffies, 0))
)

// A read of t->expires becomes the deadline of a pending timer in jiffies.  A write is
// not changed: its mark remains, and port-to-twheel reports it.

@write@
expression T, P, E;
position p;
@@
(
 \(T.expires__to_twheel@p\|P->expires__to_twheel@p\) = E
|
 \(T.expires__to_twheel@p\|P->expires__to_twheel@p\) += E
|
 \(T.expires__to_twheel@p\|P->expires__to_twheel@p\) -= E
)

@expires@
expression T, P;
position p != write.p;
@@
(
- T.expires__to_twheel@p - jiffies
+ nsecs_to_jiffies(twheel_remaining(&T))
|
- P->expires__to_twheel@p - jiffies
+ nsecs_to_jiffies(twheel_remaining(P))
|
- T.expires__to_twheel@p
+ (jiffies + nsecs_to_jiffies(twheel_remaining(&T)))
|
- P->expires__to_twheel@p
+ (jiffies + nsecs_to_jiffies(twheel_remaining(P)))
)

@stop@
expression T;
@@
(
- del_timer__to_twheel(T)
+ twheel_stop(T)
|
- timer_delete__to_twheel(T)
+ twheel_stop(T)
|
- del_timer_sync__to_twheel(T)
+ twheel_stop_sync(T)
|
- timer_delete_sync__to_twheel(T)
+ twheel_stop_sync(T)
|
- timer_shutdown_sync__to_twheel(T)
+ twheel_shutdown_sync(T)
|
- timer_pending__to_twheel(T)
+ twheel_pending(T)
|
- \(destroy_timer_on_stack__to_twheel\|timer_destroy_on_stack__to_twheel\)(T)
+ twheel_timer_destroy(T)
)

@setup@
expression T, F, flags;
@@
(
- timer_setup__to_twheel(T, F, flags)
+ twheel_timer_setup(T, NULL, F, 0)
|
- timer_setup_on_stack__to_twheel(T, F, flags)
+ twheel_timer_setup(T, NULL, F, TWHEEL_TIMER_ON_STACK)
)

@container_declared@
type S;
identifier x;
expression f, T;
@@
S *x =
(
- from_timer__to_twheel(x, T, f)
+ container_of(T, S, f)
|
- timer_container_of__to_twheel(x, T, f)
+ container_of(T, S, f)
)
 ;

@container@
expression x, f, T;
@@
(
- from_timer__to_twheel(x, T, f)
+ container_of(T, typeof(*x), f)
|
- timer_container_of__to_twheel(x, T, f)
+ container_of(T, typeof(*x), f)
)
