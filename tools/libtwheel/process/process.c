// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * A session in the process
 *
 * The sources of the module are compiled here, so that there is one set of rules: session/,
 * the wheel, and the checks of twheel_chardev.c. kernel.h replaces the kernel's headers, wheel.c
 * the engine, and session.c the parts that a process does not need.
 *
 * Nothing runs in the background. Timers expire when the program reads, or calls GET,
 * LIST or STATS, which would show it. A timerfd tells poll(2) and event loops when
 * to call. It fires when a timer is due or nodes have to be moved, and then remains
 * readable while events are unread. It is set only to an earlier time, and after firing.
 */

/**
 * struct twheel_process - a session in the process
 * @file: open file of the session
 * @session: the session. Constant
 * @fd: the timerfd. Constant
 * @clock: clock of @fd, and of the session once it is set up. Constant
 * @set_ns: time at which @fd fires, without @session->wake_ns. U64_MAX for never. Written
 *	under the session's lock. No timer is due earlier
 * @fired: true if @fd is readable, or will be within @session->wake_ns. Written like
 *	@set_ns
 * @armed: @armed of the wheel that @fd is set for. Protected by the session's lock
 * @error: result of the last timerfd_settime(2), a negative errno or 0: @fd wakes no reader
 *	then. Written like @set_ns
 */
struct twheel_process {
	struct file file;
	struct twheel_session *session;
	int fd;
	clockid_t clock;
	bool fired;
	u64 set_ns;
	u64 armed;
	int error;
};

static void set_timerfd(struct twheel_process *p, u64 ns)
{
	struct itimerspec spec = {};
	int saved = errno;

	/* 0 would disarm it. An event may be delayed, but not once the program saw one. */
	if (ns != U64_MAX) {
		u64 at = ns ? ns + p->session->wake_ns : 1;

		/* A time_t may have 32 bits. */
		spec.it_value.tv_sec = min_t(u64, at / NSEC_PER_SEC, INT_MAX);
		spec.it_value.tv_nsec = at % NSEC_PER_SEC;
	}
	WRITE_ONCE(p->error, timerfd_settime(p->fd, TFD_TIMER_ABSTIME, &spec, NULL) ? -errno : 0);
	errno = saved;
	WRITE_ONCE(p->set_ns, ns);
}

static u64 armed_ns(const struct twheel_base *base)
{
	u64 ns;

	if (base->armed == U64_MAX ||
	    __builtin_mul_overflow(base->armed, (u64)base->tick_ns, &ns))
		return U64_MAX;
	return min_t(u64, ns, KTIME_MAX);
}

/* Make @fd readable if it must be, and only then. Session's lock held. Rare. */
static noinline void settle_locked(struct twheel_process *p)
{
	const struct twheel_base *base = &p->session->wheel->base;
	u64 armed = armed_ns(base);

	p->armed = base->armed;
	if (p->session->events.first || (p->fired && armed <= p->session->lock.run_ns)) {
		if (!p->fired || (p->session->wake_ns && p->set_ns))
			set_timerfd(p, 0);
		WRITE_ONCE(p->fired, true);
	} else if (p->fired || armed < p->set_ns) {
		set_timerfd(p, armed);
		WRITE_ONCE(p->fired, false);
	}
	if (base->scheme.type == TWHEEL_HIER)
		p->session->lock.quiet_ns = min_t(u64, armed, KTIME_MAX);
}

/* Update the timerfd after a call, and release the session's lock. */
static __always_inline void settle_and_unlock(struct twheel_process *p)
{
	if (unlikely(p->fired || p->session->wheel->base.armed != p->armed))
		settle_locked(p);
	spin_unlock_bh(&p->session->lock);
}

/* Returns whether a timer that is not due yet has left its tick because of its word. */
static bool heed_word_ahead(struct twheel_timer *timer)
{
	struct twheel_utimer *ut = container_of(timer, struct twheel_utimer, timer);
	struct twheel_session *s = twheel_chunk_of(ut)->session;

	return twheel_utimer_has_word(s, ut) &&
	       heed_word(s, ut, twheel_due_time(timer, s->tick_ns), true);
}

/*
 * Let due timers expire until @unread events are unread, so that a caller that reads few
 * events need not wait for many expiries. Returns false if due timers may be left.
 */
