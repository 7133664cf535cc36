// SPDX-License-Identifier: GPL-2.0
/*
 * Time, tasks, and the choice of the next task to run
 *
 * A decision, in sim_decide(), chooses a task for this CPU, and then the next CPU to run. It does
 * not choose a CPU that is stopped, or that spins for a held lock. If no CPU can run, the clock
 * moves on to the next event. If there is no event either, the module has hung, and the seed fails.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "../schemes/rng.h"
#include "sim.h"
#include "oracle.h"

#define STACK		(64 * 1024)
/* Number of decisions without progress of any user program after which a seed has failed. */
#define STEPS_MAX	500000
#define NOTES		64
#define NOTE_LEN	160

struct sim_run sim;
struct sim_options sim_options;
struct sim_cpu sim_cpus[SIM_CPUS];
struct sim_task sim_tasks[SIM_TASKS];
struct sim_task *sim_task;
bool sim_memory_short;
bool sim_cpus_go;
bool sim_calm;
unsigned int sim_allocs_failed;
bool sim_verbose;

static struct twheel_rng rng;
static u64 steps;
static void *main_sp;
static char stacks[SIM_TASKS][STACK] __attribute__((__aligned__(64)));
static char notes[NOTES][NOTE_LEN];
static unsigned int nr_notes;
static int users_left;
static bool users_done;

u64 sim_random(void)
{
	return twheel_rng_next(&rng);
}

u32 sim_below(u32 limit)
{
	return (u32)(((sim_random() >> 32) * limit) >> 32);
}

bool sim_chance(u32 one_in)
{
	return !sim_below(one_in);
}

/* Note an event. The last NOTES events are printed when a seed fails. */
void sim_note(const char *fmt, ...)
{
	char *note = notes[nr_notes++ % NOTES];
	va_list args;
	int n;

	n = snprintf(note, NOTE_LEN, "%llu cpu %u task %u%s: ",
		     (unsigned long long)sim.now, sim.cpu, sim_task->nr,
		     sim_task->hardirq ? " irq" : sim_task->bh ? " bh" : "");
	if (sim_task->nr >= SIM_FIRST_USER && !sim_task->hardirq && !sim_task->bh)
		steps = 0;
	va_start(args, fmt);
	vsnprintf(note + n, NOTE_LEN - n, fmt, args);
	va_end(args);
	if (sim_verbose)
		printf("# %s\n", note);
}

void sim_vfail(const char *fmt, va_list args)
{
	unsigned int i = nr_notes > NOTES ? nr_notes - NOTES : 0;

	for (; !sim_verbose && i < nr_notes; i++)
		printf("# %s\n", notes[i % NOTES]);
	printf("# seed %llu ops %d, at %llu on cpu %u: ", (unsigned long long)sim_options.seed,
	       sim_options.ops, (unsigned long long)sim.now, sim.cpu);
	vprintf(fmt, args);
	printf("\n");
	fflush(stdout);
	_Exit(1);
}

void sim_fail(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	sim_vfail(fmt, args);
}

/* Switch from the stack of one task to the stack of another. */
#ifdef __x86_64__
void sim_swap(void **save, void *next);
asm(".text\n"
	".globl sim_swap\n"
	".type sim_swap, @function\n"
	"sim_swap:\n"
	"	pushq %rbp\n	pushq %rbx\n	pushq %r12\n"
	"	pushq %r13\n	pushq %r14\n	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n	popq %r14\n	popq %r13\n"
	"	popq %r12\n	popq %rbx\n	popq %rbp\n"
	"	ret\n"
	".size sim_swap, . - sim_swap\n");
#else
#error "a switch of stacks for this machine is missing"
#endif

static void idle_loop(struct sim_task *task)
{
	for (;;)
		sim_yield();
}

static void task_main(void)
{
	struct sim_task *task = sim_task;

	task->fn(task);
	task->done = true;
	if (!--users_left)
		users_done = true;
	for (;;)
		sim_yield();
}

static struct sim_task *new_task(unsigned int nr, unsigned int cpu,
				 void (*fn)(struct sim_task *), int prio)
{
	struct sim_task *task = &sim_tasks[nr];
	void **sp = (void **)(stacks[nr] + STACK - 64);

	*task = (struct sim_task){ .nr = nr, .cpu = cpu, .fn = fn, .prio = prio };
	*--sp = NULL;
	*--sp = (void *)task_main;
	sp -= 6;
	task->sp = sp;
	return task;
}

static bool is_preemptible(const struct sim_cpu *cpu)
{
	const struct sim_task *task = cpu->curr;

	return !cpu->irqs_off && !task->preempt && !task->hardirq &&
	       (SIM_RT || !task->bh);
}

