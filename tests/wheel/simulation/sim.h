/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The simulated machine: CPUs, tasks, interrupts, time
 *
 * All of it runs in one thread. A task is a coroutine. An interrupt runs on the
 * stack of the task that it interrupts, as a call from a point.
 */
#ifndef _SIM_H
#define _SIM_H

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
/* Of each CPU: the idle task, the softirq thread, the hotplug thread. One kworker. */
#define SIM_TASKS	(3 * SIM_CPUS + SIM_USERS + 1)
#define SIM_NEVER	U64_MAX

/* A task */
struct sim_task {
	void *sp;				/* its stack pointer while it does not run */
	void (*fn)(struct sim_task *task);	/* what it does */
	unsigned int nr;
	unsigned int cpu;			/* where it runs or would run */
	int prio;				/* the higher the sooner it runs, on PREEMPT_RT */
	int boost;				/* priority lent by its waiters */
	bool pinned;				/* it stays on @cpu */
	int no_migration;			/* it stays there for now */
	bool done;				/* it has ended */
	int preempt;				/* spinlocks held and the like */
	int bh;					/* softirqs are off, or one is served */
	int hardirq;				/* an interrupt is served */
	int rcu;				/* depth of read-side critical sections */
	u64 wake;				/* it sleeps until then */
	const bool *flag;			/* it waits for this to be true */
	struct sim_lock *lock;			/* it waits for this lock */
};

/* A CPU */
struct sim_cpu {
	struct sim_task *curr;		/* the task that it runs */
	struct sim_task *idle;		/* the task that it runs otherwise */
	struct sim_task *ksoftirqd;	/* the task of softirqs */
	struct sim_task *thread;	/* the task of hotplug */
	bool irqs_off;			/* interrupts are off */
	bool off;			/* it has no power */
	bool leaving;			/* user programs leave it */
	bool softirq;			/* HRTIMER_SOFTIRQ is raised */
	bool softirq_task;		/* and left to @ksoftirqd */
	u64 stolen_until;		/* something else has the CPU */
	struct sim_lock *spins;		/* lock that it spins for */
	struct list_head hrtimers;	/* hrtimers that are queued here */
	u64 timer_at;			/* when the interrupt for these comes */
	unsigned int turns;		/* how often it has gone on with something else */
	struct sim_irq *irqs;		/* kicks and irq_works on their way to it */
	u64 device_at;			/* when a device interrupts */
	void (*work)(void);		/* what @thread is to do */
	bool has_work;			/* it has not begun with that */
	bool work_done;			/* it has done that */
};

/* What a seed is allowed to do, and has chosen */
struct sim_options {
	u64 seed;
	int ops;			/* operations of all tasks together */
	unsigned int without;		/* things that do not happen, a set of SIM_* */
	unsigned int quantum;		/* most points between two decisions */
	unsigned int latency_ns;	/* most that an interrupt is late, mostly */
};

#define SIM_HOTPLUG	BIT(0)
#define SIM_STEAL	BIT(1)
#define SIM_DEVICE	BIT(2)
#define SIM_LATENCY	BIT(3)
#define SIM_NO_MEMORY	BIT(4)
#define SIM_FAULTS	BIT(5)

extern struct sim_options sim_options;
extern struct sim_cpu sim_cpus[SIM_CPUS];
extern struct sim_task sim_tasks[SIM_TASKS];
extern struct sim_task *sim_task;
extern bool sim_memory_short;
extern unsigned int sim_allocs_failed;
extern bool sim_verbose;

#define this_sim_cpu()	(&sim_cpus[sim.cpu])

/* core.c */
u64 sim_random(void);
u32 sim_below(u32 limit);
bool sim_chance(u32 one_in);
void sim_spend(u64 ns);
void sim_sleep(u64 ns);
void sim_wait(const bool *flag);
void sim_yield(void);
void sim_begin(u64 seed);
void sim_run_tasks(void (*user)(struct sim_task *task));
void sim_steal(unsigned int cpu, u64 ns);
void sim_event_at(u64 when);
void sim_note(const char *fmt, ...) __attribute__((__format__(printf, 1, 2)));
bool sim_preemptible(void);
bool sim_is_reader(const struct sim_task *task);
bool sim_stays(const struct sim_task *task);
unsigned int sim_other_cpu(void);
void sim_check_memory(void);
void sim_show(void);

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
void sim_weak_tell(void);
bool sim_weak_old(const volatile void *link, const volatile void *value);

/* sync.c */
void sim_sync_begin(void);
void sim_rcu_look(void);
void sim_kworker(struct sim_task *task);

/* hotplug.c */
void sim_hotplug_begin(void);
void sim_hotplug_thread(struct sim_task *task);
int sim_cpu_down(unsigned int cpu);
void sim_cpu_up(unsigned int cpu);
extern bool sim_cpu_goes;

/* scenario.c: what a device's interrupt does, or its softirq */
void sim_device(bool softirq);

#endif /* _SIM_H */
