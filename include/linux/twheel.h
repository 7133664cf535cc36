/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Timing wheels for kernel modules
 *
 * Embed a struct twheel_timer in your own structure, set it up once with its
 * callback, start and stop it from any context. The functions correspond to
 * timer_setup(), mod_timer(), timer_delete() and timer_delete_sync() of
 * timer_list. The promise differs: a timer never expires early, and at most one
 * tick late at any distance.
 */
#ifndef _LINUX_TWHEEL_H
#define _LINUX_TWHEEL_H

#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/poison.h>
#include <linux/stringify.h>
#include <linux/types.h>
#include <linux/uidgid.h>

struct twheel;
struct twheel_base;
struct twheel_payer;

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
 * @TWHEEL_PERIODIC: every tick while timers expire. It may doze after some empty
 *	ticks in a row
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
#define TWHEEL_DOZE_DEFAULT	2

/**
 * struct twheel_config - what twheel_create() makes
 * @name: shown in /proc/twheel, copied
 * @hidden: /proc/twheel shows the wheel only to @uid and to CAP_SYS_ADMIN. For
 *	timers of a user: the lines of a wheel show each start at once
 * @uid: with @hidden only: this user
 * @scheme: how timers are kept
 * @mode: when the wheel ticks
 * @tick_ns: length of a tick, %TWHEEL_TICK_NS_MIN to %TWHEEL_TICK_NS_MAX ns.
 *	0 is the length of the default wheel's tick
 * @slots: slots of a hashed wheel, %TWHEEL_SLOTS_MIN to %TWHEEL_SLOTS_MAX,
 *	rounded up to a power of two. 0 is %TWHEEL_SLOTS_DEFAULT. Has to be 0
 *	for a hierarchical wheel
 * @doze: number of the first empty tick in a row that the hrtimer of a periodic
 *	wheel does not fire at. It then fires where a slot needs attention, until
 *	a timer is started that is due earlier, or one expires. 0 is never. Has to
 *	be 0 or 1 for a tickless wheel, which is the same as a @doze of 1
 * @clock: the clock of ticks, deadlines and delays. CLOCK_BOOTTIME goes on while the
 *	system is suspended: timers that come due meanwhile expire when it is resumed,
 *	and do not resume it. 0 is CLOCK_MONOTONIC, which stands still
 * @lazy: make the slots of a CPU when twheel_prepare() is called there, and at
 *	first only the slots of the CPU that calls twheel_create(). A timer that
 *	is started on a CPU without slots goes to another one
 * @payer: who pays for the time that the wheel's ticks take, from
 *	twheel_payer_create(). NULL is the system: its wheel never waits for
 *	wheels with a payer
 */
struct twheel_config {
	const char *name;
	bool hidden;
	kuid_t uid;
	enum twheel_scheme_type scheme;
	enum twheel_mode mode;
	u64 tick_ns;
	unsigned int slots;
	unsigned int doze;
	clockid_t clock;
	bool lazy;
	struct twheel_payer *payer;
};

/**
 * struct twheel_node - what a scheme knows of a timer
 * @link: neighbours in the slot. @link.next is NULL while the timer is not
 *	pending, and so it is in a timer that was never set up
 * @expires: the tick at which the timer is due
 * @hint: where the wheel will be soon after this node. See twheel_slot.h
 * @offset_ns: for the owner. Schemes do not touch it
 *
 * These 32 bytes, 24 with 32-bit pointers, are all that a wheel touches of a
 * timer when it moves it.
 */
struct twheel_node {
	struct list_head link;
	u64 expires;
	u32 hint;
	u32 offset_ns;
};

struct twheel_timer;

