/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cost of a lock, for a user-mode kernel
 *
 * A user-mode kernel has one CPU, so its spinlocks compile to nothing. With more
 * CPUs a lock is a locked instruction, which waits for all stores before it: the
 * cache misses of two operations under a lock hardly overlap. The word of a lock
 * was last stored to by an unlock. So it is here: a locked instruction on a word
 * that is still on its way to the cache takes much longer than on another one.
 *
 * tests/vm/kernel puts this file ahead of the kernel's own of the same name.
 */
#include_next <linux/spinlock_api_up.h>

static __always_inline void um_lock(void)
{
	int word = 0;

	asm volatile("lock; addl $1,%0" : "+m" (word) : : "memory", "cc");
}

#undef ___LOCK
#define ___LOCK(lock)		\
	do {			\
		(void)(lock);	\
		um_lock();	\
	} while (0)
