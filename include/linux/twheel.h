/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Timing wheels for kernel modules
 *
 * Embed a struct twheel_timer in your own structure, set it up once with its
 * callback, start and stop it from any context. The functions correspond to
 * timer_setup(), mod_timer(), timer_delete() and timer_delete_sync() of
 * timer_list. Unlike with timer_list, a timer never expires early, and is due
 * at most one tick after its deadline, however far away the deadline is.
 *
 * twheel(9) describes each function ("make man"). Documentation/tutorial-modules.rst begins with
 * one timer.
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

/* Incremented when a function or a field changes its meaning, or is removed. */
#define TWHEEL_API_VERSION	1

struct twheel;
struct twheel_expiry_lock;
struct twheel_base;
struct twheel_payer;

/**
 * enum twheel_scheme_type - how a wheel stores its timers
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
 * @TWHEEL_PERIODIC: every tick while timers expire, unless the wheel dozes
 *	after empty ticks
 * @TWHEEL_TICKLESS: only if a slot needs attention
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
 * struct twheel_config - parameters of twheel_create()
 * @name: name for /proc/twheel. Copied
 * @hidden: true to show the wheel in /proc/twheel only to @uid and
 *	CAP_SYS_ADMIN. For timers of users, because the counters of a wheel show
 *	each start at once
 * @uid: user who may see the wheel, with @hidden only
 * @scheme: how the wheel stores its timers
 * @mode: when the wheel's hrtimer fires
 * @tick_ns: length of a tick, %TWHEEL_TICK_NS_MIN to %TWHEEL_TICK_NS_MAX ns. 0:
 *	tick of the default wheel
 * @slots: number of slots of a hashed wheel, %TWHEEL_SLOTS_MIN to
 *	%TWHEEL_SLOTS_MAX, rounded up to a power of two. 0:
 *	%TWHEEL_SLOTS_DEFAULT, or a hierarchical wheel
 * @doze: after this many empty ticks in a row a periodic wheel stops its
 *	hrtimer, and then fires only where a slot needs attention, until a timer
 *	expires or one with an earlier deadline is started. 0: never. A tickless
 *	wheel behaves like a @doze of 1, and accepts only 0 and 1
 * @clock: clock of ticks, deadlines and delays. CLOCK_BOOTTIME continues during
 *	suspend: timers that become due then expire when the system resumes, and
 *	do not wake it up. 0: CLOCK_MONOTONIC, which stops during suspend
 * @payer: account for the time of the wheel's ticks, from
 *	twheel_payer_create(). NULL: the system, whose wheels never wait for
 *	wheels with a payer. With a payer, only twheel_prepare_cpu() allocates
 *	slots of other CPUs, and charges them to its caller's memory cgroup
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
	struct twheel_payer *payer;
};

/**
 * struct twheel_node - the part of a timer that a scheme uses
 * @link: neighbours in the slot. @link.next is NULL while the timer is not
 *	pending, and if it was never set up
 * @next: @link.next
 * @owner: free for use by the owner of the timer from the timer's callback to
 *	the next start, such as for a list of expired timers. Otherwise
 *	@link.prev
 * @expires: expiry tick
 * @hint: distance to a later node, to prefetch it. See twheel_slot.h
 * @offset_ns: field of the scheme's caller, which schemes do not touch
 *
 * A wheel that moves a timer writes only these 32 bytes (24 with 32-bit
 * pointers).
 */
struct twheel_node {
	union {
		struct list_head link;
		struct {
			struct list_head *next;
			void *owner;
		};
	};
	u64 expires;
	u32 hint;
	u32 offset_ns;
};

struct twheel_timer;

/**
 * typedef twheel_fn - function called when its timer expires
 * @timer: the timer, not pending, and free to be started, stopped or freed
 *
 * Context: Softirq, on the CPU of the timer's base, in an RCU read-side critical
 * section, no locks held. Must not sleep.
 */
typedef void (*twheel_fn)(struct twheel_timer *timer);

