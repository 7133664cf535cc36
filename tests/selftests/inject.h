/* SPDX-License-Identifier: GPL-2.0 */
/*
 * inject.h - the kernel's fault injection, for the calls of one thread
 *
 * A fault is an allocation, or a copy from or to user space with
 * copy_from_user() and the like, that the kernel makes fail on purpose. Nothing
 * but the thread that asked for it is hit.
 *
 *	inject_from(&injector, nth);
 *	result = the call;
 *	fault = inject_end(&injector);
 */
#ifndef INJECT_H
#define INJECT_H

#include <stdbool.h>

/**
 * struct injector - what is to fail
 * @nth: descriptor that the number of the first fault is written to
 * @all: descriptor that says whether allocations go on failing after it, or -1
 */
struct injector {
	int nth;
	int all;
};

/* What follows the first fault. */
enum inject_mode {
	INJECT_ONE,		/* nothing: the next one succeeds */
	INJECT_ALL,		/* no allocation succeeds any more */
};

struct injector inject_open(enum inject_mode mode);
void inject_from(const struct injector *injector, int nth);
int inject_left(const struct injector *injector);
bool inject_end(const struct injector *injector);

#endif /* INJECT_H */
