/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Timing wheels for kernel modules
 *
 * Embed a struct twheel_timer in your own structure, set it up once with its
 * callback, start and stop it from any context. The functions are those of
 * timer_list: timer_setup(), mod_timer(), timer_delete(), timer_delete_sync().
 * What differs is the promise: a timer never expires early, and at most one
 * tick late at any distance.
 */
#ifndef _LINUX_TWHEEL_H
#define _LINUX_TWHEEL_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct twheel;
struct twheel_base;

/**
 * enum twheel_scheme_type - how a wheel keeps its timers
 * @TWHEEL_HIER: hierarchical wheel, scheme 7 of Varghese and Lauck
 * @TWHEEL_HASHED: hashed wheel with unsorted slots, scheme 6
 * @TWHEEL_NR_SCHEMES: number of schemes
 */
enum twheel_scheme_type {
	TWHEEL_HIER,
	TWHEEL_HASHED,
	TWHEEL_NR_SCHEMES,
};

/**
 * enum twheel_mode - when a wheel's hrtimer fires
 * @TWHEEL_PERIODIC: every tick while a timer is pending
 * @TWHEEL_TICKLESS: only at ticks at which a slot needs attention
 * @TWHEEL_NR_MODES: number of modes
 */
enum twheel_mode {
	TWHEEL_PERIODIC,
	TWHEEL_TICKLESS,
	TWHEEL_NR_MODES,
};

#define TWHEEL_TICK_NS_MIN	(50 * NSEC_PER_USEC)
#define TWHEEL_TICK_NS_MAX	NSEC_PER_SEC
#define TWHEEL_SLOTS_MIN	2
#define TWHEEL_SLOTS_MAX	BIT(20)
#define TWHEEL_SLOTS_DEFAULT	4096

/**
 * struct twheel_config - what twheel_create() makes
 * @name: shown in /proc/twheel, copied
 * @scheme: how timers are kept
 * @mode: when the wheel ticks
 * @tick_ns: length of a tick, %TWHEEL_TICK_NS_MIN to %TWHEEL_TICK_NS_MAX ns.
 *	0 is the length of the default wheel's tick
 * @slots: slots of a hashed wheel, %TWHEEL_SLOTS_MIN to %TWHEEL_SLOTS_MAX,
 *	rounded up to a power of two. 0 is %TWHEEL_SLOTS_DEFAULT. Has to be 0
 *	for a hierarchical wheel
 * @lazy: make the slots of a CPU when twheel_prepare() is called there, and at
 *	first only those of the CPU that calls twheel_create(). A timer that is
 *	started on a CPU without slots goes to another one
 */
struct twheel_config {
	const char *name;
	enum twheel_scheme_type scheme;
	enum twheel_mode mode;
	u64 tick_ns;
	unsigned int slots;
	bool lazy;
};

/**
 * struct twheel_node - what a scheme knows of a timer
 * @link: neighbours in the slot. @link.next points to itself while the timer
 *	is not pending
 * @expires: the tick at which the timer is due
 * @hint: where the wheel will be soon after this node. See twheel_slot.h
 * @offset_ns: for the owner. Schemes do not touch it
 *
 * These 32 bytes are all that a wheel touches of a timer when it moves it.
 */
struct twheel_node {
	struct list_head link;
	u64 expires;
	u32 hint;
	u32 offset_ns;
};

struct twheel_timer;

/**
 * typedef twheel_fn - what is called when a timer expires
 * @timer: the timer, not pending, and free to be started, stopped or freed
 *
 * Context: softirq, on the CPU whose base held the timer, no locks held. Must
 * not sleep.
 */
typedef void (*twheel_fn)(struct twheel_timer *timer);

/**
 * struct twheel_timer - a timer
 * @node: the wheel's part. Guarded by the lock of @base. The deadline is
 *	1 + @node.offset_ns ns after the tick before @node.expires
 * @base: the base that the timer is on, or was last. Written under the lock
 *	of the base it leaves (set to NULL) and of the base it joins. Read
 *	without a lock to find the lock, then checked again under it
 * @fn: the callback. NULL after twheel_shutdown_sync(). Guarded by the lock
 *	of @base
 *
 * The fields are private. Use the functions below. But while the timer is not
 * pending its owner may link @node.link into a list of its own. Before the
 * timer is used again that has to be undone with list_del_init().
 */
struct twheel_timer {
	struct twheel_node node;
	struct twheel_base *base;
	twheel_fn fn;
};

/**
 * struct twheel_tick_end - work for the end of a tick
 * @next: the next one of the same tick. Owned by the base that it is queued on
 * @queued: bit 0 is set from twheel_at_tick_end() until @fn is about to be
 *	called
 * @fn: called in softirq context when the callbacks of the tick have run
 */
struct twheel_tick_end {
	struct twheel_tick_end *next;
	unsigned long queued;
	void (*fn)(struct twheel_tick_end *end);
};