/**
 * typedef twheel_fn - a callback, called when its timer expires
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
 * @base: the base that the timer is on, or was last. NULL before the first
 *	start of one with a static initialiser. Written under the lock of the
 *	base it leaves (set to 1) and of the base it joins. Read without a lock
 *	to find the lock, then checked again under it
 * @fn: the callback. NULL after twheel_shutdown_sync(). Guarded by the lock
 *	of @base
 * @lockdep_map: lockdep's, where configured, to find a waiter for a callback
 *	that holds a lock which the callback takes
 *
 * The fields are private. Use the functions below. But from its callback until
 * it is started again @node.link.prev is its owner's, for a list of timers that
 * have expired.
 */
struct twheel_timer {
	struct twheel_node node;
	struct twheel_base *base;
	twheel_fn fn;
#ifdef CONFIG_LOCKDEP
	struct lockdep_map lockdep_map;
#endif
};

#ifdef CONFIG_LOCKDEP
#define __TWHEEL_LOCKDEP_MAP(name)					\
	.lockdep_map = STATIC_LOCKDEP_MAP_INIT(name, &name),
#else
#define __TWHEEL_LOCKDEP_MAP(name)
#endif

/**
 * TWHEEL_TIMER_INITIALIZER - a timer of the default wheel that needs no setup
 * @function: called when it expires
 *
 * The timer may be used at any time, but before twheel is initialised a start
 * fails.
 */
#define TWHEEL_TIMER_INITIALIZER(function) {				\
		/* Debug objects tell it from one that was forgotten. */	\
		.node.link.prev = TIMER_ENTRY_STATIC,			\
		.fn = (function),					\
		__TWHEEL_LOCKDEP_MAP(__FILE__ ":" __stringify(__LINE__)) \
	}

/**
 * DEFINE_TWHEEL_TIMER - define a timer of the default wheel
 * @name: the variable. "static" goes before DEFINE_TWHEEL_TIMER()
 * @function: called when it expires
 */
#define DEFINE_TWHEEL_TIMER(name, function)				\
	struct twheel_timer name = TWHEEL_TIMER_INITIALIZER(function)

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
 * @deadline: when it is to expire, on its wheel's clock, ns, not for a stop
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
 * Return: the deadline of its last start, on its wheel's clock, ns.
 */
static inline u64 twheel_expired_deadline(const struct twheel_timer *timer,
					  u64 tick_ns)
{
	/* Pairs with restart_after(). */
	return (timer->node.expires - 1) * tick_ns +
	       READ_ONCE(timer->node.offset_ns) + 1;
}

/**
 * twheel_clock_time - a time of CLOCK_MONOTONIC on the clock of a wheel
 * @clock: the wheel's clock
 * @monotonic: the time, such as ktime_get()
 *
 * Context: Any but NMI.
 * Return: that time on @clock, ns, at most KTIME_MAX.
 */
static inline ktime_t twheel_clock_time(clockid_t clock, ktime_t monotonic)
{
	if (likely(clock != CLOCK_BOOTTIME))
		return monotonic;
	return min_t(u64, ktime_mono_to_any(monotonic, TK_OFFS_BOOT), KTIME_MAX);
}

/**
 * twheel_round_deadline - a deadline at which other timers are due as well
 * @deadline: when the timer may expire at the earliest, on its wheel's clock, ns
 * @slack_ns: how much later it may be due, ns
 * @tick_ns: length of a tick of its wheel, ns
 *
 * Of the ticks from @deadline to @slack_ns later it is the one with the most
 * trailing zeros. Timers with slack meet there, and the CPU wakes up less often. For
 * twheel_start_at(), twheel_again_at() and the like.
 *
 * Return: the deadline, on a tick. @deadline itself if there is no tick in that time.
 */
static inline ktime_t twheel_round_deadline(ktime_t deadline, u64 slack_ns,
					    u64 tick_ns)
{
	u64 from = deadline < 0 ? 0 : deadline, to = KTIME_MAX, differs;

	if (slack_ns < to - from)
		to = from + slack_ns;
	/* The tick before the first one that will do, and the last one. */
	from = div64_u64(from + tick_ns - 1, tick_ns) - 1;
	to = div64_u64(to, tick_ns);
	if ((s64)from >= (s64)to)
		return deadline;
	/* Below the highest bit in which they differ all can be 0. */
	differs = fls64(from ^ to) - 1;
	return (to >> differs << differs) * tick_ns;
}