/**
 * struct twheel_timer - a timer
 * @node: data of the wheel. Protected by the lock of @base. The deadline is 1 +
 *	@node.offset_ns ns after the tick before @node.expires
 * @fn: the callback. NULL after twheel_shutdown_sync(). Protected by the lock
 *	of @base. Beside @node, because a wheel that moves a timer compares it with
 *	twheel_asked_expired()
 * @base: current or last base of the timer. NULL before the first start with a
 *	static initialiser. Written under the lock of the base that the timer
 *	leaves (set to 1), and of the base that it joins. Read without a lock to
 *	find the lock, then checked again under it
 * @lockdep_map: map to detect a caller that waits for the callback with a lock
 *	held that the callback takes
 *
 * The fields are private, except @node.owner.
 */
struct twheel_timer {
	struct twheel_node node;
	twheel_fn fn;
	struct twheel_base *base;
#ifdef CONFIG_LOCKDEP
	struct lockdep_map lockdep_map;
#endif
};

/**
 * struct twheel_source - where the deadlines of some timers come from
 * @deadline: return the deadline that the owner of @timer stored last, on the
 *	wheel's clock, ns. Values up to the deadline that the wheel knows, such as 0,
 *	change nothing, and neither does U64_MAX. Other values beyond KTIME_MAX count
 *	as KTIME_MAX. Called with interrupts off and the lock of the timer's base
 *	held, on any CPU, while the timer is pending: may read memory, and must not
 *	sleep, lock, or start or stop timers
 * @fn: function to call when a timer expires
 */
struct twheel_source {
	u64 (*deadline)(struct twheel_timer *timer);
	twheel_fn fn;
};

/**
 * struct twheel_asked_timer - a timer that the wheel asks for its deadline
 * @timer: the timer, to start and to stop
 * @source: where its deadlines come from. Constant while the timer is pending
 *
 * The owner of the timer stores later deadlines in a place of its own, and calls
 * nothing. The wheel reads that place before it moves the timer, before it
 * sleeps until the timer is due, and before the timer expires.
 */
struct twheel_asked_timer {
	struct twheel_timer timer;
	const struct twheel_source *source;
};

#ifdef CONFIG_LOCKDEP
#define __TWHEEL_LOCKDEP_MAP(name)					\
	.lockdep_map = STATIC_LOCKDEP_MAP_INIT(name, &name),
#else
#define __TWHEEL_LOCKDEP_MAP(name)
#endif

/**
 * TWHEEL_TIMER_INITIALIZER - initialise a timer of the default wheel
 * @function: function to call when it expires
 *
 * The timer needs no setup. Before twheel is initialised a start fails.
 */
#define TWHEEL_TIMER_INITIALIZER(function) {				\
		/* Tells debug objects that this timer needs no setup. */ \
		.node.link.prev = TIMER_ENTRY_STATIC,			\
		.fn = (function),					\
		__TWHEEL_LOCKDEP_MAP(__FILE__ ":" __stringify(__LINE__)) \
	}

/**
 * DEFINE_TWHEEL_TIMER - define a timer of the default wheel
 * @name: name of the variable. May be preceded by "static"
 * @function: function to call when it expires
 */
#define DEFINE_TWHEEL_TIMER(name, function)				\
	struct twheel_timer name = TWHEEL_TIMER_INITIALIZER(function)

/**
 * struct twheel_tick_end - work for the end of a tick
 * @next: next work of the same tick. Owned by the base that it is queued on
 * @queued: bit 0 is set from twheel_at_tick_end() until shortly before @fn is
 *	called
 * @fn: function called in softirq context after the callbacks of the tick or,
 *	when the CPU goes offline or the wheel is destroyed, in process context
 *	with softirqs off
 */
struct twheel_tick_end {
	struct twheel_tick_end *next;
	unsigned long queued;
	void (*fn)(struct twheel_tick_end *end);
};

/**
 * struct twheel_request - one of many timers to start or stop
 * @timer: the timer
 * @deadline: deadline on the wheel's clock, ns. Unused by a stop
 * @result: return value of the function for one timer
 */
struct twheel_request {
	struct twheel_timer *timer;
	ktime_t deadline;
	int result;
};

