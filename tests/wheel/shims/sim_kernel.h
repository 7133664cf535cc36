/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's headers for the simulation, in one
 *
 * simulation.mk makes a file of each name that includes this one. Headers that are the
 * same in any program are in ../native.
 */
#ifndef _SIM_KERNEL_H
#define _SIM_KERNEL_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The simulation
 *
 * A point is where another CPU or an interrupt may come between. Most points
 * only move the clock.
 */

#define SIM_CPUS	3

struct sim_task;

/**
 * struct sim_clock - how many stores of each CPU are known
 * @nr: by CPU. See weak.c
 */
struct sim_clock {
	uint32_t nr[SIM_CPUS];
};

enum sim_order {
	SIM_ONCE,
	SIM_ACQUIRE,
	SIM_RELEASE,
	SIM_FULL,
};

/**
 * struct sim_run - the state that is looked at most often
 * @now: the time on the clock of the wheels, ns
 * @behind: what CLOCK_MONOTONIC is behind that. 0 if the wheels are on that
 * @woke: when the system was resumed last, on CLOCK_MONOTONIC, ns
 * @next_event: when something is due on any CPU, ns
 * @left: points before the scheduler decides again
 * @step_ns: what a point takes
 * @cpu: number of the CPU that runs
 */
struct sim_run {
	uint64_t now;
	uint64_t behind;
	uint64_t woke;
	uint64_t next_event;
	int left;
	unsigned int step_ns;
	unsigned int cpu;
};

extern struct sim_run sim;

/* Lockless reads may find older values. */
extern bool sim_weak;

void sim_decide(void);
void sim_relax(void);
void sim_fail(const char *fmt, ...)
	__attribute__((__format__(printf, 1, 2), __noreturn__));

/* weak.c, called in that mode only */
const volatile void *sim_weak_load(const volatile void *address, uint32_t size,
				   uint32_t pointee, enum sim_order how);
void sim_weak_store(volatile void *address, const void *value, uint32_t size,
		    enum sim_order how);
void sim_weak_atomic(volatile void *address, uint32_t size, enum sim_order how);
void sim_weak_changed(volatile void *address, uint32_t size, enum sim_order how);
void sim_weak_mb(void);
void sim_weak_rmb(void);
void sim_weak_wmb(void);

static inline void sim_point(void)
{
	sim.now += sim.step_ns;
	if (--sim.left <= 0 || sim.now >= sim.next_event)
		sim_decide();
}

/* linux/compiler.h: each access that others may see is a point */

#include "native/linux/compiler.h"

#undef READ_ONCE
#undef WRITE_ONCE
#undef smp_load_acquire

/* The size of a pointer's target, 0 if it is no pointer. */
#define sim_is_pointer(x)	(__builtin_classify_type(x) == 5)
#define sim_pointee(x)							\
	(sim_is_pointer(x) ?						\
	 sizeof(*__builtin_choose_expr(sim_is_pointer(x), x, (char *)0)) : 0)

#define sim_load(x, how) ({						\
	sim_point();							\
	*(const volatile typeof(x) *)(sim_weak ?			\
		sim_weak_load(&(x), sizeof(x), sim_pointee(x), how) : &(x)); })
#define sim_store(x, val, how)						\
	do {								\
		typeof(x) __val = (val);				\
									\
		sim_point();						\
		if (sim_weak)						\
			sim_weak_store(&(x), &__val, sizeof(x), how);	\
		*(volatile typeof(x) *)&(x) = __val;			\
	} while (0)
#define sim_barrier(how)						\
	do {								\
		sim_point();						\
		if (sim_weak)						\
			sim_weak_##how();				\
	} while (0)

#define READ_ONCE(x)			sim_load(x, SIM_ONCE)
#define WRITE_ONCE(x, val)		sim_store(x, val, SIM_ONCE)
#define smp_load_acquire(p)		sim_load(*(p), SIM_ACQUIRE)
#define smp_store_release(p, val)	sim_store(*(p), val, SIM_RELEASE)

