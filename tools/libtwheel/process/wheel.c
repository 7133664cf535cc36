// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * A wheel in the process: the in-kernel API on one base, without an hrtimer
 *
 * The functions of include/linux/twheel.h that a session calls. In the module an hrtimer
 * drives each base, and each base has a lock. Here reads call twheel_wheel_expire(), and
 * the session's lock protects the wheel. It is held until a callback returns, so no
 * callback runs concurrently.
 *
 * @armed is the tick by which the program has to call. Until then only starts with an
 * earlier deadline change it.
 */

/* Tick of the default wheel of a module without parameters. */
#define TICK_NS_DEFAULT		NSEC_PER_MSEC

/*
 * Limit of @armed: have the program call at least once per window of level 1. So an outer
 * slot that fills up in the meantime is moved down step by step.
 */
#define ARMED_TICKS_MAX		BIT_ULL(2 * TWHEEL_HIER_BITS)

/**
 * struct twheel - a wheel, which is its only base, too
 * @scheme: the timers
 * @config: configuration. Constant
 * @armed: latest tick for the next call of the program, U64_MAX if there is no timer
 * @ends: work of callbacks for the end of twheel_wheel_expire()
 *
 * Protected by the session's lock.
 */
struct twheel {
	struct twheel_scheme scheme;
	struct twheel_config config;
	u64 armed;
	struct twheel_tick_end *ends;
};

/* Configuration of sessions without a private wheel. Their first start creates a wheel. */
static struct twheel twheel_wheel_standard = {
	.config = { .tick_ns = TICK_NS_DEFAULT, .clock = CLOCK_MONOTONIC },
	.armed = U64_MAX,
};

void twheel_get_config(const struct twheel *wheel, struct twheel_config *config)
{
	*config = wheel->config;
}

static int check_config(struct twheel_config *config)
{
	config->clock = config->clock ?: CLOCK_MONOTONIC;
	config->tick_ns = config->tick_ns ?: TICK_NS_DEFAULT;
	if (config->scheme >= TWHEEL_NR_SCHEMES ||
	    (config->clock != CLOCK_MONOTONIC && config->clock != CLOCK_BOOTTIME) ||
	    config->tick_ns < TWHEEL_TICK_NS_MIN || config->tick_ns > TWHEEL_TICK_NS_MAX)
		return -EINVAL;
	return twheel_scheme_choose_slots(config->scheme, &config->slots);
}

void twheel_destroy(struct twheel *wheel)
{
	free(wheel->scheme.slots);
	free(wheel->scheme.occupied);
	free(wheel);
}

static u64 tick_now(const struct twheel *wheel)
{
	return div_u64(twheel_clock_time(wheel->config.clock, ktime_get()), wheel->config.tick_ns);
}

/* Create the wheel of a session. Returns ERR_PTR() of -EINVAL or -ENOMEM on errors. */
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
	scheme = &wheel->scheme;
	nr = twheel_scheme_slots(checked.scheme, checked.slots);
	scheme->slots = kcalloc(nr, sizeof(*scheme->slots), GFP_KERNEL_ACCOUNT);
	scheme->occupied = kcalloc(BITS_TO_LONGS(nr), sizeof(long), GFP_KERNEL_ACCOUNT);
	if (!scheme->slots || !scheme->occupied) {
		twheel_destroy(wheel);
		return ERR_PTR(-ENOMEM);
	}
	wheel->config = checked;
	wheel->armed = U64_MAX;
	twheel_scheme_init(scheme, checked.scheme, scheme->slots, scheme->occupied,
			   nr, tick_now(wheel));
	return wheel;
}

void twheel_timer_setup_key(struct twheel_timer *timer, struct twheel *wheel,
			    twheel_fn fn, unsigned int flags, const char *name,
			    struct lock_class_key *key)
{
	timer->node.link.next = NULL;
	timer->node.expires = 0;
	timer->node.offset_ns = 0;
	timer->base = wheel;
	timer->fn = fn;
}

/* Returns the first tick that is not before @deadline. Inlined into the fast paths. */
static __always_inline u64 tick_above(const struct twheel *wheel,
				      ktime_t deadline, u32 *offset_ns)
{
	u32 tick_ns = wheel->config.tick_ns;

	return div_u64_rem((u64)deadline + tick_ns - 1, tick_ns, offset_ns);
}

void twheel_asked_expired(struct twheel_timer *timer)
{
	container_of(timer, struct twheel_asked_timer, timer)->source->fn(timer);
}

bool twheel_timer_ask(struct twheel_timer *timer)
{
	struct twheel_asked_timer *asked = container_of(timer, struct twheel_asked_timer, timer);
	u64 deadline = asked->source->deadline(timer), expires;
	u32 offset_ns;

	if (unlikely((s64)deadline < 0))
		deadline = deadline == U64_MAX ? 0 : KTIME_MAX;
	expires = tick_above(timer->base, deadline, &offset_ns);
	if (expires <= timer->node.expires)
		return false;
	timer->node.expires = expires;
	timer->node.offset_ns = offset_ns;
	timer->node.hint |= TWHEEL_SLOT_MAY_STAY;
	return true;
}

/* Returns the tick by which the program has to call for work at @tick. */
static u64 leave_alone(const struct twheel_scheme *scheme, u64 tick)
{
	u64 part = (scheme->clock | (ARMED_TICKS_MAX - 1)) + 1;

	return twheel_scheme_levels(scheme->type) > 1 ? min(tick, part) : tick;
}

