// SPDX-License-Identifier: GPL-2.0
/*
 * twheel/callbacks in debugfs: the number of pending timers of each callback
 *
 * Two lines of a name and a number, then one line for each callback of pending
 * timers: their number, and the name of the function and its module. For a work
 * it is the function of the work.
 *
 * Only the first timers of each slot are counted, as many as one hold of a
 * base's lock allows. "seen" says how many of the "pending" timers this was.
 */
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/twheel_work.h>

#include "debugfs.h"
#include "wheel.h"

/* Most functions listed, and slots visited per RCU read-side critical section. */
#define CALLBACKS_MAX	256
#define SLOTS_PER_VISIT	64

/**
 * struct census - callbacks found
 * @pending: number of pending timers
 * @seen: number of timers visited
 * @nr: number of entries of @callbacks
 * @callbacks: functions, and the number of timers of each
 */
struct census {
	u64 pending;
	u64 seen;
	unsigned int nr;
	struct {
		void *fn;
		u64 count;
	} callbacks[CALLBACKS_MAX];
};

static void *callback_of(struct twheel_timer *timer)
{
	if (timer->fn != twheel_work_expired)
		return timer->fn;
	return container_of(timer, struct twheel_work, timer)->work.func;
}

/* Count one timer. The base's lock is held. */
static void count_timer(struct twheel_timer *timer, void *arg)
{
	struct census *census = arg;
	void *fn = callback_of(timer);
	unsigned int i;

	census->seen++;
	for (i = 0; i < census->nr; i++)
		if (census->callbacks[i].fn == fn)
			break;
	if (i == CALLBACKS_MAX)
		return;
	if (i == census->nr) {
		census->callbacks[i].fn = fn;
		census->callbacks[i].count = 0;
		census->nr++;
	}
	census->callbacks[i].count++;
}

/* Returns false if the wheel is gone or no slot is left. */
static bool visit_slots(struct census *census, unsigned long number,
			unsigned int cpu, u32 *slot)
{
	unsigned long found = number;
	struct twheel *wheel;
	unsigned int i;
	bool more = false;

	/* See twheel_wheel_find(). */
	rcu_read_lock();
	wheel = twheel_wheel_find(&found);
	if (wheel && found == number) {
		more = true;
		for (i = 0; i < SLOTS_PER_VISIT && more; i++)
			more = twheel_base_visit_slot(wheel->bases[cpu], slot,
						      count_timer, census);
	}
	rcu_read_unlock();
	return more;
}

/* Returns false if there is no wheel with this number or a higher one. */
static bool count_pending(struct census *census, unsigned long *number)
{
	struct twheel_snapshot snapshot;
	struct twheel *wheel;
	unsigned int cpu;

	rcu_read_lock();
	wheel = twheel_wheel_find(number);
	if (wheel) {
		for_each_possible_cpu(cpu) {
			twheel_base_snapshot(wheel->bases[cpu], &snapshot);
			census->pending += snapshot.pending;
		}
	}
	rcu_read_unlock();
	return wheel;
}

static void take_census(struct census *census)
{
	unsigned long number = 0;
	unsigned int cpu;
	u32 slot;

	for (; count_pending(census, &number); number++) {
		for_each_possible_cpu(cpu) {
			slot = 0;
			while (visit_slots(census, number, cpu, &slot))
				cond_resched();
		}
	}
}

static int callbacks_show(struct seq_file *seq, void *v)
{
	struct census *census = kvzalloc(sizeof(*census), GFP_KERNEL);
	unsigned int i;

	if (!census)
		return -ENOMEM;
	take_census(census);
	seq_printf(seq, "pending %llu\n", census->pending);
	seq_printf(seq, "seen %llu\n", census->seen);
	for (i = 0; i < census->nr; i++)
		seq_printf(seq, "%llu %ps\n", census->callbacks[i].count,
			   census->callbacks[i].fn);
	kvfree(census);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(callbacks);

static struct dentry *dir;	/* constant after init */

/**
 * twheel_debugfs_init - create twheel/callbacks in debugfs, where configured
 */
void twheel_debugfs_init(void)
{
	dir = debugfs_create_dir("twheel", NULL);
	debugfs_create_file("callbacks", 0400, dir, NULL, &callbacks_fops);
}

/**
 * twheel_debugfs_exit - remove twheel/callbacks
 */
void twheel_debugfs_exit(void)
{
	debugfs_remove(dir);
}