static bool expire(struct twheel_process *p, u64 unread)
{
	struct twheel_session *s = p->session;
	u64 now = twheel_session_time(s, ktime_get());
	bool done = true;

	if (now < READ_ONCE(p->set_ns))
		return true;
	spin_lock_bh(&s->lock);
	if (now >= p->set_ns) {
		WRITE_ONCE(p->fired, true);
		/* Another thread may have run the wheel since @now was read. */
		s->lock.run_ns = max(s->lock.run_ns, now);
		for (done = false; !done && s->stats.unread < unread;)
			done = twheel_wheel_expire(&s->wheel->base, s->lock.run_ns,
						   min_t(u64, unread - s->stats.unread, U32_MAX));
		if (done && s->shared_ids)
			twheel_wheel_look_ahead(&s->wheel->base, heed_word_ahead);
	}
	spin_unlock_bh(&s->lock);
	return done;
}

/* Returns whether a command could show that a timer expired. */
static bool shows_expiries(unsigned long command)
{
	switch (_IOC_NR(command)) {
	case _IOC_NR(TWHEEL_IOC_GET):
	case _IOC_NR(TWHEEL_IOC_LIST):
	case _IOC_NR(TWHEEL_IOC_STATS):
		return true;
	default:
		return false;
	}
}

/* Returns whether a SETUP would change the clock of the timerfd, which is fixed. */
static bool changes_clock(const struct twheel_process *p, unsigned long command,
			  const struct twheel_setup *setup)
{
	clockid_t clock = CLOCK_MONOTONIC;

	if (!setup || _IOC_SIZE(command) < sizeof(__u64))
		return false;
	if (_IOC_SIZE(command) >= offsetofend(struct twheel_setup, clock) && setup->clock)
		clock = setup->clock;
	return clock != p->clock &&
	       (clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME);
}

/* Perform an ioctl(2). Returns a negative errno, -EBUSY also for another clock. */
static int twheel_process_command(struct twheel_process *p, unsigned long command,
				  void *argument)
{
	int ret;

	if (command != TWHEEL_IOC_START && shows_expiries(command))
		expire(p, U64_MAX);
	if (BARE(command) == BARE(TWHEEL_IOC_SETUP) && changes_clock(p, command, argument))
		return -EBUSY;
	ret = twheel_ioctl(&p->file, command, (unsigned long)argument);
	spin_lock_bh(&p->session->lock);
	settle_and_unlock(p);
	return ret;
}

/*
 * Fast paths for starts and stops
 *
 * These carry out the steps of session/state.h without an ioctl. Nothing is copied, and with
 * everything inlined the compiler drops checks whose result it knows. No callback ever
 * runs concurrently, so one attempt is enough.
 */

/*
 * Faster paths for most starts and stops, in a session of one thread
 *
 * They change only the timer and its place in the wheel. Operations that need more return
 * false before any change. The only call is a tail call, to save no registers.
 */

static __always_inline void set_up_shortly(struct twheel_session *s,
					   struct twheel_utimer *ut,
					   const struct twheel_start *start)
{
	if (unlikely(start->id < s->shared_ids))
		WRITE_ONCE(s->words->pages[0][start->id], start->expires_ns);
	set_up(ut, start);
}

/*
 * Perform most of TWHEEL_IOC_START. Also stores the word of the timer, if it has
 * one. Returns whether this was enough. Otherwise the start takes the slow path.
 */
static __always_inline bool twheel_process_start_shortly(struct twheel_session *s,
							 struct twheel_start start,
							 int *result)
{
	ktime_t deadline = start.expires_ns;
	struct twheel_utimer *ut;
	struct twheel_step step;

	/* As a signed number, a deadline that is too late is negative. */
	if (unlikely((start.flags & ~TWHEEL_START_REPLACE) != TWHEEL_START_ABS ||
		     start.period_ns > KTIME_MAX ||
		     deadline <= s->lock.quiet_ns || start.id >= s->max_timers))
		return false;
	ut = twheel_table_place(s->tables, start.id);
	if (unlikely(!ut))
		return false;
	/* Keep the compiler from computing the address for each use. */
	OPTIMIZER_HIDE_VAR(ut);
	step = twheel_next(ut->state, TWHEEL_DO_START, 0);
	*result = step.result;
	switch (step.action) {
	case TWHEEL_TAKE:
		if (unlikely(s->timers >= s->max_timers))
			return false;
		s->timers++;
		set_up_shortly(s, ut, &start);
		twheel_table_take_this(ut, start.id);
		twheel_enter(&ut->state, step);
		insert_quietly(ut->timer.base, &ut->timer.node, deadline);
		return true;
	case TWHEEL_MOVE:
		s->stats.restarted++;
		set_up_shortly(s, ut, &start);
		restart_quietly(ut->timer.base, &ut->timer.node, deadline);
		return true;
	default:
		return false;
	}
}

/*
 * Perform TWHEEL_IOC_STOP without flags, if it returns 0. Returns whether the
 * timer is stopped. Otherwise the stop takes the slow path.
 */
