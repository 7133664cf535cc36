// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Opening and closing sessions, and single operations */
#include "libtwheel.h"

#define DEVICE		"/dev/twheel"
#define BACKEND		"TWHEEL_BACKEND"
#define BACKENDS	(TWHEEL_OPEN_KERNEL | TWHEEL_OPEN_PROCESS)

/* Larger than struct twheel_setup will ever be. */
#define SETUP_SIZE_MAX	512

LIBTWHEEL_RARE
int twheel_command(const struct twheel *t, unsigned long command, void *argument)
{
	struct twheel_session *process = process_of(t);
	int saved = errno;

	if (process)
		return twheel_process_command(process, command, argument);
	return libtwheel_result(ioctl(t->fd, command, argument), saved);
}

int twheel_backend(const struct twheel *t)
{
	return process_of(t) ? TWHEEL_BACKEND_PROCESS : TWHEEL_BACKEND_KERNEL;
}

/*
 * Number of forks up to this process. A process id does not tell a child from its parent.
 * The first process of a PID namespace may have a child with the same id in another one.
 */
static unsigned int forks;
static int watch_error;

static void count_fork(void)
{
	forks++;
}

static void watch_forks(void)
{
	watch_error = -pthread_atfork(NULL, NULL, count_fork);
}

/* Returns 0 or -ENOMEM. */
static int note_forks(struct session *session)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch_forks);
	session->forks = forks;
	return watch_error;
}

/* Returns whether this process inherited the session from another one. */
static bool is_copy(const struct session *session)
{
	return session->forks != forks;
}

static int use_words(struct session *session, __u32 nr)
{
	struct twheel *t = &session->head;
	size_t size = nr * sizeof(__u64);
	int saved = errno;
	void *words;

	t->shared_ids = nr;
	if (!nr)
		return 0;
	if (process_of(t)) {
		t->words = (__u64 *)process_of(t)->words->pages[0];
		return 0;
	}
	words = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, t->fd, 0);
	if (words == MAP_FAILED)
		return libtwheel_result(-1, saved);
	t->words = words;
	session->mapped = size;
	return 0;
}

static int attach(struct session *session)
{
	struct twheel *t = &session->head;
	struct twheel_info info = {};
	int ret;

	/* Not twheel_info(), which here returns the structure of version 1. */
	ret = twheel_command(t, TWHEEL_IOC_INFO, &info);
	if (ret)
		return ret;
	if (info.event_size != session->event_size)
		return -EINVAL;
	/* Older modules return 0. */
	t->clock = info.clock ? (clockid_t)info.clock : CLOCK_MONOTONIC;
	ret = note_forks(session);
	return ret ?: use_words(session, info.shared_ids);
}

int twheel_attach_sized(struct twheel **t, int fd, size_t event_size)
{
	struct session *session = libtwheel_alloc(1, sizeof(*session));
	int ret;

	if (!session)
		return -ENOMEM;
	session->head.fd = fd;
	session->event_size = event_size;
	ret = attach(session);
	if (ret) {
		free(session);
		return ret;
	}
	*t = &session->head;
	return 0;
}

/* Set up a session. The program's structure may have the size of another version. */
static int setup_session(struct session *session, const struct twheel_setup *setup,
			 size_t setup_size)
{
	union {
		struct twheel_setup setup;
		char bytes[SETUP_SIZE_MAX];
	} all;

	if (setup_size > sizeof(all))
		return -E2BIG;
	memset(&all, 0, sizeof(all));
	if (setup)
		memcpy(&all, setup, setup_size);
	if (setup_size < sizeof(all.setup))
		setup_size = sizeof(all.setup);
	all.setup.event_size = session->event_size;
	return twheel_command(&session->head,
			      _IOC(_IOC_READ | _IOC_WRITE, TWHEEL_IOC_MAGIC,
				   _IOC_NR(TWHEEL_IOC_SETUP), setup_size), &all);
}

/* Add the backend of the environment to @flags that do not name one. */
static int choose_backend(unsigned int *flags)
{
	const char *asked = secure_getenv(BACKEND);

	if ((*flags & BACKENDS) == BACKENDS ||
	    *flags & ~(BACKENDS | TWHEEL_OPEN_ONE_THREAD))
		return -EINVAL;
	if (*flags & BACKENDS || !asked || !*asked)
		return 0;
	if (!strcmp(asked, "kernel"))
		*flags |= TWHEEL_OPEN_KERNEL;
	else if (!strcmp(asked, "process"))
		*flags |= TWHEEL_OPEN_PROCESS;
	else
		return -EINVAL;
	return 0;
}

