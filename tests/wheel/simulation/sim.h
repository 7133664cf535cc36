/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The simulated machine: CPUs, tasks, interrupts, time
 *
 * All of it runs in one thread. A task is a coroutine. It calls sim_point() at each
 * access to shared memory, so that another task or an interrupt may come in between.
 * An interrupt is a function call from sim_point(), on the stack of the interrupted task.
 */
#ifndef _SIM_H
#define _SIM_H

#include <stdarg.h>

#include <linux/atomic.h>
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#define SIM_RT		IS_ENABLED(CONFIG_PREEMPT_RT)
#define SIM_USERS	5
/* Tasks: an idle task and a softirq thread for each CPU, then the users, then one kworker. */
#define SIM_FIRST_USER	(2 * SIM_CPUS)
#define SIM_TASKS	(SIM_FIRST_USER + SIM_USERS + 1)
#define SIM_NEVER	U64_MAX

/* A CPU */
struct sim_cpu {
	struct sim_task *curr;		/* current task */
	struct sim_task *idle;		/* idle task */
	struct sim_task *ksoftirqd;	/* softirq thread */
	bool irqs_off;			/* flag: interrupts are disabled */
	bool off;			/* flag: the CPU is offline */
	bool leaving;			/* flag: tasks move away, because the CPU goes offline */
	bool softirq;			/* flag: HRTIMER_SOFTIRQ is raised */
	bool softirq_task;		/* flag: the raised softirq is left to @ksoftirqd */
	u64 stolen_until;		/* end of a theft of the CPU by its hypervisor, ns */
	struct sim_lock *spins;		/* lock that the CPU spins for, or NULL */
	struct list_head hrtimers;	/* hrtimers queued on this CPU */
	u64 timer_at;			/* time of the next timer interrupt, ns */
	unsigned int turns;		/* number of switches to another task or interrupt */
	struct sim_irq *irqs;		/* kicks and irq_works in flight */
	u64 device_at;			/* time of the next device interrupt, ns */
};

/* Options of a seed, given as arguments or chosen at random */
struct sim_options {
	u64 seed;
	int ops;			/* number of operations of all tasks together */
	unsigned int quantum;		/* limit of calls of sim_point() until a task is chosen */
	unsigned int latency_ns;	/* usual upper bound of the latency of interrupts */
};

extern struct sim_options sim_options;
extern struct sim_cpu sim_cpus[SIM_CPUS];
extern struct sim_task sim_tasks[SIM_TASKS];
extern bool sim_memory_short;
/* Flag: CPUs often go offline, and memory for their slots is often missing. */
extern bool sim_cpus_go;
/* Flag: the machine is reliable. No CPU stops, no interrupt is late, no memory is missing. */
extern bool sim_calm;
void sim_vfail(const char *fmt, va_list args) __attribute__((__noreturn__));
extern unsigned int sim_allocs_failed;
extern bool sim_verbose;

#define this_sim_cpu()	(&sim_cpus[sim.cpu])

/* core.c */
u64 sim_random(void);
u32 sim_below(u32 limit);
bool sim_chance(u32 one_in);
void sim_spend(u64 ns);
void sim_sleep(u64 ns);
void sim_yield(void);
void sim_begin(u64 seed);
void sim_run_tasks(void (*user)(struct sim_task *task));
void sim_note(const char *fmt, ...) __attribute__((__format__(printf, 1, 2)));
bool sim_preemptible(void);
bool sim_is_reader(const struct sim_task *task);
bool sim_stays(const struct sim_task *task);
unsigned int sim_other_cpu(void);
void sim_check_memory(void);

/* irq.c */
void sim_irq_begin(void);
bool sim_irq_due(const struct sim_cpu *cpu);
u64 sim_irq_next(const struct sim_cpu *cpu);
void sim_interrupts(void);
void sim_ksoftirqd(struct sim_task *task);
void sim_flush_irqs(void);
void sim_move_hrtimer(struct hrtimer *hrtimer, unsigned int cpu);

/* weak.c */
void sim_weak_begin(void);
void sim_weak_lock(const struct sim_clock *clock);
void sim_weak_unlock(struct sim_clock *clock);
void sim_weak_all(void);
bool sim_weak_knows(const struct sim_clock *clock, unsigned int cpu);
void sim_weak_tell(void);
bool sim_weak_old(const volatile void *link, const volatile void *value);

/* sync.c */
void sim_sync_begin(void);
void sim_rcu_look(void);
void sim_kworker(struct sim_task *task);

/* hotplug.c */
void sim_hotplug_begin(void);
void sim_cpu_down(unsigned int cpu);
void sim_cpu_up(unsigned int cpu);

/* scenario.c: handler of a device's interrupt, or of its softirq */
void sim_device(bool softirq);

#endif /* _SIM_H */
