// SPDX-License-Identifier: GPL-2.0
/*
 * Interrupts, softirqs and hrtimers
 *
 * All hrtimers have the mode HRTIMER_MODE_ABS_PINNED_SOFT. The timer interrupt of a CPU arrives
 * when its first hrtimer is due, or somewhat later, and raises a softirq. The softirq runs when
 * the interrupt returns, or in the CPU's softirq thread, as always on PREEMPT_RT.
 */
#include "sim.h"
#include "oracle.h"

static u64 latency(void)
{
	if (sim_calm || !sim_chance(4))
		return 0;
	if (sim_chance(64))
		return sim_below(20000000);
	return sim_below(sim_options.latency_ns);
}

void sim_irq_begin(void)
{
	static const u32 most[] = { 100, 5000, 50000, 2000000 };
	struct sim_cpu *cpu;

	sim_options.latency_ns = most[sim_below(ARRAY_SIZE(most))];
	for (cpu = sim_cpus; cpu < sim_cpus + SIM_CPUS; cpu++) {
		INIT_LIST_HEAD(&cpu->hrtimers);
		cpu->timer_at = SIM_NEVER;
		cpu->device_at = sim.now + sim_below(1000000);
	}
}

/* Interrupts. */

u64 sim_irq_next(const struct sim_cpu *cpu)
{
	u64 next = min_t(u64, cpu->timer_at, cpu->device_at);
	const struct sim_irq *irq;

	for (irq = cpu->irqs; irq; irq = irq->next)
		next = min_t(u64, next, irq->at);
	return next;
}

bool sim_irq_due(const struct sim_cpu *cpu)
{
	return !cpu->irqs_off && sim_irq_next(cpu) <= sim.now;
}

static void send(struct sim_cpu *cpu, struct sim_irq *irq, void (*serve)(struct sim_irq *irq))
{
	irq->serve = serve;
	irq->at = sim.now + latency();
	irq->queued = true;
	irq->next = cpu->irqs;
	cpu->irqs = irq;
	sim.next_event = min_t(u64, sim.next_event, irq->at);
}

/* Serve all interrupts that arrived by @now. */
static void serve_irqs(struct sim_cpu *cpu, u64 now)
{
	struct sim_irq **link = &cpu->irqs, *irq;

	while ((irq = *link)) {
		if (irq->at > now) {
			link = &irq->next;
			continue;
		}
		*link = irq->next;
		irq->queued = false;
		irq->serve(irq);
		link = &cpu->irqs;
	}
}

void sim_flush_irqs(void)
{
	serve_irqs(this_sim_cpu(), SIM_NEVER);
}

static void kick(call_single_data_t *csd)
{
	csd->func(csd->info);
	oracle_kicked(csd->info);
}

static void serve_ipi(struct sim_irq *irq)
{
	sim_weak_all();
	kick(container_of(irq, call_single_data_t, irq));
}

int smp_call_function_single_async(int nr, call_single_data_t *csd)
{
	sim_point();
	if (csd->irq.queued)
		return -EBUSY;
	if (!cpu_online(nr))
		return -ENXIO;
	oracle_kick_sent(csd->info);
	if (nr == sim.cpu)
		kick(csd);
	else
		send(&sim_cpus[nr], &csd->irq, serve_ipi);
	return 0;
}

static void serve_irq_work(struct sim_irq *irq)
{
	struct irq_work *work = container_of(irq, struct irq_work, irq);

	work->running = true;
	work->func(work);
	work->running = false;
}

bool irq_work_queue(struct irq_work *work)
{
	sim_point();
	if (work->irq.queued)
		return false;
	send(this_sim_cpu(), &work->irq, serve_irq_work);
	return true;
}

void irq_work_sync(struct irq_work *work)
{
	while (work->irq.queued || work->running)
		sim_sleep(1000);
}

static void do_softirq(void);

static void serve_hardirq(struct sim_cpu *cpu)
{
	bool device = cpu->device_at <= sim.now;

	cpu->irqs_off = true;
	cpu->turns++;
	sim_task->hardirq++;
	sim.left = 1 + sim_below(sim_options.quantum);
	serve_irqs(cpu, sim.now);
	if (cpu->timer_at <= sim.now) {
		cpu->timer_at = SIM_NEVER;
		cpu->softirq = true;
	}
	if (device) {
		cpu->device_at = sim.now + sim_below(8000000);
		sim_device(false);
	}
	sim_task->hardirq--;
	cpu->irqs_off = false;
	if (!cpu->softirq || cpu->softirq_task)
		return;
	if (SIM_RT || sim_chance(8))
		cpu->softirq_task = true;
	else if (!sim_task->bh)
		do_softirq();
}

/* Serve interrupts. A task that spins for a lock may be interrupted, too. */
void sim_interrupts(void)
{
	struct sim_cpu *cpu = this_sim_cpu();
	struct sim_lock *spins = cpu->spins;

	cpu->spins = NULL;
	while (sim_irq_due(cpu))
		serve_hardirq(cpu);
	if (!SIM_RT && cpu->softirq && !cpu->softirq_task && !cpu->irqs_off &&
	    !sim_task->hardirq && !sim_task->bh)
		do_softirq();
	cpu->spins = spins;
}

