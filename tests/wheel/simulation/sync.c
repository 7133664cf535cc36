// SPDX-License-Identifier: GPL-2.0
/*
 * Locks, RCU and works
 */
#include "sim.h"
#include "oracle.h"

/* Callbacks of grace periods. A grace period ends when each task has left its critical section. */
static struct rcu_head *rcu_first;

/* Queued works, and whether there are any. */
static LIST_HEAD(works);
static bool have_works;

void sim_sync_begin(void)
{
	rcu_first = NULL;
	INIT_LIST_HEAD(&works);
	have_works = false;
}

static void check_lock(const struct sim_lock *lock)
{
	if (lock->magic != SIM_LOCK_MAGIC)
		sim_fail("a lock that was never set up, or has been freed");
	if (lock->owner == sim_task)
		sim_fail("a lock is taken twice");
}

/* Take a lock by spinning. */
void sim_lock(struct sim_lock *lock)
{
	struct sim_cpu *cpu;

	sim_point();
	sim_task->preempt++;
	check_lock(lock);
	while (lock->owner) {
		cpu = this_sim_cpu();
		if (lock->owner->cpu == sim.cpu && lock->owner->preempt)
			sim_fail("spins for a lock of its own CPU");
		cpu->spins = lock;
		sim_yield();
		cpu->spins = NULL;
		check_lock(lock);
	}
	lock->owner = sim_task;
	sim_weak_lock(&lock->clock);
}

void sim_unlock(struct sim_lock *lock)
{
	if (lock->owner != sim_task)
		sim_fail("a lock is let go by one who does not hold it");
	sim_point();
	sim_weak_unlock(&lock->clock);
	lock->owner = NULL;
	sim_task->preempt--;
	sim_point();
}

/* Take a raw lock. In the module, these are the locks of bases. */
void sim_raw_lock(struct sim_lock *lock)
{
	sim_lock(lock);
	oracle_locked(lock);
}

void sim_raw_unlock(struct sim_lock *lock)
{
	oracle_unlock(lock);
	sim_unlock(lock);
}

bool sim_irq_save(void)
{
	struct sim_cpu *cpu = this_sim_cpu();
	bool was = cpu->irqs_off;

	cpu->irqs_off = true;
	return was;
}

void sim_irq_restore(bool off)
{
	this_sim_cpu()->irqs_off = off;
	if (!off)
		sim_point();
}

#ifdef CONFIG_PREEMPT_RT
/* Take a sleeping lock. A waiter lends its priority to the owner. Any task may take a free lock. */
void spin_lock(spinlock_t *lock)
{
	sim_point();
	if (!sim_preemptible())
		sim_fail("a sleeping lock in atomic context");
	check_lock(lock);
	oracle_takes(lock);
	while (lock->owner) {
		sim_task->lock = lock;
		sim_yield();
		sim_task->lock = NULL;
	}
	sim_task->no_migration++;
	sim_task->rcu++;
	lock->owner = sim_task;
	sim_weak_lock(&lock->clock);
	sim_point();
}

void spin_unlock(spinlock_t *lock)
{
	if (lock->owner != sim_task)
		sim_fail("a lock is let go by one who does not hold it");
	sim_point();
	lock->freed_by = sim.cpu;
	sim_weak_unlock(&lock->clock);
	lock->owner = NULL;
	sim_task->no_migration--;
	sim_task->rcu--;
	sim.left = 0;
	sim_point();
}
#endif

/* RCU. A CPU with interrupts or preemption off is a reader, too. */

bool sim_is_reader(const struct sim_task *task)
{
	const struct sim_cpu *cpu = &sim_cpus[task->cpu];

	if (task->rcu || task->preempt || task->hardirq || task->bh)
		return true;
	return cpu->curr == task && cpu->irqs_off;
}

