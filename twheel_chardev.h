/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* /dev/twheel and /proc/twheel, as the module makes and removes them */
#ifndef _TWHEEL_CHARDEV_H
#define _TWHEEL_CHARDEV_H

int twheel_chardev_init(void);
void twheel_chardev_exit(void);
int twheel_proc_init(void);
void twheel_proc_exit(void);

#endif /* _TWHEEL_CHARDEV_H */