/* Flag of twheel_timer_setup(): the timer is on the stack. */
#define TWHEEL_TIMER_ON_STACK	BIT(0)

/**
 * twheel_expired_deadline - return the deadline of an expired timer
 * @timer: timer that is not pending, and that the caller keeps from being
 *	started
 * @tick_ns: length of a tick of its wheel, ns
 *
 * Like twheel_deadline(), without a lock.
 *
 * Return: the deadline of its last start, on its wheel's clock, ns.
 */
static inline u64 twheel_expired_deadline(const struct twheel_timer *timer,
					  u64 tick_ns)
{
	/* Pairs with restart_in_tick(). */
	return (timer->node.expires - 1) * tick_ns +
	       READ_ONCE(timer->node.offset_ns) + 1;
}

/**
 * twheel_due_time - return the tick at which a timer is due, or was
 * @timer: timer that the caller keeps from being started
 * @tick_ns: length of a tick of its wheel, ns
 *
 * Return: the first tick at or after its deadline, on its wheel's clock, ns.
 */
static inline u64 twheel_due_time(const struct twheel_timer *timer, u64 tick_ns)
{
	return timer->node.expires * tick_ns;
}

/**
 * twheel_clock_time - convert CLOCK_MONOTONIC to the clock of a wheel
 * @clock: clock of the wheel
 * @monotonic: time of CLOCK_MONOTONIC, such as ktime_get()
 *
 * Context: Any but NMI.
 * Return: the same time on @clock, ns, at most KTIME_MAX.
 */
static inline ktime_t twheel_clock_time(clockid_t clock, ktime_t monotonic)
{
	if (likely(clock != CLOCK_BOOTTIME))
		return monotonic;
	return min_t(u64, ktime_mono_to_any(monotonic, TK_OFFS_BOOT), KTIME_MAX);
}

/**
 * twheel_round_deadline - return a deadline that other timers are likely to
 * share
 * @deadline: earliest acceptable deadline, on the wheel's clock, ns
 * @slack_ns: acceptable delay, ns
 * @tick_ns: length of a tick of the wheel, ns
 *
 * Chooses the tick with the most trailing zeros from @deadline to @deadline +
 * @slack_ns. Timers with slack then share ticks, and the CPU wakes up less
 * often. For twheel_start_at(), twheel_again_at() and similar functions.
 *
 * Return: the deadline, on a tick. @deadline itself if there is no tick in that
 * time.
 */
static inline ktime_t twheel_round_deadline(ktime_t deadline, u64 slack_ns,
					    u64 tick_ns)
{
	u64 from = deadline < 0 ? 0 : deadline, to = KTIME_MAX, differs;

	if (slack_ns < to - from)
		to = from + slack_ns;
	/*
	 * @from becomes the last tick before the deadline, and @to the last
	 * acceptable tick.
	 */
	from = div64_u64(from + tick_ns - 1, tick_ns) - 1;
	to = div64_u64(to, tick_ns);
	if ((s64)from >= (s64)to)
		return deadline;
	/* Clear all bits of @to below the highest bit where they differ. */
	differs = fls64(from ^ to) - 1;
	return (to >> differs << differs) * tick_ns;
}

int twheel_check_config(struct twheel_config *config);
struct twheel *twheel_create(const struct twheel_config *config);
void twheel_destroy(struct twheel *wheel);
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
void twheel_asked_expired(struct twheel_timer *timer);
bool twheel_timer_ask(struct twheel_timer *timer);
int twheel_start(struct twheel_timer *timer, u64 delay_ns);
int twheel_start_at(struct twheel_timer *timer, ktime_t deadline);
int twheel_again_at(struct twheel_timer *timer, ktime_t deadline);
int twheel_start_on(struct twheel_timer *timer, u64 delay_ns, int cpu);
int twheel_restart(struct twheel_timer *timer, u64 delay_ns);
int twheel_restart_at(struct twheel_timer *timer, ktime_t deadline);
int twheel_reduce_at(struct twheel_timer *timer, ktime_t deadline);
int twheel_stop(struct twheel_timer *timer);
void twheel_start_many(struct twheel_request *requests, unsigned int nr);
void twheel_restart_many(struct twheel_request *requests, unsigned int nr);
void twheel_stop_many(struct twheel_request *requests, unsigned int nr);
int twheel_stop_sync(struct twheel_timer *timer);
int twheel_shutdown_sync(struct twheel_timer *timer);
bool twheel_callback_announce(struct twheel_timer *timer, struct twheel_expiry_lock **lock);
void twheel_callback_wait(struct twheel_expiry_lock *lock);
ktime_t twheel_deadline(const struct twheel_timer *timer);
u64 twheel_remaining(const struct twheel_timer *timer);
void twheel_at_tick_end(struct twheel_timer *timer, struct twheel_tick_end *end);
unsigned long twheel_drain(struct twheel *wheel,
			   void (*fn)(struct twheel_timer *timer, void *arg),
			   void *arg);

