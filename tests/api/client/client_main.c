// SPDX-License-Identifier: GPL-2.0
/*
 * A sample client of the in-kernel interface of twheel, and a test of it
 *
 * Loading the module runs every case on every kind of wheel. Results go to the
 * kernel log as KTAP, one line for each behaviour, then a count and a verdict:
 *
 *	ok 17 - restart_later [hier tickless 1000 us]
 *	# 250 passed, 0 failed, 0 skipped
 *	twheel_client: SUCCESS
 *
 * insmod succeeds with any verdict. only=TEXT runs the cases that have TEXT in
 * their name or in the description of their wheel. The module then remains loaded
 * and uses twheel, so "rmmod twheel" must be refused until after "rmmod
 * twheel_client".
 *
 * To use twheel in a module of your own, start with client_util.c. It shows a
 * timer embedded in a structure, its setup, its callback and its end.
 */
#include <linux/cpumask.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "client.h"
#include "twheel_info.h"

/* Number of runs of a case after which a slow machine is no excuse any more. */
#define CLIENT_TRIES	7

static char *only;
module_param(only, charp, 0444);
MODULE_PARM_DESC(only, "run only cases with this text in their name or wheel");

static bool exact;
module_param(exact, bool, 0444);
MODULE_PARM_DESC(exact, "time is exact: check what is promised in units of time");

static bool stop_at_first;
module_param_named(stop, stop_at_first, bool, 0444);
MODULE_PARM_DESC(stop, "stop at the first case that fails");

static unsigned int passed;
static unsigned int failed;
static unsigned int skipped;

/*
 * The wheels on which cases run. The first one is the default wheel. For schemes that are missing
 * here, client_run_all() creates a wheel each.
 */
static const struct twheel_config client_configs[] = {
	{ .name = NULL },
	{ .name = "p1000", .scheme = TWHEEL_HIER, .mode = TWHEEL_PERIODIC,
	  .tick_ns = NSEC_PER_MSEC },
	{ .name = "t1000", .scheme = TWHEEL_HIER, .mode = TWHEEL_TICKLESS,
	  .tick_ns = NSEC_PER_MSEC },
	{ .name = "d500", .scheme = TWHEEL_HIER, .mode = TWHEEL_PERIODIC,
	  .tick_ns = 500 * NSEC_PER_USEC, .doze = 3 },
	{ .name = "t50", .scheme = TWHEEL_HIER, .mode = TWHEEL_TICKLESS,
	  .tick_ns = TWHEEL_TICK_NS_MIN },
	{ .name = "hp1000", .scheme = TWHEEL_HASHED, .mode = TWHEEL_PERIODIC,
	  .tick_ns = NSEC_PER_MSEC, .slots = 64 },
	{ .name = "ht4000", .scheme = TWHEEL_HASHED, .mode = TWHEEL_TICKLESS,
	  .tick_ns = 4 * NSEC_PER_MSEC },
	{ .name = "ht10000", .scheme = TWHEEL_HASHED, .mode = TWHEEL_TICKLESS,
	  .tick_ns = 10 * NSEC_PER_MSEC, .slots = TWHEEL_SLOTS_MIN },
};

static const struct client_case *const client_tables[] = {
	client_start_cases,
	client_stop_cases,
	client_callback_cases,
	client_again_cases,
	client_drain_cases,
	client_work_cases,
};

void client_fail(struct client *c, const char *where, int line, const char *what)
{
	c->failed = true;
	pr_info("# %s:%d: not true: %s\n", where, line, what);
}

static void client_describe(const struct client *c, char *text, size_t size)
{
	const struct twheel_config *config = &c->config;

	snprintf(text, size, "%s%s %s %llu us", c->shared ? "default " : "",
		 twheel_scheme_info(config->scheme)->name,
		 config->mode == TWHEEL_TICKLESS ? "tickless" : "periodic",
		 div_u64(config->tick_ns, NSEC_PER_USEC));
}

static bool client_wanted(const struct client_case *one, const char *wheel)
{
	return !only || !*only || strstr(one->name, only) || strstr(wheel, only);
}

static const char *client_lacks(const struct client *c, const struct client_case *one)
{
	if (one->needs & CLIENT_CPUS && client_other_cpu() < 0)
		return "only one CPU is online";
	if (one->needs & CLIENT_EXACT && !c->exact)
		return "time is not exact here";
	if (one->needs & CLIENT_OWN && c->shared)
		return "others use the default wheel, too";
	if (one->needs & CLIENT_ISOLATED && client_isolated_cpu() < 0)
		return "no CPU is isolated";
	if (one->needs & CLIENT_DEFAULT && !c->shared)
		return "one wheel will do, the default one";
	if (one->needs & CLIENT_RT && !IS_ENABLED(CONFIG_PREEMPT_RT))
		return "this takes PREEMPT_RT";
	return NULL;
}

static void client_run_function(struct client *c, const struct client_case *one)
{
	unsigned int nr = one->nr ?: 1, i;
	struct client_timer *t = client_timers_new(c, nr, one->then);

	for (i = 0; i < nr; i++)
		t[i].data = one->data;
	one->run(c, t);
}