#define smp_mb()			sim_barrier(mb)
#define smp_rmb()			sim_barrier(rmb)
#define smp_wmb()			sim_barrier(wmb)
#define smp_mb__after_atomic()		smp_mb()
#define data_race(x)			(x)

#define __init
#define __exit
#define __cacheline_aligned
#define ____cacheline_aligned_in_smp

/* linux/list.h: lists are changed under locks, so that no link is a point */

#pragma push_macro("READ_ONCE")
#pragma push_macro("WRITE_ONCE")
#undef READ_ONCE
#undef WRITE_ONCE
#define READ_ONCE(x)		(x)
#define WRITE_ONCE(x, val)	((x) = (val))
#include "native/linux/list.h"
#pragma pop_macro("READ_ONCE")
#pragma pop_macro("WRITE_ONCE")

struct hlist_node {
	struct hlist_node *next, **pprev;
};

#define hlist_entry(ptr, type, member)	container_of(ptr, type, member)

/* linux/sched.h */

#define cond_resched()	sim_point()
#define might_sleep()	sim_might_sleep(__func__)

struct pid;
struct task_struct;

void sim_might_sleep(const char *where);

/* Of the tasks of simulation-session. */
struct task_struct *sim_current(void);
struct pid *task_tgid(struct task_struct *task);

#define current		sim_current()

/* linux/kernel.h: a warning is a failure */

#include "native/linux/kernel.h"

#include <linux/kconfig.h>

#undef WARN_ON
#define WARN_ON(condition) ({						\
	bool __warn = (condition);					\
									\
	if (__warn)							\
		sim_fail("warning: %s:%d: %s", __FILE__, __LINE__, #condition); \
	__warn; })
#define WARN_ONCE(condition, ...)	WARN_ON(condition)

#define struct_size(p, member, n) \
	(sizeof(*(p)) + sizeof((p)->member[0]) * (n))
#define IS_ALIGNED(x, a)	(!((x) & ((typeof(x))(a) - 1)))
#define DIV_ROUND_UP_ULL(n, d)	DIV_ROUND_UP((u64)(n), d)
#define array_size(a, b)	((a) * (b))
/* @new may use __old. */
#define sim_atomic(p, new, how) ({					\
	typeof(*(p)) __old;						\
									\
	sim_point();							\
	if (sim_weak)							\
		sim_weak_atomic(p, sizeof(*(p)), how);			\
	__old = *(p);							\
	*(p) = (new);							\
	if (sim_weak)							\
		sim_weak_changed(p, sizeof(*(p)), how);			\
	__old; })
#define xchg(p, v)		sim_atomic(p, v, SIM_FULL)
/* One that fails orders nothing. */
#define cmpxchg(p, o, n) ({						\
	typeof(*(p)) __was;						\
									\
	sim_point();							\
	__was = *(p);							\
	if (sim_weak)							\
		sim_weak_atomic(p, sizeof(*(p)),			\
				__was == (o) ? SIM_FULL : SIM_ONCE);	\
	if (__was == (o)) {						\
		*(p) = (n);						\
		if (sim_weak)						\
			sim_weak_changed(p, sizeof(*(p)), SIM_FULL);	\
	}								\
	__was; })

/* linux/atomic.h */

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	s64 counter;
} atomic64_t;

#define ATOMIC_INIT(i)			{ (i) }
#define atomic_read(v)			READ_ONCE((v)->counter)
#define atomic_read_acquire(v)		smp_load_acquire(&(v)->counter)
#define atomic_set(v, i)		WRITE_ONCE((v)->counter, i)
#define atomic64_read(v)		READ_ONCE((v)->counter)
#define atomic64_set(v, i)		WRITE_ONCE((v)->counter, i)
#define atomic64_xchg(v, i)		xchg(&(v)->counter, (s64)(i))
#define atomic64_cmpxchg(v, o, n) \
	cmpxchg(&(v)->counter, (s64)(o), (s64)(n))

