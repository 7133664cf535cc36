/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the schemes do in the tests when they find a corrupted link, and to ask for a later tick:
 * they count the link instead of printing a warning, and ask the oracle
 *
 * Include this file before any source of the schemes.
 */
#ifndef _TWHEEL_KUNIT_CORRUPTED_H
#define _TWHEEL_KUNIT_CORRUPTED_H

#include <linux/types.h>

extern unsigned int kt_corruptions;

#define TWHEEL_SLOT_CORRUPTED(condition)	((condition) && ++kt_corruptions)

struct twheel_node;

/* Replaces twheel_timer_ask(). Set by check.c, NULL before it created the first scheme. */
extern bool (*twheel_test_ask)(struct twheel_node *node);

#define TWHEEL_SLOT_ASK(node)	(twheel_test_ask && twheel_test_ask(node))

#endif /* _TWHEEL_KUNIT_CORRUPTED_H */
