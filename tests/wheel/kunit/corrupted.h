/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The schemes check their links, and count corrupted ones without a report
 *
 * To be included before anything of the schemes.
 */
#ifndef _TWHEEL_KUNIT_CORRUPTED_H
#define _TWHEEL_KUNIT_CORRUPTED_H

extern unsigned int kt_corruptions;

#define TWHEEL_SLOT_CORRUPTED(condition)	((condition) && ++kt_corruptions)

#endif /* _TWHEEL_KUNIT_CORRUPTED_H */
