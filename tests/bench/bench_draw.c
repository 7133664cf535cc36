// SPDX-License-Identifier: GPL-2.0
/*
 * Random numbers, the same in every run
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/prandom.h>

#include "bench.h"

static struct rnd_state state;

void bench_random_seed(u64 seed)
{
	prandom_seed_state(&state, seed);
}

u32 bench_random_below(u32 end)
{
	return (u64)prandom_u32_state(&state) * end >> 32;
}

void bench_shuffle(u32 *order, u32 nr)
{
	u32 i, j;

	for (i = nr; i > 1; i--) {
		j = bench_random_below(i);
		swap(order[i - 1], order[j]);
	}
}

static u64 random_ns(u64 end)
{
	return mul_u64_u32_shr(end, prandom_u32_state(&state), 32);
}

static u64 draw_uniform(void)
{
	return random_ns(BENCH_SECONDS(60));
}

static u64 draw_idle(void)
{
	return BENCH_SECONDS(30) + random_ns(BENCH_SECONDS(30));
}

/*
 * -log2(u) of a uniform u in (0, 1], times 2^16. log2(1 + f) is f + 0.344 f (1
 * - f) to within 0.002.
 */
static u32 minus_log2(u32 u)
{
	u32 whole = 31 - __fls(u | 1);
	u32 f = (u << whole << 1) >> 16;
	u32 log = f + ((u64)f * (65536 - f) * 22545 >> 32);

	return (whole << 16) + 65536 - log;
}

/* Mean 15 s. Draws again for one time in 55, which would exceed a minute. */
static u64 draw_exponential(void)
{
	u64 ns;

	do {
		ns = BENCH_SECONDS(15) * 45426 >> 16;
		ns = ns * minus_log2(prandom_u32_state(&state)) >> 16;
	} while (ns >= BENCH_SECONDS(60));
	return ns;
}

const struct bench_dist bench_dists[] = {
	{ "uniform", BENCH_SECONDS(30), draw_uniform },
	{ "exponential", BENCH_SECONDS(15), draw_exponential },
	{ "idle", BENCH_SECONDS(45), draw_idle },
	{ }
};
