// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * A session in the process
 *
 * The sources of the module say what a session does: session/, the wheel, and the checks of
 * twheel_chardev.c. "amalgamate" puts them in front of this file. kernel.h replaces the
 * kernel's headers. wheel.c replaces the engine, and session.c the parts that a process does
 * not need.
 *
 * Nothing runs in the background. Timers expire when the program reads, or calls GET, LIST or
 * STATS, whose results show which timers expired. A timerfd tells poll(2) and event loops
 * when to read. It fires when a timer is due or nodes have to be moved, and then remains
 * readable while events are unread. To save system calls, it is set only to an earlier time,
 * or after it fired.
 */

static void set_timerfd(struct twheel_session *s, u64 ns)
{
	struct itimerspec spec = {};
	int saved = errno;

	if (ns != U64_MAX) {
		/* A time of 0 would disarm the timerfd. */
		u64 at = ns ?: 1;

		/* A time_t may have 32 bits. */
		spec.it_value.tv_sec = min_t(u64, at / NSEC_PER_SEC, INT_MAX);
		spec.it_value.tv_nsec = at % NSEC_PER_SEC;
	}
	WRITE_ONCE(s->lock.error,
		   timerfd_settime(s->lock.fd, TFD_TIMER_ABSTIME, &spec, NULL) ? -errno : 0);
	errno = saved;
	WRITE_ONCE(s->lock.set_ns, ns);
}

static u64 armed_ns(const struct twheel *wheel)
{
	u64 ns;

	if (wheel->armed == U64_MAX ||
	    __builtin_mul_overflow(wheel->armed, wheel->config.tick_ns, &ns))
		return U64_MAX;
	return min_t(u64, ns, KTIME_MAX);
}

/*
 * Make the timerfd readable if events are unread or due timers are left, otherwise set it to
 * the wheel's next call. Session's lock held. Rare.
 */
static noinline void settle_locked(struct twheel_session *s)
{
	struct twheel_process *p = &s->lock;
	u64 armed = armed_ns(s->wheel);

	p->armed = s->wheel->armed;
	if (s->events.first || (p->fired && armed <= p->run_ns)) {
		if (!p->fired)
			set_timerfd(s, 0);
		WRITE_ONCE(p->fired, true);
	} else if (p->fired || armed < p->set_ns) {
		set_timerfd(s, armed);
		WRITE_ONCE(p->fired, false);
	}
}

/* Update the timerfd after a call, and release the session's lock. */
static __always_inline void settle_and_unlock(struct twheel_session *s)
{
	if (unlikely(s->lock.fired || s->wheel->armed != s->lock.armed))
		settle_locked(s);
	spin_unlock_bh(&s->lock);
}

/*
 * Stop the timers whose words say so before the wheel sleeps, so that the program does not wake
 * up for them.
 */
static void stop_ahead(struct twheel_session *s)
{
	unsigned int most = MOVES_PER_WAKEUP, before;
	struct twheel *wheel = s->wheel;
	struct twheel_utimer *ut;
	struct twheel_slot *slot;

	/*
	 * Look at each tick of level 0 for which the wheel would sleep. rearm() moves the timers
	 * whose words have later deadlines.
	 */
	for (; wheel->armed < wheel->scheme.reach[0]; rearm(wheel)) {
		slot = twheel_hier_slot(&wheel->scheme, 0, wheel->armed);
		for (before = most; most && !list_empty(&slot->nodes); most--) {
			ut = list_first_entry(&slot->nodes, struct twheel_utimer, timer.node.link);
			if (!twheel_utimer_has_word(s, ut) ||
			    twheel_session_words_read(s->words, ut->id) != TWHEEL_WORD_STOP)
				break;
			twheel_stop(&ut->timer);
			s->stats.stopped_by_store++;
			twheel_utimer_end(s, ut, twheel_next(ut->state, TWHEEL_DO_STOP, false));
		}
		if (most == before)
			return;
	}
}

/*
 * Let due timers expire until @unread events are unread, so that a caller that reads few
 * events need not wait for many expiries. Returns false if due timers may be left.
 */
static bool expire(struct twheel_session *s, u64 unread)
{
	u64 now = twheel_session_time(s, ktime_get());
	struct twheel_process *p = &s->lock;
	bool done = true;

	if (now < READ_ONCE(p->set_ns))
		return true;
	spin_lock_bh(&s->lock);
	if (now >= p->set_ns) {
		WRITE_ONCE(p->fired, true);
		/* Another thread may have run the wheel since @now was read. */
		p->run_ns = max(p->run_ns, now);
		for (done = false; !done && s->stats.unread < unread;)
			done = twheel_wheel_expire(s->wheel, p->run_ns,
						   min_t(u64, unread - s->stats.unread, U32_MAX));
		if (done && s->shared_ids)
			stop_ahead(s);
	}
	spin_unlock_bh(&s->lock);
	return done;
}

/* Returns the clock that a SETUP names, valid or not. */
static clockid_t clock_of(const struct twheel_setup *setup, size_t size)
{
	if (setup && size >= offsetofend(struct twheel_setup, clock) && setup->clock)
		return setup->clock;
	return CLOCK_MONOTONIC;
}

/* Returns whether a valid SETUP would change the clock of the timerfd, which is fixed. */
static bool changes_clock(const struct twheel_session *s, const struct twheel_setup *setup,
			  size_t size)
{
	clockid_t clock = clock_of(setup, size);

	return clock != s->lock.clock && setup && size >= sizeof(__u64) &&
	       (clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME);
}

