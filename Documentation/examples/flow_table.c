// SPDX-License-Identifier: GPL-2.0
/*
 * A table of flows. A packet creates or refreshes a flow. A flow ends when it is
 * idle or closed. A timer simulates the network.
 */
#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/twheel.h>

static unsigned int idle_ms = 500;
module_param(idle_ms, uint, 0444);

struct flow {
	u32 key;
	struct hlist_node node;
	struct twheel_timer idle;
	struct rcu_head rcu;
};

static DEFINE_HASHTABLE(flows, 6);
static DEFINE_SPINLOCK(flows_lock);	/* guards flows, and starts of their timers */
static struct twheel *wheel;
static unsigned int nr_idle, nr_closed, nr_last;

static struct flow *flow_find(u32 key)
{
	struct flow *flow;

	hash_for_each_possible(flows, flow, node, key)
		if (flow->key == key)
			return flow;
	return NULL;
}

/*
 * Remove a flow. flows_lock is held. The callback may be waiting for the lock: then it
 * finds that the flow is removed, and RCU keeps the flow until it returns.
 */
static void flow_remove(struct flow *flow)
{
	hash_del(&flow->node);
	twheel_stop(&flow->idle);
	kfree_rcu(flow, rcu);
}

/*
 * Remove an idle flow. While the callback waits for the lock, a packet may start the
 * timer again, or flow_close() may remove the flow.
 */
static void flow_idle(struct twheel_timer *timer)
{
	struct flow *flow = container_of(timer, struct flow, idle);

	spin_lock(&flows_lock);
	if (hash_hashed(&flow->node) && !twheel_pending(timer)) {
		flow_remove(flow);
		nr_idle++;
	}
	spin_unlock(&flows_lock);
}

static struct flow *flow_new(u32 key)
{
	struct flow *flow = kzalloc(sizeof(*flow), GFP_ATOMIC);

	if (!flow)
		return NULL;
	flow->key = key;
	twheel_timer_setup(&flow->idle, wheel, flow_idle, 0);
	hash_add(flows, &flow->node, key);
	return flow;
}

static void flow_packet(u32 key)
{
	struct flow *flow;

	spin_lock_bh(&flows_lock);
	flow = flow_find(key) ?: flow_new(key);
	if (flow)
		twheel_start(&flow->idle, ms_to_ktime(idle_ms));
	spin_unlock_bh(&flows_lock);
}

static void flow_close(u32 key)
{
	struct flow *flow;

	spin_lock_bh(&flows_lock);
	flow = flow_find(key);
	if (flow) {
		flow_remove(flow);
		nr_closed++;
	}
	spin_unlock_bh(&flows_lock);
}

/* Softirqs are off for one bucket at a time, not for the whole table. */
static void flow_close_all(void)
{
	struct hlist_node *next;
	struct flow *flow;
	int bucket;

	for (bucket = 0; bucket < HASH_SIZE(flows); bucket++) {
		spin_lock_bh(&flows_lock);
		hlist_for_each_entry_safe(flow, next, &flows[bucket], node) {
			flow_remove(flow);
			nr_last++;
		}
		spin_unlock_bh(&flows_lock);
		cond_resched();
	}
}

/*
 * The network starts 64 flows. 16 of them become idle, 8 are closed, and 40 continue
 * to receive packets.
 */
static struct twheel_timer network;

static void network_receives(struct twheel_timer *timer)
{
	static unsigned int round;
	u32 key;

	for (key = 0; key < 64; key++) {
		if (!round || key < 40)
			flow_packet(key);
		else if (round == 1 && key < 48)
			flow_close(key);
	}
	round++;
	/* Relative to the last deadline, so that the period does not drift. */
	twheel_again_at(timer, ktime_add_ms(twheel_deadline(timer), 50));
}

static int __init flow_table_init(void)
{
	struct twheel_config config = {
		.name = "flow_table",
		.scheme = TWHEEL_HIER,
		.mode = TWHEEL_PERIODIC,
		.doze = TWHEEL_DOZE_DEFAULT,
		.tick_ns = 10 * NSEC_PER_MSEC,
	};

	wheel = twheel_create(&config);
	if (IS_ERR(wheel))
		return PTR_ERR(wheel);
	twheel_timer_setup(&network, NULL, network_receives, 0);
	twheel_start(&network, 0);
	return 0;
}

/* Stop the source of packets, then all timers, then wait for their callbacks. */
static void __exit flow_table_exit(void)
{
	twheel_shutdown_sync(&network);
	flow_close_all();
	twheel_destroy(wheel);
	pr_info("%u idle, %u closed, %u last\n", nr_idle, nr_closed, nr_last);
}

module_init(flow_table_init);
module_exit(flow_table_exit);
MODULE_DESCRIPTION("A table of flows on a timing wheel");
MODULE_LICENSE("GPL");
