// SPDX-License-Identifier: GPL-2.0
/*
 * A program with longer structures, and a library and a kernel of version 1
 *
 * The program includes a header with new fields in each structure. No request
 * by a new field is lost without an error, and a new field that is not
 * filled is 0.
 */
#include <errno.h>
#include <string.h>

#include "util.h"

/* Fields that only the program knows. */
#define ASSERT_EMPTY(structure) \
	ASSERT_TRUE(is_zero((structure)->grown, sizeof((structure)->grown)))

TEST(a_setup_with_a_new_field)
{
	struct twheel_setup setup = { .max_timers = 100 };
	struct twheel_info info;
	struct twheel *t;

	setup.grown[15] = 1;
	ASSERT_EQ(-E2BIG, twheel_open(&t, &setup));
	setup.grown[15] = 0;
	ASSERT_EQ(0, twheel_open(&t, &setup));
	memset(&info, GARBAGE, sizeof(info));
	ASSERT_EQ(0, twheel_info(t, &info));
	ASSERT_EQ(100, info.max_timers);
	ASSERT_EQ(sizeof(struct twheel_event), info.event_size);
	ASSERT_EMPTY(&info);
	twheel_close(t);
}

TEST_SESSION(structures_that_come_back)
{
	struct twheel_entry entries[3];
	struct twheel_stats stats;
	__u64 cursor = 0;
	__u64 id;

	for (id = 0; id < 3; id++)
		ASSERT_EQ(0, twheel_start(t, id, HOUR, 10 * id));
	memset(&stats, GARBAGE, sizeof(stats));
	ASSERT_EQ(0, twheel_stats(t, &stats));
	ASSERT_EQ(3, stats.started);
	ASSERT_EMPTY(&stats);
	memset(entries, GARBAGE, sizeof(entries));
	ASSERT_EQ(0, twheel_get(t, 1, &entries[0]));
	ASSERT_EQ(10, entries[0].user_data);
	ASSERT_EMPTY(&entries[0]);
	memset(entries, GARBAGE, sizeof(entries));
	ASSERT_EQ(3, twheel_list(t, entries, 3, &cursor));
	for (id = 0; id < 3; id++) {
		ASSERT_EQ(10 * id, entries[id].user_data);
		ASSERT_EMPTY(&entries[id]);
	}
}

TEST_SESSION(operations_of_a_batch)
{
	struct twheel_batch *batch;

	ASSERT_EQ(0, twheel_batch_new(t, 3, &batch));
	ASSERT_EQ(0, twheel_batch_start(batch, 1, HOUR, 11));
	ASSERT_EQ(0, twheel_batch_stop(batch, 2));
	ASSERT_EQ(3, twheel_batch_stop(batch, 1));
	ASSERT_EQ(-ENOENT, twheel_batch_op(batch, 1)->result);
	ASSERT_EQ(1, twheel_batch_op(batch, 2)->id);
	ASSERT_EQ(0, twheel_batch_op(batch, 2)->result);
	twheel_batch_free(batch);
}