void call_rcu(struct rcu_head *rcu, void (*func)(struct rcu_head *rcu))
{
	unsigned int i;

	sim_point();
	sim_weak_tell();
	rcu->func = func;
	rcu->waits_for = 0;
	for (i = 0; i < SIM_TASKS; i++)
		if (sim_is_reader(&sim_tasks[i]))
			rcu->waits_for |= BIT(i);
	rcu->next = rcu_first;
	rcu_first = rcu;
}

/* End the grace periods whose readers are gone. */
void sim_rcu_look(void)
{
	struct rcu_head **link = &rcu_first, *rcu;
	unsigned long readers = 0;
	unsigned int i;

	if (!rcu_first)
		return;
	for (i = 0; i < SIM_TASKS; i++)
		if (sim_is_reader(&sim_tasks[i]))
			readers |= BIT(i);
	while ((rcu = *link)) {
		rcu->waits_for &= readers;
		if (rcu->waits_for) {
			link = &rcu->next;
			continue;
		}
		*link = rcu->next;
		sim_weak_all();
		rcu->func(rcu);
		link = &rcu_first;
	}
}

void sim_free_rcu(struct rcu_head *rcu)
{
	kvfree(rcu->object);
}

void rcu_barrier(void)
{
	while (rcu_first)
		sim_sleep(1000);
}

/* Works. */

static void dequeue_work(struct delayed_work *work)
{
	list_del(&work->link);
	work->queued = false;
	have_works = !list_empty(&works);
}

static void queue_work(struct delayed_work *work, u64 at)
{
	work->at = at;
	work->queued = true;
	list_add(&work->link, &works);
	have_works = true;
}

/*
 * Note in *@at the time for which a caller wants @work, and return whether @work is queued. Other
 * tasks may run here, and not while the caller queues @work.
 */
static bool is_queued_for(struct delayed_work *work, unsigned long delay, u64 *at)
{
	sim_point();
	*at = sim.now + delay * (NSEC_PER_SEC / HZ);
	work->wanted = min(work->wanted ?: *at, *at);
	return work->queued;
}

bool schedule_delayed_work(struct delayed_work *work, unsigned long delay)
{
	u64 at;

	if (is_queued_for(work, delay, &at))
		return false;
	queue_work(work, at);
	return true;
}

bool mod_delayed_work(void *wq, struct delayed_work *work, unsigned long delay)
{
	u64 at;
	bool was = is_queued_for(work, delay, &at);

	if (was)
		dequeue_work(work);
	/* A work that is already due is about to run, so only the new time counts. */
	if (was && work->at <= sim.now)
		work->wanted = at;
	queue_work(work, at);
	return was;
}

bool cancel_delayed_work_sync(struct delayed_work *work)
{
	bool was;

	do {
		was = work->queued;
		if (was)
			dequeue_work(work);
		sim_sleep(1000);
	} while (work->running || work->queued);
	return was;
}

static struct delayed_work *first_work(void)
{
	struct delayed_work *work, *first = NULL;

	list_for_each_entry(work, &works, link)
		if (!first || work->at < first->at)
			first = work;
	return first;
}

void sim_kworker(struct sim_task *task)
{
	struct delayed_work *work;

	for (;;) {
		sim_wait(&have_works);
		work = first_work();
		if (work->at > sim.now) {
			/*
			 * Sleep for a short time only, because a caller may queue an earlier work.
			 */
			sim_sleep(min_t(u64, work->at - sim.now, NSEC_PER_MSEC));
			continue;
		}
		dequeue_work(work);
		/* A caller that asked for a queued work must not wait much longer than it asked. */
		if (work->at > work->wanted + NSEC_PER_SEC / 2)
			sim_fail("a work runs %llu ns after the time that a caller asked for",
				 work->at - work->wanted);
		work->wanted = 0;
		work->running = true;
		sim_memory_short = sim_cpus_go || sim_chance(4);
		work->work.func(&work->work);
		sim_memory_short = false;
		work->running = false;
	}
}