static inline bool atomic64_try_cmpxchg(atomic64_t *v, s64 *old, s64 new)
{
	s64 was = cmpxchg(&v->counter, *old, new);
	bool done = was == *old;

	*old = was;
	return done;
}

static inline bool atomic_try_cmpxchg(atomic_t *v, int *old, int new)
{
	int was = cmpxchg(&v->counter, *old, new);
	bool done = was == *old;

	*old = was;
	return done;
}

static inline int sim_atomic_add(int i, atomic_t *v, enum sim_order how)
{
	return sim_atomic(&v->counter, __old + i, how) + i;
}

#define atomic_add_return(i, v)		sim_atomic_add(i, v, SIM_FULL)
#define atomic_inc(v)			((void)sim_atomic_add(1, v, SIM_ONCE))
#define atomic_dec(v)			((void)sim_atomic_add(-1, v, SIM_ONCE))
#define atomic_dec_return_release(v)	sim_atomic_add(-1, v, SIM_RELEASE)

static inline bool test_and_set_bit(unsigned int nr, unsigned long *addr)
{
	return sim_atomic(addr, __old | BIT(nr), SIM_FULL) & BIT(nr);
}

static inline void set_bit(unsigned int nr, unsigned long *addr)
{
	sim_atomic(addr, __old | BIT(nr), SIM_ONCE);
}

static inline void clear_bit_unlock(unsigned int nr, unsigned long *addr)
{
	sim_atomic(addr, __old & ~BIT(nr), SIM_RELEASE);
}

/* linux/cacheinfo.h */

#define cpu_dcache_is_aliasing()	false

/* linux/cred.h */

#include <linux/uidgid.h>

kuid_t current_euid(void);

/* linux/user_namespace.h */

/* @root is the id that its root has in the initial one. */
struct user_namespace {
	struct user_namespace *parent;
	kuid_t owner;
	kuid_t root;
};

extern struct user_namespace init_user_ns;

struct user_namespace *current_user_ns(void);

static inline kuid_t make_kuid(struct user_namespace *ns, u32 uid)
{
	return ns->root;
}

/* linux/capability.h */

#define CAP_SYS_NICE		23
#define CAP_SYS_RESOURCE	24

bool ns_capable_noaudit(struct user_namespace *ns, int cap);

/* linux/slab.h: nothing that is freed is used again in a run */

#define GFP_KERNEL		0
#define GFP_KERNEL_ACCOUNT	0
#define __GFP_RETRY_MAYFAIL	0
#define __GFP_NOWARN		0

struct kmem_cache;

void *sim_alloc(size_t size);
void *sim_alloc_aligned(size_t size, size_t align);
void kvfree(const void *p);

#define kvmalloc_node(size, gfp, node)	((void)(node), sim_alloc(size))
#define kvzalloc_node(size, gfp, node)	((void)(node), sim_alloc(size))
#define kzalloc_node(size, gfp, node)	((void)(node), sim_alloc(size))
#define kzalloc(size, gfp)		sim_alloc(size)
#define kfree(p)			kvfree(p)

/* Allocations that only sessions make take their time. */
void *user_alloc(size_t size);

#define kvzalloc(size, gfp)		user_alloc(size)
#define kvcalloc(n, size, gfp)		user_alloc((n) * (size))
#define kcalloc(n, size, gfp)		user_alloc((n) * (size))

#define SLAB_ACCOUNT			0

struct kmem_cache *kmem_cache_create(const char *name, unsigned int size,
				     unsigned int align, unsigned int flags,
				     void (*ctor)(void *));
void kmem_cache_destroy(struct kmem_cache *cache);
void *kmem_cache_alloc(struct kmem_cache *cache, gfp_t gfp);
void kmem_cache_free(struct kmem_cache *cache, void *object);

