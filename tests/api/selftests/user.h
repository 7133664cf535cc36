/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Units, the clock and random numbers for user programs
 */
#ifndef TESTS_USER_H
#define TESTS_USER_H

#include <linux/types.h>
#include <time.h>

#define US		1000ULL
#define MS		1000000ULL
#define SECOND		1000000000ULL
#define HOUR		(3600 * SECOND)

static inline __u64 clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * SECOND + ts.tv_nsec;
}

static inline __u64 now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* xorshift64. @state must not be 0. */
static inline __u64 xorshift(__u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* xorshift64*, whose first numbers look random even after a small seed such as 1. */
static inline __u64 random_number(__u64 *seed)
{
	return (xorshift(seed) * 2685821657736338717ULL) >> 8;
}

#endif /* TESTS_USER_H */
