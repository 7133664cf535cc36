/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A valid argument for each command, which tests change so that the command refuses it
 */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include "harness.h"
#include "session.h"

/* The timer that is pending when the command is called. */
#define ID		3
#define USER_DATA	33

union argument {
	struct twheel_info info;
	struct twheel_setup setup;
	struct twheel_start start;
	struct twheel_stop stop;
	struct twheel_entry get;
	struct twheel_submit submit;
	struct twheel_list list;
	struct twheel_stats stats;
	struct twheel_op op;
};

/* Open a session with a pending timer, except for SETUP, which is refused after a start. */
static inline int open_for(unsigned long command)
{
	int fd = session_open_nonblock();

	if (command != TWHEEL_IOC_SETUP)
		ASSERT_EQ(0, tw_start(fd, ID, HOUR, USER_DATA));
	return fd;
}

/*
 * Return a valid argument for @command, or a valid operation of a batch if @command is 0. Arrays
 * that the argument points to are static.
 */
static inline union argument good_argument(unsigned long command)
{
	static struct twheel_entry entries[4];
	static struct twheel_op op;
	union argument good;

	memset(&good, 0, sizeof(good));
	op = (struct twheel_op){ .opcode = TWHEEL_OP_START, .id = 4, .expires_ns = HOUR };
	switch (command) {
	case 0:
		good.op = (struct twheel_op){ .opcode = TWHEEL_OP_STOP, .id = ID };
		break;
	case TWHEEL_IOC_SETUP:
		good.setup.max_timers = 1000;
		break;
	case TWHEEL_IOC_START:
		good.start = (struct twheel_start){ .id = 4, .expires_ns = HOUR };
		break;
	case TWHEEL_IOC_STOP:
		good.stop.id = ID;
		break;
	case TWHEEL_IOC_GET:
		good.get.id = ID;
		break;
	case TWHEEL_IOC_SUBMIT:
		good.submit = (struct twheel_submit){ .ops = (__u64)(unsigned long)&op,
			.count = 1, .op_size = sizeof(op) };
		break;
	case TWHEEL_IOC_LIST:
		good.list = (struct twheel_list){ .entries = (__u64)(unsigned long)entries,
			.count = ARRAY_SIZE(entries), .entry_size = sizeof(entries[0]) };
		break;
	}
	return good;
}

#endif /* ARGUMENTS_H */
