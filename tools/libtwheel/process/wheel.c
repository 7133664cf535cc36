// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * A wheel in the process: the in-kernel API on one base, without an hrtimer
 *
 * The functions of include/linux/twheel.h that a session calls. In the module an hrtimer
 * drives each base, and each base has a lock. Here reads call twheel_wheel_expire(), and
 * the session's lock protects the wheel. It is held until a callback returns, so no
 * callback runs concurrently.
 *
 * @armed is the tick by which the program has to call. Only starts with an earlier
 * deadline change it.
 */

/* Tick of the default wheel of a module without parameters. */
#define TICK_NS_DEFAULT		NSEC_PER_MSEC

/*
 * Limit of @armed: have the program call at least once per window of level 1. So an outer
 * slot that fills up in the meantime is moved down step by step.
 */
#define ARMED_TICKS_MAX		BIT_ULL(2 * TWHEEL_HIER_BITS)

/**
 * struct twheel_base - the timers of a wheel
 * @scheme: the timers
 * @armed: latest tick for the next call of the program, U64_MAX if there is no timer
 * @tick_ns: length of a tick. Constant
 * @clockid: clock of ticks and deadlines. Constant
 * @ends: work for the end of an expiry
 *
 * Protected by the session's lock.
 */
struct twheel_base {
	struct twheel_scheme scheme;
	u64 armed;
	u32 tick_ns;
	clockid_t clockid;
	struct twheel_tick_end *ends;
};

/**
 * struct twheel - a wheel
 * @config: configuration. Constant
 * @base: timers
 */
struct twheel {
	struct twheel_config config;
	struct twheel_base base;
};

/* Wheel of sessions without a private one, or until that is created. */
static struct twheel twheel_wheel_standard = {
	.config = { .tick_ns = TICK_NS_DEFAULT, .clock = CLOCK_MONOTONIC },
	.base = { .armed = U64_MAX, .tick_ns = TICK_NS_DEFAULT },
};

struct twheel *twheel_default(void)
{
	return &twheel_wheel_standard;
}

void twheel_get_config(const struct twheel *wheel, struct twheel_config *config)
{
	*config = wheel->config;
}

static int check_config(struct twheel_config *config)
{
	if (config->scheme >= TWHEEL_NR_SCHEMES ||
	    config->mode >= TWHEEL_NR_MODES)
		return -EINVAL;
	if (!config->clock)
		config->clock = CLOCK_MONOTONIC;
	if (config->clock != CLOCK_MONOTONIC && config->clock != CLOCK_BOOTTIME)
		return -EINVAL;
	if (!config->tick_ns)
		config->tick_ns = TICK_NS_DEFAULT;
	if (config->tick_ns < TWHEEL_TICK_NS_MIN ||
	    config->tick_ns > TWHEEL_TICK_NS_MAX)
		return -EINVAL;
	return twheel_scheme_choose_slots(config->scheme, &config->slots);
}

void twheel_destroy(struct twheel *wheel)
{
	free(wheel->base.scheme.slots);
	free(wheel->base.scheme.occupied);
	free(wheel);
}

static u64 tick_now(const struct twheel_base *base)
{
	return div_u64(twheel_clock_time(base->clockid, ktime_get()), base->tick_ns);
}

/* Returns ERR_PTR() of -EINVAL or -ENOMEM. */
struct twheel *twheel_create(const struct twheel_config *config)
{
	struct twheel_config checked = *config;
	int ret = check_config(&checked);
	struct twheel_scheme *scheme;
	struct twheel *wheel;
	u32 nr;

	if (ret)
		return ERR_PTR(ret);
	wheel = kzalloc(sizeof(*wheel), GFP_KERNEL_ACCOUNT);
	if (!wheel)
		return ERR_PTR(-ENOMEM);
	scheme = &wheel->base.scheme;
	nr = twheel_scheme_slots(checked.scheme, checked.slots);
	scheme->slots = kcalloc(nr, sizeof(*scheme->slots), GFP_KERNEL_ACCOUNT);
	scheme->occupied = kcalloc(BITS_TO_LONGS(nr), sizeof(long), GFP_KERNEL_ACCOUNT);
	if (!scheme->slots || !scheme->occupied) {
		twheel_destroy(wheel);
		return ERR_PTR(-ENOMEM);
	}
	wheel->config = checked;
	wheel->base.tick_ns = checked.tick_ns;
	wheel->base.clockid = checked.clock;
	wheel->base.armed = U64_MAX;
	twheel_scheme_init(scheme, checked.scheme, scheme->slots, scheme->occupied,
			   nr, tick_now(&wheel->base));
	return wheel;
}