/**
 * struct twheel_request - one of many timers to be started or stopped
 * @timer: the timer
 * @deadline: when it is to expire, CLOCK_MONOTONIC, ns, not for a stop
 * @result: what the function for one timer would have returned
 */
struct twheel_request {
	struct twheel_timer *timer;
	ktime_t deadline;
	int result;
};

/* twheel_timer_setup(): the timer is on the stack */
#define TWHEEL_TIMER_ON_STACK	BIT(0)

/**
 * twheel_expired_deadline - when a timer was due that has expired
 * @timer: a timer that is not pending, and that the caller keeps from being
 *	started
 * @tick_ns: length of a tick of its wheel, ns
 *
 * As twheel_deadline(), without a lock.
 *
 * Return: the deadline of its last start, CLOCK_MONOTONIC, ns.
 */
static inline u64 twheel_expired_deadline(const struct twheel_timer *timer,
					  u64 tick_ns)
{
	/* Pairs with restart_after(). */
	return (timer->node.expires - 1) * tick_ns +
	       READ_ONCE(timer->node.offset_ns) + 1;
}

struct twheel *twheel_create(const struct twheel_config *config);
void twheel_destroy(struct twheel *wheel);
int twheel_prepare(struct twheel *wheel);
struct twheel *twheel_default(void);
unsigned int twheel_number(const struct twheel *wheel);
void twheel_get_config(const struct twheel *wheel,
		       struct twheel_config *config);

void twheel_timer_setup(struct twheel_timer *timer, struct twheel *wheel,
			twheel_fn fn, unsigned int flags);
void twheel_timer_destroy(struct twheel_timer *timer);
int twheel_start(struct twheel_timer *timer, u64 delay_ns);
int twheel_start_at(struct twheel_timer *timer, ktime_t deadline);
int twheel_again_at(struct twheel_timer *timer, ktime_t deadline);
int twheel_start_on(struct twheel_timer *timer, u64 delay_ns, int cpu);
int twheel_restart_at(struct twheel_timer *timer, ktime_t deadline);
int twheel_stop(struct twheel_timer *timer);
void twheel_start_many(struct twheel_request *requests, unsigned int nr);
void twheel_restart_many(struct twheel_request *requests, unsigned int nr);
void twheel_stop_many(struct twheel_request *requests, unsigned int nr);
int twheel_stop_sync(struct twheel_timer *timer);
int twheel_shutdown_sync(struct twheel_timer *timer);
u64 twheel_forward(struct twheel_timer *timer, u64 period_ns);
ktime_t twheel_deadline(struct twheel_timer *timer);
u64 twheel_remaining(struct twheel_timer *timer);
void twheel_at_tick_end(struct twheel_timer *timer, struct twheel_tick_end *end);
unsigned long twheel_drain(struct twheel *wheel,
			   void (*fn)(struct twheel_timer *timer, void *arg),
			   void *arg);

/**
 * twheel_tick_end_queued - whether work for the end of a tick waits
 * @end: the work
 *
 * Context: Any.
 * Return: false once @end->fn is about to be called. It has returned when an
 * RCU grace period is over after that.
 */
static inline bool twheel_tick_end_queued(const struct twheel_tick_end *end)
{
	/* Pairs with clear_bit_unlock() in run_tick_ends(). */
	return smp_load_acquire(&end->queued);
}

/**
 * twheel_pending - whether a timer is pending
 * @timer: the timer
 *
 * Context: Any. Without a lock of the caller's own that keeps others from
 * starting and stopping the timer the answer may be old when it arrives.
 * Return: true if the timer was started and has neither expired nor been
 * stopped.
 */
static inline bool twheel_pending(const struct twheel_timer *timer)
{
	/* Pairs with WRITE_ONCE() in twheel_slot_leave_wheel() and twheel_link(). */
	return READ_ONCE(timer->node.link.next) != &timer->node.link;
}

/**
 * struct twheel_work - a work item that a timer queues
 * @work: the work
 * @timer: queues @work on @wq when it expires
 * @wq: where to queue it
 * @delayed: @timer was started, and neither has @work been queued for that nor
 *	was it cancelled
 * @cancelling: calls of twheel_cancel_work_sync() under way. Until they return
 *	nothing is queued
 */
struct twheel_work {
	struct work_struct work;
	struct twheel_timer timer;
	struct workqueue_struct *wq;
	bool delayed;
	unsigned int cancelling;
};

void twheel_init_work(struct twheel_work *work, struct twheel *wheel,
		      work_func_t fn);
bool twheel_queue_work(struct workqueue_struct *wq, struct twheel_work *work,
		       u64 delay_ns);
bool twheel_mod_work(struct workqueue_struct *wq, struct twheel_work *work,
		     u64 delay_ns);
bool twheel_cancel_work(struct twheel_work *work);
bool twheel_cancel_work_sync(struct twheel_work *work);
bool twheel_flush_work(struct twheel_work *work);

#endif /* _LINUX_TWHEEL_H */
