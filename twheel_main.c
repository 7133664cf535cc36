// SPDX-License-Identifier: GPL-2.0
/* The module: parameters, the default wheel, loading and unloading */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/hrtimer.h>
#include <linux/init.h>
#include <linux/module.h>

#include "core/wheel.h"
#include "twheel_chardev.h"
#include "twheel_info.h"

static unsigned int tick_us = 1000;
module_param(tick_us, uint, 0444);
MODULE_PARM_DESC(tick_us, "Tick of the default wheel, 50 to 1000000 us");

static char *scheme = "hier";
module_param(scheme, charp, 0444);
MODULE_PARM_DESC(scheme, "Scheme of the default wheel: " TWHEEL_SCHEME_NAMES);

static char *mode = "periodic";
module_param(mode, charp, 0444);
MODULE_PARM_DESC(mode, "Tick mode of the default wheel: periodic, tickless");

static unsigned int doze = TWHEEL_DOZE_DEFAULT;
module_param(doze, uint, 0444);
MODULE_PARM_DESC(doze,
		 "Empty ticks in a row before a periodic wheel dozes (default 2, 0: never)");

static unsigned int slots;
module_param(slots, uint, 0444);
MODULE_PARM_DESC(slots,
		 "Slots of a hashed default wheel, 2 to 2^20 (default 4096)");

module_param_named(spare_isolated, twheel_base_spare_isolated, bool, 0444);
MODULE_PARM_DESC(spare_isolated,
		 "Timers that are started on an isolated CPU expire on another one (default 1)");

static int parse_parameters(struct twheel_config *config)
{
	int type = twheel_wheel_scheme_by_name(scheme);
	int tick_mode = twheel_wheel_mode_by_name(mode);

	if (type < 0) {
		pr_err("scheme=%s: not one of " TWHEEL_SCHEME_NAMES "\n", scheme);
		return -EINVAL;
	}
	if (tick_mode < 0) {
		pr_err("mode=%s: not periodic or tickless\n", mode);
		return -EINVAL;
	}
	if (tick_us < 50 || tick_us > USEC_PER_SEC) {
		pr_err("tick_us=%u: not from 50 to 1000000\n", tick_us);
		return -EINVAL;
	}
	*config = (struct twheel_config) {
		.name = "default",
		.scheme = type,
		.mode = tick_mode,
		.doze = tick_mode == TWHEEL_PERIODIC ? doze : 0,
		.slots = slots,
	};
	if (twheel_check_config(config)) {
		pr_err("slots=%u: not from 2 to 1048576, or scheme=%s, which takes none\n",
		       slots, scheme);
		return -EINVAL;
	}
	return 0;
}

/*
 * Create the default wheel as the last step, which nothing that can fail may
 * follow: other built-in code may use the wheel at once.
 */
static int __init twheel_init_core(void)
{
	struct twheel_config config;
	int ret;

	ret = twheel_wheel_init(tick_us * NSEC_PER_USEC);
	if (ret)
		return ret;
	ret = parse_parameters(&config) ?: twheel_wheel_create_default(&config);
	if (ret) {
		twheel_wheel_exit();
		return ret;
	}
	pr_info("%s wheel, %s tick of %u us\n", scheme, mode, tick_us);
	if (hrtimer_resolution > tick_us * NSEC_PER_USEC)
		pr_warn("no high-resolution timers (highres=off?): ticks may be %u us late\n",
			hrtimer_resolution / (unsigned int)NSEC_PER_USEC);
	return 0;
}

static int __init twheel_init_device(void)
{
	int ret;

	if (!IS_ENABLED(CONFIG_TWHEEL_DEV))
		return 0;
	ret = twheel_proc_init();
	if (ret)
		return ret;
	ret = twheel_chardev_init();
	if (ret)
		twheel_proc_exit();
	return ret;
}

#ifdef MODULE
static int __init twheel_init(void)
{
	int ret = twheel_init_core();

	if (ret)
		return ret;
	ret = twheel_init_device();
	if (ret)
		twheel_wheel_exit();
	return ret;
}

static void __exit twheel_exit(void)
{
	if (IS_ENABLED(CONFIG_TWHEEL_DEV)) {
		twheel_chardev_exit();
		twheel_proc_exit();
	}
	twheel_wheel_exit();
}

module_init(twheel_init);
module_exit(twheel_exit);
#else
/* Drivers may start timers in initcalls. The device needs the misc class. */
core_initcall(twheel_init_core);
device_initcall(twheel_init_device);
#endif

MODULE_AUTHOR("The twheel developers");
MODULE_DESCRIPTION("Hashed and hierarchical timing wheels");
#ifdef TWHEEL_VERSION
MODULE_VERSION(TWHEEL_VERSION);
#endif
MODULE_LICENSE("GPL");