void twheel_timer_setup_key(struct twheel_timer *timer, struct twheel *wheel,
			    twheel_fn fn, unsigned int flags, const char *name,
			    struct lock_class_key *key)
{
	timer->node.link.next = NULL;
	timer->node.expires = 0;
	timer->node.offset_ns = 0;
	timer->base = &wheel->base;
	timer->fn = fn;
}

/* Rounding up keeps a timer from being early. Inlined into the fast paths. */
static __always_inline u64 tick_above(const struct twheel_base *base,
				      ktime_t deadline, u32 *offset_ns)
{
	return div_u64_rem((u64)deadline + base->tick_ns - 1, base->tick_ns,
			   offset_ns);
}

/* Returns the tick by which to call if there is work at @tick. */
static u64 leave_alone(const struct twheel_scheme *scheme, u64 tick)
{
	u64 part = (scheme->clock | (ARMED_TICKS_MAX - 1)) + 1;

	return twheel_scheme_levels(scheme->type) > 1 ? min(tick, part) : tick;
}

/* Have the program call for a timer, at the next tick if it is late. Rare. */
static noinline void arm_base(struct twheel_base *base, struct twheel_node *node)
{
	u64 tick = max(twheel_scheme_wakeup(&base->scheme, node),
		       base->scheme.clock + 1);

	base->armed = min(base->armed, leave_alone(&base->scheme, tick));
}

/* Advance the clock of an empty wheel, which nothing advanced since. Rare. */
static noinline void catch_up(struct twheel_base *base)
{
	u64 now = tick_now(base);

	if (now > base->scheme.clock)
		twheel_scheme_skip(&base->scheme, now);
}

static __always_inline void insert_timer(struct twheel_base *base,
					 struct twheel_node *node, u64 expires,
					 u32 offset_ns)
{
	if (unlikely(base->armed == U64_MAX) && !base->scheme.pending)
		catch_up(base);
	node->expires = expires;
	node->offset_ns = offset_ns;
	twheel_scheme_start_at(&base->scheme, node, expires);
	if (unlikely(expires < base->armed))
		arm_base(base, node);
}

static __always_inline void restart_timer(struct twheel_base *base,
					  struct twheel_node *node, u64 expires,
					  u32 offset_ns)
{
	node->offset_ns = offset_ns;
	if (twheel_scheme_refresh(&base->scheme, node, expires))
		return;
	twheel_scheme_restart(&base->scheme, node, expires);
	if (unlikely(expires < base->armed))
		arm_base(base, node);
}

/* Fast paths for a hierarchical wheel, if the program calls before the deadline. */

static __always_inline void insert_quietly(struct twheel_base *base,
					   struct twheel_node *node, ktime_t deadline)
{
	node->expires = tick_above(base, deadline, &node->offset_ns);
	twheel_hier_start(&base->scheme, node, node->expires);
}

static noinline void move_timer(struct twheel_scheme *scheme, struct twheel_node *node,
				u64 expires)
{
	node->expires = expires;
	twheel_slot_leave(node);
	twheel_hier_place(scheme, node, expires);
}

static __always_inline void restart_quietly(struct twheel_base *base,
					    struct twheel_node *node, ktime_t deadline)
{
	u64 expires = tick_above(base, deadline, &node->offset_ns);

	if (twheel_hier_stays(&base->scheme, node, expires))
		node->expires = expires;
	else
		move_timer(&base->scheme, node, expires);
}

static __always_inline void stop_quietly(struct twheel_base *base,
					 struct twheel_node *node)
{
	twheel_slot_leave(node);
	twheel_slot_leave_wheel(&base->scheme, node);
}

int twheel_start_at(struct twheel_timer *timer, ktime_t deadline)
{
	struct twheel_base *base = timer->base;
	u32 offset_ns;
	u64 expires = tick_above(base, deadline, &offset_ns);

	if (twheel_pending(timer)) {
		restart_timer(base, &timer->node, expires, offset_ns);
		return 1;
	}
	insert_timer(base, &timer->node, expires, offset_ns);
	return 0;
}

