// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: /proc/twheel
 *
 * Each line has a name and a value. The values of the module come first. Then
 * each wheel has its totals and its values on each CPU, and then each session has
 * its values. A block begins with a line "wheel NAME", "cpu N" or "session N".
 * Lines of a CPU or session are indented.
 *
 * Every reader sees the version, the default wheel and the wheels of modules. A
 * session and the wheel it uses are visible to its user only, because each
 * start shows in their lines at once. Only CAP_SYS_ADMIN sees everything, and
 * the total numbers of wheels and sessions, because these show each open() of
 * any user.
 *
 * A reader takes no lock for the list of wheels or sessions, but goes from
 * number to number under RCU, a buffer at a time. The values of a CPU are read
 * together under its lock, and the totals are sums of these. So started =
 * expired + stopped + pending holds in every block. A reader delays timers no
 * longer than it takes to copy a few counters.
 */
#include <linux/bits.h>
#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/proc_fs.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/uidgid.h>

#include "core/wheel.h"
#include "session/session.h"
#include "twheel_chardev.h"
#include "twheel_info.h"

static void add_snapshot(struct twheel_snapshot *sum,
			 const struct twheel_snapshot *one)
{
	const struct twheel_counters *from = &one->counters;
	struct twheel_counters *to = &sum->counters;
	int i;

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
	to->longest_tick_ns = max(to->longest_tick_ns, from->longest_tick_ns);
	to->longest_lateness_ns = max(to->longest_lateness_ns,
				      from->longest_lateness_ns);
	for (i = 0; i < TWHEEL_LATENESS_BITS; i++)
		to->lateness[i] += from->lateness[i];
	sum->pending += one->pending;
	sum->cascaded += one->cascaded;
}

static void show_value(struct seq_file *seq, const char *indent,
		       const char *name, u64 value)
{
	seq_printf(seq, "%s%s %llu\n", indent, name, value);
}

static void show_lateness(struct seq_file *seq, const char *indent,
			  const u64 *lateness)
{
	int i;

	seq_puts(seq, indent);
	seq_puts(seq, "lateness");
	for (i = 0; i < TWHEEL_STATS_LATENESS; i++)
		seq_printf(seq, " %llu", lateness[i]);
	seq_putc(seq, '\n');
}

/* Show lateness in a session's buckets: below 1024 ns, below 2048 ns and so on. */
static void show_lateness_bits(struct seq_file *seq, const char *indent,
			       const struct twheel_counters *c)
{
	u64 lateness[TWHEEL_STATS_LATENESS] = {};
	int bit;

	for (bit = 0; bit < TWHEEL_LATENESS_BITS; bit++)
		lateness[clamp(bit - 9, 0, TWHEEL_STATS_LATENESS - 1)] +=
			c->lateness[bit];
	show_lateness(seq, indent, lateness);
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
	/* Never negative: a tick that takes several runs is busy in each of them. */
	show_value(seq, indent, "empty_ticks", c->ticks - min(c->ticks, c->busy_ticks));
	show_value(seq, indent, "missed_ticks", c->missed_ticks);
	show_value(seq, indent, "wakeups", c->wakeups);
	show_value(seq, indent, "yields", c->yields);
	show_value(seq, indent, "longest_tick_ns", c->longest_tick_ns);
	show_value(seq, indent, "longest_lateness_ns", c->longest_lateness_ns);
	show_lateness_bits(seq, indent, c);
}

/* Show the occupied slots of each level, read without the lock: an estimate. */
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

static void show_config(struct seq_file *seq, const struct twheel *wheel)
{
	const struct twheel_config *config = &wheel->config;

	seq_printf(seq, "wheel %s\n", wheel->name);
	show_value(seq, "", "number", wheel->number);
	seq_printf(seq, "scheme %s\n", twheel_scheme_info(config->scheme)->name);
	seq_printf(seq, "mode %s\n", twheel_wheel_mode_name(config->mode));
	seq_printf(seq, "clock %s\n", config->clock == CLOCK_BOOTTIME ?
		   "boottime" : "monotonic");
	show_value(seq, "", "doze", config->doze);
	show_value(seq, "", "tick_ns", config->tick_ns);
	show_value(seq, "", "slots",
		   twheel_scheme_slots(config->scheme, config->slots));
}

static void show_wheel(struct seq_file *seq, struct twheel *wheel)
{
	struct twheel_snapshot sum = {}, one;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		twheel_base_snapshot(wheel->bases[cpu], &one);
		add_snapshot(&sum, &one);
	}
	show_config(seq, wheel);
	show_snapshot(seq, "", &sum);
}

static void show_cpu(struct seq_file *seq, struct twheel *wheel,
		     unsigned int cpu)
{
	struct twheel_snapshot snapshot;

	twheel_base_snapshot(wheel->bases[cpu], &snapshot);
	if (!snapshot.counters.started && !snapshot.counters.wakeups)
		return;
	seq_printf(seq, "cpu %u\n", cpu);
	show_snapshot(seq, "  ", &snapshot);
	show_occupied(seq, wheel->bases[cpu]);
}