/* linux/smp.h */

typedef struct sim_csd {
	struct sim_csd *next;
	void (*func)(void *info);
	void *info;
	u64 at;
	bool queued;
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

static inline bool cpumask_test_and_set_cpu(unsigned int cpu,
					    struct cpumask *mask)
{
	return test_and_set_bit(cpu, &mask->bits);
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
#define cpumask_first_and(a, b)	sim_first(sim_mask(a) & sim_mask(b))
#define cpumask_any_but(mask, cpu) \
	sim_first(sim_mask(mask) & ~BIT(cpu))

/* All are possible. */
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

/* linux/debugobjects.h: not configured */

struct debug_obj_descr {
	const char *name;
};

#define debug_object_init(addr, descr)		((void)(descr))
#define debug_object_init_on_stack(addr, descr)	((void)(descr))
#define debug_object_activate(addr, descr)	((void)(descr))
#define debug_object_deactivate(addr, descr)	((void)(descr))
#define debug_object_assert_init(addr, descr)	((void)(descr))
#define debug_object_free(addr, descr)		((void)(descr))

/* linux/delay.h */

void usleep_range(unsigned long min_us, unsigned long max_us);

/* linux/err.h */

#define ERR_PTR(error)	((void *)(long)(error))
#define PTR_ERR(ptr)	((long)(ptr))
#define ERR_CAST(ptr)	((void *)(ptr))
#define IS_ERR(ptr)	((unsigned long)(ptr) >= (unsigned long)-4095)

/* linux/export.h */

#define EXPORT_SYMBOL_GPL(name)	struct sim_export_##name

/* linux/fs.h: a file, and what can be done with it */

#define FMODE_READ	1U
#define FMODE_WRITE	2U
#define FMODE_NOWAIT	4U
#define O_NONBLOCK	04000
#define IOCB_NOWAIT	1
#define ERESTARTSYS	512
#define MAX_RW_COUNT	0x7ffff000U

struct inode;
struct iov_iter;
struct seq_file;
struct vm_area_struct;
struct poll_table_struct;

typedef unsigned int __poll_t;

/**
 * struct file - an open file
 * @f_op: what can be done with it
 * @f_mode: FMODE_*
 * @f_flags: O_*
 * @private_data: the session
 * @refs: descriptors, mappings and calls under way
 * @oracle: the record of the session
 */
struct file {
	const struct file_operations *f_op;
	unsigned int f_mode;
	unsigned int f_flags;
	void *private_data;
	int refs;
	struct oracle_session *oracle;
};

struct kiocb {
	struct file *ki_filp;
	int ki_flags;
};

struct file_operations {
	void *owner;
	int (*open)(struct inode *inode, struct file *file);
	int (*release)(struct inode *inode, struct file *file);
	ssize_t (*read_iter)(struct kiocb *iocb, struct iov_iter *to);
	__poll_t (*poll)(struct file *file, struct poll_table_struct *wait);
	int (*mmap)(struct file *file, struct vm_area_struct *vma);
	long (*unlocked_ioctl)(struct file *file, unsigned int cmd,
			       unsigned long arg);
	long (*compat_ioctl)(struct file *file, unsigned int cmd,
			     unsigned long arg);
	void (*show_fdinfo)(struct seq_file *seq, struct file *file);
};

int stream_open(struct inode *inode, struct file *file);
long compat_ptr_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

/* linux/mm.h */

#include <linux/types.h>

#define PAGE_SHIFT	12
#define PAGE_SIZE	(1UL << PAGE_SHIFT)

#define VM_READ		0x1UL
#define VM_WRITE	0x2UL
#define VM_SHARED	0x8UL
#define VM_MAYWRITE	0x20UL
#define VM_DONTCOPY	0x20000UL
#define VM_DONTEXPAND	0x40000UL
#define VM_FAULT_OOM	1
#define VM_FAULT_SIGBUS	2

typedef int vm_fault_t;

/**
 * struct page - a page that user space can map
 * @addr: where it is
 * @refs: of the session, and of mappings
 */
struct page {
	void *addr;
	int refs;
};

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	unsigned long vm_pgoff;
	unsigned long vm_flags;
	void *vm_private_data;
	const struct vm_operations_struct *vm_ops;
};

struct vm_fault {
	struct vm_area_struct *vma;
	unsigned long pgoff;
	struct page *page;
};

struct vm_operations_struct {
	vm_fault_t (*fault)(struct vm_fault *vmf);
};

struct page *virt_to_page(const void *addr);
void get_page(struct page *page);
void put_page(struct page *page);

static inline unsigned long vma_pages(const struct vm_area_struct *vma)
{
	return (vma->vm_end - vma->vm_start) >> PAGE_SHIFT;
}

static inline void vm_flags_mod(struct vm_area_struct *vma, unsigned long set,
				unsigned long clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}

/* linux/gfp.h: pages are blocks with a count of references */

unsigned long get_zeroed_page(gfp_t gfp);
void free_page(unsigned long addr);

/* linux/hashtable.h */

struct hlist_head {
	struct hlist_node *first;
};

#define DEFINE_HASHTABLE(name, bits)	struct hlist_head name[1 << (bits)]
#define hash_bucket(table, key)		(&(table)[(key) % ARRAY_SIZE(table)])
#define hash_add(table, node, key) \
	hlist_add_head(node, hash_bucket(table, key))
#define hash_del(node)			hlist_del(node)
#define hash_for_each_possible(table, obj, member, key)			\
	for (struct hlist_node *__node = hash_bucket(table, key)->first; \
	     __node && ((obj) = hlist_entry(__node, typeof(*(obj)), member)); \
	     __node = __node->next)

static inline void hlist_add_head(struct hlist_node *node,
				  struct hlist_head *head)
{
	node->next = head->first;
	if (head->first)
		head->first->pprev = &node->next;
	head->first = node;
	node->pprev = &head->first;
}

static inline void hlist_del(struct hlist_node *node)
{
	*node->pprev = node->next;
	if (node->next)
		node->next->pprev = node->pprev;
}

/* linux/ktime.h */

#include "native/linux/ktime.h"

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

/**
 * struct hrtimer - one that is driven by a CPU
 * @link: among those queued on its CPU
 * @expires: when it is to fire
 * @function: the function that is called then
 * @cpu: where it is queued or runs
 * @queued: it is queued
 * @running: its function runs
 * @held: for the oracle, see oracle.h
 */
struct hrtimer {
	struct list_head link;
	ktime_t expires;
	enum hrtimer_restart (*function)(struct hrtimer *hrtimer);
	unsigned int cpu;
	bool queued;
	bool running;
	struct sim_held {
		u64 since;
		u64 begin;
		s64 forgiven;
		u64 woke;
		u64 resumed;
		u64 first;
		u64 stolen;
		bool is;
		int kicked;
		bool waited;
		u64 work;
		u64 expired;
		u64 cascaded;
		u64 clock;
		const void *cursor;
	} held;
};

void hrtimer_init(struct hrtimer *hrtimer, int clock, enum hrtimer_mode mode);
void hrtimer_start(struct hrtimer *hrtimer, ktime_t expires,
		   enum hrtimer_mode mode);
int hrtimer_cancel(struct hrtimer *hrtimer);

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

/* linux/preempt.h */

int preempt_count(void);
void preempt_count_set(int count);
bool in_hardirq(void);
bool in_interrupt(void);
void migrate_disable(void);
void migrate_enable(void);

/* linux/spinlock.h: they spin, or with CONFIG_PREEMPT_RT spinlock_t sleeps */

/**
 * struct sim_lock - a lock
 * @owner: who holds it, or NULL
 * @magic: it has been set up, and not been freed
 * @clock: what its last owner knew
 */
typedef struct sim_lock {
	struct sim_task *owner;
	unsigned int magic;
	struct sim_clock clock;
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
bool sim_holds(const struct sim_lock *lock);

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
	struct irq_work *next;
	void (*func)(struct irq_work *work);
	u64 at;
	bool queued;
};

#define IRQ_WORK_INIT(fn)	{ .func = (fn) }

bool irq_work_queue(struct irq_work *work);
void irq_work_sync(struct irq_work *work);

/* linux/jiffies.h */

#define jiffies		((unsigned long)(sim.now / 1000000))
#define time_after(a, b)	((long)((b) - (a)) < 0)

/* linux/lockdep.h */

#include "native/linux/lockdep.h"

#define lockdep_assert_preemption_enabled()	do { } while (0)
#define lockdep_assert_held(lock)					\
	do {								\
		if (!sim_holds(lock))					\
			sim_fail("%s:%d: lock not held", __FILE__, __LINE__); \
	} while (0)
#define lock_map_acquire(map)	do { } while (0)
#define lock_map_release(map)	do { } while (0)
#define lockdep_init_map(map, name, key, subclass) \
	((void)(name), (void)(key))

/* linux/miscdevice.h */

#define MISC_DYNAMIC_MINOR	255

struct miscdevice {
	int minor;
	const char *name;
	const struct file_operations *fops;
	unsigned short mode;
};

int misc_register(struct miscdevice *misc);
void misc_deregister(struct miscdevice *misc);

/* linux/moduleparam.h: a scenario sets parameters by name */

struct kernel_param;

struct kernel_param_ops {
	int (*set)(const char *value, const struct kernel_param *param);
	int (*get)(char *value, const struct kernel_param *param);
};

int param_set_uint_minmax(const char *value, const struct kernel_param *param,
			  unsigned int min, unsigned int max);
int param_get_uint(char *value, const struct kernel_param *param);

#define module_param_cb(name, ops, var, perm)				\
	module_param(name, uint, perm) sim_ops_##name = { .value = (void *)(ops) }

/* linux/module.h */

#include "native/linux/module.h"

#define THIS_MODULE	NULL
#define pr_err(...)	do { } while (0)

/* linux/nospec.h: no CPU guesses */

#define array_index_nospec(index, size)	(index)

/* linux/nsproxy.h */

struct nsproxy {
	struct time_namespace *time_ns;
};

/**
 * struct task_struct - what the module looks at of a task
 * @nsproxy: its namespaces
 */
struct task_struct {
	struct nsproxy *nsproxy;
};

/* linux/percpu.h */

#define DEFINE_PER_CPU(type, name)	type name[SIM_CPUS]
#define per_cpu_ptr(pointer, cpu)	(&(*(pointer))[cpu])
#define this_cpu_ptr(pointer)		per_cpu_ptr(pointer, sim.cpu)

/* linux/pid.h */

struct pid {
	int refs;
	int nr;
};

struct pid *get_pid(struct pid *pid);
void put_pid(struct pid *pid);
pid_t pid_vnr(struct pid *pid);

/* linux/wait.h: queues of sleepers */

/**
 * struct wait_queue_head - the waiters of an event
 * @lock: guards @waiters
 * @waiters: all that wait
 */
typedef struct wait_queue_head {
	spinlock_t lock;	/* see above */
	struct list_head waiters;
} wait_queue_head_t;

/**
 * struct user_waiter - a waiter
 * @entry: in the queue
 * @queue: the queue
 * @poller: it stays in the queue when it is woken
 * @sleeping: it is about to sleep, or does
 * @woken: it was woken
 * @asleep: it has looked whether it has to sleep, and sleeps
 */
struct user_waiter {
	struct list_head entry;
	struct wait_queue_head *queue;
	bool poller;
	bool sleeping;
	bool woken;
	bool asleep;
};

void init_waitqueue_head(wait_queue_head_t *queue);
void user_wake(wait_queue_head_t *queue, int readers);
void user_wait_begin(wait_queue_head_t *queue, struct user_waiter *waiter);
long user_wait_prepare(struct user_waiter *waiter);
void user_wait_sleep(struct user_waiter *waiter);
void user_wait_end(struct user_waiter *waiter);

#define wake_up_interruptible(queue)		user_wake(queue, 1)
#define wake_up_interruptible_all(queue)	user_wake(queue, 0)
#define __wake_up(queue, mode, nr, key)		user_wake(queue, nr)

/* As the kernel's ___wait_event() does it. */
#define wait_event_interruptible_exclusive(queue, condition) ({		\
	struct user_waiter __waiter;					\
	long __ret = 0, __signal;					\
									\
	might_sleep();							\
	if (!(condition)) {						\
		user_wait_begin(&(queue), &__waiter);			\
		for (;;) {						\
			__signal = user_wait_prepare(&__waiter);	\
			if (condition)					\
				break;					\
			__ret = __signal;				\
			if (__ret)					\
				break;					\
			user_wait_sleep(&__waiter);			\
		}							\
		user_wait_end(&__waiter);				\
	}								\
	__ret; })