/* Softirqs. */

static struct hrtimer *first_hrtimer(const struct sim_cpu *cpu)
{
	struct hrtimer *hrtimer, *first = NULL;

	list_for_each_entry(hrtimer, &cpu->hrtimers, link)
		if (!first || hrtimer->expires < first->expires)
			first = hrtimer;
	return first;
}

static void program_interrupt(struct sim_cpu *cpu)
{
	struct hrtimer *first = first_hrtimer(cpu);

	cpu->timer_at = SIM_NEVER;
	if (!first || cpu->softirq)
		return;
	cpu->timer_at = max_t(u64, first->expires, sim.now) + latency();
	sim.next_event = min_t(u64, sim.next_event, cpu->timer_at);
}

static void enqueue(struct hrtimer *hrtimer, unsigned int cpu)
{
	hrtimer->cpu = cpu;
	hrtimer->queued = true;
	list_add_tail(&hrtimer->link, &sim_cpus[cpu].hrtimers);
	program_interrupt(&sim_cpus[cpu]);
}

static void dequeue(struct hrtimer *hrtimer)
{
	list_del(&hrtimer->link);
	hrtimer->queued = false;
}

void sim_move_hrtimer(struct hrtimer *hrtimer, unsigned int cpu)
{
	dequeue(hrtimer);
	enqueue(hrtimer, cpu);
}

static void run_hrtimer(struct hrtimer *hrtimer)
{
	enum hrtimer_restart restart;

	dequeue(hrtimer);
	hrtimer->running = true;
	sim_task->hrtimer = hrtimer;
	oracle_run_begins(hrtimer);
	restart = hrtimer->function(hrtimer);
	sim_task->hrtimer = NULL;
	/* An interrupt may have started the hrtimer during its function. */
	if (restart == HRTIMER_RESTART && !hrtimer->queued)
		enqueue(hrtimer, sim.cpu);
	oracle_run_ends(hrtimer);
	hrtimer->running = false;
}

/* Run hrtimers. Like the kernel, read the clock only once for all of them. */
static void run_hrtimers(struct sim_cpu *cpu)
{
	u64 now = sim.now;
	struct hrtimer *hrtimer;

	for (;;) {
		sim_point();
		hrtimer = first_hrtimer(cpu);
		if (!hrtimer || hrtimer->expires > now)
			return;
		run_hrtimer(hrtimer);
	}
}

static void do_softirq(void)
{
	struct sim_cpu *cpu = this_sim_cpu();
	int again;

	sim_task->bh++;
	cpu->turns++;
	for (again = 0; again < 10 && cpu->softirq; again++) {
		cpu->softirq = false;
		cpu->softirq_task = false;
		run_hrtimers(cpu);
		program_interrupt(cpu);
		if (sim_chance(8) && !sim_calm)
			sim_device(true);
	}
	sim_task->bh--;
	if (cpu->softirq)
		cpu->softirq_task = true;
}

void sim_ksoftirqd(struct sim_task *task)
{
	struct sim_cpu *cpu = &sim_cpus[task->cpu];

	for (;;) {
		sim_wait(&cpu->softirq_task);
		do_softirq();
	}
}

void local_bh_disable(void)
{
	sim_task->bh++;
	sim_task->no_migration++;
}

void local_bh_enable(void)
{
	sim_task->bh--;
	sim_task->no_migration--;
	sim_point();
	sim_interrupts();
}

/* hrtimers */

void hrtimer_init(struct hrtimer *hrtimer, int clock, enum hrtimer_mode mode)
{
	memset(hrtimer, 0, sizeof(*hrtimer));
	if (clock != (sim.behind ? CLOCK_BOOTTIME : CLOCK_MONOTONIC))
		sim_fail("an hrtimer on clock %d", clock);
	oracle_new_base(hrtimer);
}

void hrtimer_start(struct hrtimer *hrtimer, ktime_t expires,
		   enum hrtimer_mode mode)
{
	struct sim_cpu *cpu = this_sim_cpu();

	sim_point();
	if (sim_preemptible())
		sim_fail("hrtimer programmed in preemptible code");
	if (cpu->off)
		sim_fail("hrtimer started on a CPU that is off");
	if (hrtimer->queued)
		dequeue(hrtimer);
	hrtimer->expires = expires;
	enqueue(hrtimer, sim.cpu);
}

int hrtimer_cancel(struct hrtimer *hrtimer)
{
	int was;

	sim_might_sleep(__func__);
	for (;;) {
		sim_relax();
		was = hrtimer->queued;
		if (was) {
			oracle_cancelled(hrtimer);
			dequeue(hrtimer);
		}
		if (!hrtimer->running)
			break;
		if (SIM_RT)
			sim_sleep(1000);
	}
	sim_weak_all();
	return was;
}
