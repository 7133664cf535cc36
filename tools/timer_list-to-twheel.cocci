// SPDX-License-Identifier: GPL-2.0
//
// Port a driver from timer_list to twheel.  Documentation/porting.rst says what
// to know before, and what to look at after.
//
//	spatch --very-quiet --sp-file timer_list-to-twheel.cocci --dir DIR >patch
//	patch -p1 -d DIR <patch
//
// A timer is ported if the driver declares it. One in a structure of the
// kernel's stays as it is, as sk->sk_timer does. What has no counterpart stays
// too: it is reported, and does not compile.

#spatch --recursive-includes --include-headers-for-types --include-headers

@initialize:python@
@@
import re
import sys

def is_constant(text):
    return re.fullmatch(r"[A-Z0-9_ +*/()]+", text) is not None

unported = set()

def place(p):
    return (p.file, p.line, p.column)

def say(places, what):
    for p in places:
        print(f"{p.file}:{p.line}: {what}", file=sys.stderr)

// Nothing says what type x is of: a cast does, for as long as the rules below want
// to know.

@defined@
declarer name DEFINE_TIMER, DEFINE_TWHEEL_TIMER;
identifier x, fn;
@@
- DEFINE_TIMER(x, fn);
+ DEFINE_TWHEEL_TIMER(x, fn);

@defined_use@
identifier defined.x;
@@
- &x
+ (struct timer_list *)&x

// Reports come first, while the lines still have their numbers.

// T is a timer and P points to one.  Both types are named, for a header may have
// been ported before the file that includes it.

@by_hand@
{struct timer_list, struct twheel_timer} T;
{struct timer_list *, struct twheel_timer *} P;
position p;
@@
(
 \(timer_reduce@p\|timer_shutdown@p\|try_to_del_timer_sync@p\)(P, ...)
|
 \(timer_setup@p\|timer_setup_on_stack@p\)(P, ..., <+...TIMER_IRQSAFE...+>)
|
 T.function@p
|
 P->function@p
)

@script:python@
p << by_hand.p;
@@
say(p, "no counterpart, left as it is")

@deferrable@
{struct timer_list *, struct twheel_timer *} P;
position p;
@@
 \(timer_setup@p\|timer_setup_on_stack@p\)(P, ..., <+...TIMER_DEFERRABLE...+>)

@script:python@
p << deferrable.p;
@@
say(p, "was deferrable, and will wake an idle CPU")

@written@
{struct timer_list, struct twheel_timer} T;
{struct timer_list *, struct twheel_timer *} P;
position p;
@@
 \(T.expires@p\|P->expires@p\) = ...

@read@
{struct timer_list, struct twheel_timer} T;
{struct timer_list *, struct twheel_timer *} P;
position p != written.p;
@@
 \(T.expires@p\|P->expires@p\)

@script:python@
p << read.p;
@@
say(p, "reads expires, which is never in the past now")

// "t->expires = E; add_timer(t)" is "mod_timer(t, E)".

@add@
{struct timer_list, struct twheel_timer} T;
{struct timer_list *, struct twheel_timer *} P;
expression E, cpu;
@@
(
- T.expires = E;
  ... when != T.expires
- \(add_timer\|add_timer_local\|add_timer_global\)(&T)
+ mod_timer(&T, E)
  ;
|
- P->expires = E;
  ... when != P->expires
- \(add_timer\|add_timer_local\|add_timer_global\)(P)
+ mod_timer(P, E)
  ;
|
- T.expires = E;
  ... when != T.expires
- add_timer_on(&T, cpu)
+ twheel_start_on(&T, delay_until(E), cpu)
  ;
|
- P->expires = E;
  ... when != P->expires
- add_timer_on(P, cpu)
+ twheel_start_on(P, delay_until(E), cpu)
  ;
|
- T.expires = E;
  mod_timer(&T, ...);
|
- P->expires = E;
  mod_timer(P, ...);
)

@start@
{struct timer_list *, struct twheel_timer *} T;
expression E;
@@
(
- mod_timer(T, E)
+ twheel_start(T, delay_until(E))
|
- mod_timer_pending(T, E)
+ twheel_restart_at(T, ktime_add_ns(ktime_get(), delay_until(E)))
)