int twheel_restart_at(struct twheel_timer *timer, ktime_t deadline)
{
	return twheel_pending(timer) ? twheel_start_at(timer, deadline) : 0;
}

/* A timer is out of the wheel before its callback, so nothing is deferred. */
int twheel_again_at(struct twheel_timer *timer, ktime_t deadline)
{
	return twheel_start_at(timer, deadline);
}

int twheel_stop(struct twheel_timer *timer)
{
	if (!twheel_pending(timer))
		return 0;
	twheel_scheme_stop(&timer->base->scheme, &timer->node);
	return 1;
}

int twheel_stop_sync(struct twheel_timer *timer)
{
	return twheel_stop(timer);
}

void twheel_start_many(struct twheel_request *requests, unsigned int nr)
{
	for (; nr; nr--, requests++)
		requests->result = twheel_start_at(requests->timer,
						   requests->deadline);
}

void twheel_restart_many(struct twheel_request *requests, unsigned int nr)
{
	for (; nr; nr--, requests++)
		requests->result = twheel_restart_at(requests->timer,
						     requests->deadline);
}

void twheel_stop_many(struct twheel_request *requests, unsigned int nr)
{
	for (; nr; nr--, requests++)
		requests->result = twheel_stop(requests->timer);
}

ktime_t twheel_deadline(const struct twheel_timer *timer)
{
	return twheel_expired_deadline(timer, timer->base->tick_ns);
}

void twheel_at_tick_end(struct twheel_timer *timer, struct twheel_tick_end *end)
{
	end->queued = 1;
	end->next = timer->base->ends;
	timer->base->ends = end;
}

static void run_ends(struct twheel_base *base)
{
	struct twheel_tick_end *end = base->ends;

	base->ends = NULL;
	for (; end; end = end->next) {
		end->queued = 0;
		end->fn(end);
	}
}

static struct twheel_timer *timer_of(struct twheel_node *node)
{
	return container_of(node, struct twheel_timer, node);
}

/* Expire at most @most of the timers due at one tick. Returns how many expired. */
static __always_inline unsigned int expire_tick(struct twheel_base *base,
						struct twheel_node *node,
						unsigned int most)
{
	struct twheel_slot *slot = twheel_scheme_due_slot(&base->scheme);
	unsigned int batch = twheel_scheme_batch(&base->scheme, min_t(u32, most, INT_MAX));
	unsigned int count = 0;

	do {
		timer_of(node)->fn(timer_of(node));
	} while (++count < batch &&
		 (node = twheel_scheme_due(&base->scheme, slot)));
	return count;
}

static void rearm(struct twheel_base *base)
{
	base->armed = base->scheme.pending ?
		leave_alone(&base->scheme, twheel_scheme_next(&base->scheme)) : U64_MAX;
}

/*
 * PER_TICK_BOOKKEEPING and EXPIRY_PROCESSING, for at most @most expiries.
 * Returns whether all timers that are due at @now expired.
 */
static bool twheel_wheel_expire(struct twheel_base *base, ktime_t now,
				unsigned int most)
{
	u64 target = max((u64)now / base->tick_ns, base->scheme.clock);
	struct twheel_node *node = NULL;
	int work;

	do {
		work = INT_MAX;
		while (most && (node = twheel_scheme_pop(&base->scheme, target, &work)))
			most -= expire_tick(base, node, most);
	} while (work <= 0);
	run_ends(base);
	rearm(base);
	return base->armed > target;
}

/*
 * Ask @leaves about timers before the wheel sleeps for them. It returns whether a timer has
 * left its tick.
 */
static void twheel_wheel_look_ahead(struct twheel_base *base,
				    bool (*leaves)(struct twheel_timer *timer))
{
	unsigned int most = MOVES_PER_WAKEUP;
	struct twheel_slot *slot;

	/* Ticks of level 0. A hashed wheel has none. */
	for (; base->armed < base->scheme.reach[0]; rearm(base)) {
		slot = twheel_hier_slot(&base->scheme, 0, base->armed);
		do {
			if (list_empty(&slot->nodes) || !most-- ||
			    !leaves(timer_of(list_first_entry(&slot->nodes,
							      struct twheel_node, link))))
				return;
		} while (!list_empty(&slot->nodes));
	}
}
