// SPDX-License-Identifier: GPL-2.0
/*
 * Many threads on one session, random operations
 *
 * They use the whole interface. Every timer is accounted for: none is lost, doubled
 * or early. At every look, in /proc/twheel, started = expired + stopped + pending for
 * each wheel and each CPU.
 *
 * A life of a timer begins with a start or restart. It ends in one of four ways: the
 * timer is restarted, it is stopped, its event is read, or it is drained. One thread
 * owns an id and operates on it. Any thread may read its event. A timer's user_data
 * holds 24 bits of the life's number, and 40 bits of the time before which it must not
 * expire. An event can thus be checked against the operation that caused it.
 *
 * The case runs for 5 s, or for as long as -t or TWHEEL_SECONDS says.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "proc.h"
#include "session.h"

NEED_KERNEL("*");

/**
 * struct life - all lives of one id
 * @id: the id
 * @begun: lives begun; only the owner touches this and @user_data
 * @user_data: user_data of the last successful start or restart
 * @ended: lives ended, added to by any thread
 * @ended_sum: sum of the numbers of the ended lives, added to by any thread
 */
struct life {
	__u64 id;
	__u64 begun;
	__u64 user_data;
	__u64 ended;
	__u64 ended_sum;
};

/* The actions and events of one thread. */
struct life_totals {
	__u64 started;
	__u64 restarted;
	__u64 stopped;
	__u64 read;
	__u64 early;
	__u64 operations;
};

#define TIME_BITS	40
#define TIME_MASK	((1ULL << TIME_BITS) - 1)

static __u64 encode(__u64 number, __u64 due_ns)
{
	return number << TIME_BITS | (due_ns & TIME_MASK);
}

static __u64 number_of(__u64 user_data)
{
	return user_data >> TIME_BITS;
}

/* Returns the time from the due time to @time_ns, in ns. The 40 bits may wrap. */
static long long since_due(__u64 user_data, __u64 time_ns)
{
	__u64 distance = (time_ns - user_data) & TIME_MASK;

	if (distance > TIME_MASK / 2)
		return (long long)distance - (long long)TIME_MASK - 1;
	return distance;
}

static void end_life(struct life *life, __u64 user_data)
{
	__atomic_add_fetch(&life->ended, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&life->ended_sum, number_of(user_data),
			   __ATOMIC_RELAXED);
}

/* Returns the user_data of the life that the next start may begin. */
static __u64 next_user_data(const struct life *life, __u64 due_ns)
{
	return encode((life->begun + 1) & 0xffffff, due_ns);
}

/*
 * Before the call the owner cannot know whether a start begins a life or
 * restarts one. Either way the new life has the next number. A restart ends the
 * life with the old number in the books.
 */
static void start_done(struct life *life, __u64 user_data, int result,
		       struct life_totals *totals)
{
	totals->operations++;
	if (result == -EALREADY)
		return;
	ASSERT_LE(0, result);
	ASSERT_LE(result, 1);
	if (result == 1) {
		end_life(life, life->user_data);
		totals->restarted++;
	} else {
		totals->started++;
	}
	life->begun++;
	life->user_data = user_data;
}

static void stop_done(struct life *life, int result,
		      struct life_totals *totals)
{
	totals->operations++;
	if (result) {
		ASSERT_TRUE(result == -ENOENT || result == -EALREADY);
		return;
	}
	totals->stopped++;
	end_life(life, life->user_data);
}

static void life_start(int fd, struct life *life, __u64 delay_ns,
		       struct life_totals *totals)
{
	__u64 user_data = next_user_data(life, now_ns() + delay_ns);

	start_done(life, user_data, tw_start(fd, life->id, delay_ns, user_data),
		   totals);
}

static void life_stop(int fd, struct life *life, struct life_totals *totals)
{
	stop_done(life, tw_stop(fd, life->id), totals);
}

/* Get a timer. ENOENT is always possible: another thread may read the event first. */
static void life_get(int fd, struct life *life)
{
	struct twheel_entry get;

	if (tw_get(fd, life->id, &get) == -ENOENT)
		return;
	ASSERT_EQ(life->user_data, get.user_data);
	ASSERT_TRUE(get.state == TWHEEL_STATE_PENDING ||
		    get.state == TWHEEL_STATE_EXPIRED);
}

