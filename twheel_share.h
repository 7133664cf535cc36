/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What part of a CPU all wheels take together
 */
#ifndef _TWHEEL_SHARE_H
#define _TWHEEL_SHARE_H

#include <linux/ktime.h>
#include <linux/types.h>

u32 twheel_share_begin(ktime_t now, bool waited);
void twheel_share_end(ktime_t now);
ktime_t twheel_share_wait(ktime_t now);

#endif /* _TWHEEL_SHARE_H */
