// SPDX-License-Identifier: GPL-2.0
/*
 * The schemes under libFuzzer, against the oracle
 *
 * The first byte of the input is the number of a profile of tests/wheel/schemes/random.c, the
 * other bytes are the first random numbers. If the oracle finds anything wrong, the program
 * aborts, and libFuzzer keeps the input.
 *
 * -DFUZZ_SCHEME=twheel_test_hier chooses the scheme at compile time. libFuzzer
 * calls the function named by -DFUZZ_ENTRY=LLVMFuzzerTestOneInput.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../schemes/check.h"

/* An operation uses about five numbers of two bytes each. Returns 0, as libFuzzer requires. */
int FUZZ_ENTRY(const u8 *data, size_t size)
{
	struct twheel_rng rng = { .input = data + 1, .left = size - 1 };
	struct twheel_check *c;

	if (!size)
		return 0;
	c = twheel_check_random(&FUZZ_SCHEME, &twheel_profiles[*data % twheel_nr_profiles],
				&rng, size / 10);
	if (!c)
		return 0;
	if (c->error) {
		fprintf(stderr, "%s: %s (timer %u, clock %llu, %llu operations)\n",
			c->t->ops->name, c->error, c->id, c->at, c->ops);
		abort();
	}
	twheel_check_destroy(c);
	return 0;
}
