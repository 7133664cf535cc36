// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/twheel: one session, ids chosen by the program
 *
 * A batch of 1 is a TWHEEL_IOC_START or TWHEEL_IOC_STOP, a larger one a
 * TWHEEL_IOC_SUBMIT. A read returns as many expiries as there is room for.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/twheel.h>

#include "bench.h"

static int fd;
static struct twheel_start starts[BATCH_MAX];
static struct twheel_stop stops[BATCH_MAX];
static struct twheel_op ops[BATCH_MAX];
static struct twheel_event events[BATCH_MAX];

static void twheel_open(unsigned int timers)
{
	struct twheel_info info;

	fd = open("/dev/twheel", O_RDWR | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, TWHEEL_IOC_INFO, &info))
		fail("/dev/twheel");
	(void)timers;
}

static void prepare_ops(enum operation op, const struct request *requests,
			unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		ops[i] = (struct twheel_op) { .id = requests[i].id };
		ops[i].opcode = TWHEEL_OP_STOP;
		if (op == STOP)
			continue;
		ops[i].opcode = TWHEEL_OP_START;
		ops[i].expires_ns = requests[i].delay_ns;
		ops[i].user_data = requests[i].id;
	}
}

static void twheel_prepare(enum operation op, const struct request *requests,
			   unsigned int nr, unsigned int batch)
{
	unsigned int i;

	if (batch > 1) {
		prepare_ops(op, requests, nr);
		return;
	}
	for (i = 0; i < nr; i++) {
		starts[i] = (struct twheel_start) {
			.id		= requests[i].id,
			.expires_ns	= requests[i].delay_ns,
			.user_data	= requests[i].id,
		};
		stops[i] = (struct twheel_stop) { .id = requests[i].id };
	}
}

static void submit(unsigned int first, unsigned int count)
{
	struct twheel_submit submit = {
		.ops		= (uintptr_t)&ops[first],
		.count		= count,
		.op_size	= sizeof(ops[0]),
	};

	if (ioctl(fd, TWHEEL_IOC_SUBMIT, &submit) != (int)count)
		fail("TWHEEL_IOC_SUBMIT");
}

static void check_results(enum operation op, unsigned int nr)
{
	if (ops[0].result != (op == REFRESH) ||
	    ops[nr - 1].result != (op == REFRESH))
		fail("an operation of TWHEEL_IOC_SUBMIT");
}

static void run_batches(enum operation op, unsigned int nr, unsigned int batch)
{
	unsigned int first;

	for (first = 0; first < nr; first += batch)
		submit(first, nr - first < batch ? nr - first : batch);
	check_results(op, nr);
}

static void stop_one_by_one(unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (ioctl(fd, TWHEEL_IOC_STOP, &stops[i]))
			fail("TWHEEL_IOC_STOP");
}

static void twheel_run(enum operation op, unsigned int nr, unsigned int batch)
{
	int want = op == REFRESH;
	unsigned int i;

	if (batch > 1) {
		run_batches(op, nr, batch);
		return;
	}
	if (op == STOP) {
		stop_one_by_one(nr);
		return;
	}
	for (i = 0; i < nr; i++)
		if (ioctl(fd, TWHEEL_IOC_START, &starts[i]) != want)
			fail("TWHEEL_IOC_START");
}

unsigned int read_events(int session, unsigned int nr, unsigned int batch)
{
	unsigned int done = 0;
	ssize_t size;

	while (done < nr) {
		size = read(session, events, batch * sizeof(events[0]));
		if (size < 0)
			fail("read");
		done += size / sizeof(events[0]);
	}
	return done;
}

static unsigned int twheel_collect(unsigned int nr, unsigned int batch)
{
	return read_events(fd, nr, batch);
}

const struct impl impl_twheel = {
	.name		= "twheel",
	.batches	= all_batches,
	.reads		= all_batches,
	.created_armed	= true,
	.open		= twheel_open,
	.prepare	= twheel_prepare,
	.run		= twheel_run,
	.collect	= twheel_collect,
};