bool sim_stays(const struct sim_task *task)
{
	return task->pinned || task->no_migration;
}

bool sim_preemptible(void)
{
	return is_preemptible(this_sim_cpu());
}

static bool is_ready(const struct sim_task *task)
{
	if (task->done || task->wake > sim.now)
		return false;
	if (task->flag && !*task->flag)
		return false;
	return !task->lock || !task->lock->owner;
}

static bool is_idle(const struct sim_task *task)
{
	return task->fn == idle_loop;
}

static int priority(const struct sim_task *task)
{
	return max(task->prio, task->boost);
}

/* Lend the priorities of waiters to the tasks that hold their locks. */
static void lend_priorities(void)
{
	struct sim_task *task;
	bool again;

	for (task = sim_tasks; task < sim_tasks + SIM_TASKS; task++)
		task->boost = 0;
	do {
		again = false;
		for (task = sim_tasks; task < sim_tasks + SIM_TASKS; task++) {
			struct sim_task *owner = task->lock ? task->lock->owner : NULL;

			if (owner && priority(owner) < priority(task)) {
				owner->boost = priority(task);
				again = true;
			}
		}
	} while (again);
}

/* Choose a task for @cpu, on PREEMPT_RT one of the highest priority. */
static struct sim_task *choose_task(const struct sim_cpu *cpu)
{
	unsigned int nr = cpu - sim_cpus, n = 0;
	struct sim_task *task, *best = cpu->idle;

	for (task = sim_tasks; task < sim_tasks + SIM_TASKS; task++) {
		if (task->cpu != nr || is_idle(task) || !is_ready(task))
			continue;
		if (SIM_RT && n && priority(task) < priority(best))
			continue;
		if (SIM_RT && n && priority(task) > priority(best))
			n = 0;
		if (!sim_below(++n))
			best = task;
	}
	return best;
}

static bool has_task(const struct sim_cpu *cpu)
{
	unsigned int nr = cpu - sim_cpus;
	struct sim_task *task;

	for (task = sim_tasks; task < sim_tasks + SIM_TASKS; task++)
		if (task->cpu == nr && !is_idle(task) && is_ready(task))
			return true;
	return false;
}

static bool can_run(const struct sim_cpu *cpu)
{
	if (cpu->off || cpu->stolen_until > sim.now)
		return false;
	if (sim_irq_due(cpu))
		return true;
	if (cpu->spins)
		return !cpu->spins->owner;
	/* Code that cannot be preempted, of an interrupt or of a task, continues. */
	if (!is_preemptible(cpu))
		return true;
	if (!is_idle(cpu->curr) && is_ready(cpu->curr))
		return true;
	return has_task(cpu);
}

static struct sim_cpu *choose_cpu(void)
{
	struct sim_cpu *cpu, *found = NULL;
	unsigned int n = 0;

	for (cpu = sim_cpus; cpu < sim_cpus + SIM_CPUS; cpu++)
		if (can_run(cpu) && !sim_below(++n))
			found = cpu;
	return found;
}

static u64 next_event(void)
{
	u64 next = SIM_NEVER;
	struct sim_task *task;
	struct sim_cpu *cpu;

	for (cpu = sim_cpus; cpu < sim_cpus + SIM_CPUS; cpu++) {
		if (cpu->off)
			continue;
		if (cpu->stolen_until > sim.now)
			next = min(next, cpu->stolen_until);
		else if (!cpu->irqs_off)
			next = min(next, sim_irq_next(cpu));
	}
	for (task = sim_tasks; task < sim_tasks + SIM_TASKS; task++)
		if (task->wake > sim.now && !task->done)
			next = min(next, task->wake);
	return next;
}

static void stuck(void)
{
	struct sim_task *task;

	for (task = sim_tasks; task < sim_tasks + SIM_TASKS; task++)
		if (task->lock || task->flag || task->preempt || task->bh)
			sim_note("task %u prio %d: cpu %u%s%s, holds %d, bh %d",
				 task->nr, task->prio, task->cpu,
				 task->lock ? ", waits for a lock" : "",
				 task->flag ? ", waits" : "", task->preempt,
				 task->bh);
	sim_fail("stuck: nobody can go on");
}

/* Sometimes suspend the system, when no CPU can run. Returns whether it was suspended. */
static bool maybe_suspend(void)
{
	u64 slept;

	if (!sim.behind || !sim_chance(100))
		return false;
	slept = 1 + (sim_random() >> (26 + sim_below(24)));
	sim_note("suspended for %llu ns", slept);
	sim.now += slept;
	sim.behind += slept;
	sim.woke = sim.now - sim.behind;
	return true;
}