/* linux/poll.h */

#define EPOLLIN		1U
#define EPOLLRDNORM	0x40U
#define poll_to_key(m)	((void *)(unsigned long)(m))

/**
 * struct poll_table_struct - one who polls
 * @waiter: the entry that is put into the queue
 */
typedef struct poll_table_struct {
	struct user_waiter waiter;
} poll_table;

void poll_wait(struct file *file, wait_queue_head_t *queue, poll_table *table);

/* linux/random.h */

u64 sim_random(void);

#define get_random_u64()	sim_random()

/* linux/rcupdate.h */

struct rcu_head {
	struct rcu_head *next;
	void (*func)(struct rcu_head *rcu);
	unsigned long waits_for;
	void *object;
};

void rcu_read_lock(void);
void rcu_read_unlock(void);
void call_rcu(struct rcu_head *rcu, void (*func)(struct rcu_head *rcu));
void rcu_barrier(void);
void sim_free_rcu(struct rcu_head *rcu);

#define kvfree_rcu(ptr, member)						\
	do {								\
		(ptr)->member.object = (ptr);				\
		call_rcu(&(ptr)->member, sim_free_rcu);			\
	} while (0)
#define kfree_rcu(ptr, member)	kvfree_rcu(ptr, member)

/* linux/sched/isolation.h: a seed has isolated CPUs, and they change */