// delay_until(), which exists in this script only, is the time from now to a
// value of jiffies.  A product is widened before it is multiplied: on 32 bits
// even a u16 times NSEC_PER_SEC wraps.  jiffies64_to_nsecs() works in 64 bits.
// jiffies_to_nsecs() goes through an unsigned int of microseconds, which wraps
// after 71 minutes on any machine.  What may be negative, as mod_timer() allows,
// is clamped: a u64 would make a timer of it that never expires.

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
- delay_until(jiffies + C)
+ jiffies64_to_nsecs(C)
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

// The deadline of a pending timer, in jiffies.

@assigned@
{struct timer_list, struct twheel_timer} T;
{struct timer_list *, struct twheel_timer *} P;
position p;
@@
\(T.expires@p\|P->expires@p\) = ...

@expires@
{struct timer_list, struct twheel_timer} T;
{struct timer_list *, struct twheel_timer *} P;
position p != assigned.p;
@@
(
- T.expires@p - jiffies
+ nsecs_to_jiffies(twheel_remaining(&T))
|
- P->expires@p - jiffies
+ nsecs_to_jiffies(twheel_remaining(P))
|
- T.expires@p
+ (jiffies + nsecs_to_jiffies(twheel_remaining(&T)))
|
- P->expires@p
+ (jiffies + nsecs_to_jiffies(twheel_remaining(P)))
)

@stop@
{struct timer_list *, struct twheel_timer *} T;
@@
(
- del_timer(T)
+ twheel_stop(T)
|
- timer_delete(T)
+ twheel_stop(T)
|
- del_timer_sync(T)
+ twheel_stop_sync(T)
|
- timer_delete_sync(T)
+ twheel_stop_sync(T)
|
- timer_shutdown_sync(T)
+ twheel_shutdown_sync(T)
|
- timer_pending(T)
+ twheel_pending(T)
|
- destroy_timer_on_stack(T)
+ twheel_timer_destroy(T)
)

@setup@
{struct timer_list *, struct twheel_timer *} T;
expression F;
@@
(
- timer_setup(T, F, \(0\|TIMER_PINNED\|TIMER_DEFERRABLE\|TIMER_DEFERRABLE | TIMER_PINNED\))
+ twheel_timer_setup(T, NULL, F, 0)
|
- timer_setup_on_stack(T, F, \(0\|TIMER_PINNED\))
+ twheel_timer_setup(T, NULL, F, TWHEEL_TIMER_ON_STACK)
)

// A callback of a timer that was not ported stays as it is too.

@unported@
identifier fn;
expression E;
@@
timer_setup(E, fn, ...)

@unported_callback@
identifier unported.fn, t;
position p;
@@
 fn(struct timer_list@p *t) { ... }

@script:python@
p << unported_callback.p;
@@
unported.update(place(at) for at in p)

@unported_prototype@
identifier unported.fn, t;
type R;
position p;
@@
(
 R fn(struct timer_list@p *t);
|
 R fn(struct timer_list@p *);
)

@script:python@
p << unported_prototype.p;
@@
unported.update(place(at) for at in p)

@types@
position p : script:python() { not any(place(at) in unported for at in p) };
@@
- struct timer_list@p
+ struct twheel_timer

@defined_done@
identifier defined.x;
@@
- (struct twheel_timer *)&x
+ &x

@container_declared@
type S;
identifier x;
expression f;
struct twheel_timer *T;
@@
S *x =
(
- from_timer(x, T, f)
+ container_of(T, S, f)
|
- timer_container_of(x, T, f)
+ container_of(T, S, f)
)
 ;

@container@
struct twheel_timer *T;
expression x, f;
@@
(
- from_timer(x, T, f)
+ container_of(T, typeof(*x), f)
|
- timer_container_of(x, T, f)
+ container_of(T, typeof(*x), f)
)

// The header, once, in each file that needs it.

@needs@
identifier fn =~ "^twheel_";
@@
fn(...)

@has_timer_h@
@@
#include <linux/timer.h>

@depends on types || needs@
@@
- #include <linux/timer.h>
+ #include <linux/twheel.h>

@has_others@
@@
#include <...>

@depends on (types || needs) && !has_timer_h && has_others@
@@
  #include <...>
+ #include <linux/twheel.h>

@depends on (types || needs) && !has_others@
@@
+ #include <linux/twheel.h>
  #include "..."
