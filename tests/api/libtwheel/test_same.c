// SPDX-License-Identifier: GPL-2.0
/*
 * The same operations on a session of the module and on one in the process
 *
 * A seed chooses operations. Both sessions carry out each of them, and must return the same:
 * results, events, entries, counters, INFO. Differences that Documentation/libtwheel.rst names are
 * left out: the time of an expiry, the number of wake-ups, which follows from it, and in INFO the
 * bits for the place of the session and for read(2) without blocking.
 *
 * A timer is due in some hours, or at once. After a start that is due at once, both sessions wait
 * for the expiry before the next operation, so that no result depends on their speed. Within a
 * batch that is not possible. A start that needs memory for its timer drops the session's lock, and
 * the softirq may then expire timers that the same batch started. So a batch has no other operation
 * on a timer after starting it due at once, and no such timer has a word that would need memory.
 * Ids that the session chooses differ, and are compared by their number among such ids.
 *
 * A delay begins at another time in each session. So its deadline is compared with the session's
 * clock before and after the start, and then both timers are given the same deadline. In a time
 * namespace the clocks are far apart. A timer with a deadline at the boot of the machine, or before
 * it, misses periods. A period is at least a third of the machine's time up to now, so that all
 * sessions count the same number of periods, and none is due while a seed runs.
 *
 * Without the module, two sessions in the process are compared, so that sanitizers and valgrind see
 * what the operations reach.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util.h"

#define SEEDS		2000
#define SEEDS_CHECKED	100	/* number of seeds with sanitizers or valgrind */
#define OPERATIONS	200
#define IDS		24	/* number of ids that the program chooses */
#define IDS_MANY	4096	/* number of ids in some seeds, for a table that grows */
#define ANY		16	/* number of ids to remember that the session chose */
#define ROOM		8

struct pair {
	struct twheel *t[2];
	__u64 any[2][ANY];
	unsigned int nr_any;
	unsigned int seed;
	unsigned int ids;
	__u64 far;
	__u64 boot;	/* time of the machine's boot, on the session's clock */
	__u64 up;	/* time since @boot */
};

/* Where two sessions differ. TWHEEL_SEED=N repeats a seed. */
static unsigned int seed_now, operation_now;

#define SAME(a, b)							\
	do {								\
		long long a_ = (long long)(a), b_ = (long long)(b);	\
									\
		if (a_ != b_)						\
			test_note("seed %u, operation %u", seed_now,	\
				  operation_now);			\
		ASSERT_EQ(a_, b_);					\
	} while (0)

/* Evaluate @call for each session, @s. Both results have to be the same. */
#define BOTH(call)							\
	({								\
		int ret_[2], s;						\
									\
		for (s = 0; s < 2; s++)					\
			ret_[s] = (call);				\
		SAME(ret_[0], ret_[1]);					\
		ret_[0];						\
	})

static unsigned int below(struct pair *p, unsigned int limit)
{
	return (unsigned int)rand_r(&p->seed) % limit;
}

static bool one_in(struct pair *p, unsigned int n)
{
	return !below(p, n);
}

/* Draw a deadline some hours ahead. */
static __u64 deadline(struct pair *p)
{
	return p->far + below(p, 1000000) * 1000ULL;
}

/* Choose an id. In both sessions it means the same timer. Returns its name for messages. */
static int choose_id(struct pair *p, __u64 id[2])
{
	unsigned int nr;

	if (p->nr_any && one_in(p, 3)) {
		nr = below(p, p->nr_any < ANY ? p->nr_any : ANY);
		id[0] = p->any[0][nr];
		id[1] = p->any[1][nr];
		return 1000 + nr;
	}
	nr = below(p, p->ids);
	if (one_in(p, 40))
		id[0] = one_in(p, 2) ? TWHEEL_ID_KERNEL | nr : 1ULL << (20 + below(p, 43));
	else
		id[0] = nr;
	id[1] = id[0];
	return nr;
}

/* Return the name of an id, which is the same for both sessions. */
static __u64 name_of(const struct pair *p, int which, __u64 id)
{
	unsigned int nr = p->nr_any < ANY ? p->nr_any : ANY;

	if (!(id & TWHEEL_ID_KERNEL))
		return id;
	while (nr--)
		if (p->any[which][nr] == id)
			return 1000 + nr;
	return 2000;
}

