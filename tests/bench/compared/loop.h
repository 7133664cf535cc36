/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The loop of programs whose timers are structures of their own (loop.c)
 */
#ifndef COMPARED_LOOP_H
#define COMPARED_LOOP_H

#include <stdint.h>

/*
 * @first returns the first deadline, or UINT64_MAX. @expire is called when it has come, with the
 * clock.
 */
void loop_with_timeout(uint64_t (*first)(void), void (*expire)(uint64_t now));

#endif /* COMPARED_LOOP_H */
