// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/twheel with words: a refresh is a store, and so is a stop
 *
 * A timer is armed with its word set to 0, by TWHEEL_IOC_START or in batches. One
 * that was stopped by a store is still pending until it would have been due, so
 * that arming it is a restart.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <linux/twheel.h>

#include "bench.h"

static int fd;
static __u64 *words;
static struct twheel_start starts[BATCH_MAX];
static struct twheel_op ops[BATCH_MAX];
static struct store {
	__u64 *word;
	__u64 value;
} stores[BATCH_MAX];

static void shared_open(unsigned int timers)
{
	struct twheel_setup setup = { .shared_ids = timers + EXTRA };
	size_t size = setup.shared_ids * sizeof(words[0]);

	fd = open("/dev/twheel", O_RDWR | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, TWHEEL_IOC_SETUP, &setup))
		fail("/dev/twheel");
	words = mmap(NULL, size, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_POPULATE, fd, 0);
	if (words == MAP_FAILED)
		fail("mmap");
}

static void prepare_stores(enum operation op, const struct request *requests,
			   unsigned int nr)
{
	__u64 now = now_ns();
	unsigned int i;

	for (i = 0; i < nr; i++) {
		stores[i].word = &words[requests[i].id];
		stores[i].value = op == STOP ? TWHEEL_WORD_STOP :
				  now + requests[i].delay_ns;
	}
}

static void prepare_starts(const struct request *requests, unsigned int nr,
			   unsigned int batch)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (batch == 1)
			starts[i] = (struct twheel_start) {
				.id		= requests[i].id,
				.expires_ns	= requests[i].delay_ns,
				.user_data	= requests[i].id,
			};
		else
			ops[i] = (struct twheel_op) {
				.opcode		= TWHEEL_OP_START,
				.id		= requests[i].id,
				.expires_ns	= requests[i].delay_ns,
				.user_data	= requests[i].id,
			};
	}
}

static void shared_prepare(enum operation op, const struct request *requests,
			   unsigned int nr, unsigned int batch)
{
	prepare_stores(op, requests, nr);
	if (op == ARM)
		prepare_starts(requests, nr, batch);
}

static void arm_batch(unsigned int first, unsigned int count)
{
	struct twheel_submit submit = {
		.ops		= (uintptr_t)&ops[first],
		.count		= count,
		.op_size	= sizeof(ops[0]),
	};
	unsigned int i;

	for (i = first; i < first + count; i++)
		__atomic_store_n(stores[i].word, TWHEEL_WORD_NONE,
				 __ATOMIC_RELAXED);
	if (ioctl(fd, TWHEEL_IOC_SUBMIT, &submit) != (int)count || submit.failed)
		fail("TWHEEL_IOC_SUBMIT");
}

static void arm_one(unsigned int i)
{
	__atomic_store_n(stores[i].word, TWHEEL_WORD_NONE, __ATOMIC_RELAXED);
	if (ioctl(fd, TWHEEL_IOC_START, &starts[i]) < 0)
		fail("TWHEEL_IOC_START");
}

static void shared_run(enum operation op, unsigned int nr, unsigned int batch)
{
	unsigned int i;

	if (op != ARM) {
		for (i = 0; i < nr; i++)
			__atomic_store_n(stores[i].word, stores[i].value,
					 __ATOMIC_RELAXED);
	} else if (batch == 1) {
		for (i = 0; i < nr; i++)
			arm_one(i);
	} else {
		for (i = 0; i < nr; i += batch)
			arm_batch(i, nr - i < batch ? nr - i : batch);
	}
}

static unsigned int shared_collect(unsigned int nr, unsigned int batch)
{
	return read_events(fd, nr, batch);
}

/* Stores come one at a time. Only ARM takes batches. */
static const unsigned int batches[] = { 1, 0 };
static const unsigned int reads[] = { 1, 256, 0 };

const struct impl impl_twheel_shared = {
	.name		= "twheel-shared",
	.batches	= batches,
	.reads		= reads,
	.created_armed	= true,
	.open		= shared_open,
	.prepare	= shared_prepare,
	.run		= shared_run,
	.collect	= shared_collect,
};
