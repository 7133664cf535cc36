// SPDX-License-Identifier: GPL-2.0
/*
 * Many threads on one session, with random operations
 *
 * The threads use the whole interface. Every timer is accounted for, so that none is lost, doubled
 * or early. Whenever /proc/twheel is read, started = expired + stopped + pending must hold for each
 * wheel and each CPU.
 *
 * A life of a timer begins with a start or restart. It ends in one of four ways: the timer is
 * started again, it is stopped, its event is read, or it is drained. One thread owns an id and
 * operates on it. Any thread may read its event. A timer's user_data holds 24 bits of the life's
 * number, and 40 bits of the time before which it must not expire. So an event can be checked
 * against the operation that caused it.
 *
 * The case runs for 5 s, or for as long as -t or TWHEEL_SECONDS says.
 */
#include <errno.h>

#include "harness.h"
#include "proc.h"
#include "session.h"

NEED_KERNEL("*");

#define THREADS		8
#define PER_THREAD	512
#define BATCH		64
#define EVENTS		128

#define TIME_BITS	40
#define TIME_MASK	((1ULL << TIME_BITS) - 1)
#define NUMBER_MASK	((1ULL << (64 - TIME_BITS)) - 1)

/**
 * struct life - all lives of one id
 * @begun: number of lives that began. Only the owner uses this field and @user_data
 * @user_data: user_data of the last successful start or restart
 * @ended: number of lives that ended. Any thread may add to it
 * @ended_sum: sum of the numbers of the ended lives. Any thread may add to it
 */
struct life {
	__u64 begun;
	__u64 user_data;
	__u64 ended;
	__u64 ended_sum;
};

struct worker {
	unsigned int first;	/* first of the ids that the thread owns */
	__u64 seed;
};

static struct life lives[THREADS * PER_THREAD];		/* by id */
static int fd;
static __u64 begin;
static bool stop;

/* The sums over all threads. */
static struct {
	__u64 started, restarted, replaced, stopped, withdrawn, read;
} books;

static void add(__u64 *number, __u64 count)
{
	__atomic_add_fetch(number, count, __ATOMIC_RELAXED);
}

static void end_life(struct life *life, __u64 user_data)
{
	add(&life->ended, 1);
	add(&life->ended_sum, user_data >> TIME_BITS);
}

/*
 * Returns an operation of a batch: a start, or a stop if @delay_ns is 0. The owner cannot know
 * whether a start begins a life or restarts one. In both cases the new life has the next number.
 */
static struct twheel_op prepare(__u64 id, __u64 delay_ns)
{
	__u64 number = (lives[id].begun + 1) & NUMBER_MASK;

	if (!delay_ns)
		return (struct twheel_op){ .opcode = TWHEEL_OP_STOP, .id = id, .result = GARBAGE };
	return (struct twheel_op){
		.opcode = TWHEEL_OP_START, .id = id, .expires_ns = delay_ns, .result = GARBAGE,
		.user_data = number << TIME_BITS | (now_ns() + delay_ns - begin),
	};
}

/* Note the result of an operation. A restart ends the life with the old number. */
static void operation_done(const struct twheel_op *op)
{
	__u64 *const starts[] = { &books.started, &books.restarted, &books.replaced };
	__u64 *const stops[] = { &books.stopped, &books.withdrawn };
	struct life *life = &lives[op->id];
	bool start = op->opcode == TWHEEL_OP_START;

	if (op->result < 0) {
		ASSERT_EQ(-ENOENT, op->result);
		ASSERT_TRUE(!start);
		return;
	}
	ASSERT_LT(op->result, start ? 3 : 2);
	if (!start || op->result)
		end_life(life, life->user_data);
	add(start ? starts[op->result] : stops[op->result], 1);
	if (start) {
		life->begun++;
		life->user_data = op->user_data;
	}
}

/* Get a timer. ENOENT is always possible, because another thread may read the event first. */
static void get_one(__u64 id)
{
	struct twheel_entry get;

	if (tw_get(fd, id, &get) == -ENOENT)
		return;
	ASSERT_EQ(lives[id].user_data, get.user_data);
	ASSERT_TRUE(get.state == TWHEEL_STATE_PENDING ||
		    get.state == TWHEEL_STATE_EXPIRED);
}

/*
 * Check that every life ended once: the number of ends is the number of lives, and the sum of their
 * numbers is the sum of 1 to @begun. Must be called after all events were read.
 */
static void expect_ended(const struct life *life)
{
	__u64 sum = 0, number;

	for (number = 1; number <= life->begun; number++)
		sum += number & NUMBER_MASK;
	ASSERT_EQ(life->begun, life->ended);
	ASSERT_EQ(sum, life->ended_sum);
}