/**
 * twheel_timer_setup - prepare a timer for its first start
 * @timer: the timer, not pending
 * @wheel: wheel of the timer. NULL for the default wheel, which need not exist
 *	yet
 * @fn: function to call when it expires
 * @flags: 0 or %TWHEEL_TIMER_ON_STACK
 *
 * For lockdep, all timers that are set up by one call in the source form a
 * class.
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
 * twheel_asked_setup - prepare a timer that the wheel asks for its deadline
 * @asked: the timer, not pending
 * @wheel: see twheel_timer_setup()
 * @timer_source: its source, which must exist as long as the timer
 * @flags: see twheel_timer_setup()
 *
 * Start the timer for its first deadline, with any of the functions that start
 * timers. From then on the owner stores later deadlines with WRITE_ONCE(), and
 * the wheel does not expire the timer before the deadline that it finds. Store
 * a deadline before the previous deadline passes, or the timer may expire at
 * the previous one: let @fn of the source compare the stored deadline with the
 * present time, and call twheel_again_at(). For an earlier deadline, store it
 * first, then call twheel_restart_at(). Other timers of a tick expire in the
 * order of their starts, but the place of this timer among them is not
 * specified.
 *
 * Context: Any.
 */
#define twheel_asked_setup(asked, wheel, timer_source, flags)		\
	do {								\
		struct twheel_asked_timer *__asked = (asked);		\
									\
		__asked->source = (timer_source);			\
		twheel_timer_setup(&__asked->timer, wheel,		\
				   twheel_asked_expired, flags);	\
	} while (0)

/**
 * twheel_callback_of - return the callback of a timer, for messages
 * @timer: the timer, set up
 *
 * Context: Any.
 * Return: the callback of the timer. For a struct twheel_asked_timer, the
 * callback of its source.
 */
static inline twheel_fn twheel_callback_of(const struct twheel_timer *timer)
{
	if (timer->fn != twheel_asked_expired)
		return timer->fn;
	return container_of(timer, struct twheel_asked_timer, timer)->source->fn;
}

/**
 * twheel_tick_end_queued - return whether work for the end of a tick is queued
 * @end: the work
 *
 * If true, a callback on the CPU whose tick calls @end->fn may leave its work
 * to @end->fn and do nothing else. On other CPUs it must call
 * twheel_at_tick_end() nevertheless, because only that call orders its work
 * before @end->fn.
 *
 * Context: Any.
 * Return: false once @end->fn is about to be called. After a subsequent RCU
 * grace period @end->fn has returned.
 */
static inline bool twheel_tick_end_queued(const struct twheel_tick_end *end)
{
	/* Pairs with clear_bit_unlock() in run_tick_ends(). */
	return smp_load_acquire(&end->queued);
}

/**
 * twheel_pending - return whether a timer is pending
 * @timer: the timer
 *
 * Context: Any. Unless the caller keeps others from starting and stopping the
 * timer, the result may be outdated.
 * Return: true if the timer was started, and neither expired nor was stopped.
 */
static inline bool twheel_pending(const struct twheel_timer *timer)
{
	/* Pairs with twheel_slot_leave_wheel() and twheel_link(). */
	return READ_ONCE(timer->node.link.next);
}

#endif /* _LINUX_TWHEEL_H */
