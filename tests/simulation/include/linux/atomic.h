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

static inline int atomic_add_return(int i, atomic_t *v)
{
	sim_point();
	return v->counter += i;
}

#define atomic_inc(v)			((void)atomic_add_return(1, v))
#define atomic_dec(v)			((void)atomic_add_return(-1, v))
#define atomic_dec_return_release(v)	atomic_add_return(-1, v)

static inline bool test_and_set_bit(unsigned int nr, unsigned long *addr)
{
	bool was;

	sim_point();
	was = *addr & BIT(nr);
	*addr |= BIT(nr);
	return was;
}

static inline void set_bit(unsigned int nr, unsigned long *addr)
{
	sim_point();
	*addr |= BIT(nr);
}

static inline void clear_bit_unlock(unsigned int nr, unsigned long *addr)
{
	sim_point();
	*addr &= ~BIT(nr);
}

#endif /* _SIM_LINUX_ATOMIC_H */