#define HK_TYPE_TIMER			0
#define housekeeping_test_cpu(cpu, type) true

extern struct cpumask sim_isolated;

static inline bool cpu_is_isolated(int cpu)
{
	return cpumask_test_cpu(cpu, &sim_isolated);
}

/* linux/sched/signal.h */

bool signal_pending(const struct task_struct *task);
bool fatal_signal_pending(const struct task_struct *task);

/* linux/seq_file.h: nothing is shown */

struct seq_file;

static inline __attribute__((__format__(printf, 2, 3)))
void seq_printf(struct seq_file *seq, const char *fmt, ...)
{
}

/* linux/time_namespace.h */

#define CONFIG_TIME_NS	1

struct time_namespace {
	struct {
		s64 monotonic;
		s64 boottime;
	} offsets;
};

/* Offsets are kept in ns. */
#define timespec64_to_ns(ts)	(*(ts))

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

void oracle_expires(const struct twheel_timer *timer);

/* The tracepoint that an expiry is judged by. The others trace nothing. */
#define sim_trace_twheel_expire(base, timer)	oracle_expires(timer)
#define sim_trace_twheel_start(...)
#define sim_trace_twheel_stop(...)
#define sim_trace_twheel_word(...)
#define sim_trace_twheel_cascade(...)
#define sim_trace_twheel_tick(...)

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

