// SPDX-License-Identifier: GPL-2.0
/*
 * Files, sleeping and signals of user programs, as the kernel has them
 */
#include <linux/capability.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>

#include "user_space.h"

struct user_program user_programs[SIM_TASKS];

const struct miscdevice *user_device;

struct kmem_cache {
	unsigned int size;
	unsigned int align;
	int objects;
};

/* Programs. */

void user_begin(void)
{
	struct user_program *p;

	memset(user_programs, 0, sizeof(user_programs));
	for (p = user_programs; p < user_programs + SIM_TASKS; p++) {
		p->task.nsproxy = &p->nsproxy;
		p->nsproxy.time_ns = &p->time_ns;
	}
}

void user_end(void)
{
	struct user_program *p;

	for (p = user_programs; p < user_programs + SIM_TASKS; p++)
		if (p->pid.refs || p->no_faults)
			sim_fail("%d references to a pid are left, or faults off",
				 p->pid.refs);
}

struct user_program *user_current(void)
{
	return &user_programs[sim_task->nr];
}

struct task_struct *sim_current(void)
{
	return &user_current()->task;
}

kuid_t current_euid(void)
{
	return user_current()->uid;
}

bool ns_capable_noaudit(struct user_namespace *ns, int cap)
{
	return cap == CAP_SYS_NICE ? user_current()->nice :
				     user_current()->resource;
}

struct user_namespace init_user_ns;

struct user_namespace *current_user_ns(void)
{
	return user_current()->ns ?: &init_user_ns;
}

struct pid *task_tgid(struct task_struct *task)
{
	return &container_of(task, struct user_program, task)->pid;
}

void put_pid(struct pid *pid)
{
	if (!pid->refs--)
		sim_fail("a pid is let go once too often");
}

void usleep_range(unsigned long min_us, unsigned long max_us)
{
	sim_sleep(1000 * (min_us + sim_below(max_us - min_us)));
}

/* An allocation may take long. New memory of a cache may have any content. */

static void wait_for_memory(void)
{
	might_sleep();
	if (sim_chance(8))
		sim_sleep(sim_below(200000));
}

void *user_alloc(size_t size)
{
	wait_for_memory();
	return sim_alloc(size);
}

struct kmem_cache *kmem_cache_create(const char *name, unsigned int size,
				     unsigned int align, unsigned int flags,
				     void (*ctor)(void *))
{
	struct kmem_cache *cache = sim_alloc(sizeof(*cache));

	if (cache)
		*cache = (struct kmem_cache){ .size = size, .align = align };
	return cache;
}

void kmem_cache_destroy(struct kmem_cache *cache)
{
	if (cache->objects)
		sim_fail("%d objects are left in a cache", cache->objects);
	kvfree(cache);
}

void *kmem_cache_alloc(struct kmem_cache *cache, gfp_t gfp)
{
	void *object;

	wait_for_memory();
	object = sim_alloc_aligned(cache->size, cache->align);
	if (object) {
		memset(object, 0xa5, cache->size);
		cache->objects++;
	}
	return object;
}

void kmem_cache_free(struct kmem_cache *cache, void *object)
{
	cache->objects--;
	kvfree(object);
}

/* Signals. */

bool signal_pending(const struct task_struct *task)
{
	sim_point();
	return container_of(task, struct user_program, task)->signal;
}

void user_signal(unsigned int task)
{
	struct user_program *p = &user_programs[task];

	p->signal = true;
	if (p->waiter)
		p->waiter->woken = true;
}

bool user_sleeps(unsigned int task)
{
	const struct user_waiter *waiter = user_programs[task].waiter;

	return waiter && sim_tasks[task].flag == &waiter->woken && !waiter->woken;
}

/* The module takes only the locks of sessions with spin_lock_bh(). */

void spin_lock_bh(spinlock_t *lock)
{
	local_bh_disable();
	spin_lock(lock);
	oracle_session_locked(lock);
}

void spin_unlock_bh(spinlock_t *lock)
{
	oracle_session_unlock(lock);
	spin_unlock(lock);
	local_bh_enable();
}

/* Wait queues. */

void init_waitqueue_head(wait_queue_head_t *queue)
{
	spin_lock_init(&queue->lock);
	INIT_LIST_HEAD(&queue->waiters);
}

static void lock_queue(wait_queue_head_t *queue)
{
	local_bh_disable();
	spin_lock(&queue->lock);
}

static void unlock_queue(wait_queue_head_t *queue)
{
	spin_unlock(&queue->lock);
	local_bh_enable();
}

/* Wake pollers, and up to @readers readers. If @readers is 0, wake all readers. */
void user_wake(wait_queue_head_t *queue, int readers)
{
	struct user_waiter *waiter, *next;

	oracle_woken(queue);
	lock_queue(queue);
	list_for_each_entry_safe(waiter, next, &queue->waiters, entry) {
		/* A signal already woke this reader, so that the wake-up is for the next one. */
		if (waiter->woken && !waiter->poller)
			continue;
		waiter->woken = true;
		if (waiter->poller)
			continue;
		list_del_init(&waiter->entry);
		if (!--readers)
			break;
	}
	unlock_queue(queue);
}

void user_wait_begin(wait_queue_head_t *queue, struct user_waiter *waiter)
{
	*waiter = (struct user_waiter){ .queue = queue };
	INIT_LIST_HEAD(&waiter->entry);
	user_current()->waiter = waiter;
}

long user_wait_prepare(struct user_waiter *waiter)
{
	long ret = 0;

	lock_queue(waiter->queue);
	if (user_current()->signal) {
		list_del_init(&waiter->entry);
		ret = -ERESTARTSYS;
	} else {
		if (list_empty(&waiter->entry))
			list_add_tail(&waiter->entry, &waiter->queue->waiters);
		waiter->woken = false;
	}
	unlock_queue(waiter->queue);
	return ret;
}

void user_wait_end(struct user_waiter *waiter)
{
	lock_queue(waiter->queue);
	list_del_init(&waiter->entry);
	user_current()->waiter = NULL;
	unlock_queue(waiter->queue);
}

void poll_wait(struct file *file, wait_queue_head_t *queue, poll_table *table)
{
	struct user_waiter *waiter;

	if (!table)
		return;
	waiter = &table->waiter;
	user_wait_begin(queue, waiter);
	waiter->poller = true;
	lock_queue(queue);
	list_add_tail(&waiter->entry, &queue->waiters);
	unlock_queue(queue);
}

/* Files. */

struct file *user_open(unsigned int mode)
{
	struct file *file = calloc(1, sizeof(*file));
	int ret;

	file->f_op = user_device->fops;
	file->f_mode = mode;
	file->refs = 1;
	ret = file->f_op->open(NULL, file);
	if (ret) {
		free(file);
		return ERR_PTR(ret);
	}
	if (!(file->f_mode & FMODE_NOWAIT))
		sim_fail("reads that need not wait take a thread");
	return file;
}

void user_get_file(struct file *file)
{
	if (!file->refs)
		sim_fail("the scenario uses a file that is closed");
	file->refs++;
}

void user_close(struct file *file)
{
	if (file->refs == 1)
		oracle_session_closes(file->oracle);
	if (--file->refs)
		return;
	file->f_op->release(NULL, file);
	free(file);
}

long user_ioctl(struct file *file, unsigned int cmd, void *arg)
{
	return file->f_op->unlocked_ioctl(file, cmd, (unsigned long)arg);
}