static void remember(struct pair *p, const __u64 id[2])
{
	unsigned int nr = p->nr_any++ % ANY;

	p->any[0][nr] = id[0];
	p->any[1][nr] = id[1];
}

/* Wait until the timer expires, or until its word moves it to a later deadline. */
static void await_expiry(struct pair *p, const __u64 id[2])
{
	struct twheel_entry entry;
	int i;

	for (i = 0; i < 2; i++)
		while (!twheel_get(p->t[i], id[i], &entry) &&
		       entry.state == TWHEEL_STATE_PENDING && entry.deadline_ns < p->far)
			usleep(50);
}

/* The arguments of a start, alone or in a batch. */
struct choice {
	__u64 expires_ns;
	__u64 period_ns;
	__u64 user_data;
	__u32 flags;
	__u32 reserved;
	bool soon;
};

static struct choice choose_start(struct pair *p)
{
	struct choice c = { .user_data = below(p, 1000000), .flags = TWHEEL_START_ABS };

	c.soon = one_in(p, 4);
	c.expires_ns = !c.soon ? deadline(p) : one_in(p, 2) ? p->boot + 1 : below(p, 2);
	if (one_in(p, 5))
		c.period_ns = one_in(p, 2) ? 10 * HOUR + below(p, 1000) : p->up / (1 + below(p, 3));
	if (one_in(p, 40))
		c.flags |= 1U << below(p, 32);
	if (one_in(p, 40))
		c.expires_ns |= 1ULL << 63;
	if (one_in(p, 80))
		c.period_ns |= 1ULL << 63;
	if (one_in(p, 80))
		c.reserved = 1;
	return c;
}

static void do_start(struct pair *p)
{
	struct choice c = choose_start(p);
	bool any = one_in(p, 4), raw = one_in(p, 3), push = !any && one_in(p, 4);
	__u64 id[2] = { TWHEEL_ID_ANY, TWHEEL_ID_ANY };
	int ret[2], i;

	if (!any)
		choose_id(p, id);
	/*
	 * A push must not be due at once: it may be just a store, and a periodic timer leaves its
	 * word behind.
	 */
	if (push && c.soon) {
		c.soon = false;
		c.expires_ns = deadline(p);
	}
	for (i = 0; i < 2; i++) {
		struct twheel_start start = {
			.id = id[i],
			.expires_ns = c.expires_ns,
			.period_ns = c.period_ns,
			.user_data = c.user_data,
			.flags = c.flags,
			.reserved = c.reserved,
		};

		/* The command, unlike the functions of the library, does not store a word first. */
		if (push) {
			ret[i] = twheel_push(p->t[i], id[i], c.expires_ns, c.user_data);
		} else if (raw) {
			ret[i] = twheel_command(p->t[i], TWHEEL_IOC_START, &start);
			id[i] = start.id;
		} else {
			ret[i] = twheel_start_flags(p->t[i], &id[i], c.expires_ns, c.period_ns,
						    c.user_data, c.flags);
		}
	}
	SAME(ret[0], ret[1]);
	if (ret[0] < 0)
		return;
	if (any)
		remember(p, id);
	if (c.soon)
		await_expiry(p, id);
}

/* Check that the timer's deadline and word are @delay after the time of the call. */
static void expect_delay(struct pair *p, int which, __u64 id, __u64 before, __u64 delay)
{
	__u64 after = twheel_now_of(p->t[which]);
	struct twheel_entry entry;

	SAME(0, twheel_get(p->t[which], id, &entry));
	ASSERT_LE(before + delay, entry.deadline_ns);
	ASSERT_LE(entry.deadline_ns, after + delay);
	if (id < p->t[which]->shared_ids)
		ASSERT_EQ(entry.deadline_ns, twheel_word(p->t[which], id));
}

static int start_in_batch(struct twheel *t, __u64 id, __u64 delay, __u64 user_data)
{
	struct twheel_batch *batch;
	int ret;

	ASSERT_EQ(0, twheel_batch_new(t, 1, &batch));
	ASSERT_EQ(1, twheel_batch_start(batch, id, delay, user_data));
	ret = twheel_batch_op(batch, 0)->result;
	twheel_batch_free(batch);
	return ret;
}