/* linux/uaccess.h: copies between kernel and user space, see user_memory.c */

unsigned long copy_to_user(void *to, const void *from, unsigned long size);
unsigned long clear_user(void *to, unsigned long size);
int copy_struct_from_user(void *to, size_t size, const void *from, size_t usize);
int check_zeroed_user(const void *from, size_t size);
void pagefault_disable(void);
void pagefault_enable(void);
bool user_reach_all(const void *addr, size_t size);

#define u64_to_user_ptr(x)		((void *)(unsigned long)(x))
#define user_read_access_begin(from, size)	true
#define user_read_access_end()		do { } while (0)
#define user_write_access_begin(to, size)	true
#define user_write_access_end()		do { } while (0)

#define put_user(x, ptr) ({						\
	int __ret = user_reach_all(ptr, sizeof(*(ptr))) ? 0 : -EFAULT;	\
									\
	if (!__ret)							\
		*(ptr) = (x);						\
	__ret; })
#define unsafe_put_user(x, ptr, label)					\
	do {								\
		if (put_user(x, ptr))					\
			goto label;					\
	} while (0)
#define unsafe_get_user(x, ptr, label)					\
	do {								\
		if (!user_reach_all(ptr, sizeof(*(ptr))))		\
			goto label;					\
		(x) = *(ptr);						\
	} while (0)