/*
 * Perform an ioctl(2). Returns the result of the ioctl or a negative errno. -EBUSY also if a SETUP
 * names another clock than the timerfd has.
 */
static int twheel_process_command(struct twheel_session *s, unsigned int command, void *argument)
{
	int ret;

	switch (BARE(command)) {
	case BARE(TWHEEL_IOC_GET):
	case BARE(TWHEEL_IOC_LIST):
	case BARE(TWHEEL_IOC_STATS):
		/* The results of these commands show which timers expired. */
		expire(s, U64_MAX);
		break;
	case BARE(TWHEEL_IOC_SETUP):
		if (changes_clock(s, argument, _IOC_SIZE(command)))
			return -EBUSY;
	}
	ret = twheel_ioctl(&s->lock.file, command, (unsigned long)argument);
	spin_lock_bh(&s->lock);
	settle_and_unlock(s);
	return ret;
}

/* TWHEEL_IOC_START. @start->id is set to the id that was started. */
static __always_inline int twheel_process_start(struct twheel_session *s,
						struct twheel_start *start)
{
	ktime_t now = start->flags & TWHEEL_START_ABS ? 0 : ktime_get();
	int ret;

	spin_lock_bh(&s->lock);
	ret = twheel_session_start_locked(s, start, now);
	settle_and_unlock(s);
	return ret;
}

/* TWHEEL_IOC_STOP */
static __always_inline int twheel_process_stop(struct twheel_session *s, u64 id)
{
	int ret = -EINVAL;

	spin_lock_bh(&s->lock);
	if (likely(twheel_session_has_number(s, id)))
		ret = try_stop(s, id).result;
	settle_and_unlock(s);
	return ret;
}

/* Perform a nonblocking read(2). Returns a negative errno on error. */
static ssize_t twheel_process_read(struct twheel_session *s, void *to, size_t size)
{
	struct iov_iter iter;
	ssize_t ret;
	bool done;

	/*
	 * Repeat if no event is left, because the words of all expired timers have later deadlines.
	 */
	do {
		done = expire(s, max(size / sizeof(struct twheel_event), (size_t)1));
		iov_iter_ubuf(&iter, ITER_DEST, to, size);
		ret = twheel_session_read(s, &iter);
	} while (!ret && !done);
	/* If @fired is not set there was no event: expire() sets it before a timer expires. */
	if (READ_ONCE(s->lock.fired)) {
		spin_lock_bh(&s->lock);
		settle_and_unlock(s);
	}
	return ret ?: -EAGAIN;
}

/*
 * Close a session. @copied: this process inherited it by fork(2). If a thread of the parent
 * held the session's lock then, the lock is never released, and the memory is leaked.
 */
static void twheel_process_close(struct twheel_session *s, bool copied)
{
	close(s->lock.fd);
	if (copied && pthread_mutex_trylock(&s->lock.mutex))
		return;
	if (copied)
		pthread_mutex_unlock(&s->lock.mutex);
	twheel_session_close(s);
}

/*
 * Returns the time of the host's boot on a clock of this process, or 0 if the boot was earlier.
 * In a time namespace it may be later than 0. The module and timerfd treat a deadline before the
 * boot as the boot, and so does a session in the process.
 */
static ktime_t read_boot_ns(clockid_t clock)
{
	const char *name = clock == CLOCK_BOOTTIME ? "boottime" : "monotonic";
	int saved = errno, fd = open("/proc/self/timens_offsets", O_RDONLY | O_CLOEXEC);
	long long seconds = 0, ns = 0;
	char text[256] = "", *line;

	if (fd >= 0 && read(fd, text, sizeof(text) - 1) > 0) {
		line = strstr(text, name);
		if (!line || sscanf(line + strlen(name), "%lld %lld", &seconds, &ns) != 2)
			seconds = 0;
	}
	if (fd >= 0)
		close(fd);
	errno = saved;
	return seconds < 0 ? 0 : seconds * NSEC_PER_SEC + ns;
}

/*
 * Open a session. @clock: clock that the SETUP of the session will choose. Returns 0, -ENOMEM,
 * or a negative errno of timerfd_create(2) or timerfd_settime(2).
 */
static int twheel_process_open(struct twheel_session **session, clockid_t clock)
{
	struct twheel_session *s = twheel_session_open();
	int saved = errno, ret;

	if (IS_ERR(s))
		return PTR_ERR(s);
	s->lock.clock = clock == CLOCK_BOOTTIME ? clock : CLOCK_MONOTONIC;
	s->lock.boot_ns = read_boot_ns(s->lock.clock);
	s->lock.file.f_mode = FMODE_READ | FMODE_WRITE;
	s->lock.file.private_data = s;
	s->lock.fd = timerfd_create(s->lock.clock, TFD_NONBLOCK | TFD_CLOEXEC);
	if (s->lock.fd < 0) {
		ret = libtwheel_result(-1, saved);
		twheel_session_close(s);
		return ret;
	}
	/* Learn now whether a filter of system calls refuses timerfd_settime(2). */
	set_timerfd(s, U64_MAX);
	ret = s->lock.error;
	if (ret)
		twheel_process_close(s, false);
	else
		*session = s;
	return ret;
}