static void do_delay(struct pair *p)
{
	__u64 delay = one_in(p, 8) ? 0 : 100 * HOUR + below(p, 1000000), before;
	__u64 id[2], user_data = below(p, 1000000), same = deadline(p);
	unsigned int how = below(p, 4);
	int ret[2], i;

	choose_id(p, id);
	for (i = 0; i < 2; i++) {
		struct twheel *t = p->t[i];

		before = twheel_now_of(t);
		if (how == 0)
			ret[i] = twheel_start(t, id[i], delay, user_data);
		else if (how == 1)
			ret[i] = twheel_start_periodic(t, id[i], delay, 10 * HOUR, user_data);
		else if (how == 2)
			ret[i] = twheel_start_any(t, &id[i], delay, user_data);
		else
			ret[i] = start_in_batch(t, id[i], delay, user_data);
		if (ret[i] >= 0 && delay)
			expect_delay(p, i, id[i], before, delay);
	}
	SAME(ret[0], ret[1]);
	if (ret[0] < 0)
		return;
	if (how == 2)
		remember(p, id);
	if (!delay)
		await_expiry(p, id);
	BOTH(twheel_start_flags(p->t[s], &id[s], same, 0, user_data,
				TWHEEL_START_ABS));
}

static void do_stop(struct pair *p)
{
	struct twheel_stop stop = {};
	bool raw = one_in(p, 3);
	__u64 id[2];

	if (one_in(p, 40))
		stop.flags = 1U << below(p, 32);
	if (one_in(p, 40))
		stop.reserved = below(p, 2);
	choose_id(p, id);
	if (raw || stop.reserved || stop.flags)
		BOTH((stop.id = id[s], twheel_command(p->t[s], TWHEEL_IOC_STOP, &stop)));
	else
		BOTH(twheel_stop(p->t[s], id[s]));
}

static void do_word(struct pair *p)
{
	__u64 id = below(p, p->ids), word = deadline(p);
	int i;

	if (id >= p->t[0]->shared_ids)
		return;
	if (one_in(p, 3))
		word = one_in(p, 2) ? TWHEEL_WORD_STOP : below(p, 3);
	SAME(twheel_word(p->t[0], id), twheel_word(p->t[1], id));
	for (i = 0; i < 2; i++)
		twheel_refresh(p->t[i], id, word);
}

static void do_read(struct pair *p)
{
	unsigned int room = 1 + below(p, ROOM);
	struct twheel_event events[2][ROOM];
	bool wait = one_in(p, 3);
	int count, i, n;

	count = BOTH(wait ? twheel_wait(p->t[s], events[s], room, 0) :
			    twheel_read(p->t[s], events[s], room));
	for (n = 0; n < count; n++) {
		SAME(name_of(p, 0, events[0][n].id), name_of(p, 1, events[1][n].id));
		SAME(events[0][n].user_data, events[1][n].user_data);
		SAME(events[0][n].deadline_ns, events[1][n].deadline_ns);
		SAME(events[0][n].overruns, events[1][n].overruns);
		SAME(events[0][n].flags, events[1][n].flags);
		SAME(events[0][n].reserved, events[1][n].reserved);
		for (i = 0; i < 2; i++) {
			ASSERT_LE(events[i][n].deadline_ns, events[i][n].expired_ns);
			ASSERT_LE(events[i][n].expired_ns, twheel_now_of(p->t[i]));
		}
	}
}

static void expect_same_entry(struct pair *p, const struct twheel_entry *a,
			      const struct twheel_entry *b)
{
	SAME(name_of(p, 0, a->id), name_of(p, 1, b->id));
	SAME(a->user_data, b->user_data);
	SAME(a->deadline_ns, b->deadline_ns);
	SAME(a->period_ns, b->period_ns);
	SAME(a->state, b->state);
	SAME(!a->remaining_ns, !b->remaining_ns);
	SAME(0, a->reserved);
	SAME(0, b->reserved);
}