/* Returns whether there is no module for this user. Limits are other errors. */
static bool is_missing(int error)
{
	return error == -ENOENT || error == -ENODEV || error == -ENXIO ||
	       error == -EACCES || error == -EPERM;
}

static int open_backend(struct session *session, unsigned int flags, clockid_t clock)
{
	int saved = errno, ret;

	if (!(flags & TWHEEL_OPEN_PROCESS)) {
		ret = libtwheel_result(open(DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK), saved);
		session->head.fd = ret;
		if (ret >= 0)
			return 0;
		if (flags & TWHEEL_OPEN_KERNEL || !is_missing(ret))
			return ret;
	}
	ret = twheel_process_open(&session->process, flags & TWHEEL_OPEN_ONE_THREAD, clock);
	if (ret)
		return ret;
	session->head.fd = session->process->lock.fd;
	if (flags & TWHEEL_OPEN_ONE_THREAD)
		session->alone = session->process;
	return 0;
}

static void close_backend(struct session *session)
{
	if (session->process)
		twheel_process_close(session->process, is_copy(session));
	else
		close(session->head.fd);
}

int twheel_open_flags_sized(struct twheel **t, const struct twheel_setup *setup,
			    size_t setup_size, size_t event_size, unsigned int flags)
{
	struct session *session;
	int ret = choose_backend(&flags);

	if (ret)
		return ret;
	session = libtwheel_alloc(1, sizeof(*session));
	if (!session)
		return -ENOMEM;
	session->event_size = event_size;
	ret = open_backend(session, flags, clock_of(setup, setup_size));
	if (ret)
		goto err_session;
	ret = setup_session(session, setup, setup_size);
	if (!ret)
		ret = attach(session);
	if (ret)
		goto err_backend;
	*t = &session->head;
	return 0;

err_backend:
	close_backend(session);
err_session:
	free(session);
	return ret;
}

int twheel_open_sized(struct twheel **t, const struct twheel_setup *setup,
		      size_t setup_size, size_t event_size)
{
	return twheel_open_flags_sized(t, setup, setup_size, event_size, 0);
}

void twheel_close(struct twheel *t)
{
	struct session *session = to_session(t);
	int saved = errno;

	if (!t)
		return;
	/* A child may have another mapping at this address. */
	if (session->mapped && !is_copy(session))
		munmap(t->words, session->mapped);
	close_backend(session);
	free(session);
	errno = saved;
}

/* Convert a delay to a deadline. */
static inline void set_deadline(const struct twheel *t, struct twheel_start *start)
{
	if (start->flags & (TWHEEL_START_ABS | TWHEEL_START_IDLE) ||
	    start->expires_ns > LIBTWHEEL_NS_MAX)
		return;
	start->expires_ns = after(twheel_now_of(t), start->expires_ns);
	start->flags |= TWHEEL_START_ABS;
}

static inline int start_generally(struct twheel *t, struct twheel_start start, __u64 *id)
{
	struct twheel_session *process = process_of(t);
	__u64 word = TWHEEL_WORD_NONE, old = 0;
	int ret;

	if (has_word(t, start.id)) {
		if (start.expires_ns > LIBTWHEEL_NS_MAX)
			return -EINVAL;
		set_deadline(t, &start);
		/* The word of the id's last timer would delay a timer on a socket. */
		if (!(start.flags & TWHEEL_START_IDLE))
			word = start.expires_ns;
		old = put_word(t, start.id, word, &start.flags);
	}
	ret = process ? twheel_process_start(process, &start) :
			twheel_command(t, TWHEEL_IOC_START, &start);
	if (ret < 0 && has_word(t, start.id))
		take_back(t, start.id, word, old);
	/* An error leaves it as it is. */
	*id = start.id;
	return ret;
}

/* Returns false for starts off the fast path. Converts a delay to a deadline. */
static inline bool start_shortly(struct twheel *t, __u64 id, __u64 *expires_ns,
				 __u64 period_ns, __u64 user_data, __u32 *flags, int *ret)
{
	struct twheel_session *alone = to_session(t)->alone;
	struct twheel_start start = {
		.id = id,
		.expires_ns = *expires_ns,
		.period_ns = period_ns,
		.user_data = user_data,
		.flags = *flags,
	};

	if (!alone)
		return false;
	set_deadline(t, &start);
	*expires_ns = start.expires_ns;
	*flags = start.flags;
	return twheel_process_start_shortly(alone, start, ret);
}

