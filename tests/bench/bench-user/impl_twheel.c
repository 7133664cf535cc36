// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/twheel: one session, ids chosen by the program
 *
 * A batch of 1 is a TWHEEL_IOC_START or TWHEEL_IOC_STOP, a larger one a TWHEEL_IOC_SUBMIT. A read
 * returns as many expiries as there is room for.
 *
 * The session of "twheel-shared" has words, so that a refresh or a stop is a store. A timer is
 * armed with its word set to 0. A timer that a store stopped remains pending until its deadline,
 * so that arming it is a restart.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/twheel.h>

#include "bench.h"

static int fd;
static __u64 *words;
static struct twheel_start starts[EXTRA];
static struct twheel_stop stops[EXTRA];
static struct twheel_op ops[EXTRA];
static struct store {
	__u64 *word;
	__u64 value;
} stores[EXTRA];

static void twheel_open(unsigned int timers)
{
	struct twheel_info info;

	fd = open("/dev/twheel", O_RDWR | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, TWHEEL_IOC_INFO, &info))
		err(1, "/dev/twheel");
}

static void shared_open(unsigned int timers)
{
	unsigned int nr = timers + EXTRA;
	struct twheel_setup setup = { .shared_ids = nr };

	fd = open("/dev/twheel", O_RDWR | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, TWHEEL_IOC_SETUP, &setup))
		err(1, "/dev/twheel");
	words = mmap(NULL, nr * sizeof(*words), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
		     fd, 0);
	if (words == MAP_FAILED)
		err(1, "mmap");
}

/* Prepare the arguments of a request for a single call and for a batch. */
static void twheel_prepare(enum operation op, unsigned int i, const struct request *r)
{
	stops[i] = (struct twheel_stop) { .id = r->id };
	starts[i] = (struct twheel_start) {
		.id		= r->id,
		.expires_ns	= r->delay_ns,
		.user_data	= r->id,
	};
	ops[i] = (struct twheel_op) {
		.opcode		= op == STOP ? TWHEEL_OP_STOP : TWHEEL_OP_START,
		.id		= r->id,
		.expires_ns	= op == STOP ? 0 : r->delay_ns,
		.user_data	= op == STOP ? 0 : r->id,
	};
}

/* Submit operations. Each result must be at least @least. */
static void submit(unsigned int first, unsigned int count, int least)
{
	struct twheel_submit submit = {
		.ops		= (uintptr_t)&ops[first],
		.count		= count,
		.op_size	= sizeof(ops[0]),
	};

	if (ioctl(fd, TWHEEL_IOC_SUBMIT, &submit) != (int)count || submit.failed ||
	    ops[first].result < least)
		err(1, "TWHEEL_IOC_SUBMIT");
}

static void twheel_run(enum operation op, unsigned int nr, unsigned int batch)
{
	int least = op == REFRESH;
	unsigned int i;

	if (batch > 1) {
		for (i = 0; i < nr; i += batch)
			submit(i, nr - i < batch ? nr - i : batch, least);
	} else if (op == STOP) {
		for (i = 0; i < nr; i++)
			if (ioctl(fd, TWHEEL_IOC_STOP, &stops[i]))
				err(1, "TWHEEL_IOC_STOP");
	} else {
		for (i = 0; i < nr; i++)
			if (ioctl(fd, TWHEEL_IOC_START, &starts[i]) < least)
				err(1, "TWHEEL_IOC_START");
	}
}

static void shared_prepare(enum operation op, unsigned int i, const struct request *r)
{
	stores[i].word = &words[r->id];
	stores[i].value = op == ARM ? TWHEEL_WORD_NONE : op == STOP ? TWHEEL_WORD_STOP :
			  r->deadline_ns;
	if (op == ARM)
		twheel_prepare(op, i, r);
}

static void shared_run(enum operation op, unsigned int nr, unsigned int batch)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		__atomic_store_n(stores[i].word, stores[i].value, __ATOMIC_RELAXED);
	if (op == ARM)
		twheel_run(op, nr, batch);
}

static unsigned int twheel_collect(unsigned int nr, unsigned int batch)
{
	static struct twheel_event events[SAMPLE];
	unsigned int done = 0;
	ssize_t size;

	while (done < nr) {
		size = read(fd, events, batch * sizeof(events[0]));
		if (size < 0)
			err(1, "read");
		done += size / sizeof(events[0]);
	}
	return done;
}

const struct impl impl_twheel = {
	.name		= "twheel",
	.batches	= true,
	.large		= SAMPLE,
	.reads		= one_and_many,
	.open		= twheel_open,
	.prepare	= twheel_prepare,
	.run		= twheel_run,
	.collect	= twheel_collect,
};

/* A refresh or a stop is one store. Only ARM takes batches. */
const struct impl impl_twheel_shared = {
	.name		= "twheel-shared",
	.large		= SAMPLE,
	.reads		= one_and_many,
	.open		= shared_open,
	.prepare	= shared_prepare,
	.run		= shared_run,
	.collect	= twheel_collect,
};
