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
 * Number of forks from the program's first process to this one. Process ids cannot tell a child
 * from its parent: in nested PID namespaces both may have the id 1.
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

/* Remember the process that opens the session, for is_copy(). Returns 0 or -ENOMEM. */
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
	t->clock = info.clock;
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

/* If @flags name no backend, add the backend that the environment names. */
static int choose_backend(unsigned int *flags)
{
	const char *asked = secure_getenv(BACKEND);

	if ((*flags & BACKENDS) == BACKENDS || *flags & ~BACKENDS)
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

/* Returns whether there is no module that this user can open. Limits cause other errors. */
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
	ret = twheel_process_open(&session->process, clock);
	if (ret)
		return ret;
	session->head.fd = session->process->lock.fd;
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
	/* fork(2) does not copy this mapping. A child may have another one at the address. */
	if (session->mapped && !is_copy(session))
		munmap(t->words, session->mapped);
	close_backend(session);
	free(session);
	errno = saved;
}

static int start(struct twheel *t, __u64 *id, __u64 expires_ns, __u64 period_ns,
		 __u64 user_data, __u32 flags)
{
	struct twheel_session *process = process_of(t);
	struct twheel_start start = {
		.id = *id,
		.expires_ns = expires_ns,
		.period_ns = period_ns,
		.user_data = user_data,
		.flags = flags,
	};
	__u64 old = 0;
	int ret;

	if (has_word(t, *id)) {
		if (!is_valid_start(expires_ns, period_ns, flags))
			return -EINVAL;
		if (!(flags & TWHEEL_START_ABS))
			start.expires_ns = after(twheel_now_of(t), expires_ns);
		start.flags = TWHEEL_START_ABS;
		old = put_word(t, *id, start.expires_ns);
	}
	ret = process ? twheel_process_start(process, &start) :
			twheel_command(t, TWHEEL_IOC_START, &start);
	if (ret < 0 && has_word(t, *id))
		take_back(t, *id, start.expires_ns, old);
	/* After an error this is the id that the caller passed. */
	*id = start.id;
	return ret;
}

LIBTWHEEL_FLAT
int twheel_start_flags(struct twheel *t, __u64 *id, __u64 expires_ns,
		       __u64 period_ns, __u64 user_data, __u32 flags)
{
	return start(t, id, expires_ns, period_ns, user_data, flags);
}

LIBTWHEEL_FLAT
int twheel_start(struct twheel *t, __u64 id, __u64 delay_ns, __u64 user_data)
{
	/* The program would not learn the id of the timer. */
	return id == TWHEEL_ID_ANY ? -EINVAL : start(t, &id, delay_ns, 0, user_data, 0);
}

LIBTWHEEL_FLAT
int twheel_start_at(struct twheel *t, __u64 id, __u64 deadline_ns, __u64 user_data)
{
	return id == TWHEEL_ID_ANY ? -EINVAL :
	       start(t, &id, deadline_ns, 0, user_data, TWHEEL_START_ABS);
}

/* Store a deadline if the word has one that is not later. Returns whether it did. */
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

LIBTWHEEL_FLAT
int twheel_push(struct twheel *t, __u64 id, __u64 deadline_ns, __u64 user_data)
{
	int ret;

	if (id == TWHEEL_ID_ANY || deadline_ns > LIBTWHEEL_NS_MAX)
		return -EINVAL;
	if (has_word(t, id) && push_word(t, id, deadline_ns))
		return 0;
	ret = start(t, &id, deadline_ns, 0, user_data, TWHEEL_START_ABS);
	return ret < 0 ? ret : 0;
}

LIBTWHEEL_FLAT
int twheel_stop(struct twheel *t, __u64 id)
{
	struct twheel_session *process = process_of(t);
	struct twheel_stop stop = { .id = id };

	return process ? twheel_process_stop(process, id) :
			 twheel_command(t, TWHEEL_IOC_STOP, &stop);
}