static void do_get(struct pair *p)
{
	struct twheel_entry entry[2];
	__u64 id[2];

	choose_id(p, id);
	if (!BOTH(twheel_get(p->t[s], id[s], &entry[s])))
		expect_same_entry(p, &entry[0], &entry[1]);
}

static void do_list(struct pair *p)
{
	__u32 flags = one_in(p, 4) ? TWHEEL_LIST_DRAIN : 0;
	unsigned int room = 1 + below(p, ROOM), rounds = 1 + below(p, 8);
	__u64 start = one_in(p, 20) ? (__u64)below(p, 4) << 32 | below(p, 64) : 0;
	__u64 cursor[2] = { start, start };
	struct twheel_entry entries[2][ROOM];
	int count, n;

	do {
		count = BOTH(twheel_walk(p->t[s], flags, entries[s], room, &cursor[s]));
		SAME(cursor[0], cursor[1]);
		for (n = 0; n < count; n++)
			expect_same_entry(p, &entries[0][n], &entries[1][n]);
	} while (count > 0 && --rounds);
}

static void do_batch(struct pair *p)
{
	unsigned int count = 1 + below(p, 2 * ROOM), n, soon = 0;
	struct twheel_op ops[2][2 * ROOM];
	struct twheel_submit submit[2];
	int i;

	memset(ops, 0, sizeof(ops));
	for (n = 0; n < count; n++) {
		struct choice c = choose_start(p);
		bool start = one_in(p, 2), any = start && one_in(p, 4);
		__u64 id[2];

		choose_id(p, id);
		/*
		 * A timer that is due at once may have expired already or not, so choose another
		 * id.
		 */
		if (id[0] < IDS && soon & 1U << id[0]) {
			start = true;
			any = true;
		}
		if (any || id[0] >= IDS || id[0] < p->t[0]->shared_ids) {
			if (c.soon)
				c.expires_ns = deadline(p);
		} else if (c.soon && start) {
			soon |= 1U << id[0];
		}
		for (i = 0; i < 2; i++) {
			struct twheel_op *op = &ops[i][n];

			op->opcode = start ? TWHEEL_OP_START : TWHEEL_OP_STOP;
			op->id = start && any ? TWHEEL_ID_ANY : id[i];
			op->flags = start ? c.flags : 0;
			if (!start && c.user_data % 40)
				continue;
			op->expires_ns = c.expires_ns;
			op->period_ns = c.period_ns;
			op->user_data = c.user_data;
			op->reserved = c.reserved;
		}
	}
	for (i = 0; i < 2; i++)
		submit[i] = (struct twheel_submit){
			.ops = (unsigned long)ops[i],
			.count = count,
			.op_size = sizeof(ops[i][0]),
		};
	BOTH(twheel_command(p->t[s], TWHEEL_IOC_SUBMIT, &submit[s]));
	SAME(submit[0].failed, submit[1].failed);
	for (n = 0; n < count; n++) {
		const __u64 id[2] = { ops[0][n].id, ops[1][n].id };

		SAME(ops[0][n].result, ops[1][n].result);
		if (ops[0][n].result < 0 || ops[0][n].opcode != TWHEEL_OP_START)
			continue;
		if (id[0] & TWHEEL_ID_KERNEL && name_of(p, 0, id[0]) == 2000)
			remember(p, id);
	}
	for (n = 0; n < count; n++)
		if (ops[0][n].result >= 0 && ops[0][n].opcode == TWHEEL_OP_START)
			await_expiry(p, (__u64[]){ ops[0][n].id, ops[1][n].id });
}

/* Add the same start or stop to a batch of each session. */
static int add_to_batches(struct pair *p, struct twheel_batch *batches[2])
{
	__u64 id[2] = { below(p, p->ids) }, expires_ns = deadline(p), user_data = below(p, 1000000);
	unsigned int how = below(p, 8);

	id[1] = id[0];
	if (one_in(p, 20))
		choose_id(p, id);
	if (how == 0)
		return BOTH(twheel_batch_stop(batches[s], id[s]));
	if (how == 2)
		return BOTH(twheel_batch_start_at(batches[s], id[s], expires_ns, user_data));
	return BOTH(twheel_batch_start_flags(batches[s], id[s], expires_ns,
					     how == 3 ? 10 * HOUR : 0, user_data,
					     TWHEEL_START_ABS));
}

