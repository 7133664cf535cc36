/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's fault injection, for the calls of one thread
 *
 * A fault is an allocation, or a copy by copy_from_user() and the like, that the
 * kernel makes fail on purpose. Faults hit only the thread that asked for them.
 *
 *	inject_from(&injector, nth);
 *	result = the call;
 *	fault = inject_end(&injector);
 */
#ifndef INJECT_H
#define INJECT_H

#include <stdbool.h>

/**
 * struct injector - the files that control the faults
 * @nth: descriptor of the file with the number of the first fault
 * @all: descriptor of the switch that lets every later allocation fail, too, or -1
 */
struct injector {
	int nth;
	int all;
};

/* What happens to the allocations after the first fault. */
enum inject_mode {
	INJECT_ONE,		/* the next allocation succeeds */
	INJECT_ALL,		/* all later allocations fail */
};

struct injector inject_open(enum inject_mode mode);
void inject_from(const struct injector *injector, int nth);
int inject_left(const struct injector *injector);
bool inject_end(const struct injector *injector);

#endif /* INJECT_H */
