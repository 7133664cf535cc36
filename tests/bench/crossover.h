/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Schemes 6 and 7 against interval and slots
 *
 * Both the benchmark module and native.c include this, and bring their own
 * clock and random numbers.
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