static void expect_same_results(struct pair *p, struct twheel_batch *batches[2], int count)
{
	const struct twheel_op *a, *b;
	int n;

	SAME(twheel_batch_failed(batches[0]), twheel_batch_failed(batches[1]));
	for (n = 0; n < count; n++) {
		a = twheel_batch_op(batches[0], n);
		b = twheel_batch_op(batches[1], n);
		SAME(name_of(p, 0, a->id), name_of(p, 1, b->id));
		SAME(a->result, b->result);
	}
}

/* Do a batch of the library, perhaps with more operations than a single call takes. */
static void do_library_batch(struct pair *p)
{
	unsigned int size = 1 + below(p, p->ids / 8), count = below(p, p->ids / 4);
	struct twheel_batch *batches[2];
	int done, i;

	ASSERT_TRUE(!BOTH(twheel_batch_new(p->t[s], size, &batches[s])));
	while (count--) {
		done = add_to_batches(p, batches);
		if (done > 0)
			expect_same_results(p, batches, done);
	}
	expect_same_results(p, batches, BOTH(twheel_batch_flush(batches[s])));
	for (i = 0; i < 2; i++)
		twheel_batch_free(batches[i]);
}

/* Do a command of any number, with a structure of any size and any contents. */
static void do_command(struct pair *p)
{
	union {
		__u64 words[16];
		struct twheel_info info;
	} as[2];
	unsigned int size = below(p, sizeof(as[0].words) / 4 + 1) * 4, nr = below(p, 10), i;
	unsigned long command = _IOC(_IOC_READ | _IOC_WRITE, TWHEEL_IOC_MAGIC, nr, size);
	int ret;

	/* These commands return times, ids or pointers, and are tested by other operations. */
	if (nr >= _IOC_NR(TWHEEL_IOC_START) && nr < _IOC_NR(TWHEEL_IOC_STATS) &&
	    nr != _IOC_NR(TWHEEL_IOC_STOP))
		return;
	/* In the process, another clock is refused before any other check. */
	if (nr == _IOC_NR(TWHEEL_IOC_SETUP) && p->t[0]->clock != CLOCK_MONOTONIC)
		return;
	memset(as, 0, sizeof(as));
	for (i = 0; i < 16; i++)
		as[0].words[i] = one_in(p, 4) ? below(p, 4) : 0;
	as[1] = as[0];
	ret = BOTH(twheel_command(p->t[s], command, &as[s]));
	if (ret || nr == _IOC_NR(TWHEEL_IOC_STATS))
		return;
	for (i = 0; i < 2 && nr == _IOC_NR(TWHEEL_IOC_INFO); i++)
		as[i].info.features &= ~(TWHEEL_FEATURE_PROCESS | TWHEEL_FEATURE_NOWAIT);
	SAME(0, memcmp(&as[0], &as[1], sizeof(as[0])));
}

static bool readable(const struct twheel *t, int timeout_ms)
{
	struct pollfd pollfd = { .fd = twheel_fd(t), .events = POLLIN };

	return poll(&pollfd, 1, timeout_ms) == 1;
}

/*
 * Check whether the descriptor is readable. If it has to be, wait, because the timerfd becomes
 * readable in an interrupt.
 */
static void expect_descriptor(const struct twheel *t, bool unread)
{
	int tries = 100;

	if (unread) {
		ASSERT_TRUE(readable(t, PATIENCE / MS));
		return;
	}
	/*
	 * In the process it may be readable because the wheel has timers to move, which STATS does.
	 */
	while (readable(t, 0) && --tries) {
		struct twheel_stats stats;

		ASSERT_EQ(TWHEEL_BACKEND_PROCESS, twheel_backend(t));
		ASSERT_EQ(0, twheel_stats(t, &stats));
	}
	ASSERT_TRUE(tries);
}

