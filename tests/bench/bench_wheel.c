// SPDX-License-Identifier: GPL-2.0
/*
 * The wheels of twheel.ko as implementations
 */
#include <linux/err.h>

#include "bench.h"

static int wheel_create(struct bench *b, enum twheel_scheme_type scheme,
			unsigned int slots)
{
	struct twheel_config config = {
		.name = "bench",
		.scheme = scheme,
		.tick_ns = BENCH_TICK_NS,
		.slots = slots,
	};
	struct twheel *wheel = twheel_create(&config);

	if (IS_ERR(wheel))
		return PTR_ERR(wheel);
	b->facility = wheel;
	return 0;
}

static int hier_create(struct bench *b)
{
	return wheel_create(b, TWHEEL_HIER, 0);
}

static int hashed_create(struct bench *b)
{
	return wheel_create(b, TWHEEL_HASHED, BENCH_SLOTS);
}

static void wheel_destroy(struct bench *b)
{
	twheel_destroy(b->facility);
}

static void wheel_expired(struct twheel_timer *timer)
{
	struct bench_timer *bt = container_of(timer, struct bench_timer, wheel);
	u64 delay = bench_next_delay();

	if (!bench_expiry->restart)
		return;
	bt->deadline += delay;
	if (bench_expiry->again)
		twheel_again_at(timer, bt->deadline);
	else
		twheel_start_at(timer, bt->deadline);
}

static void wheel_setup(struct bench *b, struct bench_timer *timer)
{
	twheel_timer_setup(&timer->wheel, b->facility, wheel_expired, 0);
}

static u64 wheel_ns(u64 ns)
{
	return ns;
}

static void wheel_start(struct bench *b)
{
	u32 i;

	for (i = 0; i < b->nr; i++)
		twheel_start(&b->batch[i]->wheel, b->when[i]);
}

static void wheel_start_at(struct bench *b)
{
	u32 i;

	for (i = 0; i < b->nr; i++)
		twheel_start_at(&b->batch[i]->wheel, b->when[i]);
}

static void wheel_stop(struct bench *b)
{
	u32 i;

	for (i = 0; i < b->nr; i++)
		twheel_stop(&b->batch[i]->wheel);
}

static void wheel_started(struct bench *b)
{
	u32 i;

	for (i = 0; i < b->nr; i++)
		b->batch[i]->deadline = b->when[i];
}

#define WHEEL(scheme)				\
	.name = #scheme,			\
	.wheel = true,				\
	.create = scheme ## _create,		\
	.destroy = wheel_destroy,		\
	.setup = wheel_setup,			\
	.absolute = wheel_ns,			\
	.relative = wheel_ns,			\
	.start = wheel_start,			\
	.start_at = wheel_start_at,		\
	.restart = wheel_start_at,		\
	.restart_after = wheel_start,		\
	.stop = wheel_stop,			\
	.started = wheel_started

const struct bench_impl bench_hier = { WHEEL(hier) };
const struct bench_impl bench_hashed = { WHEEL(hashed) };