/* Continue on any CPU that can run. Returns when this task runs again. */
static void go_on(void)
{
	struct sim_task *self = sim_task;
	struct sim_cpu *cpu;
	u64 next;

	if (++steps > STEPS_MAX)
		sim_fail("stuck: no end after %u decisions", STEPS_MAX);
	if (users_done) {
		sim_swap(&self->sp, main_sp);
		return;
	}
	while (!(cpu = choose_cpu())) {
		oracle_idle();
		if (maybe_suspend())
			continue;
		next = next_event();
		if (next == SIM_NEVER)
			stuck();
		sim.now = max_t(u64, sim.now, next);
	}
	sim.cpu = cpu - sim_cpus;
	sim.left = 1 + sim_below(sim_options.quantum);
	sim.next_event = next_event();
	sim_task = cpu->curr;
	if (sim_task != self)
		sim_swap(&self->sp, sim_task->sp);
	sim_interrupts();
	sim_rcu_look();
}

/* Returns a CPU that a task may move to. */
unsigned int sim_other_cpu(void)
{
	unsigned int cpu;

	do {
		cpu = sim_below(SIM_CPUS);
	} while (sim_cpus[cpu].leaving || sim_cpus[cpu].off);
	return cpu;
}

/* Choose the task that this CPU runs next. */
static void change_task(void)
{
	struct sim_cpu *cpu = this_sim_cpu();
	struct sim_task *self = sim_task;

	if (SIM_RT)
		lend_priorities();
	if (cpu->leaving && !sim_stays(self))
		self->cpu = sim_other_cpu();
	cpu->curr = choose_task(cpu);
	if (cpu->curr == self)
		return;
	cpu->turns++;
	sim_weak_all();
}

/* Move a task that does not run to another CPU, now and then. */
static void balance(void)
{
	struct sim_task *task = &sim_tasks[sim_below(SIM_TASKS)];
	struct sim_cpu *cpu = &sim_cpus[task->cpu];

	if (sim_stays(task) || cpu->curr == task)
		return;
	task->cpu = sim_below(SIM_CPUS);
	if (sim_cpus[task->cpu].leaving || sim_cpus[task->cpu].off)
		task->cpu = cpu - sim_cpus;
}

/* Let the hypervisor take a CPU away, now and then. */
static void look_for_steal(void)
{
	static const u32 most[] = { 1000, 100000, 1000000, 5000000, 50000000 };
	struct sim_cpu *cpu;
	u64 until;

	if (sim_calm || !sim_chance(512))
		return;
	until = sim.now + 1 + sim_below(most[sim_below(5)]);
	cpu = &sim_cpus[sim_below(SIM_CPUS)];
	if (cpu->stolen_until <= sim.now)
		cpu->stolen_until = until;
}

void sim_decide(void)
{
	if (sim_preemptible() && !is_idle(sim_task) &&
	    (SIM_RT || this_sim_cpu()->leaving || sim_chance(4)))
		change_task();
	if (sim_chance(16))
		balance();
	look_for_steal();
	go_on();
}

/* Let other tasks and CPUs run: this task has nothing to do until something happens. */
void sim_yield(void)
{
	if (sim_preemptible())
		change_task();
	go_on();
}

/*
 * Take a step of a loop that waits for another CPU. A step takes long now and
 * then, because otherwise most simulated steps would be steps of such loops.
 */
void sim_relax(void)
{
	if (sim_chance(32))
		sim.now = clamp_t(u64, sim.next_event, sim.now, sim.now + 100000);
	sim.now += sim.step_ns;
	sim_decide();
}

/* Spend @ns, in steps between which other CPUs and interrupts may run. */
void sim_spend(u64 ns)
{
	u64 part;

	while (ns) {
		part = min_t(u64, ns, 1 + ns / 2);
		sim.now += part;
		ns -= part;
		if (sim.now >= sim.next_event)
			sim_decide();
	}
	sim_point();
}

void sim_sleep(u64 ns)
{
	sim_might_sleep(__func__);
	sim_task->wake = sim.now + ns;
	do {
		sim_yield();
	} while (!is_ready(sim_task));
	sim_task->wake = 0;
}

void sim_wait(const bool *flag)
{
	sim_might_sleep(__func__);
	sim_task->flag = flag;
	while (!*flag)
		sim_yield();
	sim_task->flag = NULL;
}

void sim_might_sleep(const char *where)
{
	if (!sim_preemptible() || sim_task->bh)
		sim_fail("%s: sleeps in atomic context", where);
}

unsigned int smp_processor_id(void)
{
	if (sim_preemptible() && !sim_stays(sim_task))
		sim_fail("smp_processor_id() in preemptible code");
	return sim.cpu;
}