static void read_events(struct worker *worker)
{
	struct twheel_event events[EVENTS];
	__u64 due;
	ssize_t got, i;

	got = tw_read(fd, events, 1 + random_number(&worker->seed) % EVENTS);
	if (got == -EAGAIN)
		return;
	ASSERT_LT(0, got);
	add(&books.read, got);
	for (i = 0; i < got; i++) {
		ASSERT_LT(events[i].id, ARRAY_SIZE(lives));
		due = begin + (events[i].user_data & TIME_MASK);
		ASSERT_LE(due, events[i].deadline_ns);
		ASSERT_LE(events[i].deadline_ns, events[i].expired_ns);
		ASSERT_LE(events[i].expired_ns, now_ns());
		end_life(&lives[events[i].id], events[i].user_data);
	}
}

static __u64 random_delay(struct worker *worker)
{
	static const __u64 ranges[] = { MS, 10 * MS, 100 * MS, 10 * SECOND };
	__u64 range = ranges[random_number(&worker->seed) % 4];

	return 1 + random_number(&worker->seed) % range;
}

/* Submit a batch that contains each id only once, so that each result belongs to a known life. */
static void submit_batch(struct worker *worker)
{
	unsigned int first = random_number(&worker->seed) % PER_THREAD;
	struct twheel_op ops[BATCH];
	int i;

	for (i = 0; i < BATCH; i++)
		ops[i] = prepare(worker->first + (first + i) % PER_THREAD,
				 random_number(&worker->seed) % 4 ? random_delay(worker) : 0);
	ASSERT_EQ(BATCH, tw_submit(fd, ops, BATCH));
	for (i = 0; i < BATCH; i++)
		operation_done(&ops[i]);
}

/* Use timers whose ids the kernel chooses, and stop them within this function. */
static void use_kernel_id(void)
{
	__u64 id, other;

	ASSERT_EQ(0, tw_start_any(fd, HOUR, 0, &id));
	ASSERT_EQ(1, tw_start(fd, id, 2 * HOUR, 0));
	ASSERT_EQ(0, tw_stop(fd, id));
	ASSERT_EQ(0, tw_start_any(fd, HOUR, 0, &other));
	ASSERT_EQ(-ENOENT, tw_stop(fd, id));
	ASSERT_EQ(0, tw_stop(fd, other));
	add(&books.started, 2);
	add(&books.restarted, 1);
	add(&books.stopped, 2);
}

static void operate(struct worker *worker)
{
	__u64 id = worker->first + random_number(&worker->seed) % PER_THREAD;
	struct twheel_op op;

	switch (random_number(&worker->seed) % 16) {
	case 0 ... 6:
		op = prepare(id, random_delay(worker));
		op.result = tw_start(fd, id, op.expires_ns, op.user_data);
		operation_done(&op);
		break;
	case 7 ... 9:
		op = prepare(id, 0);
		op.result = tw_stop(fd, id);
		operation_done(&op);
		break;
	case 10:
		use_kernel_id();
		break;
	case 11:
		submit_batch(worker);
		break;
	case 12:
		get_one(id);
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
	pthread_t threads[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		threads[i] = thread_run(work, &workers[i]);
	do {
		proc_expect_balance(proc_text());
	} while (now_ns() < begin + test_duration() * SECOND);
	WRITE_ONCE(stop, true);
	for (i = 0; i < THREADS; i++)
		thread_join(threads[i]);
}

static void drain(void)
{
	struct twheel_entry drained[100];
	int count, i;

	do {
		count = tw_drain(fd, drained, 100);
		ASSERT_LE(0, count);
		for (i = 0; i < count; i++) {
			end_life(&lives[drained[i].id], drained[i].user_data);
			add(drained[i].state == TWHEEL_STATE_PENDING ? &books.stopped :
								       &books.withdrawn, 1);
		}
	} while (count == 100);
}

/* Check the sums of the session, and the sums of the wheels since @before. */
static void expect_everything(const struct proc_counters *before)
{
	struct proc_counters after = proc_sum(proc_text());
	__u64 started = books.started + books.replaced;
	__u64 expired = books.read + books.replaced + books.withdrawn;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lives); i++)
		expect_ended(&lives[i]);
	ASSERT_EQ(books.started, books.stopped + books.withdrawn + books.read);
	EXPECT_STATS(fd, .started = started, .restarted = books.restarted,
		     .stopped = books.stopped, .expired = expired, .delivered = books.read,
		     .replaced = books.replaced, .withdrawn = books.withdrawn);
	ASSERT_EQ(before->started + started, after.started);
	ASSERT_EQ(before->stopped + books.stopped, after.stopped);
	ASSERT_EQ(before->expired + expired, after.expired);
	ASSERT_EQ(before->pending, after.pending);
	proc_expect_balance(proc_text());
	test_note("started: %llu free, %llu pending, %llu unread", books.started, books.restarted,
		  books.replaced);
	test_note("stopped: %llu pending, %llu unread; %llu read", books.stopped, books.withdrawn,
		  books.read);
}

TEST(eight_threads_on_one_session)
{
	static struct worker workers[THREADS];
	struct proc_counters before = proc_sum(proc_text());
	int i;

	fd = session_open_nonblock();
	begin = now_ns();
	for (i = 0; i < THREADS; i++)
		workers[i] = (struct worker){ .first = i * PER_THREAD, .seed = i + 1 };
	run_workers(workers);
	drain();
	expect_everything(&before);
}
