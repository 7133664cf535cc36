/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The differences between kernels, all in one place
 *
 * The sources are written as for the newest kernel. This file gives, under a
 * name of our own, all that an older kernel lacks or names otherwise.
 */
#ifndef _TWHEEL_COMPAT_H
#define _TWHEEL_COMPAT_H

#include <linux/cacheinfo.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/nsproxy.h>
#include <linux/time_namespace.h>
#include <linux/uaccess.h>
#include <linux/version.h>

/*
 * Kernels that zero every variable on the stack leave those alone that say so.
 * The name came with 6.12, and the attribute with gcc 12.
 */
#ifndef __uninitialized
#if __has_attribute(__uninitialized__)
#define __uninitialized	__attribute__((__uninitialized__))
#else
#define __uninitialized
#endif
#endif

/* hrtimer_setup() came with 6.13, hrtimer_init() went with 6.15. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
static inline void
twheel_hrtimer_setup(struct hrtimer *hrtimer,
		     enum hrtimer_restart (*fn)(struct hrtimer *),
		     clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_setup(hrtimer, fn, clock, mode);
}
#else
static inline void
twheel_hrtimer_setup(struct hrtimer *hrtimer,
		     enum hrtimer_restart (*fn)(struct hrtimer *),
		     clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(hrtimer, clock, mode);
	hrtimer->function = fn;
}
#endif

/*
 * The offset of a clock in the caller's time namespace from ours, ns.
 * timens_ktime_to_host() does the same for timerfd, but is not exported.
 */
static inline s64 twheel_time_ns_offset(clockid_t clock)
{
#ifdef CONFIG_TIME_NS
	struct time_namespace *ns = current->nsproxy->time_ns;

	return timespec64_to_ns(clock == CLOCK_BOOTTIME ? &ns->offsets.boottime :
							  &ns->offsets.monotonic);
#else
	return 0;
#endif
}

/* vm_flags_mod() came with 6.3. Since then vm_flags cannot be written otherwise. */
static inline void twheel_vm_flags_mod(struct vm_area_struct *vma,
				       unsigned long set, unsigned long clear)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_mod(vma, set, clear);
#else
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#endif
}

/*
 * Whether a page that a program has mapped shows the kernel the program's stores, whole.
 * A 32-bit kernel reads 64 bits in two halves. A data cache that is indexed by virtual
 * addresses may hold both mappings of a page at once. cpu_dcache_is_aliasing() came with
 * 6.9. Before it a 64-bit machine of an architecture that has such caches may have one.
 */
static inline bool twheel_words_are_coherent(void)
{
	if (!IS_ENABLED(CONFIG_64BIT))
		return false;
#ifdef cpu_dcache_is_aliasing
	return !cpu_dcache_is_aliasing();
#else
	return !IS_ENABLED(CONFIG_MIPS) && !IS_ENABLED(CONFIG_PARISC) &&
	       !IS_ENABLED(CONFIG_SPARC);
#endif
}

/*
 * 32-bit ARM without CONFIG_CPU_SPECTRE, which is ARM before v7, has no __get_user() of 8
 * bytes, of which unsafe_get_user() is made.
 */
#if defined(CONFIG_ARM) && !defined(CONFIG_CPU_SPECTRE)
#undef unsafe_get_user
#define unsafe_get_user(x, from, label)	\
	do { if (get_user(x, from)) goto label; } while (0)
#endif

#endif /* _TWHEEL_COMPAT_H */
