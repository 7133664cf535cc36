/* SPDX-License-Identifier: GPL-2.0 */
/*
 * crossover.h - schemes 6 and 7 against interval and slots
 *
 * Compiles in the benchmark module and in native.c, which each bring a clock
 * and random numbers.
 */
#ifndef _TWHEEL_CROSSOVER_H
#define _TWHEEL_CROSSOVER_H

#include <linux/types.h>

u64 crossover_begin(void);
u64 crossover_end(u64 begin);
u32 crossover_random(u32 end);
void crossover_row(const char *text);
int crossover(void);

#endif /* _TWHEEL_CROSSOVER_H */