/* Returns an operation of a batch: a start, or a stop if @delay_ns is 0. */
static void life_prepare(struct life *life, struct twheel_op *op, __u64 delay_ns)
{
	memset(op, 0, sizeof(*op));
	op->opcode = delay_ns ? TWHEEL_OP_START : TWHEEL_OP_STOP;
	op->id = life->id;
	op->expires_ns = delay_ns;
	if (delay_ns)
		op->user_data = next_user_data(life, now_ns() + delay_ns);
	op->result = GARBAGE;
}

static void life_result(struct life *life, const struct twheel_op *op,
			struct life_totals *totals)
{
	ASSERT_EQ(life->id, op->id);
	if (op->opcode == TWHEEL_OP_START)
		start_done(life, op->user_data, op->result, totals);
	else
		stop_done(life, op->result, totals);
}

static void life_event(struct life *life, const struct twheel_event *event,
		       struct life_totals *totals)
{
	ASSERT_EQ(life->id, event->id);
	ASSERT_LE(event->deadline_ns, event->expired_ns);
	totals->read++;
	if (since_due(event->user_data, event->deadline_ns) < 0 ||
	    since_due(event->user_data, event->expired_ns) < 0 ||
	    event->expired_ns > now_ns())
		totals->early++;
	end_life(life, event->user_data);
}

/*
 * Check that every life ended once: as many ends as lives, and the sum of their
 * numbers is the sum of 1 to @begun. Call it only after all events have already
 * been read.
 */
static void life_expect_ended(const struct life *life)
{
	__u64 sum = 0, number;

	for (number = 1; number <= life->begun; number++)
		sum += number & 0xffffff;
	if (life->begun == life->ended && sum == life->ended_sum)
		return;
	test_fail(__FILE__, __LINE__,
		  "id %llu: %llu lives begun, %llu ended, sums %llu and %llu",
		  life->id, life->begun, life->ended, sum, life->ended_sum);
}

static void life_add(struct life_totals *sum, const struct life_totals *totals)
{
	sum->started += totals->started;
	sum->restarted += totals->restarted;
	sum->stopped += totals->stopped;
	sum->read += totals->read;
	sum->early += totals->early;
	sum->operations += totals->operations;
}

#define THREADS		8
#define PER_THREAD	512
#define BATCH		64
#define EVENTS		128

struct worker {
	int fd;
	__u64 seed;
	struct life *lives;	/* lives of this thread; all read the events */
	struct life_totals totals;
};

static struct life lives[THREADS * PER_THREAD];	/* by id */
static bool stop;

static bool read_events(struct worker *worker)
{
	struct twheel_event events[EVENTS];
	ssize_t got, i;
	int room;

	room = 1 + random_number(&worker->seed) % EVENTS;
	got = tw_read(worker->fd, events, room);
	if (got == -EAGAIN)
		return false;
	ASSERT_LT(0, got);
	for (i = 0; i < got; i++) {
		ASSERT_LT(events[i].id, THREADS * PER_THREAD);
		life_event(&lives[events[i].id], &events[i], &worker->totals);
	}
	return true;
}

static __u64 random_delay(struct worker *worker)
{
	static const __u64 ranges[] = { MS, 10 * MS, 100 * MS, 10 * SECOND };
	__u64 range = ranges[random_number(&worker->seed) % 4];

	return 1 + random_number(&worker->seed) % range;
}

/* Submit a batch, with each id once, so that the books can tell the operations apart. */
static void submit_batch(struct worker *worker)
{
	unsigned int first = random_number(&worker->seed) % PER_THREAD;
	struct twheel_op ops[BATCH];
	struct life *life;
	int i;

	for (i = 0; i < BATCH; i++) {
		life = &worker->lives[(first + i) % PER_THREAD];
		life_prepare(life, &ops[i],
			     random_number(&worker->seed) % 4 ?
			     random_delay(worker) : 0);
	}
	ASSERT_EQ(BATCH, tw_submit(worker->fd, ops, BATCH));
	for (i = 0; i < BATCH; i++) {
		life = &worker->lives[(first + i) % PER_THREAD];
		life_result(life, &ops[i], &worker->totals);
	}
}