/* linux/uio.h: buffers of user space */

#define USER_SEGMENTS	3
#define ITER_DEST	0

struct user_segment {
	void *base;
	size_t size;
};

/**
 * struct iov_iter - where a read goes
 * @ubuf: the buffer, if there is only one
 * @iov_offset: how far we are, from the beginning
 * @count: bytes that are left
 * @segments: the buffers, one after the other
 */
struct iov_iter {
	void *ubuf;
	size_t iov_offset;
	size_t count;
	struct user_segment segments[USER_SEGMENTS];
};

static inline size_t iov_iter_count(const struct iov_iter *iter)
{
	return iter->count;
}

static inline bool iter_is_ubuf(const struct iov_iter *iter)
{
	return iter->ubuf;
}

static inline void iov_iter_advance(struct iov_iter *iter, size_t size)
{
	iter->iov_offset += size;
	iter->count -= size;
}

static inline void iov_iter_revert(struct iov_iter *iter, size_t size)
{
	iter->iov_offset -= size;
	iter->count += size;
}

void iov_iter_ubuf(struct iov_iter *iter, int direction, void *buf, size_t size);
size_t copy_to_iter(const void *from, size_t size, struct iov_iter *iter);
size_t iov_iter_zero(size_t size, struct iov_iter *iter);
size_t fault_in_iov_iter_writeable(const struct iov_iter *iter, size_t size);

/* linux/version.h */

#define KERNEL_VERSION(a, b, c)	(((a) << 16) + ((b) << 8) + (c))
#define LINUX_VERSION_CODE	KERNEL_VERSION(6, 12, 0)

/* linux/workqueue.h: one work, and one task that does it */

#define HZ	1000

struct work_struct {
	void (*func)(struct work_struct *work);
};

struct delayed_work {
	struct work_struct work;
};

#define DECLARE_DELAYED_WORK(n, fn) \
	struct delayed_work n = { .work = { .func = (fn) } }

bool schedule_delayed_work(struct delayed_work *work, unsigned long delay);
bool cancel_delayed_work_sync(struct delayed_work *work);

/* linux/xarray.h: a few wheels by number */

#define SIM_XA_MAX	1024
#define XA_PRESENT	0
#define XA_FLAGS_ALLOC1	0
#define XA_FLAGS_ACCOUNT 0
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

#endif /* _SIM_KERNEL_H */
