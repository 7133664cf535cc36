// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/twheel
 *
 * Lines of a name and a value: first the module's, then for each wheel its
 * totals and those of each CPU, then the sessions'. A block begins with a
 * line "wheel NAME", "cpu N" or "session PID"; the lines of a CPU or session
 * are indented.
 *
 * Each CPU's numbers are read under its lock in one piece, and the totals are
 * sums of what was read: started = expired + stopped + pending holds in every
 * line of every reading. Timers do not wait for a reader longer than it takes
 * to copy a few counters.
 */
#include <linux/bitmap.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "session/session.h"
#include "twheel_proc.h"
#include "twheel_wheel.h"

static void add_max(u64 *sum, u64 value)
{
	if (value > *sum)
		*sum = value;
}

static void add_snapshot(struct twheel_snapshot *sum,
			 const struct twheel_snapshot *one)
{
	const struct twheel_counters *from = &one->counters;
	struct twheel_counters *to = &sum->counters;

	to->started += from->started;
	to->restarted += from->restarted;
	to->stopped += from->stopped;
	to->expired += from->expired;
	to->moved += from->moved;
	to->ticks += from->ticks;
	to->busy_ticks += from->busy_ticks;
	to->missed_ticks += from->missed_ticks;
	to->wakeups += from->wakeups;
	to->yields += from->yields;
	add_max(&to->longest_tick_ns, from->longest_tick_ns);
	add_max(&to->longest_lateness_ns, from->longest_lateness_ns);
	sum->pending += one->pending;
	sum->cascaded += one->cascaded;
}

static void show_value(struct seq_file *seq, const char *indent,
		       const char *name, u64 value)
{
	seq_printf(seq, "%s%s %llu\n", indent, name, value);
}

/* A tick in which a long run is stopped halfway is busy once per run. */
static u64 empty_ticks(const struct twheel_counters *c)
{
	return c->ticks > c->busy_ticks ? c->ticks - c->busy_ticks : 0;
}

static void show_snapshot(struct seq_file *seq, const char *indent,
			  const struct twheel_snapshot *snapshot)
{
	const struct twheel_counters *c = &snapshot->counters;

	show_value(seq, indent, "started", c->started);
	show_value(seq, indent, "restarted", c->restarted);
	show_value(seq, indent, "stopped", c->stopped);
	show_value(seq, indent, "expired", c->expired);
	show_value(seq, indent, "pending", snapshot->pending);
	show_value(seq, indent, "cascaded", snapshot->cascaded);
	show_value(seq, indent, "moved", c->moved);
	show_value(seq, indent, "ticks", c->ticks);
	show_value(seq, indent, "empty_ticks", empty_ticks(c));
	show_value(seq, indent, "missed_ticks", c->missed_ticks);
	show_value(seq, indent, "wakeups", c->wakeups);
	show_value(seq, indent, "yields", c->yields);
	show_value(seq, indent, "longest_tick_ns", c->longest_tick_ns);
	show_value(seq, indent, "longest_lateness_ns", c->longest_lateness_ns);
}

/*
 * Occupied slots of each level, a hashed wheel being of one level. Read
 * without the lock: an impression, not an account.
 */
static void show_occupied(struct seq_file *seq, const struct twheel_base *base)
{
	unsigned int levels = twheel_scheme_levels(base->scheme.type);
	unsigned int level;

	seq_puts(seq, "  occupied_slots");
	for (level = 0; level < levels; level++)
		seq_printf(seq, " %u",
			   twheel_scheme_occupied(&base->scheme, level));
	seq_putc(seq, '\n');
}

static bool is_idle(const struct twheel_snapshot *snapshot)
{
	return !snapshot->counters.started && !snapshot->counters.wakeups;
}

static void show_config(struct seq_file *seq, const struct twheel *wheel)
{
	const struct twheel_config *config = &wheel->config;

	seq_printf(seq, "wheel %s\n", wheel->name);
	seq_printf(seq, "scheme %s\n", twheel_wheel_scheme_name(config->scheme));
	seq_printf(seq, "mode %s\n", twheel_wheel_mode_name(config->mode));
	show_value(seq, "", "tick_ns", config->tick_ns);
	show_value(seq, "", "slots",
		   twheel_scheme_slots(config->scheme, config->slots));
}

static int show_wheel(struct twheel *wheel, void *arg)
{
	struct twheel_snapshot sum = {}, *snapshots;
	struct seq_file *seq = arg;
	unsigned int cpu;

	snapshots = kcalloc(nr_cpu_ids, sizeof(*snapshots), GFP_KERNEL);
	if (!snapshots)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		twheel_base_snapshot(wheel->bases[cpu], &snapshots[cpu]);
		add_snapshot(&sum, &snapshots[cpu]);
	}
	show_config(seq, wheel);
	show_snapshot(seq, "", &sum);
	for_each_possible_cpu(cpu) {
		if (is_idle(&snapshots[cpu]))
			continue;
		seq_printf(seq, "cpu %u\n", cpu);
		show_snapshot(seq, "  ", &snapshots[cpu]);
		show_occupied(seq, wheel->bases[cpu]);
	}
	kfree(snapshots);
	return 0;
}

static void show_session(struct twheel_session *s, void *arg)
{
	struct seq_file *seq = arg;
	struct twheel_stats stats;

	twheel_session_stats(s, &stats);
	seq_printf(seq, "session %d\n", s->pid);
	show_value(seq, "  ", "started", stats.started);
	show_value(seq, "  ", "restarted", stats.restarted);
	show_value(seq, "  ", "stopped", stats.stopped);
	show_value(seq, "  ", "expired", stats.expired);
	show_value(seq, "  ", "pending", stats.pending);
	show_value(seq, "  ", "rearmed", stats.rearmed);
	show_value(seq, "  ", "delivered", stats.delivered);
	show_value(seq, "  ", "replaced", stats.replaced);
	show_value(seq, "  ", "withdrawn", stats.withdrawn);
	show_value(seq, "  ", "unread", stats.unread);
	show_value(seq, "  ", "overruns", stats.overruns);
	show_value(seq, "  ", "wakeups", stats.wakeups);
}

static int count_wheel(struct twheel *wheel, void *arg)
{
	++*(u64 *)arg;
	return 0;
}

static int show_twheel(struct seq_file *seq, void *unused)
{
	u64 wheels = 0;
	int ret;

	twheel_wheel_for_each(count_wheel, &wheels);
	show_value(seq, "", "version", TWHEEL_ABI_VERSION);
	show_value(seq, "", "wheels", wheels);
	show_value(seq, "", "sessions", twheel_session_count());
	ret = twheel_wheel_for_each(show_wheel, seq);
	if (!ret)
		twheel_session_for_each(show_session, seq);
	return ret;
}

/**
 * twheel_proc_init - make /proc/twheel
 *
 * Return: 0 or -ENOMEM.
 */
int twheel_proc_init(void)
{
	return proc_create_single("twheel", 0444, NULL, show_twheel) ?
	       0 : -ENOMEM;
}

/**
 * twheel_proc_exit - remove it
 */
void twheel_proc_exit(void)
{
	remove_proc_entry("twheel", NULL);
}