static __always_inline bool twheel_process_stop_shortly(struct twheel_session *s, u64 id)
{
	struct twheel_utimer *ut;
	struct twheel_step step;

	if (unlikely(s->lock.quiet_ns == KTIME_MAX || id >= s->max_timers))
		return false;
	ut = twheel_table_place(s->tables, id);
	if (unlikely(!ut))
		return false;
	step = twheel_next(ut->state, TWHEEL_DO_STOP, 0);
	if (unlikely(step.action != TWHEEL_HALT))
		return false;
	stop_quietly(&s->wheel->base, &ut->timer.node);
	twheel_utimer_end(s, ut, step);
	return true;
}

/* Start a timer without a place yet. @start by value, so that other starts keep it in registers. */
static noinline int start_with_room(struct twheel_session *s, struct twheel_start start,
				    ktime_t now, __u64 *id)
{
	int ret = twheel_session_start_locked(s, &start, now);

	if (ret >= 0)
		*id = start.id;
	return ret;
}

/* TWHEEL_IOC_START. @id is set to the id that was started. */
static __always_inline int twheel_process_start(struct twheel_process *p,
						struct twheel_start start, __u64 *id)
{
	ktime_t now = start.flags & TWHEEL_START_ABS ? 0 : ktime_get();
	struct twheel_session *s = p->session;
	struct twheel_step step;
	int ret;

	spin_lock_bh(&s->lock);
	step = try_start(s, &start, now);
	ret = step.result;
	if (unlikely(twheel_is_put_off(step)))
		ret = start_with_room(s, start, now, id);
	else if (ret >= 0)
		*id = start.id;
	settle_and_unlock(p);
	return ret;
}

/* TWHEEL_IOC_STOP, with flags that were checked. */
static __always_inline int twheel_process_stop(struct twheel_process *p, u64 id,
					       u32 flags)
{
	struct twheel_session *s = p->session;
	int ret = -EINVAL;

	spin_lock_bh(&s->lock);
	if (likely(twheel_session_has_number(s, id)))
		ret = try_stop(s, id, flags).result;
	settle_and_unlock(p);
	return ret;
}

/* Perform a nonblocking read(2). Returns a negative errno on error. */
static ssize_t twheel_process_read(struct twheel_process *p, void *to, size_t size)
{
	struct iov_iter iter;
	ssize_t ret;
	bool done;

	/* The words of all expired timers may be later. */
	do {
		done = expire(p, max(size / sizeof(struct twheel_event), (size_t)1));
		iov_iter_ubuf(&iter, ITER_DEST, to, size);
		ret = twheel_session_read(p->session, &iter);
	} while (!ret && !done);
	/* expire() sets @fired before it makes events. */
	if (READ_ONCE(p->fired)) {
		spin_lock_bh(&p->session->lock);
		settle_and_unlock(p);
	}
	return ret ?: -EAGAIN;
}

/*
 * Open a session. @alone: only one thread uses it, so that it needs no lock.
 * @clock: clock of the later SETUP. Returns 0, -ENOMEM, or a negative errno of
 * timerfd_create(2) or timerfd_settime(2).
 */
static int twheel_process_open(struct twheel_process **process, bool alone, clockid_t clock)
{
	struct twheel_process *p = kzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);
	int saved = errno, ret = -ENOMEM;

	if (!p)
		return ret;
	p->armed = U64_MAX;
	p->clock = clock;
	p->fd = timerfd_create(clock, TFD_NONBLOCK | TFD_CLOEXEC);
	if (p->fd < 0) {
		ret = -errno;
		errno = saved;
		goto err_process;
	}
	/* A filter of system calls may refuse this one. */
	set_timerfd(p, U64_MAX);
	ret = p->error;
	if (ret)
		goto err_fd;
	p->session = twheel_session_open();
	if (IS_ERR(p->session)) {
		ret = PTR_ERR(p->session);
		goto err_fd;
	}
	p->session->lock.alone = alone;
	p->file.f_mode = FMODE_READ | FMODE_WRITE;
	p->file.private_data = p->session;
	*process = p;
	return 0;

err_fd:
	close(p->fd);
err_process:
	free(p);
	return ret;
}

/* Returns whether no thread was using the session when fork(2) copied it. */
static bool is_consistent(struct twheel_session *s)
{
	if (s->lock.alone || pthread_mutex_trylock(&s->lock.mutex))
		return false;
	pthread_mutex_unlock(&s->lock.mutex);
	return true;
}

/*
 * Close a session. @copied: this process inherited it from another one. Its
 * memory is leaked unless it is known to be consistent.
 */
static void twheel_process_close(struct twheel_process *p, bool copied)
{
	close(p->fd);
	if (copied && !is_consistent(p->session))
		return;
	twheel_session_close(p->session);
	free(p);
}
