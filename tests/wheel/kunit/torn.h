/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The schemes check their links, and torn ones are counted, not printed
 *
 * To be included before anything of the schemes.
 */
#ifndef _TWHEEL_KUNIT_TORN_H
#define _TWHEEL_KUNIT_TORN_H

extern unsigned int kt_torn_reports;

#define TWHEEL_SLOT_TORN(condition)	((condition) && ++kt_torn_reports)

#endif /* _TWHEEL_KUNIT_TORN_H */
