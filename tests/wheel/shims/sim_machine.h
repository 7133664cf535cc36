/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's headers for the simulation: CPUs, their timers, interrupts and locks
 */
#ifndef _SIM_MACHINE_H
#define _SIM_MACHINE_H

#include "sim_order.h"

/* linux/smp.h */

/* An interrupt on its way to a CPU. */
struct sim_irq {
	struct sim_irq *next;
	void (*serve)(struct sim_irq *irq);
	u64 at;
	bool queued;
};

typedef struct {
	struct sim_irq irq;
	void (*func)(void *info);
	void *info;
} call_single_data_t;

#define INIT_CSD(csd, fn, arg) \
	(*(csd) = (call_single_data_t){ .func = (fn), .info = (arg) })

int smp_call_function_single_async(int cpu, call_single_data_t *csd);
unsigned int smp_processor_id(void);
#define raw_smp_processor_id()	sim.cpu

/* linux/cpumask.h: CPUs are bits of a word */

#include <linux/bitops.h>

#define nr_cpu_ids		SIM_CPUS

struct cpumask {
	unsigned long bits;
};

typedef struct cpumask *cpumask_var_t;

extern struct cpumask sim_online;
extern const struct cpumask sim_all, sim_none;

#define cpu_online_mask		((const struct cpumask *)&sim_online)
#define cpu_possible_mask	(&sim_all)
#define cpu_none_mask		(&sim_none)
#define cpumask_bits(mask)	(&(mask)->bits)

static inline bool zalloc_cpumask_var(cpumask_var_t *mask, gfp_t gfp)
{
	*mask = kzalloc(sizeof(**mask), gfp);
	return *mask;
}

#define free_cpumask_var(mask)	kfree(mask)

static inline unsigned long sim_mask(const struct cpumask *mask)
{
	return READ_ONCE(mask->bits);
}

static inline bool cpumask_test_cpu(unsigned int cpu, const struct cpumask *mask)
{
	return sim_mask(mask) & BIT(cpu);
}

static inline void cpumask_set_cpu(unsigned int cpu, struct cpumask *mask)
{
	set_bit(cpu, &mask->bits);
}

static inline void cpumask_clear_cpu(unsigned int cpu, struct cpumask *mask)
{
	sim_atomic(&mask->bits, __old & ~BIT(cpu), SIM_ONCE);
}

static inline bool cpu_online(unsigned int cpu)
{
	return cpumask_test_cpu(cpu, cpu_online_mask);
}

static inline unsigned int sim_first(unsigned long mask)
{
	return mask ? __ffs(mask) : nr_cpu_ids;
}

#define cpumask_first(mask)	sim_first(sim_mask(mask))
#define cpumask_empty(mask)	(!sim_mask(mask))
#define cpumask_any_but(mask, cpu) \
	sim_first(sim_mask(mask) & ~BIT(cpu))

/* Every CPU is possible. */
#define for_each_possible_cpu(cpu) \
	for ((cpu) = 0; (cpu) < nr_cpu_ids; (cpu)++)
#define for_each_online_cpu(cpu) \
	for_each_set_bit(cpu, &sim_online.bits, nr_cpu_ids)

/* linux/cpu.h */

void cpus_read_lock(void);
void cpus_read_unlock(void);

/* linux/cpuhotplug.h */

enum cpuhp_state {
	CPUHP_AP_ONLINE_DYN,
};

typedef int (*sim_hotplug_fn)(unsigned int cpu, struct hlist_node *node);

int cpuhp_setup_state_multi(enum cpuhp_state state, const char *name,
			    sim_hotplug_fn online, sim_hotplug_fn offline);
void cpuhp_remove_multi_state(enum cpuhp_state state);
int cpuhp_state_add_instance(enum cpuhp_state state, struct hlist_node *node);
int cpuhp_state_add_instance_nocalls(enum cpuhp_state state,
				     struct hlist_node *node);
