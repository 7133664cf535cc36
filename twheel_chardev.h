/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * /dev/twheel, as the module makes and removes it
 */
#ifndef _TWHEEL_CHARDEV_H
#define _TWHEEL_CHARDEV_H

int twheel_chardev_init(void);
void twheel_chardev_exit(void);

#endif /* _TWHEEL_CHARDEV_H */