int twheel_check_config(struct twheel_config *config);
bool twheel_scheme_bounded(enum twheel_scheme_type scheme);
struct twheel *twheel_create(const struct twheel_config *config);
void twheel_destroy(struct twheel *wheel);
int twheel_prepare(struct twheel *wheel);
int twheel_prepare_cpu(struct twheel *wheel, unsigned int cpu);
struct twheel_payer *twheel_payer_create(void);
void twheel_payer_destroy(struct twheel_payer *payer);
struct twheel *twheel_default(void);
unsigned int twheel_number(const struct twheel *wheel);
void twheel_get_config(const struct twheel *wheel,
		       struct twheel_config *config);

void twheel_timer_setup_key(struct twheel_timer *timer, struct twheel *wheel,
			    twheel_fn fn, unsigned int flags, const char *name,
			    struct lock_class_key *key);
void twheel_timer_destroy(struct twheel_timer *timer);
int twheel_start(struct twheel_timer *timer, u64 delay_ns);
int twheel_start_at(struct twheel_timer *timer, ktime_t deadline);
int twheel_again_at(struct twheel_timer *timer, ktime_t deadline);
int twheel_start_on(struct twheel_timer *timer, u64 delay_ns, int cpu);
int twheel_restart_at(struct twheel_timer *timer, ktime_t deadline);
int twheel_reduce_at(struct twheel_timer *timer, ktime_t deadline);
int twheel_stop(struct twheel_timer *timer);
void twheel_start_many(struct twheel_request *requests, unsigned int nr);
void twheel_restart_many(struct twheel_request *requests, unsigned int nr);
void twheel_stop_many(struct twheel_request *requests, unsigned int nr);
int twheel_stop_sync(struct twheel_timer *timer);
int twheel_shutdown_sync(struct twheel_timer *timer);
u64 twheel_forward(struct twheel_timer *timer, u64 period_ns);
ktime_t twheel_deadline(const struct twheel_timer *timer);
u64 twheel_remaining(const struct twheel_timer *timer);
void twheel_at_tick_end(struct twheel_timer *timer, struct twheel_tick_end *end);
unsigned long twheel_drain(struct twheel *wheel,
			   void (*fn)(struct twheel_timer *timer, void *arg),
			   void *arg);

/**
 * twheel_timer_setup - prepare a timer for its first start
 * @timer: the timer, not pending
 * @wheel: the wheel that it will use, NULL for the default one, which need not
 *	be there yet
 * @fn: called when it expires
 * @flags: 0 or %TWHEEL_TIMER_ON_STACK
 *
 * Timers that are set up in one place are one class for lockdep.
 *
 * Context: Any.
 */
#ifdef CONFIG_LOCKDEP
#define twheel_timer_setup(timer, wheel, fn, flags)			\
	do {								\
		static struct lock_class_key __key;			\
									\
		twheel_timer_setup_key(timer, wheel, fn, flags, #timer,	\
				       &__key);				\
	} while (0)
#else
#define twheel_timer_setup(timer, wheel, fn, flags)			\
	twheel_timer_setup_key(timer, wheel, fn, flags, NULL, NULL)
#endif

/**
 * twheel_tick_end_queued - whether work for the end of a tick waits
 * @end: the work
 *
 * On the CPU whose tick @end waits for, a callback may leave work for @end->fn and do
 * no more if this is true. On another CPU it must call twheel_at_tick_end() even
 * then. Only that call orders its work before @end->fn.
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
	return READ_ONCE(timer->node.link.next);
}

#endif /* _LINUX_TWHEEL_H */
