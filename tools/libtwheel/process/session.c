// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Replacement of session/user.c, wheel.c and words.c in the process
 *
 * A process needs no other limit than its memory. A session does not share its wheel. Its
 * words are one piece of memory, which need not be mapped.
 */

/* The kernel limits the process, so sessions in it have no user and no limits. */
#define twheel_session_user_get()			NULL
#define twheel_session_user_put(user)			((void)(user))
#define twheel_session_user_charge(user, what, exempt)	0
#define twheel_session_user_uncharge(user, what)	((void)(user))

/* Wheels. A pointer to a twheel_session_wheel points to the wheel, which has one session. */

struct twheel_session_wheel *
twheel_session_wheel_private(struct twheel_session *s,
			     const struct twheel_setup *setup)
{
	const struct twheel_config config = {
		.tick_ns	= setup->tick_ns,
		.clock		= setup->clock,
	};

	return (void *)twheel_create(&config);
}

void twheel_session_wheel_put(struct twheel_session_wheel *ref)
{
	if (ref)
		twheel_destroy((void *)ref);
}

/* Set @prepared to none without a wheel of the session, so that the first start creates one. */
void twheel_session_wheel_attach(struct twheel_session *s,
				 struct twheel_session_wheel *ref)
{
	static const unsigned long none, prepared = 1;

	s->wheel_ref = ref;
	s->wheel = ref ? (void *)ref : &twheel_wheel_standard;
	s->prepared = ref ? &prepared : &none;
	s->tick_ns = s->wheel->config.tick_ns;
	/* expire() reads the clock without the lock. */
	WRITE_ONCE(s->clock, s->wheel->config.clock);
}

int twheel_session_wheel_prepare(struct twheel_session *s)
{
	struct twheel_session_wheel *made = NULL;

	spin_lock_bh(&s->lock);
	if (!s->wheel_ref) {
		made = (void *)twheel_create(&twheel_wheel_standard.config);
		if (!IS_ERR(made))
			twheel_session_wheel_attach(s, made);
	}
	spin_unlock_bh(&s->lock);
	return IS_ERR(made) ? PTR_ERR(made) : 0;
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