static void client_run_once(struct client *c, const struct client_case *one)
{
	const struct twheel_config config = c->config;
	struct twheel *wheel = c->wheel;

	c->failed = false;
	c->slow = false;
	c->exact = exact;
	c->skipped = client_lacks(c, one);
	if (c->skipped)
		return;
	atomic_set(&c->early, 0);
	atomic64_set(&c->late_max, 0);
	atomic64_set(&c->late_min, S64_MAX);
	if (one->work)
		client_run_work(c, one);
	else
		client_run_function(c, one);
	client_clean(c);
	c->wheel = wheel;
	c->config = config;
	if (!c->slow)
		CLIENT_CHECK(c, !atomic_read(&c->early));
}

static void client_run(struct client *c, const struct client_case *one, const char *wheel)
{
	int tries = 0;
	bool ok;

	if (!client_wanted(one, wheel) || (stop_at_first && failed))
		return;
	do {
		c->patience = 1U << tries;
		client_run_once(c, one);
	} while (c->slow && !c->failed && ++tries < CLIENT_TRIES);
	if (c->slow)
		pr_info("# %s: gave up after %d tries\n", one->name, tries);
	ok = !c->failed && !c->slow;
	failed += !ok;
	skipped += ok && c->skipped;
	passed += ok && !c->skipped;
	pr_info("%sok %u - %s [%s]%s%s\n", ok ? "" : "not ", passed + failed + skipped,
		one->name, wheel, c->skipped ? " # SKIP " : "", c->skipped ?: "");
}

static void client_run_table(struct client *c, const struct client_case *one, const char *wheel)
{
	for (; one->name; one++)
		client_run(c, one, wheel);
}

static void client_run_config(struct client *c, const struct twheel_config *config)
{
	unsigned int i;
	char wheel[64];

	c->shared = !config->name;
	c->wheel = c->shared ? twheel_default() : twheel_create(config);
	if (IS_ERR(c->wheel)) {
		failed++;
		pr_info("# no wheel %s: error %ld\n", config->name, PTR_ERR(c->wheel));
		return;
	}
	twheel_get_config(c->wheel, &c->config);
	client_describe(c, wheel, sizeof(wheel));
	if (c->shared)
		client_run_table(c, client_default_cases, wheel);
	/*
	 * Give each CPU slots. From then on a timer expires where it was started, as the cases
	 * expect.
	 */
	for_each_online_cpu(i)
		failed += !!twheel_prepare_cpu(c->wheel, i);
	for (i = 0; i < ARRAY_SIZE(client_tables); i++)
		client_run_table(c, client_tables[i], wheel);
	if (!c->shared)
		twheel_destroy(c->wheel);
}

static void client_run_all(struct client *c)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(client_configs); i++)
		client_run_config(c, &client_configs[i]);
	for (i = TWHEEL_HASHED + 1; i < TWHEEL_NR_SCHEMES; i++)
		client_run_config(c, &(struct twheel_config) {
			.name = twheel_scheme_info(i)->name, .scheme = i,
			.mode = TWHEEL_PERIODIC, .tick_ns = NSEC_PER_MSEC });
	/* These cases make wheels of their own, so they run only once. */
	c->wheel = twheel_default();
	twheel_get_config(c->wheel, &c->config);
	client_run_table(c, client_wheel_cases, "wheels");
	client_run_table(c, client_share_cases, "wheels");
}

static int client_thread(void *done)
{
	struct client *c = kzalloc(sizeof(*c), GFP_KERNEL);
	struct workqueue_struct *wq = alloc_workqueue("twheel_client", WQ_UNBOUND, 0);

	if (c && wq) {
		c->wq = wq;
		INIT_LIST_HEAD(&c->made);
		client_run_all(c);
	}
	if (wq)
		destroy_workqueue(wq);
	kfree(c);
	complete(done);
	return 0;
}

/*
 * Run the cases in a thread that is bound to one CPU. Timers that it starts are then on one base,
 * and expire in order.
 */
static int __init client_init(void)
{
	DECLARE_COMPLETION_ONSTACK(done);
	struct task_struct *thread;

	pr_info("KTAP version 1\n");
	thread = kthread_create(client_thread, &done, "twheel_client");
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	kthread_bind(thread, cpumask_first(cpu_online_mask));
	wake_up_process(thread);
	/* Wait in short pieces, because the kernel would report one long wait as a hang. */
	while (!wait_for_completion_timeout(&done, 30 * HZ))
		;
	pr_info("1..%u\n", passed + failed + skipped);
	pr_info("# %u passed, %u failed, %u skipped\n", passed, failed, skipped);
	pr_info("twheel_client: %s\n", passed && !failed ? "SUCCESS" : "FAILURE");
	return 0;
}
module_init(client_init);

static void __exit client_exit(void)
{
}
module_exit(client_exit);

MODULE_DESCRIPTION("Sample client and promise suite of twheel's in-kernel interface");
MODULE_LICENSE("GPL");
