/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's headers for the simulation: accesses to memory and their order
 *
 * simulation.mk puts sim_session.h in front of each source. This header includes sim_machine.h,
 * which includes this file. In place of the headers that the sources include, simulation.mk makes
 * empty files. Headers that are the same in any program are in native/.
 */
#ifndef _SIM_ORDER_H
#define _SIM_ORDER_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The simulation
 *
 * A point is a call of sim_point(), where another CPU, task or interrupt may run. Most
 * points only move the clock.
 */

#define SIM_CPUS	3

struct sim_task;

/* Knowledge of the stores that each CPU made, see weak.c */
struct sim_clock {
	uint32_t nr[SIM_CPUS];	/* number of known stores of each CPU */
};

enum sim_order {
	SIM_ONCE,
	SIM_ACQUIRE,
	SIM_RELEASE,
	SIM_FULL,
};

/* The part of the simulation's state that is used most often */
struct sim_run {
	uint64_t now;		/* time on the clock of the wheels, ns */
	/* Lag of CLOCK_MONOTONIC behind @now. 0 if the wheels use CLOCK_MONOTONIC */
	uint64_t behind;
	uint64_t woke;		/* time of the last resume, on CLOCK_MONOTONIC, ns */
	uint64_t next_event;	/* time of the next event on any CPU, ns */
	int left;		/* number of points before the scheduler decides again */
	unsigned int step_ns;	/* time that a point takes, ns */
	unsigned int cpu;	/* number of the running CPU */
};

extern struct sim_run sim;

/* Flag: lockless reads may find older values, see weak.c. */
extern bool sim_weak;

void sim_decide(void);
void sim_relax(void);
void sim_fail(const char *fmt, ...)
	__attribute__((__format__(printf, 1, 2), __noreturn__));

/* weak.c: functions that are only called if @sim_weak is true */
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

/* linux/compiler.h: each access that other CPUs may see begins with sim_point() */

#include <linux/types.h>

#undef READ_ONCE
#undef WRITE_ONCE
#undef smp_load_acquire

/* Returns the size of a pointer's target, or 0 if @x is not a pointer. */
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
#define ____cacheline_aligned_in_smp

/* linux/list.h: lists are changed under locks, so that their accesses need not be points */

#pragma push_macro("READ_ONCE")
#pragma push_macro("WRITE_ONCE")
#undef READ_ONCE
#undef WRITE_ONCE
#define READ_ONCE(x)		(x)
#define WRITE_ONCE(x, val)	((x) = (val))
#include <linux/list.h>
#pragma pop_macro("READ_ONCE")
#pragma pop_macro("WRITE_ONCE")

/* linux/sched.h */

#define cond_resched()	sim_point()
#define might_sleep()	sim_might_sleep(__func__)

struct pid;
struct task_struct;

void sim_might_sleep(const char *where);
void sim_wait(const bool *flag);

/* Returns the running task. Only simulation-session has this function. */
struct task_struct *sim_current(void);
struct pid *task_tgid(struct task_struct *task);

#define current		sim_current()

/* linux/kernel.h: a warning is a failure */

#include "native/linux/kernel.h"

#include <linux/err.h>
#include <linux/export.h>

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

/* linux/atomic.h */

/* Sets *@p to @new, which may use the old value as __old. Returns the old value. */
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
/* A cmpxchg() that fails orders nothing. */
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
#define atomic64_inc(v)			((void)sim_atomic(&(v)->counter, __old + 1, SIM_ONCE))

#define sim_try_cmpxchg(v, old, new) ({					\
	typeof(*(old)) __expected = *(old);				\
									\
	*(old) = cmpxchg(&(v)->counter, __expected, new);		\
	*(old) == __expected; })
#define atomic_try_cmpxchg(v, old, new)		sim_try_cmpxchg(v, old, new)
#define atomic64_try_cmpxchg(v, old, new)	sim_try_cmpxchg(v, old, new)

static inline int sim_atomic_add(int i, atomic_t *v, enum sim_order how)
{
	return sim_atomic(&v->counter, __old + i, how) + i;
}

#define atomic_inc(v)			((void)sim_atomic_add(1, v, SIM_ONCE))
#define atomic_dec(v)			((void)sim_atomic_add(-1, v, SIM_ONCE))
#define atomic_inc_return_release(v)	sim_atomic_add(1, v, SIM_RELEASE)
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

/* linux/nospec.h: no simulated CPU speculates */

#define array_index_nospec(index, size)	(index)

/* linux/slab.h: freed memory is not allocated again in the same seed */

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

/* Allocates memory for sessions. May sleep for long. */
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

/* linux/random.h */

u64 sim_random(void);

#define get_random_u64()	sim_random()

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

/* linux/module.h */

#define THIS_MODULE	NULL

/* linux/moduleparam.h: a scenario sets parameters */

struct kernel_param;

struct kernel_param_ops {
	int (*set)(const char *value, const struct kernel_param *param);
	int (*get)(char *value, const struct kernel_param *param);
};

#define param_set_uint_minmax(value, param, min, max)	(-EINVAL)
#define param_get_uint					NULL

struct sim_param {
	const struct kernel_param_ops *ops;
	unsigned int *value;
};

#define module_param_cb(name, ops, var, perm)	struct sim_param sim_param_##name = { ops, var }

#endif /* _SIM_ORDER_H */
