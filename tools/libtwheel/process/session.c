// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Replacement of session/source.c, user.c, waker.c, wheel.c and words.c in the process
 *
 * A process needs no other limit than its memory. A session does not share its wheel. Its
 * words are one piece of memory, which need not be mapped.
 */

/* Sockets, which no timer uses */

struct sock *twheel_session_hold_sock(struct twheel_session *s, int fd)
{
	return ERR_PTR(-EOPNOTSUPP);
}

void twheel_session_put_sock(struct twheel_session *s, struct sock *sk)
{
}

ktime_t twheel_session_watch(struct twheel_session *s, struct twheel_utimer *ut,
			     struct sock *sk, u64 idle_ns)
{
	return 0;
}

ktime_t twheel_session_after_checks(const struct twheel_utimer *ut, ktime_t look)
{
	return look;
}

u64 twheel_session_next_look(struct twheel_session *s, struct twheel_utimer *ut,
			     ktime_t look)
{
	return look;
}

/* Users */

static struct twheel_session_user twheel_session_user_only;

struct twheel_session_user *twheel_session_user_get(void)
{
	return &twheel_session_user_only;
}

void twheel_session_user_put(struct twheel_session_user *user)
{
}

int twheel_session_user_charge(struct twheel_session_user *user,
			       enum twheel_session_count what, bool exempt)
{
	return 0;
}

void twheel_session_user_uncharge(struct twheel_session_user *user,
				  enum twheel_session_count what)
{
}

/* Wheels */

static struct twheel_session_wheel *make_wheel(const struct twheel_config *config)
{
	struct twheel_session_wheel *shared;
	struct twheel *wheel;

	shared = kzalloc(struct_size(shared, prepared, 1), GFP_KERNEL_ACCOUNT);
	if (!shared)
		return ERR_PTR(-ENOMEM);
	wheel = twheel_create(config);
	if (IS_ERR(wheel)) {
		free(shared);
		return ERR_CAST(wheel);
	}
	shared->wheel = wheel;
	shared->prepared[0] = 1;
	return shared;
}

struct twheel_session_wheel *
twheel_session_wheel_private(struct twheel_session *s,
			     const struct twheel_setup *setup)
{
	const struct twheel_config config = {
		.scheme		= setup->scheme,
		.tick_ns	= setup->tick_ns,
		.slots		= setup->slots,
		.clock		= setup->clock,
	};

	return make_wheel(&config);
}

void twheel_session_wheel_put(struct twheel_session_wheel *shared)
{
	if (!shared)
		return;
	twheel_destroy(shared->wheel);
	free(shared);
}

void twheel_session_wheel_use(struct twheel_session *s,
			      struct twheel_session_wheel *shared)
{
	static const unsigned long none;

	s->shared = shared;
	s->wheel = shared ? shared->wheel : twheel_default();
	s->prepared = shared ? shared->prepared : &none;
	s->tick_ns = s->wheel->config.tick_ns;
	s->clock = s->wheel->config.clock;
}

int twheel_session_wheel_need(struct twheel_session *s)
{
	struct twheel_session_wheel *shared;
	bool has;

	spin_lock_bh(&s->lock);
	has = s->shared;
	spin_unlock_bh(&s->lock);
	if (has)
		return 0;
	shared = make_wheel(&twheel_default()->config);
	if (IS_ERR(shared))
		return PTR_ERR(shared);
	spin_lock_bh(&s->lock);
	if (!s->shared) {
		twheel_session_wheel_use(s, shared);
		shared = NULL;
	}
	spin_unlock_bh(&s->lock);
	twheel_session_wheel_put(shared);
	return 0;
}

/* Wake-ups, which process.c delays by setting the timerfd later */

void twheel_session_wake_later(struct twheel_session *s,
			       struct twheel_timer *timer, ktime_t now)
{
	twheel_session_wake_at_tick_end(s, timer, 1);
}

/*
 * Words
 *
 * A page takes memory when it is touched, as in the kernel, but counts against RLIMIT_AS,
 * and against RLIMIT_MEMLOCK after mlockall(MCL_FUTURE).
 */

struct twheel_session_words *
twheel_session_words_make(struct twheel_session *s, u32 nr)
{
	u32 nr_pages = DIV_ROUND_UP(nr, TWHEEL_WORDS_PER_PAGE), i;
	struct twheel_session_words *words;
	int saved = errno;
	u64 *all;

	words = kzalloc(struct_size(words, pages, nr_pages), GFP_KERNEL_ACCOUNT);
	if (!words)
		return ERR_PTR(-ENOMEM);
	all = mmap(NULL, nr_pages * PAGE_SIZE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (all == MAP_FAILED) {
		errno = saved;
		free(words);
		return ERR_PTR(-ENOMEM);
	}
	words->nr = nr;
	words->nr_pages = nr_pages;
	for (i = 0; i < nr_pages; i++)
		words->pages[i] = all + (size_t)i * TWHEEL_WORDS_PER_PAGE;
	return words;
}

void twheel_session_words_free(struct twheel_session *s,
			       struct twheel_session_words *words)
{
	if (words)
		munmap(words->pages[0], words->nr_pages * PAGE_SIZE);
	free(words);
}
