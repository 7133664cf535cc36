// SPDX-License-Identifier: GPL-2.0
//
// Rewrite the calls of delayed_work that port-to-twheel has marked.  port-to-twheel
// runs this file.  It has chosen the works to port, so no rule asks for a type.

#spatch --recursive-includes --include-headers-for-types --include-headers

@initialize:python@
@@
import re

def is_constant(text):
    return re.fullmatch(r"[A-Z0-9_ +*/()]+", text) is not None

def is_conversion(text):
    return re.fullmatch(r"[mun]secs_to_jiffies ?\([^()]*\)", text) is not None

@@
declarer name DECLARE_DELAYED_WORK__to_twheel, DEFINE_TWHEEL_WORK;
identifier x, fn;
@@
- DECLARE_DELAYED_WORK__to_twheel(x, fn);
+ DEFINE_TWHEEL_WORK(x, fn);

@setup@
expression W, F;
@@
(
- INIT_DELAYED_WORK__to_twheel(W, F)
+ twheel_init_work(W, NULL, F)
|
- INIT_DELAYED_WORK_ONSTACK__to_twheel(W, F)
+ twheel_init_work_on_stack(W, NULL, F)
)

// delay_of(E), which exists in this script only, stands for a delay of E jiffies.  A
// delay that may be negative is raised to 0, as for timers: delayed_work adds it to
// jiffies, and queues a work at once whose time is past.

// system_wq has another name from Linux 6.17 on, so the calls that replace its calls
// name no queue.

@queue@
symbol system_wq;
expression W, Q, C, E;
@@
(
- schedule_delayed_work__to_twheel(W, E)
+ twheel_schedule_work(W, delay_of(E))
|
- schedule_delayed_work_on__to_twheel(C, W, E)
+ twheel_schedule_work_on(C, W, delay_of(E))
|
- queue_delayed_work__to_twheel(system_wq, W, E)
+ twheel_schedule_work(W, delay_of(E))
|
- queue_delayed_work_on__to_twheel(C, system_wq, W, E)
+ twheel_schedule_work_on(C, W, delay_of(E))
|
- queue_delayed_work__to_twheel(Q, W, E)
+ twheel_queue_work(Q, W, delay_of(E))
|
- queue_delayed_work_on__to_twheel(C, Q, W, E)
+ twheel_queue_work_on(C, Q, W, delay_of(E))
|
- mod_delayed_work__to_twheel(Q, W, E)
+ twheel_mod_work(Q, W, delay_of(E))
|
- mod_delayed_work_on__to_twheel(C, Q, W, E)
+ twheel_mod_work_on(C, Q, W, delay_of(E))
)

@difference exists@
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
 delay_of@p(L)

// If two assignments of differences reach one call, the rule above finds the call twice.
// So a rule without the assignments changes the call.
@@
identifier difference.L;
position difference.p;
@@
- delay_of@p(L)
+ jiffies64_to_nsecs(max_t(long, L, 0))

@delay@
typedef u8, u16, u32, u64;
symbol HZ, NSEC_PER_SEC, NSEC_PER_MSEC;
expression C : script:python() { is_constant(C) };
expression F : script:python() { is_conversion(F) };
{u8, u16, u32, unsigned char, unsigned short, unsigned int, unsigned long} U;
expression E, E1;
@@
(
- delay_of(0)
+ 0
|
- delay_of(HZ)
+ NSEC_PER_SEC
|
- delay_of(C * HZ)
+ (u64)C * NSEC_PER_SEC
|
- delay_of(msecs_to_jiffies(E))
+ (u64)E * NSEC_PER_MSEC
|
- delay_of(secs_to_jiffies(C))
+ (u64)C * NSEC_PER_SEC
|
- delay_of(secs_to_jiffies(U))
+ (u64)U * NSEC_PER_SEC
|
- delay_of(C)
+ jiffies64_to_nsecs(C)
|
- delay_of(F)
+ jiffies64_to_nsecs(F)
|
- delay_of(E - E1)
+ jiffies64_to_nsecs(max_t(long, E - E1, 0))
|
- delay_of(U)
+ jiffies64_to_nsecs(U)
|
- delay_of(E)
+ jiffies64_to_nsecs(max_t(long, E, 0))
)

@others@
expression W;
@@
(
- cancel_delayed_work__to_twheel(W)
+ twheel_cancel_work(W)
|
- cancel_delayed_work_sync__to_twheel(W)
+ twheel_cancel_work_sync(W)
|
- disable_delayed_work__to_twheel(W)
+ twheel_disable_work(W)
|
- disable_delayed_work_sync__to_twheel(W)
+ twheel_disable_work_sync(W)
|
- enable_delayed_work__to_twheel(W)
+ twheel_enable_work(W)
|
- flush_delayed_work__to_twheel(W)
+ twheel_flush_work(W)
|
- delayed_work_pending__to_twheel(W)
+ twheel_work_pending(W)
|
- destroy_delayed_work_on_stack__to_twheel(W)
+ twheel_destroy_work_on_stack(W)
)

@converted@
expression W;
symbol work;
@@
- to_delayed_work__to_twheel(W)
+ container_of(W, struct twheel_work, work)