LIBTWHEEL_RARE LIBTWHEEL_FLAT
static int start_with_fd(struct twheel *t, __u64 *id, __u64 expires_ns, __u64 period_ns,
			 __u64 user_data, __u32 flags, int fd)
{
	const struct twheel_start start = {
		.id = *id,
		.expires_ns = expires_ns,
		.period_ns = period_ns,
		.user_data = user_data,
		.flags = flags,
		.fd = fd,
	};

	return start_generally(t, start, id);
}

int twheel_start_idle(struct twheel *t, __u64 *id, int fd, __u64 idle_ns,
		      __u64 user_data, __u32 flags)
{
	return start_with_fd(t, id, idle_ns, 0, user_data, flags | TWHEEL_START_IDLE, fd);
}

LIBTWHEEL_FLAT
int twheel_start_flags(struct twheel *t, __u64 *id, __u64 expires_ns,
		       __u64 period_ns, __u64 user_data, __u32 flags)
{
	int ret;

	if (start_shortly(t, *id, &expires_ns, period_ns, user_data, &flags, &ret))
		return ret;
	return start_with_fd(t, id, expires_ns, period_ns, user_data, flags, 0);
}

/* Fails for TWHEEL_ID_ANY, because the program would not learn the timer's id. */
LIBTWHEEL_RARE LIBTWHEEL_FLAT
static int start_id_generally(struct twheel *t, __u64 id, __u64 expires_ns,
			      __u64 user_data, __u32 flags)
{
	const struct twheel_start start = {
		.id = id,
		.expires_ns = expires_ns,
		.user_data = user_data,
		.flags = flags,
	};

	return id == TWHEEL_ID_ANY ? -EINVAL : start_generally(t, start, &id);
}

static inline int start_id(struct twheel *t, __u64 id, __u64 expires_ns,
			   __u64 user_data, __u32 flags)
{
	int ret;

	if (start_shortly(t, id, &expires_ns, 0, user_data, &flags, &ret))
		return ret;
	return start_id_generally(t, id, expires_ns, user_data, flags);
}

LIBTWHEEL_FLAT
int twheel_start(struct twheel *t, __u64 id, __u64 delay_ns, __u64 user_data)
{
	return start_id(t, id, delay_ns, user_data, 0);
}

LIBTWHEEL_FLAT
int twheel_start_at(struct twheel *t, __u64 id, __u64 deadline_ns, __u64 user_data)
{
	return start_id(t, id, deadline_ns, user_data, TWHEEL_START_ABS);
}

LIBTWHEEL_FLAT
int twheel_restart(struct twheel *t, __u64 id, __u64 delay_ns, __u64 user_data)
{
	return start_id(t, id, delay_ns, user_data, TWHEEL_START_REPLACE);
}

/* Store a deadline, unless the word is later. */
static bool push_word(struct twheel *t, __u64 id, __u64 deadline_ns)
{
	__u64 word = twheel_word(t, id);

	do {
		if (word == TWHEEL_WORD_NONE || word > deadline_ns)
			return false;
	} while (!__atomic_compare_exchange_n(&t->words[id], &word, deadline_ns, false,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return true;
}

/*
 * Withdraw an unread event, which is out of date as in twheel_read() after a store. A
 * start that kept it would also have to keep the later word.
 */
LIBTWHEEL_FLAT
int twheel_push(struct twheel *t, __u64 id, __u64 deadline_ns, __u64 user_data)
{
	int ret;

	if (id == TWHEEL_ID_ANY || deadline_ns > LIBTWHEEL_NS_MAX)
		return -EINVAL;
	if (has_word(t, id) && push_word(t, id, deadline_ns))
		return 0;
	ret = start_id(t, id, deadline_ns, user_data, TWHEEL_START_ABS | TWHEEL_START_REPLACE);
	return ret < 0 ? ret : 0;
}

LIBTWHEEL_RARE LIBTWHEEL_FLAT
static int stop_generally(struct twheel *t, __u64 id, __u32 flags)
{
	struct twheel_session *process = process_of(t);
	struct twheel_stop stop = { .id = id, .flags = flags };

	return process ? twheel_process_stop(process, id, flags) :
			 twheel_command(t, TWHEEL_IOC_STOP, &stop);
}

static inline int stop(struct twheel *t, __u64 id, __u32 flags)
{
	struct twheel_session *alone = to_session(t)->alone;

	if (alone && twheel_process_stop_shortly(alone, id))
		return 0;
	return stop_generally(t, id, flags);
}

LIBTWHEEL_FLAT
int twheel_stop(struct twheel *t, __u64 id)
{
	return stop(t, id, 0);
}

LIBTWHEEL_FLAT
int twheel_withdraw(struct twheel *t, __u64 id)
{
	return stop(t, id, TWHEEL_STOP_WITHDRAW);
}
