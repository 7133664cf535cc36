// SPDX-License-Identifier: GPL-2.0
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/twheel.h>

struct connection {
	int number;
	struct twheel_timer idle;
};

static struct connection *connection;

/* Runs in softirq context without locks. May restart, stop or free its timer. */
static void connection_idle(struct twheel_timer *timer)
{
	struct connection *c = container_of(timer, struct connection, idle);

	pr_info("connection %d is idle\n", c->number);
}

/* Start or refresh the timer for a packet, in any context. */
static void connection_packet(struct connection *c)
{
	twheel_start(&c->idle, 500 * NSEC_PER_MSEC);
}

static int __init idle_timeout_init(void)
{
	connection = kzalloc(sizeof(*connection), GFP_KERNEL);
	if (!connection)
		return -ENOMEM;
	connection->number = 1;
	/* NULL: the default wheel */
	twheel_timer_setup(&connection->idle, NULL, connection_idle, 0);
	connection_packet(connection);
	return 0;
}

static void __exit idle_timeout_exit(void)
{
	twheel_shutdown_sync(&connection->idle);
	kfree(connection);
}

module_init(idle_timeout_init);
module_exit(idle_timeout_exit);
MODULE_DESCRIPTION("An idle timeout on a timing wheel");
MODULE_LICENSE("GPL");
