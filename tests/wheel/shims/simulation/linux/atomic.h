/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/atomic.h for the simulation
 */
#ifndef _SIM_LINUX_ATOMIC_H
#define _SIM_LINUX_ATOMIC_H

#include <linux/kernel.h>

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

#endif /* _SIM_LINUX_ATOMIC_H */
