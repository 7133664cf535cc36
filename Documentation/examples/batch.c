// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <linux/twheel.h>

#define SECOND	1000000000ULL
#define TIMERS	256

static int run(int fd, struct twheel_op *ops, unsigned int count)
{
	struct twheel_submit submit = {
		.ops = (unsigned long)ops,
		.count = count,
		.op_size = TWHEEL_OP_SIZE_V1,
	};

	/* A signal may end the call early: continue after the last operation. */
	while (submit.count) {
		int done = ioctl(fd, TWHEEL_IOC_SUBMIT, &submit);

		if (done < 0)
			return -1;
		submit.ops += (__u64)done * submit.op_size;
		submit.count -= done;
	}
	return 0;
}

int main(void)
{
	static struct twheel_event events[TIMERS];
	static struct twheel_op ops[TIMERS];
	int fd = open("/dev/twheel", O_RDWR | O_CLOEXEC);
	unsigned int i, refreshed = 0, read_in = 0;
	ssize_t size;

	for (i = 0; i < TIMERS; i++)
		ops[i] = (struct twheel_op) {
			.opcode = TWHEEL_OP_START,
			.id = i,
			.expires_ns = SECOND / 2,
		};
	/* Start all timers, then refresh them with the same operations. */
	if (fd < 0 || run(fd, ops, TIMERS) || run(fd, ops, TIMERS)) {
		perror("/dev/twheel");
		return 1;
	}
	for (i = 0; i < TIMERS; i++)
		refreshed += ops[i].result == 1;	/* it was pending */
	while (read_in < TIMERS) {
		size = read(fd, events, sizeof(events));
		if (size < 0) {
			perror("/dev/twheel");
			return 1;
		}
		read_in += size / sizeof(*events);
	}
	printf("%u refreshed, %u expired\n", refreshed, read_in);
	return 0;
}