int cpuhp_state_remove_instance_nocalls(enum cpuhp_state state,
					struct hlist_node *node);

/* linux/delay.h */

void usleep_range(unsigned long min_us, unsigned long max_us);

/* linux/ktime.h */

ktime_t ktime_get(void);

#define ktime_get_ns()	((u64)ktime_get())

/* linux/hrtimer.h: timers in softirqs, as HRTIMER_MODE_ABS_PINNED_SOFT */

enum hrtimer_restart {
	HRTIMER_NORESTART,
	HRTIMER_RESTART,
};

enum hrtimer_mode {
	HRTIMER_MODE_ABS_PINNED_SOFT,
};

/* A timer of the kernel, driven by a CPU */
struct hrtimer {
	struct list_head link;	/* link in the queue of its CPU */
	ktime_t expires;	/* time to fire */
	/* Function to call at that time */
	enum hrtimer_restart (*function)(struct hrtimer *hrtimer);
	unsigned int cpu;	/* CPU that queues or runs it */
	bool queued;
	bool running;		/* its function runs */
	struct sim_held {
		u64 since;
		u64 begin;
		s64 forgiven;
		u64 woke;
		u64 resumed;
		u64 first;
		bool is;
		int kicked;
		bool waited;
		u64 work;
		u64 expired;
		u64 cascaded;
		u64 asked;
		u64 clock;
		const void *cursor;
		u64 tick;	/* last tick of which a timer expired */
		u64 newest;	/* order of the latest start of an expired timer of @tick */
	} held;			/* for oracle_base.c */
};

void hrtimer_init(struct hrtimer *hrtimer, int clock, enum hrtimer_mode mode);
void hrtimer_start(struct hrtimer *hrtimer, ktime_t expires,
		   enum hrtimer_mode mode);
int hrtimer_cancel(struct hrtimer *hrtimer);

static inline bool hrtimer_active(const struct hrtimer *hrtimer)
{
	return hrtimer->queued || hrtimer->running;
}

static inline bool hrtimer_is_queued(const struct hrtimer *hrtimer)
{
	return hrtimer->queued;
}

static inline void hrtimer_set_expires(struct hrtimer *hrtimer, ktime_t expires)
{
	if (hrtimer->queued)
		sim_fail("the time of an hrtimer is changed while it is queued");
	hrtimer->expires = expires;
}

/* A task */
struct sim_task {
	void *sp;				/* saved stack pointer, while another task runs */
	void (*fn)(struct sim_task *task);	/* body of the task */
	unsigned int nr;
	unsigned int cpu;			/* CPU that it runs on, or last ran on */
	int prio;				/* priority on PREEMPT_RT, the highest runs first */
	int boost;				/* priority lent by tasks that wait for its locks */
	bool pinned;				/* flag: bound to @cpu */
	int no_migration;			/* depth of spinlocks and local_bh_disable() */
	bool done;				/* flag: the task ended */
	int preempt;				/* depth of preempt_disable(), with spinlocks */
	int bh;					/* depth of local_bh_disable() and softirqs */
	int hardirq;				/* depth of hard interrupts */
	int rcu;				/* depth of read-side critical sections */
	u64 wake;				/* end of its sleep, ns */
	const bool *flag;			/* condition that it waits for, or NULL */
	struct sim_lock *lock;			/* lock that it waits for, or NULL */
	struct hrtimer *hrtimer;		/* hrtimer whose function it runs, or NULL */
};

extern struct sim_task *sim_task;

/* linux/preempt.h */

#define preempt_count()		(sim_task->preempt)
#define preempt_count_set(n)	((void)(sim_task->preempt = (n)))
#define in_hardirq()		(sim_task->hardirq > 0)
#define in_interrupt()		(sim_task->hardirq || sim_task->bh)

/* linux/spinlock.h: tasks spin for a lock. With CONFIG_PREEMPT_RT they sleep for a spinlock_t */

