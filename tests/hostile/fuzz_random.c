// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers that are likely to cause trouble
 */
#include "fuzz.h"

/* Take @size bytes of libFuzzer's input. After its end, all numbers are 0. */
static __u64 take(struct fuzz_thread *t, unsigned int size)
{
	__u64 number = 0;

	while (size-- && t->left) {
		number = number << 8 | *t->input++;
		t->left--;
	}
	return number;
}

__u64 fuzz_random(struct fuzz_thread *t)
{
	if (t->input)
		return take(t, sizeof(__u64));
	return random_number(&t->random) << 32 ^ random_number(&t->random);
}

/*
 * Choose a number. Small limits take one byte of the input, so that a change of that byte changes
 * one choice.
 */
__u64 fuzz_below(struct fuzz_thread *t, __u64 limit)
{
	return (t->input && limit <= 256 ? take(t, 1) : fuzz_random(t)) % limit;
}

bool fuzz_percent(struct fuzz_thread *t, unsigned int percent)
{
	return fuzz_below(t, 100) < percent;
}

/* Returns true if the next choice should be a bad one. */
bool fuzz_spoilt(struct fuzz_thread *t)
{
	return fuzz_percent(t, t->kind->spoilt);
}

/* Choose a number, which is mostly at or near a limit of the interface. */
__u64 fuzz_number(struct fuzz_thread *t)
{
	static const __u64 numbers[] = {
		0, 1, 2, 8, 44, 45, 64, 0xff, 4096, 65535, 65536, 65537,
		0x7fffffff, 0x80000000, 0xffffffff, 1ULL << 20, 1ULL << 22,
		1ULL << 24, 1ULL << 32, 50000, SECOND, 1ULL << 62,
		(1ULL << 63) - 1, 1ULL << 63, ~0ULL,
	};
	__u64 number = numbers[fuzz_below(t, ARRAY_SIZE(numbers))];

	switch (fuzz_below(t, 4)) {
	case 0:
		return number + 1;
	case 1:
		return number - 1;
	case 2:
		return fuzz_random(t) << fuzz_below(t, 9);
	default:
		return number;
	}
}

/* Choose an interval. Most are short. */
__u64 fuzz_time(struct fuzz_thread *t)
{
	switch (fuzz_below(t, 8)) {
	case 0:
		return 0;
	case 1:
		return HOUR;
	case 2:
		return fuzz_number(t);
	case 3:
		return fuzz_below(t, 100 * MS);
	default:
		return fuzz_below(t, 4 * MS);
	}
}

/* Choose one of few ids, so that different calls use the same timers. Some ids are far apart. */
__u64 fuzz_id(struct fuzz_thread *t)
{
	switch (fuzz_below(t, 16)) {
	case 0:
		return fuzz_number(t);
	case 1:
		return fuzz_below(t, 40) * 1000;
	case 2:
	case 3:
	case 4:
		return TWHEEL_ID_ANY;
	case 5:
		/* perhaps one of the first ids that the kernel chose */
		return TWHEEL_ID_KERNEL | (1 + fuzz_below(t, 50)) << 24 |
		       fuzz_below(t, 50);
	default:
		return fuzz_below(t, 60);
	}
}

/* Damage some bytes or numbers of @data. */
void fuzz_mutate(struct fuzz_thread *t, void *data, size_t size)
{
	unsigned char *bytes = data;
	unsigned int count = 1 + fuzz_below(t, 4);
	__u64 number;

	while (count-- && size) {
		size_t at = fuzz_below(t, size);

		switch (fuzz_below(t, 3)) {
		case 0:
			bytes[at] ^= 1 << fuzz_below(t, 8);
			break;
		case 1:
			bytes[at] = fuzz_random(t);
			break;
		default:
			number = fuzz_number(t);
			at &= ~7UL;
			__builtin_memcpy(bytes + at, &number, MIN(sizeof(number), size - at));
		}
	}
}
