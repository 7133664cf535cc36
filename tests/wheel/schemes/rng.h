/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random numbers
 */
#ifndef _TWHEEL_TEST_RNG_H
#define _TWHEEL_TEST_RNG_H

#include <linux/types.h>

/**
 * struct twheel_rng - random numbers that are the same everywhere: splitmix64
 * @state: its state
 * @input: 16-bit numbers of a fuzzer, which are returned before any number of splitmix64
 * @left: number of bytes in @input
 */
struct twheel_rng {
	u64 state;
	const u8 *input;
	size_t left;
};

static inline u64 twheel_rng_next(struct twheel_rng *rng)
{
	u64 z;

	if (rng->left >= 2) {
		rng->left -= 2;
		rng->input += 2;
		return (rng->input[-2] << 8 | rng->input[-1]) * 0x0001000100010001ULL;
	}
	z = rng->state += 0x9e3779b97f4a7c15ULL;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* Returns a number from 0 to @n - 1. */
static inline u32 twheel_rng_below(struct twheel_rng *rng, u32 n)
{
	return ((u64)(u32)twheel_rng_next(rng) * n) >> 32;
}

/* Returns a number of a random length, from 0 to @bits bits. */
static inline u64 twheel_rng_log(struct twheel_rng *rng, u32 bits)
{
	u32 length = twheel_rng_below(rng, bits + 1);

	return length ? twheel_rng_next(rng) >> (64 - length) : 0;
}

#endif /* _TWHEEL_TEST_RNG_H */
