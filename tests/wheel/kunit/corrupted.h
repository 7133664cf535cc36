/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The schemes check their links, and count corrupted ones without a report. They ask the
 * oracle for later ticks
 *
 * Include this file before any source of the schemes.
 */
#ifndef _TWHEEL_KUNIT_CORRUPTED_H
#define _TWHEEL_KUNIT_CORRUPTED_H

#include <linux/types.h>

extern unsigned int kt_corruptions;

#define TWHEEL_SLOT_CORRUPTED(condition)	((condition) && ++kt_corruptions)

struct twheel_node;

/* In place of twheel_timer_ask(): see check.c. NULL before the first scheme with an oracle. */
extern bool (*twheel_test_ask)(struct twheel_node *node);

#define TWHEEL_SLOT_ASK(node)	(twheel_test_ask && twheel_test_ask(node))

#endif /* _TWHEEL_KUNIT_CORRUPTED_H */