/* A lock */
typedef struct sim_lock {
	struct sim_task *owner;	/* task that holds it, or NULL */
	unsigned int magic;	/* SIM_LOCK_MAGIC from setup until it is freed */
	struct sim_clock clock;	/* stores that the last owner knew */
	unsigned int freed_by;	/* CPU that freed the lock last, for a sleeping lock */
} raw_spinlock_t;

typedef struct sim_lock spinlock_t;

#define SIM_LOCK_MAGIC	0x10c4ab1eU

#define __RAW_SPIN_LOCK_UNLOCKED(name)	{ .magic = SIM_LOCK_MAGIC }
#define DEFINE_SPINLOCK(name)	spinlock_t name = __RAW_SPIN_LOCK_UNLOCKED(name)

void sim_raw_lock(struct sim_lock *lock);
void sim_raw_unlock(struct sim_lock *lock);
void sim_lock(struct sim_lock *lock);
void sim_unlock(struct sim_lock *lock);
bool sim_irq_save(void);
void sim_irq_restore(bool off);

static inline void raw_spin_lock_init(raw_spinlock_t *lock)
{
	*lock = (raw_spinlock_t)__RAW_SPIN_LOCK_UNLOCKED(lock);
}

#define raw_spin_lock(lock)	sim_raw_lock(lock)
#define raw_spin_unlock(lock)	sim_raw_unlock(lock)
#define local_irq_save(flags)	((flags) = sim_irq_save())
#define local_irq_restore(flags) sim_irq_restore(flags)
#define local_irq_disable()	((void)sim_irq_save())
#define local_irq_enable()	sim_irq_restore(false)

#define raw_spin_lock_irqsave(lock, flags)				\
	do {								\
		local_irq_save(flags);					\
		raw_spin_lock(lock);					\
	} while (0)

static inline void raw_spin_unlock_irqrestore(raw_spinlock_t *lock,
					      unsigned long flags)
{
	raw_spin_unlock(lock);
	local_irq_restore(flags);
}

static inline void raw_spin_lock_irq(raw_spinlock_t *lock)
{
	local_irq_disable();
	raw_spin_lock(lock);
}

static inline void raw_spin_unlock_irq(raw_spinlock_t *lock)
{
	raw_spin_unlock(lock);
	local_irq_enable();
}

#define spin_lock_init(lock)	raw_spin_lock_init(lock)
#ifdef CONFIG_PREEMPT_RT
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
#else
#define spin_lock(lock)		sim_lock(lock)
#define spin_unlock(lock)	sim_unlock(lock)
#endif

void local_bh_disable(void);
void local_bh_enable(void);
void spin_lock_bh(spinlock_t *lock);
void spin_unlock_bh(spinlock_t *lock);

#define cpu_relax()		sim_relax()

/* linux/irq_work.h */

struct irq_work {
	struct sim_irq irq;
	void (*func)(struct irq_work *work);
	bool running;
};

#define init_irq_work(work, fn)	(*(work) = (struct irq_work){ .func = (fn) })

bool irq_work_queue(struct irq_work *work);
void irq_work_sync(struct irq_work *work);

/* linux/jiffies.h */

#define jiffies		((unsigned long)(sim.now / 1000000))

/* linux/lockdep.h */

#define lockdep_assert_preemption_enabled()	do { } while (0)
#define lockdep_assert_held(lock)					\
	do {								\
		if ((lock)->owner != sim_task)				\
			sim_fail("%s:%d: lock not held", __FILE__, __LINE__); \
	} while (0)
#define lock_map_acquire(map)	do { } while (0)
#define lock_map_release(map)	do { } while (0)
#define lockdep_init_map(map, name, key, subclass) \
	((void)(name), (void)(key))

/* linux/percpu.h */

#define DEFINE_PER_CPU(type, name)	type name[SIM_CPUS]
#define per_cpu_ptr(pointer, cpu)	(&(*(pointer))[cpu])
#define this_cpu_ptr(pointer)		per_cpu_ptr(pointer, sim.cpu)