static void show_session(struct seq_file *seq, struct twheel_session *s)
{
	struct twheel_stats stats;
	pid_t pid;
	u32 wheel;

	spin_lock_bh(&s->lock);
	/* The wheel of an unprivileged user is created by the first start. */
	wheel = s->nice || s->wheel_ref ? twheel_number(s->wheel) : 0;
	pid = pid_vnr(s->pid);
	twheel_session_stats_locked(s, &stats);
	spin_unlock_bh(&s->lock);
	seq_printf(seq, "session %u\n", s->number);
	show_value(seq, "  ", "pid", pid);
	show_value(seq, "  ", "uid",
		   from_kuid_munged(seq_user_ns(seq), s->uid));
	show_value(seq, "  ", "wheel", wheel);
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
	show_value(seq, "  ", "carried", stats.carried);
	show_value(seq, "  ", "stopped_by_store", stats.stopped_by_store);
	show_lateness(seq, "  ", stats.lateness);
}

static void show_module(struct seq_file *seq, bool all)
{
	show_value(seq, "", "version", TWHEEL_ABI_VERSION);
	if (!all)
		return;
	show_value(seq, "", "wheels", twheel_wheel_count());
	show_value(seq, "", "sessions",
		   twheel_session_user_total(TWHEEL_COUNT_SESSIONS));
}

/* Iteration */

/**
 * struct proc_cursor - position of a reader
 * @uid: user of the opener. Without @all the opener sees only this user's
 *	sessions and hidden wheels, and wheels that are not hidden
 * @all: true if the opener has CAP_SYS_ADMIN, and sees everything
 * @wheel: wheel to show next, or NULL
 * @cpu: CPU of @wheel to show next. nr_cpu_ids for the wheel itself
 * @session: session to show next, or NULL. If @wheel is NULL too, the module is
 *	next
 *
 * RCU keeps @wheel and @session from proc_start() to proc_stop().
 */
struct proc_cursor {
	kuid_t uid;
	bool all;
	struct twheel *wheel;
	unsigned int cpu;
	struct twheel_session *session;
};

/*
 * Position 0 is the module. Then each wheel number has one position for the
 * wheel and one for each CPU. Sessions follow, with larger positions than any
 * wheel.
 */
#define FIRST_SESSION	BIT_ULL(48)

static bool shows_wheel(const struct proc_cursor *cursor,
			const struct twheel *wheel)
{
	return cursor->all || !wheel->config.hidden ||
	       uid_eq(wheel->config.uid, cursor->uid);
}

static bool find_wheel(struct proc_cursor *cursor, loff_t *pos)
{
	unsigned int each = nr_cpu_ids + 1;
	unsigned long number;
	u32 part;

	if (*pos >= FIRST_SESSION)
		return false;
	number = div_u64_rem(*pos - 1, each, &part);
	for (;; number++) {
		cursor->wheel = twheel_wheel_find(&number);
		if (!cursor->wheel)
			return false;
		if (shows_wheel(cursor, cursor->wheel))
			break;
	}
	if (number != div_u64(*pos - 1, each))
		part = 0;
	*pos = 1 + (u64)number * each + part;
	cursor->cpu = part ? part - 1 : nr_cpu_ids;
	return true;
}

static bool find_session(struct proc_cursor *cursor, loff_t *pos)
{
	unsigned long number = 0;

	if (*pos > FIRST_SESSION)
		number = *pos - FIRST_SESSION;
	for (;; number++) {
		cursor->session = twheel_session_find(&number);
		if (!cursor->session)
			return false;
		if (cursor->all || uid_eq(cursor->session->uid, cursor->uid))
			break;
	}
	*pos = FIRST_SESSION + number;
	return true;
}

/*
 * Find the wheel, CPU or session at *@pos or the next one that the reader may
 * see, and set *@pos.
 */
static void *proc_find(struct seq_file *seq, loff_t *pos)
{
	struct proc_cursor *cursor = seq->private;

	cursor->wheel = NULL;
	cursor->session = NULL;
	if (!*pos || find_wheel(cursor, pos) || find_session(cursor, pos))
		return cursor;
	return NULL;
}

static void *proc_start(struct seq_file *seq, loff_t *pos)
	__acquires(RCU)
{
	rcu_read_lock();
	return proc_find(seq, pos);
}

static void *proc_next(struct seq_file *seq, void *v, loff_t *pos)
{
	++*pos;
	return proc_find(seq, pos);
}

static void proc_stop(struct seq_file *seq, void *v)
	__releases(RCU)
{
	rcu_read_unlock();
}

static int proc_show(struct seq_file *seq, void *v)
{
	struct proc_cursor *cursor = v;

	if (cursor->session)
		show_session(seq, cursor->session);
	else if (!cursor->wheel)
		show_module(seq, cursor->all);
	else if (cursor->cpu == nr_cpu_ids)
		show_wheel(seq, cursor->wheel);
	else if (cpu_possible(cursor->cpu))
		show_cpu(seq, cursor->wheel, cursor->cpu);
	return 0;
}

static const struct seq_operations proc_seq_ops = {
	.start	= proc_start,
	.next	= proc_next,
	.stop	= proc_stop,
	.show	= proc_show,
};

static int proc_open(struct inode *inode, struct file *file)
{
	struct proc_cursor *cursor = __seq_open_private(file, &proc_seq_ops,
							sizeof(*cursor));

	if (!cursor)
		return -ENOMEM;
	cursor->uid = current_euid();
	cursor->all = ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN);
	return 0;
}

static const struct proc_ops proc_ops = {
	.proc_open	= proc_open,
	.proc_read_iter	= seq_read_iter,
	.proc_lseek	= seq_lseek,
	.proc_release	= seq_release_private,
};

int twheel_proc_init(void)
{
	return proc_create("twheel", 0444, NULL, &proc_ops) ? 0 : -ENOMEM;
}

void twheel_proc_exit(void)
{
	remove_proc_entry("twheel", NULL);
}