/* Have the program call for a timer, at the next tick if it is late. Rare. */
static noinline void arm_earlier(struct twheel *wheel, struct twheel_node *node)
{
	u64 tick = max(twheel_scheme_next_for(&wheel->scheme, node),
		       wheel->scheme.clock + 1);

	wheel->armed = min(wheel->armed, leave_alone(&wheel->scheme, tick));
}

static __always_inline void arm_wheel(struct twheel *wheel, struct twheel_node *node)
{
	if (unlikely(node->expires < wheel->armed))
		arm_earlier(wheel, node);
}

/*
 * Bring the clock of the wheel up to date, which advances only when the program reads. The
 * ticks in between are over then, and a deadline among them is due at the next tick, as in
 * the module. Leave ticks that need attention to twheel_wheel_expire(). Rare.
 */
static noinline void catch_up(struct twheel *wheel)
{
	struct twheel_scheme *scheme = &wheel->scheme;
	u64 now = tick_now(wheel);
	int work = 1;

	if (scheme->pending && now > scheme->clock)
		now = min(now, twheel_scheme_next(scheme) - 1);
	if (now <= scheme->clock)
		return;
	if (scheme->pending)
		twheel_scheme_pop(scheme, now, &work);
	else
		twheel_scheme_skip(scheme, now);
}

int twheel_start_at(struct twheel_timer *timer, ktime_t deadline)
{
	struct twheel_node *node = &timer->node;
	struct twheel *wheel = timer->base;
	u64 expires = tick_above(wheel, deadline, &node->offset_ns);

	if (twheel_pending(timer)) {
		if (!twheel_scheme_refresh(&wheel->scheme, node, expires)) {
			if (unlikely(expires < wheel->armed))
				catch_up(wheel);
			twheel_scheme_restart(&wheel->scheme, node, expires);
			arm_wheel(wheel, node);
		}
		return 1;
	}
	if (unlikely(!wheel->scheme.pending || expires < wheel->armed))
		catch_up(wheel);
	node->expires = expires;
	twheel_scheme_start_at(&wheel->scheme, node, expires);
	arm_wheel(wheel, node);
	return 0;
}

int twheel_restart_at(struct twheel_timer *timer, ktime_t deadline)
{
	return twheel_pending(timer) ? twheel_start_at(timer, deadline) : 0;
}

int twheel_stop(struct twheel_timer *timer)
{
	if (!twheel_pending(timer))
		return 0;
	twheel_scheme_stop(&timer->base->scheme, &timer->node);
	return 1;
}

/* Returns false: no callback runs beside a caller, so no caller waits for one. */
bool twheel_callback_announce(struct twheel_timer *timer, struct twheel_expiry_lock **lock)
{
	return false;
}

void twheel_callback_wait(struct twheel_expiry_lock *lock)
{
}

void twheel_start_many(struct twheel_request *requests, unsigned int nr)
{
	for (; nr; nr--, requests++)
		requests->result = twheel_start_at(requests->timer, requests->deadline);
}

void twheel_restart_many(struct twheel_request *requests, unsigned int nr)
{
	for (; nr; nr--, requests++)
		requests->result = twheel_restart_at(requests->timer, requests->deadline);
}

void twheel_stop_many(struct twheel_request *requests, unsigned int nr)
{
	for (; nr; nr--, requests++)
		requests->result = twheel_stop(requests->timer);
}

ktime_t twheel_deadline(const struct twheel_timer *timer)
{
	return twheel_expired_deadline(timer, timer->base->config.tick_ns);
}

void twheel_at_tick_end(struct twheel_timer *timer, struct twheel_tick_end *end)
{
	end->queued = 1;
	end->next = timer->base->ends;
	timer->base->ends = end;
}

static struct twheel_timer *timer_of(struct twheel_node *node)
{
	return container_of(node, struct twheel_timer, node);
}

/* Expire at most @most of the timers due at one tick. Returns how many expired. */
static __always_inline unsigned int expire_tick(struct twheel *wheel,
						struct twheel_node *node,
						unsigned int most)
{
	struct twheel_slot *slot = twheel_scheme_due_slot(&wheel->scheme);
	unsigned int turn = twheel_scheme_turn(&wheel->scheme, min_t(u32, most, INT_MAX));
	unsigned int count = 0;

	do {
		timer_of(node)->fn(timer_of(node));
	} while (++count < turn &&
		 (node = twheel_scheme_due(&wheel->scheme, slot)));
	return count;
}

static void rearm(struct twheel *wheel)
{
	wheel->armed = wheel->scheme.pending ?
		leave_alone(&wheel->scheme,
			    twheel_scheme_next_due(&wheel->scheme, MOVES_PER_WAKEUP)) : U64_MAX;
}

/*
 * Advance the wheel to @now and expire at most @most timers: PER_TICK_BOOKKEEPING
 * and EXPIRY_PROCESSING of the paper. Returns whether all timers that are due at
 * @now expired.
 */
static bool twheel_wheel_expire(struct twheel *wheel, ktime_t now, unsigned int most)
{
	u64 target = max((u64)now / wheel->config.tick_ns, wheel->scheme.clock);
	struct twheel_node *node = NULL;
	struct twheel_tick_end *end;
	int work;

	do {
		work = INT_MAX;
		while (most && (node = twheel_scheme_pop(&wheel->scheme, target, &work)))
			most -= expire_tick(wheel, node, most);
	} while (work <= 0);
	end = wheel->ends;
	wheel->ends = NULL;
	for (; end; end = end->next) {
		end->queued = 0;
		end->fn(end);
	}
	rearm(wheel);
	return wheel->armed > target;
}