/* Use timers with kernel-chosen ids, which live and end within this function. */
static void use_kernel_id(struct worker *worker)
{
	__u64 id, other;

	ASSERT_EQ(0, tw_start_any(worker->fd, HOUR, 0, &id));
	ASSERT_EQ(1, tw_start(worker->fd, id, 2 * HOUR, 0));
	ASSERT_EQ(0, tw_stop(worker->fd, id));
	ASSERT_EQ(0, tw_start_any(worker->fd, HOUR, 0, &other));
	ASSERT_EQ(-ENOENT, tw_stop(worker->fd, id));
	ASSERT_EQ(0, tw_stop(worker->fd, other));
	worker->totals.started += 2;
	worker->totals.restarted++;
	worker->totals.stopped += 2;
	worker->totals.operations += 6;
}

static void operate(struct worker *worker)
{
	struct life *life;

	life = &worker->lives[random_number(&worker->seed) % PER_THREAD];
	switch (random_number(&worker->seed) % 16) {
	case 0 ... 6:
		life_start(worker->fd, life, random_delay(worker),
			   &worker->totals);
		break;
	case 7 ... 9:
		life_stop(worker->fd, life, &worker->totals);
		break;
	case 10:
		use_kernel_id(worker);
		break;
	case 11:
		submit_batch(worker);
		break;
	case 12:
		life_get(worker->fd, life);
		break;
	default:
		read_events(worker);
	}
}

static void *work(void *data)
{
	struct worker *worker = data;

	pin_cpu(worker->seed % 2);
	while (!READ_ONCE(stop))
		operate(worker);
	return NULL;
}

static void run_workers(struct worker *workers)
{
	__u64 end = now_ns() + test_duration() * SECOND;
	pthread_t threads[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		threads[i] = thread_run(work, &workers[i]);
	do {
		proc_expect_balance(proc_text());
	} while (now_ns() < end);
	WRITE_ONCE(stop, true);
	for (i = 0; i < THREADS; i++)
		thread_join(threads[i]);
}

/* Returns true also after a drain if a timer expired during it and was queued later. */
static bool has_timers(int fd)
{
	struct twheel_stats stats;

	ASSERT_EQ(0, tw_stats(fd, &stats));
	return stats.pending || stats.unread;
}

static void drain(struct worker *worker)
{
	struct twheel_entry drained[100];
	int count, i;

	do {
		count = tw_drain(worker->fd, drained, 100);
		ASSERT_LE(0, count);
		for (i = 0; i < count; i++)
			end_life(&lives[drained[i].id], drained[i].user_data);
		worker->totals.stopped += count;
	} while (count == 100);
	while (has_timers(worker->fd))
		read_events(worker);
}

/* Check the books of the session, and what the wheels counted since @before. */
static void expect_everything(int fd, const struct worker *workers,
			      const struct proc_counters *before)
{
	struct proc_counters after = proc_sum(proc_text());
	struct life_totals sum = { 0 };
	int i;

	for (i = 0; i < THREADS; i++)
		life_add(&sum, &workers[i].totals);
	for (i = 0; i < THREADS * PER_THREAD; i++)
		life_expect_ended(&lives[i]);
	ASSERT_EQ(0, sum.early);
	ASSERT_EQ(sum.started, sum.stopped + sum.read);
	EXPECT_STATS(fd, .started = sum.started, .restarted = sum.restarted,
		     .stopped = sum.stopped, .expired = sum.read,
		     .delivered = sum.read);
	ASSERT_EQ(before->started + sum.started, after.started);
	ASSERT_EQ(before->stopped + sum.stopped, after.stopped);
	ASSERT_EQ(before->expired + sum.read, after.expired);
	ASSERT_EQ(before->pending, after.pending);
	proc_expect_balance(proc_text());
	test_note("%llu operations, %llu started, %llu restarted, %llu stopped",
		  sum.operations, sum.started, sum.restarted, sum.stopped);
	test_note("%llu read; early 0, lost 0, twice 0", sum.read);
}

TEST(eight_threads_on_one_session)
{
	static struct worker workers[THREADS];
	struct proc_counters before = proc_sum(proc_text());
	int fd = session_open_nonblock();
	int i;

	for (i = 0; i < THREADS * PER_THREAD; i++)
		lives[i].id = i;
	for (i = 0; i < THREADS; i++)
		workers[i] = (struct worker){
			.fd = fd, .seed = i + 1, .lives = &lives[i * PER_THREAD],
		};
	run_workers(workers);
	drain(&workers[0]);
	expect_everything(fd, workers, &before);
}