/* linux/rcupdate.h */

struct rcu_head {
	struct rcu_head *next;
	void (*func)(struct rcu_head *rcu);
	unsigned long waits_for;
	void *object;
};

#define rcu_read_lock()		((void)sim_task->rcu++)
#define rcu_read_unlock()	((void)sim_task->rcu--)

void call_rcu(struct rcu_head *rcu, void (*func)(struct rcu_head *rcu));
void rcu_barrier(void);
void sim_free_rcu(struct rcu_head *rcu);

#define kvfree_rcu(ptr, member)						\
	do {								\
		(ptr)->member.object = (ptr);				\
		call_rcu(&(ptr)->member, sim_free_rcu);			\
	} while (0)
#define kfree_rcu(ptr, member)	kvfree_rcu(ptr, member)

/* linux/sched/isolation.h: some CPUs are isolated, and a scenario may change which */

#define housekeeping_test_cpu(cpu, type) true

extern struct cpumask sim_isolated;

bool cpu_is_isolated(int cpu);

/* linux/topology.h: two nodes, of which the second has one CPU */

#define cpu_to_node(cpu)	((int)(cpu) / 2)

static inline
const struct cpumask *cpumask_of_node(int node)
{
	static const struct cpumask nodes[] = { { 3 }, { 4 } };

	return &nodes[node];
}

/* linux/tracepoint.h: the tracepoint of an expiry tells the oracle */

struct twheel_timer;

struct twheel_base;
void oracle_tick(const struct twheel_base *base);
void oracle_expires(const struct twheel_timer *timer);

extern u64 sim_asked;

/*
 * The oracle checks each expiry and each tick when it is traced. The deadlines that wheels asked
 * for are counted. The other tracepoints do nothing.
 */
#define sim_trace_twheel_expire(base, timer)	oracle_expires(timer)
#define sim_trace_twheel_start(...)
#define sim_trace_twheel_stop(...)
#define sim_trace_twheel_word(...)			(sim_asked++)
#define sim_trace_twheel_cascade(...)
#define sim_trace_twheel_tick(base, ...)	oracle_tick(base)

#define TP_PROTO(...)	__VA_ARGS__
#define TP_ARGS(...)	(__VA_ARGS__)
#define TRACE_EVENT(name, proto, args, ...)				\
	static inline __maybe_unused void trace_##name(proto)		\
	{								\
		sim_trace_##name args;					\
	}
#define DECLARE_EVENT_CLASS(name, ...)	struct sim_class_##name
#define DEFINE_EVENT(class, name, proto, args) \
	TRACE_EVENT(name, TP_PROTO(proto), args)

/* linux/xarray.h: an array of pointers to wheels */

#define SIM_XA_MAX	1024
#define XA_PRESENT	0
#define xa_limit_31b	0

struct xarray {
	void *entries[SIM_XA_MAX];
};

#define DEFINE_XARRAY_FLAGS(name, flags)	struct xarray name

static inline int xa_alloc_cyclic(struct xarray *xa, u32 *id, void *entry,
				  int limit, u32 *next, gfp_t gfp)
{
	unsigned int i;

	sim_point();
	for (i = 1; i < SIM_XA_MAX; i++) {
		*next = *next % (SIM_XA_MAX - 1) + 1;
		if (!xa->entries[*next]) {
			*id = *next;
			xa->entries[*id] = entry;
			return 0;
		}
	}
	return -ENOMEM;
}

static inline void xa_erase(struct xarray *xa, unsigned long id)
{
	sim_point();
	xa->entries[id] = NULL;
}

static inline void *xa_find(struct xarray *xa, unsigned long *id,
			    unsigned long max, int filter)
{
	for (; *id < SIM_XA_MAX; ++*id)
		if (xa->entries[*id])
			return xa->entries[*id];
	return NULL;
}

#endif /* _SIM_MACHINE_H */