static void expect_same_stats(struct pair *p)
{
	struct twheel_stats stats[2];
	int i;

	for (i = 0; i < 2; i++) {
		SAME(0, twheel_stats(p->t[i], &stats[i]));
		stats[i].wakeups = 0;
		memset(stats[i].lateness, 0, sizeof(stats[i].lateness));
	}
	for (i = 0; i < (int)(sizeof(stats[0]) / sizeof(__u64)); i++)
		SAME(((__u64 *)&stats[0])[i], ((__u64 *)&stats[1])[i]);
	for (i = 0; i < 2; i++)
		expect_descriptor(p->t[i], stats[0].unread);
}

static void open_pair(struct pair *p)
{
	struct twheel_setup setup = {
		.flags = TWHEEL_SETUP_PRIVATE,
		.tick_ns = 50000 * (1 + below(p, 2)),
		.max_timers = 16 + below(p, 32),
		.shared_ids = below(p, 16),
	};
	unsigned int first = access("/dev/twheel", F_OK) ? TWHEEL_OPEN_PROCESS :
							    TWHEEL_OPEN_KERNEL;
	unsigned int flags[2] = { first, TWHEEL_OPEN_PROCESS };

	if (p->ids == IDS_MANY) {
		setup.max_timers = IDS_MANY / 4 + below(p, IDS_MANY);
		setup.shared_ids = below(p, IDS_MANY);
	}
	/* Use the default wheel in some seeds. Its tick is longer. */
	if (one_in(p, 64))
		setup = (struct twheel_setup){
			.max_timers = setup.max_timers,
			.shared_ids = setup.shared_ids,
			.reserved2 = one_in(p, 8),
		};
	if (one_in(p, 20))
		setup.reserved[below(p, 3)] = below(p, 9);
	if (one_in(p, 40))
		setup.tick_ns = below(p, 100000);
	if (one_in(p, 3))
		setup.clock = TWHEEL_CLOCK_BOOTTIME;
	if (one_in(p, 40))
		setup.clock = below(p, 12);
	if (BOTH(twheel_open_flags(&p->t[s], &setup, flags[s])))
		ASSERT_TRUE(!BOTH(twheel_open_flags(&p->t[s], &(struct twheel_setup){}, flags[s])));
}

static void run_seed(unsigned int seed, bool apart)
{
	static void (*const operations[])(struct pair *p) = {
		do_start, do_start, do_start, do_stop, do_stop, do_word, do_read, do_get,
		do_list, do_batch, do_command, do_delay, do_library_batch,
	};
	struct pair p = { .seed = seed, .ids = IDS };
	unsigned int i;

	if (one_in(&p, 32))
		p.ids = IDS_MANY;
	open_pair(&p);
	if (apart)
		p.boot = p.t[0]->clock == CLOCK_BOOTTIME ? TIMENS_BOOTTIME * SECOND :
							   TIMENS_MONOTONIC * SECOND;
	p.up = twheel_now_of(p.t[0]) - p.boot;
	p.far = p.boot + p.up + 100 * HOUR;
	seed_now = seed;
	for (i = 0; i < OPERATIONS; i++) {
		operation_now = i;
		operations[below(&p, ARRAY_SIZE(operations))](&p);
		expect_same_stats(&p);
	}
	twheel_close(p.t[0]);
	twheel_close(p.t[1]);
}

static unsigned int seeds(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return SEEDS_CHECKED;
#endif
	return in_valgrind() ? SEEDS_CHECKED / 4 : SEEDS;
}

static void run_seeds(unsigned int count, bool apart)
{
	const char *again = getenv("TWHEEL_SEED");
	unsigned int first = again ? strtoul(again, NULL, 0) :
				     (unsigned int)(twheel_now() / 1000), i;

	pin_cpu(0);
	printf("# %u seeds from TWHEEL_SEED=%u on\n", count, first);
	fflush(stdout);
	for (i = 0; i < count; i++)
		run_seed(first + i, apart);
}

TEST_LIMIT(both_do_the_same, 1800)
{
	run_seeds(seeds(), false);
}

static void run_some(void *data)
{
	(void)data;
	ASSERT_LE(clock_ns(CLOCK_MONOTONIC) + 3000 * SECOND, clock_ns(CLOCK_BOOTTIME));
	run_seeds(seeds() / 10, true);
}

TEST_LIMIT(both_do_the_same_where_clocks_are_far_apart, 1800)
{
	children_in_time_ns();
	in_child(run_some, NULL);
}