ktime_t ktime_get(void)
{
	sim_point();
	return sim.now - sim.behind;
}

ktime_t ktime_mono_to_any(ktime_t tmono, int offs)
{
	return (u64)tmono + sim.behind;
}

/* Memory. Freed memory is poisoned, and used again by the next seed. */

#define ARENA	(64UL << 20)
#define POISON	0x6b
#define POISONED	8192UL

/* The header in front of allocated memory */
struct block {
	size_t size;		/* its size, 0 if it is freed */
	size_t freed;		/* size that the block had when it was freed */
	struct block *before;	/* the block that was allocated before this one */
} __attribute__((__aligned__(64)));

static char arena[ARENA] __attribute__((__aligned__(4096)));
static size_t arena_used;
static struct block *last_block;

void *sim_alloc_aligned(size_t size, size_t align)
{
	struct block *block;
	size_t begin;

	sim_point();
	begin = (arena_used + sizeof(*block) + align - 1) & ~(align - 1);
	size = (size + 63) & ~63UL;
	if ((sim_memory_short && !sim_calm && sim_chance(sim_cpus_go ? 2 : 8)) ||
	    begin + size > ARENA) {
		sim_allocs_failed++;
		return NULL;
	}
	block = (struct block *)(arena + begin) - 1;
	*block = (struct block){ .size = size, .before = last_block };
	last_block = block;
	arena_used = begin + size;
	memset(block + 1, 0, size);
	return block + 1;
}

void *sim_alloc(size_t size)
{
	return sim_alloc_aligned(size, 64);
}

void kvfree(const void *p)
{
	struct block *block = (struct block *)p - 1;

	if (!p)
		return;
	if (!block->size)
		sim_fail("freed twice");
	memset(block + 1, POISON, min(block->size, POISONED));
	block->freed = block->size;
	block->size = 0;
}

/* Check at the end of a seed that all memory is freed, and that nothing wrote to it after that. */
void sim_check_memory(void)
{
	const struct block *block;
	const u8 *byte, *end;

	for (block = last_block; block; block = block->before) {
		if (block->size)
			sim_fail("%zu bytes are not freed", block->size);
		byte = (const u8 *)(block + 1);
		end = byte + min(block->freed, POISONED);
		for (; byte < end; byte++)
			if (*byte != POISON)
				sim_fail("written to after it was freed");
	}
}

static void begin_cpus(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < SIM_CPUS; cpu++) {
		struct sim_cpu *c = &sim_cpus[cpu];

		memset(c, 0, sizeof(*c));
		c->idle = new_task(2 * cpu, cpu, idle_loop, -1);
		c->ksoftirqd = new_task(2 * cpu + 1, cpu, sim_ksoftirqd, 50);
		c->idle->pinned = true;
		c->ksoftirqd->pinned = true;
		c->curr = c->idle;
	}
}

void sim_begin(u64 seed)
{
	static const u32 quanta[] = { 2, 5, 20, 100, 500 };

	rng.state = seed * 0xd1342543de82ef95ULL + 1;
	sim = (struct sim_run){ .left = 1 };
	sim.now = 1 + (sim_random() >> (2 + sim_below(50)));
	/*
	 * Derived from @seed alone: another call of sim_random() would change all other choices of
	 * the seed.
	 */
	sim.behind = seed % 4 == 2 ? 1 + seed * 0x9e3779b97f4a7c15ULL % sim.now : 0;
	sim.step_ns = 2 + sim_below(30);
	sim_options.quantum = quanta[sim_below(ARRAY_SIZE(quanta))];
	steps = 0;
	nr_notes = 0;
	arena_used = 0;
	last_block = NULL;
	sim_allocs_failed = 0;
	sim_memory_short = false;
	sim_calm = false;
	begin_cpus();
	sim_task = sim_cpus[0].curr;
	sim_irq_begin();
	sim_sync_begin();
	sim_weak_begin();
	sim_hotplug_begin();
}

/* Run all tasks. Returns when the user programs have ended. */
void sim_run_tasks(void (*user)(struct sim_task *task))
{
	unsigned int i;

	for (i = 0; i < SIM_USERS; i++)
		new_task(SIM_FIRST_USER + i, sim_below(SIM_CPUS), user,
			 sim_below(4) ? sim_below(4) : 60);
	new_task(SIM_TASKS - 1, sim_below(SIM_CPUS), sim_kworker, 0);
	users_left = SIM_USERS;
	users_done = false;
	sim_task = sim_cpus[0].curr;
	sim_swap(&main_sp, sim_task->sp);
}
