// SPDX-License-Identifier: GPL-2.0
/*
 * The events of a seed of simulation-session: files of /dev/twheel, and tasks
 * that use them
 *
 * Each task has its own ids in each session, about whose timers the oracle knows nearly
 * everything. Other ids are used by all tasks. Each task also reads, lists and drains any
 * session, and closes files that other tasks are using.
 */
#include <linux/err.h>
#include <linux/user_namespace.h>
#include <linux/uaccess.h>

#include "oracle.h"
#include "scenario.h"
#include "session_oracle.h"
#include "twheel_chardev.h"
#include "core/wheel.h"

#define FILES		3

extern struct sim_param sim_param_max_user_timers, sim_param_max_user_sessions;
static struct user_file files[FILES];
static bool shared[FILES];	/* files that are being opened */

void sim_device(bool softirq)
{
}

/* Set the ids of each task: three are fixed, and the kernel will choose the others. */
static void name_ids(struct oracle_session *os)
{
	static const u32 begins[] = { 0, 43, 23040 };
	u32 task, i;

	for (task = 0; task < SIM_USERS; task++)
		for (i = 0; i < ORACLE_OWN; i++)
			os->ids[task][i].id = i < 3 ? begins[i] + task : TWHEEL_ID_ANY;
}

/* Read all sessions like /proc/twheel. */
static void do_proc(void)
{
	struct twheel_stats stats;
	struct twheel_session *s;
	unsigned long number = 0;

	rcu_read_lock();
	while ((s = twheel_session_find(&number))) {
		spin_lock_bh(&s->lock);
		if (s->pid && !s->pid->refs)
			sim_fail("a session has a pid that was let go");
		twheel_session_stats_locked(s, &stats);
		spin_unlock_bh(&s->lock);
		if (s->number != number)
			sim_fail("session %lu is %u", number, s->number);
		number++;
	}
	rcu_read_unlock();
}

/* Two namespaces of a user, one within the other, and one of root. */
#define NAMESPACES	3
static struct user_namespace namespaces[NAMESPACES] = {
	{ &init_user_ns, { 1 }, { 7 } },
	{ &namespaces[0], { 7 }, { 8 } },
	{ &init_user_ns, { 0 }, { 9 } },
};

/* Opening and closing. */

static void do_open(unsigned int nr)
{
	struct user_file *f = &files[nr], fresh = {};
	unsigned int mode = FMODE_READ | (sim_chance(24) ? 0 : FMODE_WRITE);
	struct file *file;

	if (shared[nr])
		return;
	shared[nr] = true;
	file = user_open(mode);
	if (IS_ERR(file)) {
		CALL_CHECK("open", PTR_ERR(file), -1, ENOMEM, ENOSPC);
		shared[nr] = false;
		return;
	}
	fresh.file = file;
	fresh.os = oracle_opened(file->private_data);
	fresh.os->changeable = mode & FMODE_WRITE;
	file->oracle = fresh.os;
	name_ids(fresh.os);
	sim_note("session %u is opened", fresh.os->nr);
	if (sim_chance(2))
		call_setup(&fresh, true);
	*f = fresh;
	shared[nr] = false;
	/* Other tasks may already use the descriptor, and may have closed it. */
	if (f->file == fresh.file && fresh.os->shared_ids) {
		user_get_file(fresh.file);
		call_map(f, &fresh);
		user_close(fresh.file);
	}
}

/* Start timers, and sleep until some of them may be due, just before the session closes. */
static void start_some(struct user_file *f)
{
	u32 i, n = sim_below(4);

	for (i = 0; i < n; i++)
		call_start(f);
	if (n)
		sim_sleep(sim_chance(2) ? scenario_ticks(1) - sim.now % scenario_ticks(1) :
					  sim_below(scenario_ticks(2)));
}

static void do_close(struct user_file *f)
{
	struct user_file old = *f;

	f->file = NULL;
	f->map.file = NULL;
	sim_note("session %u: close", old.os->nr);
	if (old.map.file)
		user_munmap(&old.map);
	user_close(old.file);
	sim_note("session %u: closed", old.os->nr);
}

/* Make a call with a descriptor that remains open until it returns. */
static void with_file(unsigned int nr)
{
	struct user_file *f = &files[nr], mine;

	if (!f->file) {
		do_open(nr);
		return;
	}
	mine = *f;
	user_get_file(mine.file);
	switch (sim_below(40)) {
	case 0:
		start_some(&mine);
		if (f->file == mine.file)
			do_close(f);
		break;
	case 1 ... 2:
		call_map(f, &mine);
		break;
	default:
		if (mine.map.file)
			user_get_file(mine.map.file);
		call_any(&mine);
		if (mine.map.file)
			user_close(mine.file);
	}
	user_close(mine.file);
}

/* Number of tasks in scenario_op() */
static unsigned int busy_tasks;

void scenario_op(unsigned int user)
{
	busy_tasks++;
	switch (sim_below(32)) {
	case 0:
		if (sim_chance(2))
			scenario_hotplug();
		break;
	case 1:
		do_proc();
		break;
	case 2:
		user_signal(SIM_FIRST_USER + 1 + sim_below(SIM_USERS - 1));
		break;
	case 3:
		sim_memory_short = sim_chance(4);
		break;
	default:
		with_file(sim_below(FILES));
	}
	user_current()->signal = false;
	if (!--busy_tasks)
		oracle_charges();
}

void scenario_choose(void)
{
	unsigned int i;
	s64 most = min_t(u64, sim.now / 2, 1ULL << 40);

	user_limits = sim_chance(8);
	*sim_param_max_user_timers.value = user_limits ? 200 + sim_below(400) : 1U << 22;
	*sim_param_max_user_sessions.value = sim_chance(8) ? 2 : 1024;
	user_begin();
	for (i = 0; i < SIM_USERS; i++) {
		struct user_program *p = &user_programs[SIM_FIRST_USER + i];

		p->uid.val = sim_below(2);
		p->ns = sim_chance(4) ? &namespaces[sim_below(NAMESPACES)] : NULL;
		p->nice = sim_chance(2);
		p->resource = sim_chance(4);
		if (sim_chance(4))
			*user_offset(p) =
				(s64)(sim_random() % (2 * most + 1)) - most;
	}
}

void scenario_begin(void)
{
	if (twheel_chardev_init())
		sim_fail("no device");
	memset(files, 0, sizeof(files));
	memset(shared, 0, sizeof(shared));
	busy_tasks = 0;
}

void scenario_end(void)
{
	unsigned int i;

	while (scenario.busy) {
		for (i = 1; i < SIM_USERS; i++)
			if (user_sleeps(SIM_FIRST_USER + i) && sim_chance(8))
				user_signal(SIM_FIRST_USER + i);
		sim_sleep(scenario_ticks(2));
	}
	sim_calm = true;
	if (sim_chance(2))
		sim_sleep(20000000 + scenario_ticks(2));
	for (i = 0; i < FILES; i++) {
		if (!files[i].file)
			continue;
		if (sim_chance(2))
			call_empty(&files[i]);
		do_close(&files[i]);
	}
	twheel_chardev_exit();
	oracle_end_sessions();
	twheel_wheel_exit();
	rcu_barrier();
	sim_check_memory();
	user_end();
}
