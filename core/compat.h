/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All differences between kernels
 *
 * The sources are written for the newest kernel. This file provides whatever an
 * older kernel lacks or names differently, with a prefix of twheel.
 */
#ifndef _TWHEEL_COMPAT_H
#define _TWHEEL_COMPAT_H

#include <linux/cacheinfo.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/time_namespace.h>
#include <linux/uaccess.h>
#include <linux/version.h>

/*
 * Exempt a variable from CONFIG_INIT_STACK_ALL_ZERO, because it is large and
 * written before it is read. Kernels have the name since 6.12, and gcc has the
 * attribute since 12.
 */
#ifndef __uninitialized
#if __has_attribute(__uninitialized__)
#define __uninitialized	__attribute__((__uninitialized__))
#else
#define __uninitialized
#endif
#endif

/* hrtimer_setup() exists since 6.13, hrtimer_init() until 6.14. */
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

/* system_percpu_wq exists since 6.17. Newer kernels warn of system_wq. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
#define twheel_system_wq	system_percpu_wq
#else
#define twheel_system_wq	system_wq
#endif

/*
 * Returns how far a clock in the caller's time namespace is ahead of the host's
 * clock, ns. timens_ktime_to_host() is not exported.
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

/*
 * Returns how long the current task has waited for a CPU in its life, ns. A run
 * is not charged for such time. Returns 0 without PREEMPT_RT, where no task
 * preempts a softirq. task_sched_runtime() is not exported.
 */
static inline u64 twheel_preempted_ns(void)
{
#if defined(CONFIG_PREEMPT_RT) && defined(CONFIG_SCHED_INFO)
	return current->sched_info.run_delay;
#else
	return 0;
#endif
}

/* vm_flags_mod() exists since 6.3, which made vm_flags read-only. */
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
 * Returns whether a 64-bit store of a program to a mapped page is visible to
 * the kernel at once and in one piece. A 32-bit kernel reads 64 bits in two
 * halves, and a virtually indexed data cache may hold both mappings of a page
 * at once. cpu_dcache_is_aliasing() exists since 6.9. In older kernels only the
 * architecture tells whether the cache does so.
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
 * Like unsafe_get_user(), but also for 8 bytes on 32-bit ARM before v7 (no
 * CONFIG_CPU_SPECTRE), which lacks the __get_user() of 8 bytes that
 * unsafe_get_user() calls.
 */
#if defined(CONFIG_ARM) && !defined(CONFIG_CPU_SPECTRE)
#define twheel_get_user(x, from, label)	\
	do { if (get_user(x, from)) goto label; } while (0)
#else
#define twheel_get_user	unsafe_get_user
#endif

#endif /* _TWHEEL_COMPAT_H */
